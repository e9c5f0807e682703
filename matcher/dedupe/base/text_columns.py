"""Columns of texts as numpy arrays: sorted by length, all characters in one run of code points.

numpy pads texts to the longest one, so a single text of 10,000 characters would blow up a column of
short ones. Here the characters stand end to end, and an operation is one pass over the run.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints
from matcher.dedupe.base.join import PairBatch, check_pair_count
from matcher.dedupe.base.packed_texts import SelectedTexts, take_texts
from matcher.text_arrays import CodePoints as CodePoints
from matcher.text_arrays import code_points as code_points

ArrayT = TypeVar("ArrayT", bound=NDArray[Any])

# Texts that are numbered by a dictionary, which takes 200 bytes for each.
MAX_DICTIONARY = 500_000
CODE_POINT_BITS = 21  # bits of the largest code point (Unicode ends at U+10FFFF)


@dataclass(frozen=True)
class TextColumn:
    """Texts by ascending length, and the rows of the records that hold each.

    Text i stands in `rows[row_starts[i] : row_starts[i + 1]]`.
    """

    texts: Sequence[str]
    lengths: Ints
    rows: Ints
    row_starts: Ints

    def length_ranges(self) -> dict[int, tuple[int, int]]:
        """Return for each length the range of texts that have it."""
        lengths, starts, _ = split_runs(self.lengths)
        ranges = pairwise([*starts.tolist(), len(self.lengths)])
        return dict(zip(lengths.tolist(), ranges, strict=True))


def group_equal_texts(texts: Sequence[str]) -> TextColumn:
    """Build a column of the distinct texts, each with all its rows.

    >>> column = group_equal_texts(["bb", "a", "bb"])
    >>> column.texts, column.rows.tolist(), column.row_starts.tolist()
    (['a', 'bb'], [1, 0, 2], [0, 1, 3])
    """
    distinct, text_of_row = _factorize(texts)
    lengths = _text_lengths(distinct)
    by_length = stable_argsort(lengths)
    rank_of_row = stable_argsort(by_length)[text_of_row]
    rows_per_text = np.bincount(rank_of_row, minlength=len(distinct))
    return TextColumn(
        _select(distinct, by_length),
        lengths[by_length],
        stable_argsort(rank_of_row),
        run_offsets(rows_per_text),
    )


def _factorize(texts: Sequence[str]) -> tuple[Sequence[str], Ints]:
    """Return the distinct texts in the order in which they come, and the number of each row's."""
    if len(texts) > MAX_DICTIONARY:
        factorized = _factorize_by_hashes(texts)
        if factorized is not None:
            return factorized
    # A dictionary that numbers new texts by itself is the fastest way to factorize strings.
    number_of: dict[str, int] = defaultdict(count().__next__)
    text_of_row = np.fromiter(map(number_of.__getitem__, texts), dtype=np.int64, count=len(texts))
    return [*number_of], text_of_row


def _factorize_by_hashes(texts: Sequence[str]) -> tuple[Sequence[str], Ints] | None:
    """Factorize without holding the texts; None if two different ones share a hash of 64 bits."""
    hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
    _, first_rows, hash_of_row = np.unique(hashes, return_index=True, return_inverse=True)
    for row in np.flatnonzero(first_rows[hash_of_row] != np.arange(len(texts))).tolist():
        if texts[row] != texts[int(first_rows[hash_of_row[row]])]:
            return None
    order = np.argsort(first_rows)
    number_of_hash = np.empty(len(order), np.int64)
    number_of_hash[order] = np.arange(len(order))
    return SelectedTexts(texts, first_rows[order]), number_of_hash[hash_of_row]


