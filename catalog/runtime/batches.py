"""Batches of values: of a bounded number, as for a statement's parameters, or of a bounded size."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the values in their order, `size` at a time; the last batch may be smaller.

    >>> list(batches([1, 2, 3], 2)), list(batches([], 2))
    ([[1, 2], [3]], [])
    """
    for start in range(0, len(values), size):
        yield values[start : start + size]


def iterate_batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the values of an iterator as `batches` does those of a sequence.

    A batch is read when it is asked for.

    >>> list(iterate_batches(iter([1, 2, 3]), 2)), list(iterate_batches([], 2))
    ([[1, 2], [3]], [])
    """
    remaining = iter(values)
    while batch := list(islice(remaining, size)):
        yield batch


def batches_by_size(
    values: Iterable[T], max_size: int, size_of: Callable[[T], int]
) -> Iterator[list[T]]:
    """Yield the values in their order, in batches of at most `max_size`; a larger one is alone.

    >>> list(batches_by_size(["ab", "c", "defg", "h"], 3, len))
    [['ab', 'c'], ['defg'], ['h']]
    """
    batch: list[T] = []
    batch_size = 0
    for value in values:
        size = size_of(value)
        if batch and batch_size + size > max_size:
            yield batch
            batch, batch_size = [], 0
        batch.append(value)
        batch_size += size
    if batch:
        yield batch
