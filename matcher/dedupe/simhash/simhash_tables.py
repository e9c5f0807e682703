"""Sorted tables of hashes, one per choice of parts that must agree, looked up by binary search.

A table is the order of the hashes by the bits of its parts; the hashes themselves are stored once.
Fifteen million hashes of 64 bits with six tables take 0.8 GB (`benchmarks.hashing simhash`).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Ints
from matcher.dedupe.base.pair_codes import PAIRS_PER_CHUNK, pack_pairs
from matcher.dedupe.base.text_columns import expand_ranges, slice_chunks

SimHashes = NDArray[np.unsignedinteger[Any]]  # 32 or 64 bits each; 0 stands for an empty text
PartChoice = tuple[int, ...]  # the numbers of the parts that must agree


@dataclass(frozen=True)
class HashParts:
    """A division of 32- or 64-bit hashes into `count` parts, of which `equal` must agree."""

    bits: int = 64
    count: int = 4
    equal: int = 2

    @property
    def width(self) -> int:
        """The bits of a part."""
        return self.bits // self.count

    def key(self, hashes: SimHashes, choice: PartChoice) -> SimHashes:
        """Return the bits of the chosen parts, in the smallest integer type that holds them."""
        word = hashes.dtype.type
        part_mask = word((1 << self.width) - 1)
        keys = np.zeros(len(hashes), dtype=hashes.dtype)
        for place, part in enumerate(choice):
            part_bits = (hashes >> word(part * self.width)) & part_mask
            keys |= part_bits << word(place * self.width)
        return keys.astype(_smallest_type(self.width * len(choice)))

    def choices(self) -> list[PartChoice]:
        """Return all choices of parts that may agree."""
        return [*combinations(range(self.count), self.equal)]

    def agree(self, left: SimHashes, right: SimHashes) -> Bools:
        """Return True where two hashes agree on enough parts.

        >>> left, right = np.array([0x11223344], np.uint32), np.array([0x11220000], np.uint32)
        >>> HashParts(32, 4, 2).agree(left, right).tolist()
        [True]
        """
        word = left.dtype.type
        part_mask = word((1 << self.width) - 1)
        difference = left ^ right
        agreeing = np.zeros(len(difference), dtype=np.int8)
        for part in range(self.count):
            agreeing += (difference >> word(part * self.width)) & part_mask == 0
        enough: Bools = agreeing >= self.equal
        return enough


def _smallest_type(bits: int) -> type[np.unsignedinteger[Any]]:
    if bits <= 16:
        return np.uint16
    if bits <= 32:
        return np.uint32
    return np.uint64


class HashTables:
    """An index of hashes that finds those that agree on enough parts; hashes of 0 match nothing."""

    def __init__(self, hashes: SimHashes, parts: HashParts) -> None:
        self._parts = parts
        used = np.flatnonzero(hashes).astype(np.uint32)
        build_table = partial(_build_table, hashes, used, parts)
        # numpy releases the GIL while it sorts.
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            self._tables = [*pool.map(build_table, parts.choices())]

    def find_matches(self, queries: SimHashes) -> Iterator[Ints]:
        """Yield packed pairs of a query and a stored hash; tables may repeat a pair."""
        rows = np.flatnonzero(queries)
        for choice, table in zip(self._parts.choices(), self._tables, strict=True):
            yield from table.find_matches(self._parts.key(queries[rows], choice), rows)

    def memory_bytes(self) -> int:
        """Return the memory that the tables take, in bytes."""
        return sum(table.memory_bytes() for table in self._tables)


class _Table:
    """The keys of one choice of parts in sorted order, with the rows they belong to."""

    def __init__(self, keys: SimHashes, rows: NDArray[np.uint32]) -> None:
        # numpy sorts 16-bit integers by radix sort only if asked for a stable order.
        order = np.argsort(keys, kind="stable" if keys.itemsize == 2 else "quicksort")
        self._keys, self._rows = keys[order], rows[order]

    def find_matches(self, keys: SimHashes, rows: Ints) -> Iterator[Ints]:
        """Yield packed pairs of a query's row and a stored row with equal keys."""
        by_key = np.argsort(keys, kind="stable")
        keys, rows = keys[by_key], rows[by_key]
        first = np.searchsorted(self._keys, keys, side="left")
        counts = np.searchsorted(self._keys, keys, side="right") - first
        for chunk in slice_chunks(counts, PAIRS_PER_CHUNK):
            stored = self._rows[expand_ranges(first[chunk], counts[chunk])]
            yield pack_pairs(np.repeat(rows[chunk], counts[chunk]), stored.astype(np.int64))

    def memory_bytes(self) -> int:
        """Return the memory that the table takes, in bytes."""
        return self._keys.nbytes + self._rows.nbytes


def _build_table(
    hashes: SimHashes, used: NDArray[np.uint32], parts: HashParts, choice: PartChoice
) -> _Table:
    return _Table(parts.key(hashes[used], choice), used)
