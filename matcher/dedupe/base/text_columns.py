"""Texts as arrays: each distinct text once, sorted by length, their characters in one run of code points.

numpy has no text type that is not padded to the longest, so a single text of 10,000 characters would blow up a column
of short ones. Here characters stand end to end, and all work on them is one pass over the run.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from matcher.dedupe.base.join import Indices, Part, refuse_flood

Points = NDArray[np.uint32]
Numbers = TypeVar("Numbers", bound=NDArray[Any])
_BITS_OF_A_CHARACTER = 21


@dataclass(frozen=True)
class Distinct:
    """The distinct texts of a column by length, and the rows each stands in (`rows[starts[i] : starts[i + 1]]`)."""

    texts: list[str]
    lengths: Indices
    rows: Indices
    starts: Indices

    def spans(self) -> dict[int, tuple[int, int]]:
        """Where the texts of each length begin and end."""
        lengths, first, _ = runs(self.lengths)
        ends = pairwise([*first.tolist(), len(self.lengths)])
        return dict(zip(lengths.tolist(), ends, strict=True))


def distinct(texts: Sequence[str]) -> Distinct:
    """The distinct texts of a column, shortest first.

    >>> found = distinct(["bb", "a", "bb"])
    >>> found.texts, found.rows.tolist(), found.starts.tolist()
    (['a', 'bb'], [1, 0, 2], [0, 1, 3])
    """
    place: dict[str, int] = defaultdict(count().__next__)
    seen = np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))
    once = [*place]
    lengths = np.fromiter(map(len, once), dtype=np.int64, count=len(once))
    shortest_first = in_order(lengths)
    of_row = in_order(shortest_first)[seen]
    counts = np.bincount(of_row, minlength=len(once))
    return Distinct(
        [once[at] for at in shortest_first.tolist()],
        lengths[shortest_first],
        in_order(of_row),
        offsets(counts),
    )


def by_length(texts: Sequence[str]) -> Distinct:
    """The texts of a column, shortest first, each row for itself."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    rows = in_order(lengths)
    return Distinct(
        [texts[row] for row in rows.tolist()], lengths[rows], rows, np.arange(len(texts) + 1)
    )


def code_points(texts: Sequence[str]) -> Points:
    """All characters of all texts, end to end."""
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def offsets(lengths: Indices) -> Indices:
    """Where each of some runs of these lengths begins, and where the last ends."""
    found = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def bags(points: Points, lengths: Indices) -> tuple[Points, Indices]:
    """The characters of each text in sorted order, and of each the how-many-th it is of its kind in its text.

    >>> points, nth = bags(code_points(["abba", "b"]), np.array([4, 1]))
    >>> "".join(map(chr, points)), nth.tolist()
    ('aabbb', [0, 1, 0, 1, 0])
    """
    keys = np.repeat(np.arange(len(lengths)) << _BITS_OF_A_CHARACTER, lengths) | points
    keys.sort()
    places = np.arange(len(keys))
    firsts = np.where(np.r_[True, keys[1:] != keys[:-1]][: len(keys)], places, 0)
    nth = places - np.maximum.accumulate(firsts)
    return (keys & ((1 << _BITS_OF_A_CHARACTER) - 1)).astype(np.uint32), nth


def once(values: Numbers) -> Numbers:
    """The distinct values, sorted. numpy's own `unique` hashes, which takes ten times as long where few repeat.

    >>> once(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    return cast(Numbers, runs(np.sort(values))[0])


def in_order(numbers: Indices) -> Indices:
    """The places of some numbers below 2^31 in their order: a stable argsort, in a fifth of its time.

    >>> in_order(np.array([3, 1, 3])).tolist()
    [1, 0, 2]
    """
    found = numbers << 32 | np.arange(len(numbers))
    found.sort()
    return found & 0xFFFFFFFF


def runs(ordered: Numbers) -> tuple[Numbers, Indices, Indices]:
    """The distinct values of a sorted array, where each begins, and how many there are.

    >>> [part.tolist() for part in runs(np.array([3, 3, 7]))]
    [[3, 7], [0, 2], [2, 1]]
    """
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    return cast(Numbers, ordered[first]), first, np.diff(np.append(first, len(ordered)))


def spread(starts: Indices, counts: Indices) -> Indices:
    """The numbers of some ranges, end to end.

    >>> spread(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    begins = np.cumsum(counts) - counts
    return np.repeat(starts - begins, counts) + np.arange(int(counts.sum()))


def chunks(sizes: Indices, most: int) -> Iterator[slice]:
    """Slices of consecutive items whose sizes sum up to at most `most`, or that are one item larger than that.

    >>> [(s.start, s.stop) for s in chunks(np.array([3, 3, 9, 1]), 6)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends, start = np.cumsum(sizes), 0
    while start < len(sizes):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(start, stop)
        start = stop


def rows_of(
    a: Indices, b: Indices, left: Distinct, right: Distinct
) -> tuple[Indices, Indices, Indices]:
    """Pairs of distinct texts as pairs of rows: every row of the one with every row of the other.

    The third array says which pair of texts each pair of rows comes from.
    """
    first, second = np.diff(left.starts)[a], np.diff(right.starts)[b]
    refuse_flood(int((first * second).sum()))
    of = np.repeat(np.arange(len(a)), first * second)
    within = spread(np.zeros(len(a), dtype=np.int64), first * second)
    return (
        left.rows[left.starts[a[of]] + within // second[of]],
        right.rows[right.starts[b[of]] + within % second[of]],
        of,
    )


def equal_rows(column: Distinct) -> tuple[Indices, Indices]:
    """All pairs of rows with one and the same text, each once."""
    counts = np.diff(column.starts)
    refuse_flood(int((counts * (counts - 1) // 2).sum()))
    after = np.repeat(column.starts[1:], counts) - np.arange(len(column.rows)) - 1
    here = np.repeat(np.arange(len(column.rows)), after)
    return column.rows[here], column.rows[spread(np.arange(len(column.rows)) + 1, after)]


def equal(column: Distinct) -> Part:
    """All pairs of rows with one and the same text, as a part of a result: alike by 1, for the first reason."""
    a, b = equal_rows(column)
    return a, b, np.ones(len(a)), np.zeros(len(a), dtype=np.int64)
