"""Document frequencies: how many offers of the catalog have a term, by the key of the term."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Ints, Keys
from matcher.sorted_values import look_up_sorted

# Entries of new counts that are collected before they are summed up; bounds memory.
_MAX_PENDING = 4_000_000


@dataclass(frozen=True)
class FrequencyTable:
    """Sorted keys and the number of offers of each."""

    keys: Keys
    counts: Ints

    def count(self, keys: Keys) -> Ints:
        """Return the number of offers of each key, 0 for unknown ones."""
        places, is_known = look_up_sorted(self.keys, keys)
        counts = np.zeros(len(keys), np.int64)
        counts[is_known] = self.counts[places[is_known]]
        return counts


class FrequencyCounter:
    """Sums counts that come in parts."""

    def __init__(self) -> None:
        self._pending: list[tuple[Keys, Ints]] = []
        self._size = 0

    def add(self, keys: Keys) -> None:
        """Count keys; each occurrence is one offer."""
        unique, counts = np.unique(keys, return_counts=True)
        self._pending.append((unique, counts))
        self._size += len(unique)
        if self._size > _MAX_PENDING + len(self._pending[0][0]):
            self._pending = [_sum_up(self._pending)]
            self._size = len(self._pending[0][0])

    def table(self) -> FrequencyTable:
        """Return the sums."""
        return FrequencyTable(*_sum_up(self._pending))


def merge_tables(base: FrequencyTable, updates: Sequence[FrequencyTable]) -> FrequencyTable:
    """Return one table with the sums of a large table and of small ones."""
    if not updates:
        return base
    keys, counts = _sum_up([(table.keys, table.counts) for table in updates])
    places, is_known = look_up_sorted(base.keys, keys)
    sums = base.counts.astype(np.int64)
    sums[places[is_known]] += counts[is_known]
    # The large table is sorted: inserting the few new keys takes a copy, sorting anew 0.4 s.
    new_keys = keys[~is_known]
    inserted = np.searchsorted(base.keys, new_keys)
    return FrequencyTable(
        np.insert(base.keys, inserted, new_keys), np.insert(sums, inserted, counts[~is_known])
    )


def fold_table(table: FrequencyTable, width: int) -> FrequencyTable:
    """Return the counts of hashed columns in a narrower matrix, of a width that divides theirs."""
    return FrequencyTable(*_sum_up([(table.keys % np.uint64(width), table.counts)]))


def _sum_up(parts: Iterable[tuple[Keys, Ints]]) -> tuple[Keys, Ints]:
    parts = list(parts)
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in parts)])
    counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in parts)])
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] + np.uint64(1)))
    if not len(starts):
        return keys, counts
    return keys[starts], np.add.reduceat(counts, starts)