def _select(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    """Return the texts of some rows; many of them are read where they are."""
    return texts.select(rows) if isinstance(texts, SelectedTexts) else take_texts(texts, rows)


def sort_by_length(texts: Sequence[str]) -> TextColumn:
    """Build a column in which every row keeps a text of its own, equal texts included."""
    lengths = _text_lengths(texts)
    rows = stable_argsort(lengths)
    return TextColumn(_select(texts, rows), lengths[rows], rows, np.arange(len(texts) + 1))


def _text_lengths(texts: Sequence[str]) -> Ints:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def run_offsets(lengths: Ints) -> Ints:
    """Return the start of each of some consecutive runs, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def number_occurrences(points: CodePoints, lengths: Ints) -> tuple[CodePoints, Ints]:
    """Sort the characters of each text, and number the occurrences of each character in it from 0.

    >>> points, occurrence = number_occurrences(code_points(["abba", "b"]), np.array([4, 1]))
    >>> "".join(map(chr, points)), occurrence.tolist()
    ('aabbb', [0, 1, 0, 1, 0])
    """
    keys = np.repeat(np.arange(len(lengths)) << CODE_POINT_BITS, lengths) | points
    keys.sort()
    places = np.arange(len(keys))
    is_first = np.r_[True, keys[1:] != keys[:-1]][: len(keys)]
    run_start = np.maximum.accumulate(np.where(is_first, places, 0))
    characters = (keys & ((1 << CODE_POINT_BITS) - 1)).astype(np.uint32)
    return characters, places - run_start


def sort_unique(values: ArrayT) -> ArrayT:
    """Return the distinct values, sorted.

    `np.unique` hashes, which takes ten times as long where few values repeat.

    >>> sort_unique(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    return cast(ArrayT, split_runs(np.sort(values))[0])


def stable_argsort(numbers: Ints) -> Ints:
    """Argsort numbers below 2^31, keeping the order of equal ones; five times as fast as numpy.

    >>> stable_argsort(np.array([3, 1, 3])).tolist()
    [1, 0, 2]
    """
    packed = numbers << 32 | np.arange(len(numbers))
    packed.sort()
    return packed & 0xFFFFFFFF


def split_runs(ordered: ArrayT) -> tuple[ArrayT, Ints, Ints]:
    """Return the distinct values of a sorted array, the start of each run, and its length.

    >>> [part.tolist() for part in split_runs(np.array([3, 3, 7]))]
    [[3, 7], [0, 2], [2, 1]]
    """
    is_start = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    starts = np.flatnonzero(is_start)
    return cast(ArrayT, ordered[starts]), starts, np.diff(np.append(starts, len(ordered)))


def expand_ranges(starts: Ints, counts: Ints) -> Ints:
    """Return the numbers of some ranges, end to end.

    >>> expand_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    range_offsets = np.cumsum(counts) - counts
    return np.repeat(starts - range_offsets, counts) + np.arange(int(counts.sum()))


def slice_chunks(sizes: Ints, max_size: int) -> Iterator[slice]:
    """Yield slices of consecutive items whose sizes sum to at most `max_size`.

    An item larger than that has a slice of its own.

    >>> [(s.start, s.stop) for s in slice_chunks(np.array([3, 3, 9, 1]), 6)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.cumsum(sizes)
    start = size_before = 0
    while start < len(sizes):
        stop = int(np.searchsorted(ends, size_before + max_size, side="right"))
        stop = max(start + 1, stop)
        yield slice(start, stop)
        start, size_before = stop, int(ends[stop - 1])


def expand_to_rows(
    left_texts: Ints, right_texts: Ints, left: TextColumn, right: TextColumn
) -> tuple[Ints, Ints, Ints]:
    """Expand pairs of texts to pairs of rows: all rows of the left text with all of the right one.

    The third array has for each pair of rows the number of its pair of texts. Raises UsageError if
    there are too many pairs.
    """
    left_counts = np.diff(left.row_starts)[left_texts]
    right_counts = np.diff(right.row_starts)[right_texts]
    row_pairs = left_counts * right_counts
    check_pair_count(int(row_pairs.sum()))
    source = np.repeat(np.arange(len(left_texts)), row_pairs)
    nth = expand_ranges(np.zeros(len(left_texts), dtype=np.int64), row_pairs)
    return (
        left.rows[left.row_starts[left_texts[source]] + nth // right_counts[source]],
        right.rows[right.row_starts[right_texts[source]] + nth % right_counts[source]],
        source,
    )


def pair_equal_rows(column: TextColumn) -> tuple[Ints, Ints]:
    """Return all pairs of rows that hold the same text. Raises UsageError if they are too many."""
    counts = np.diff(column.row_starts)
    check_pair_count(int((counts * (counts - 1) // 2).sum()))
    places = np.arange(len(column.rows))
    partner_counts = np.repeat(column.row_starts[1:], counts) - places - 1
    left = np.repeat(places, partner_counts)
    right = expand_ranges(places + 1, partner_counts)
    return column.rows[left], column.rows[right]


def equal_pairs(column: TextColumn) -> PairBatch:
    """Return all pairs of rows with the same text, with similarity 1 and the first reason."""
    left, right = pair_equal_rows(column)
    return PairBatch(left, right, np.ones(len(left)), np.zeros(len(left), dtype=np.int64))
