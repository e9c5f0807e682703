"""Words are hashed and counted as scikit-learn does it, which takes half a second to load."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer

from matcher.blocking.vectors import count_description_words, hash_tokens
from matcher.records.record import Record
from matcher.records.text import tokenize

WIDTH = 1 << 10  # so narrow that some tokens share a column
TOKENS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), max_size=8)
TEXTS = st.lists(st.sampled_from(["oak", "lamp", "für", "台灯", "10 mm", "the", ""]), max_size=6)


@given(st.lists(TOKENS, min_size=1, max_size=6))
def test_hashed_columns_are_those_of_the_feature_hasher(documents: Sequence[Sequence[str]]) -> None:
    """Column numbers are kept in the index of known offers."""
    hasher = FeatureHasher(WIDTH, input_type="string", alternate_sign=False)
    expected = hasher.transform(documents).toarray() > 0
    assert np.array_equal(hash_tokens(documents, WIDTH).toarray() > 0, expected)


def test_hashed_columns_hold_ones() -> None:
    """A repeated token counts once; no documents give no rows."""
    assert hash_tokens([["oak", "oak"], []], WIDTH).toarray().sum(axis=1).tolist() == [1, 0]
    assert hash_tokens([], WIDTH).shape == (0, WIDTH)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_description_words_are_counted_as_by_the_count_vectorizer(
    texts: Sequence[Sequence[str]],
) -> None:
    """A matrix of ones with the words as columns, in their order."""
    records = [Record(description=" ".join(words)) for words in texts]
    present, column_of = count_description_words(records)
    counter = CountVectorizer(analyzer=lambda record: tokenize(record.description), binary=True)
    try:
        expected = counter.fit_transform(records).toarray()
    except ValueError:  # without any word
        assert (present.shape, present.nnz, column_of) == ((len(records), 1), 0, {})
        return
    assert np.array_equal(present.toarray(), expected)
    assert column_of == counter.vocabulary_


def test_the_most_frequent_description_words_are_kept() -> None:
    """Of equally frequent words the first ones of the alphabet."""
    texts = ["red oak", "oak lamp", "oak blue lamp"]
    present, column_of = count_description_words([Record(description=text) for text in texts], 3)
    assert column_of == {"blue": 0, "lamp": 1, "oak": 2}
    assert present.toarray().tolist() == [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
