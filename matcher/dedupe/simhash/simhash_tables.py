"""Sorted tables of hashes, one for each choice of parts that must agree: looked up by binary search, all at once.

A table is the order of the hashes by the bits of its parts; the hashes themselves stand once. Fifteen million hashes of
64 bits with six tables take 0.8 GB.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.dedupe.base.join import Flags, Indices
from matcher.dedupe.base.text_columns import chunks, spread

Hashes = NDArray[np.unsignedinteger[Any]]
MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Parts:
    """How hashes of 32 or 64 bits are cut, and on how many of the parts two must agree."""

    bits: int = 64
    count: int = 4
    equal: int = 2

    def key(self, hashes: Hashes, chosen: tuple[int, ...]) -> Hashes:
        """The bits of the chosen parts, as one number of the least size."""
        width = self.bits // self.count
        kind = (
            np.uint16
            if width * len(chosen) <= 16
            else np.uint32
            if width * len(chosen) <= 32
            else np.uint64
        )
        found = np.zeros(len(hashes), dtype=hashes.dtype)
        for place, part in enumerate(chosen):
            piece = (hashes >> hashes.dtype.type(part * width)) & hashes.dtype.type(
                (1 << width) - 1
            )
            found |= piece << hashes.dtype.type(place * width)
        return found.astype(kind)

    def choices(self) -> list[tuple[int, ...]]:
        """All choices of parts that agree."""
        return [*combinations(range(self.count), self.equal)]

    def agree(self, one: Hashes, other: Hashes) -> Flags:
        """Whether two hashes agree on enough parts.

        >>> parts = Parts(32, 4, 2)
        >>> parts.agree(np.array([0x11223344], dtype=np.uint32), np.array([0x11220000], dtype=np.uint32)).tolist()
        [True]
        """
        apart, width = one ^ other, self.bits // self.count
        mask = one.dtype.type((1 << width) - 1)
        same = sum(
            ((apart >> one.dtype.type(part * width)) & mask == 0).astype(np.int8)
            for part in range(self.count)
        )
        found: Flags = np.asarray(same) >= self.equal
        return found


class Tables:
    """Hashes that can be asked for those that agree on enough parts. A hash of 0 stands for nothing, and meets none."""

    def __init__(self, hashes: Hashes, parts: Parts) -> None:
        self._parts = parts
        used = np.flatnonzero(hashes).astype(np.uint32)
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            self._tables = [
                *pool.map(
                    lambda chosen: _Table(parts.key(hashes[used], chosen), used), parts.choices()
                )
            ]

    def meeting(self, asked: Hashes) -> Iterator[Indices]:
        """Pairs of an asked hash and a stored one as `asked << 32 | stored`; one pair may come from several tables."""
        rows = np.flatnonzero(asked)
        for chosen, table in zip(self._parts.choices(), self._tables, strict=True):
            yield from table.meeting(self._parts.key(asked[rows], chosen), rows)

    def bytes(self) -> int:
        """The memory that the tables take."""
        return sum(table.keys.nbytes + table.order.nbytes for table in self._tables)


class _Table:
    def __init__(self, keys: Hashes, rows: NDArray[np.uint32]) -> None:
        order = np.argsort(keys, kind="stable" if keys.itemsize == 2 else "quicksort")
        self.keys, self.order = keys[order], rows[order]

    def meeting(self, keys: Hashes, rows: Indices) -> Iterator[Indices]:
        by_key = np.argsort(keys, kind="stable")
        keys, rows = keys[by_key], rows[by_key]
        first = np.searchsorted(self.keys, keys, side="left")
        count = np.searchsorted(self.keys, keys, side="right") - first
        for part in chunks(count, MOST_AT_ONCE):
            stored = self.order[spread(first[part], count[part])]
            yield np.repeat(rows[part], count[part]) << 32 | stored.astype(np.int64)
