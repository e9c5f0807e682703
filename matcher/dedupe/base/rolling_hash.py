"""Hashes of all substrings of texts of one length, column by column: a subtraction and a product for each.

The hash of a text's start is the sum of its characters times powers of an odd base, modulo 2^64; that of a substring is
a difference of two such sums times an inverse power. Equal substrings have equal hashes; unequal ones hardly ever, and
where they do, the distance that is computed afterwards tells.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.dedupe.base.char_masks import masks
from matcher.dedupe.base.join import Words
from matcher.dedupe.base.text_columns import Distinct, code_points, offsets

_BASE = 0x9E3779B97F4A7C15
_SEED = 0xD1B54A32D192ED03
_INVERSE = pow(_BASE, -1, 1 << 64)


class Hashed:
    """Distinct texts by length, with their masks and the hashes of their substrings."""

    def __init__(self, column: Distinct, mask: Words) -> None:
        self.column, self.mask = column, mask
        self.spans = column.spans()
        self._sums: dict[int, Words] = {}
        self._points = mixed(code_points(column.texts))
        self._offsets = offsets(column.lengths)

    @cached_property
    def _powers(self) -> tuple[Words, Words]:
        count = max(self.spans, default=0) + 1
        return powers(count), powers(count, inverse=True)

    def substring(self, length: int, start: int, stop: int) -> Words:
        """The hashes of text[start:stop] for all texts of a length."""
        sums = self._sums.get(length)
        if sums is None:
            sums = self._sums[length] = self._summed(length)
        found: Words = (sums[stop] - sums[start]) * self._powers[1][start]
        return found

    def _summed(self, length: int) -> Words:
        first, last = self.spans[length]
        points = (
            self._points[self._offsets[first] : self._offsets[last]].reshape(last - first, length).T
        )
        sums = np.zeros((length + 1, last - first), dtype=np.uint64)
        np.cumsum(points * self._powers[0][:length, None], axis=0, out=sums[1:])
        return sums


def hashed(columns: Sequence[Distinct]) -> list[Hashed]:
    """Some columns with their hashes; masks mean the same in all."""
    return [Hashed(column, mask) for column, mask in zip(columns, masks(columns), strict=True)]


def mixed(values: NDArray[np.integer[Any]]) -> Words:
    """Numbers made to look random (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = values.astype(np.uint64) + np.uint64(_SEED)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: Words = z ^ (z >> np.uint64(31))
        return found


def powers(count: int, inverse: bool = False) -> Words:
    """The first powers of the base, or of its inverse, modulo 2^64."""
    return _powers(count.bit_length(), inverse)[:count]


@lru_cache(maxsize=4)
def _powers(bits: int, inverse: bool) -> Words:
    factors = np.full(1 << bits, _INVERSE if inverse else _BASE, dtype=np.uint64)
    factors[0] = 1
    found: Words = np.cumprod(factors)
    return found
