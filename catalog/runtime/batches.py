"""Batches of values, for statements that take a bounded number of parameters."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the values in their order, `size` at a time; the last batch may be smaller.

    >>> list(batches([1, 2, 3], 2)), list(batches([], 2))
    ([[1, 2], [3]], [])
    """
    for start in range(0, len(values), size):
        yield values[start : start + size]
