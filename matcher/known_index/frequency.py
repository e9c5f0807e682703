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
    """Sorted keys and the number of offers of each.

    `added` are keys that came later, none of them among `keys`: to insert a few into millions would
    take as long as to copy them all.
    """

    keys: Keys
    counts: Ints
    added: "FrequencyTable | None" = None

    def count(self, keys: Keys) -> Ints:
        """Return the number of offers of each key, 0 for unknown ones."""
        places, is_known = look_up_sorted(self.keys, keys)
        counts = np.zeros(len(keys), np.int64)
        counts[is_known] = self.counts[places[is_known]]
        if self.added is not None:
            counts += self.added.count(keys)
        return counts

    def smallest_count(self, largest: int) -> int:
        """Return the number of offers of the rarest key, at most `largest`."""
        smallest = int(self.counts.min(initial=largest))
        return smallest if self.added is None else self.added.smallest_count(smallest)

    def parts(self) -> list[tuple[Keys, Ints]]:
        """Return keys and counts, also of those that came later."""
        later = [] if self.added is None else self.added.parts()
        return [(self.keys, self.counts), *later]


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
    added = FrequencyTable(keys[~is_known], counts[~is_known])
    return FrequencyTable(base.keys, sums, added)


def fold_table(table: FrequencyTable, width: int) -> FrequencyTable:
    """Return the counts of hashed columns in a narrower matrix, of a width that divides theirs."""
    parts = [(keys % np.uint64(width), counts) for keys, counts in table.parts()]
    return FrequencyTable(*_sum_up(parts))


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
