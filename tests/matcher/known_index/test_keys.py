"""The keys of n-grams are those of scikit-learn's analyzer, which compares the candidates."""

from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from matcher.known_index.frequency import FrequencyCounter, fold_table
from matcher.known_index.keys import gram_keys, keys_of_grams, unique_per_row

TEXTS = ("red mug 3.5", "", "a", "éx lampe ab", "the the x", "東京タワー 500ml", "🙂 b")


def test_grams_are_those_of_the_vectors() -> None:
    """Each n-gram of each text has its key as often as scikit-learn counts it."""
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4))
    counts = vectorizer.fit_transform(TEXTS).tocoo()
    keys = keys_of_grams(vectorizer.get_feature_names_out().tolist())
    assert len(set(keys.tolist())) == len(keys)
    expected: Counter[tuple[int, int]] = Counter()
    for row, column, count in zip(counts.row, counts.col, counts.data, strict=True):
        expected[int(row), int(keys[column])] = int(count)
    found: Counter[tuple[int, int]] = Counter()
    for length in (2, 3, 4):
        rows, hashed = gram_keys(TEXTS, length)
        found.update(zip(rows.tolist(), hashed.tolist(), strict=True))
    assert found == expected


def test_each_key_of_a_row_is_kept_once() -> None:
    """Repetitions within a text count once, and the pairs are sorted by key."""
    rows, keys = unique_per_row(np.array([1, 0, 1, 1]), np.array([7, 7, 7, 3], np.uint64))
    assert list(zip(rows.tolist(), keys.tolist(), strict=True)) == [(1, 3), (0, 7), (1, 7)]


def test_counts_come_in_parts() -> None:
    """A table has the sums of all parts, 0 for unknown keys, and folds into fewer columns."""
    counter = FrequencyCounter()
    assert counter.table().count(np.array([1], np.uint64)).tolist() == [0]
    counter.add(np.array([1, 5, 5], np.uint64))
    counter.add(np.array([5, 9], np.uint64))
    table = counter.table()
    assert table.count(np.array([5, 1, 2, 9, 99], np.uint64)).tolist() == [3, 1, 0, 1, 0]
    assert fold_table(table, 4).count(np.array([0, 1], np.uint64)).tolist() == [0, 5]
