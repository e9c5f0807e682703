"""Frequencies of keys are summed over parts, and folded to fewer columns."""

import numpy as np

from matcher.known_index.frequency import FrequencyCounter, fold_table


def test_counts_come_in_parts() -> None:
    """A table has the sums of all parts, 0 for unknown keys, and folds into fewer columns."""
    counter = FrequencyCounter()
    assert counter.table().count(np.array([1], np.uint64)).tolist() == [0]
    counter.add(np.array([1, 5, 5], np.uint64))
    counter.add(np.array([5, 9], np.uint64))
    table = counter.table()
    assert table.count(np.array([5, 1, 2, 9, 99], np.uint64)).tolist() == [3, 1, 0, 1, 0]
    assert fold_table(table, 4).count(np.array([0, 1], np.uint64)).tolist() == [0, 5]
