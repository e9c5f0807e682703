"""N-grams of titles are counted and weighed as scikit-learn does it, by hashes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from matcher.blocking import grams
from matcher.blocking.grams import count_grams, unique_per_row, weigh_grams
from matcher.blocking.vectors import inverse_frequency, rows_per_column

TEXTS = ("red mug 3.5", "", "a", "éx lampe ab", "the the x", "東京タワー 500ml", "🙂 b", "Red  Mug")
WORDS = st.text(alphabet="abÄ1. 東\u2003\n", max_size=12)


@given(st.lists(WORDS, max_size=6))
def test_counts_are_those_of_scikit_learn(texts: list[str]) -> None:
    """Texts share as many n-grams as they share in scikit-learn's analyzer `char_wb`."""
    texts = [*texts, *TEXTS]
    counter = CountVectorizer(analyzer="char_wb", ngram_range=grams.NGRAM_RANGE)
    expected = counter.fit_transform(texts)
    counts, keys = count_grams(texts)
    assert counts.shape == expected.shape == (len(texts), len(keys))
    assert sorted(keys) == list(keys)
    assert np.array_equal((counts @ counts.T).toarray(), (expected @ expected.T).toarray())
    assert np.array_equal(counts.sum(axis=1), np.asarray(expected.sum(axis=1)).ravel())


def test_vectors_are_those_of_scikit_learn() -> None:
    """The cosines of all pairs agree with those of TF-IDF with logarithmic counts."""
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=grams.NGRAM_RANGE, sublinear_tf=True
    )
    expected = vectorizer.fit_transform(TEXTS)
    counts, _ = count_grams(TEXTS)
    vectors = weigh_grams(counts, inverse_frequency(len(TEXTS), rows_per_column(counts)))
    assert np.allclose((vectors @ vectors.T).toarray(), (expected @ expected.T).toarray())


def test_parts_give_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that are counted part by part have the columns and weights of texts in one piece."""
    whole, keys = count_grams(TEXTS)
    expected = weigh_grams(whole.copy(), inverse_frequency(len(TEXTS), rows_per_column(whole)))
    monkeypatch.setattr(grams, "_ROWS_PER_PART", 3)
    parted, part_keys = count_grams(TEXTS)
    assert np.array_equal(keys, part_keys)
    assert np.array_equal(whole.toarray(), parted.toarray())
    found = weigh_grams(parted, inverse_frequency(len(TEXTS), rows_per_column(parted)))
    assert np.array_equal(expected.toarray(), found.toarray())
    rows = [row for part, _, _ in grams._count_per_text(TEXTS) for row in np.unique(part).tolist()]
    assert rows == [row for row, text in enumerate(TEXTS) if text]


@pytest.mark.parametrize("texts", [(), ("",), (" ", "")])
def test_texts_without_grams_have_one_empty_column(texts: tuple[str, ...]) -> None:
    """No text, or none with a letter, is no error."""
    counts, keys = count_grams(texts)
    vectors = weigh_grams(counts, np.ones(1, np.float32))
    assert vectors.shape == (len(texts), 1)
    assert vectors.nnz == 0
    assert keys.tolist() == [0]


def test_each_key_of_a_row_is_kept_once() -> None:
    """Repetitions within a text count once, and the pairs are sorted by key."""
    rows, keys = unique_per_row(np.array([1, 0, 1, 1]), np.array([7, 7, 7, 3], np.uint64))
    assert list(zip(rows.tolist(), keys.tolist(), strict=True)) == [(1, 3), (0, 7), (1, 7)]
