"""Polynomial hashes of all substrings of texts of one length: a subtraction and a product each.

The hash of a prefix is the sum of its characters times powers of an odd base, modulo 2^64 (Karp and
Rabin, 1987). That of a substring is the difference of two prefix sums times an inverse power. Equal
substrings have equal hashes; a rare collision costs one distance computation, never a pair.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from matcher.dedupe.base.char_masks import build_masks
from matcher.dedupe.base.join import UInt64Array
from matcher.dedupe.base.text_columns import TextColumn, code_points, run_offsets
from matcher.mixed_bits import mix_bits

_BASE = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, odd and so invertible modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)


class HashedColumn:
    """A text column with its character masks and the hashes of all substrings."""

    def __init__(self, column: TextColumn, masks: UInt64Array) -> None:
        self.column = column
        self.masks = masks
        self.length_ranges = column.length_ranges()
        self._prefix_sums: dict[int, UInt64Array] = {}
        self._points = mix_bits(code_points(column.texts))
        self._offsets = run_offsets(column.lengths)

    def count(self, length: int) -> int:
        """Return the number of texts of a length that the column has."""
        first, end = self.length_ranges[length]
        return end - first

    @cached_property
    def _powers(self) -> tuple[UInt64Array, UInt64Array]:
        count = max(self.length_ranges, default=0) + 1
        return base_powers(count), base_powers(count, inverse=True)

    def substring_hashes(self, length: int, start: int, stop: int) -> UInt64Array:
        """Return the hashes of text[start:stop] for all texts of a length."""
        sums = self._prefix_sums.get(length)
        if sums is None:
            sums = self._prefix_sums[length] = self._sum_prefixes(length)
        hashes: UInt64Array = (sums[stop] - sums[start]) * self._powers[1][start]
        return hashes

    def _sum_prefixes(self, length: int) -> UInt64Array:
        """Return the prefix sums of all texts of a length; rows are positions, columns texts."""
        first, end = self.length_ranges[length]
        points = self._points[self._offsets[first] : self._offsets[end]]
        by_position = points.reshape(end - first, length).T
        sums = np.zeros((length + 1, end - first), dtype=np.uint64)
        np.cumsum(by_position * self._powers[0][:length, None], axis=0, out=sums[1:])
        return sums


def hash_columns(columns: Sequence[TextColumn]) -> list[HashedColumn]:
    """Hash some columns; the bits of their masks mean the same in all."""
    hashed = list[HashedColumn]()
    for column, masks in zip(columns, build_masks(columns), strict=True):
        hashed.append(HashedColumn(column, masks))
    return hashed


def base_powers(count: int, inverse: bool = False) -> UInt64Array:
    """Return the first powers of the base, or of its inverse, modulo 2^64."""
    # Rounded up to a power of two, so that the cache serves many lengths.
    return _base_powers(count.bit_length(), inverse)[:count]


@lru_cache(maxsize=4)
def _base_powers(bits: int, inverse: bool) -> UInt64Array:
    base = _INVERSE if inverse else _BASE
    factors = np.full(1 << bits, base, dtype=np.uint64)
    factors[0] = 1
    powers: UInt64Array = np.cumprod(factors)
    return powers
