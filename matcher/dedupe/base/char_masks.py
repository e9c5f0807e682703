"""Character bags as 64-bit masks: a lower bound on the edit distance in two operations a pair.

One edit removes at most one character from the bag and adds at most one. So if more than d
characters of one text are missing in the other, their distance is above d. Each bit stands for a
character in its n-th occurrence. The most frequent ones have a bit of their own, the others share
bits, which can only loosen the bound. Occurrences counted from the left give the masks of all
beginnings of a text, those counted from the right the masks of all ends.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.text_columns import (
    CODE_POINT_BITS,
    CodePoints,
    run_offsets,
    slice_chunks,
)

BitNumbers = NDArray[np.uint8]  # the bit of each character of some texts, 0 to 63

MASK_BITS = 64  # bits of a mask: one machine word
DEDICATED_BITS = 52  # bits that stand for a single character each; the other 12 are shared
MAX_OCCURRENCE = 3  # later occurrences of a character share the token of this one (two bits)
_OCCURRENCE_BITS = 2
_SAMPLE_CHARACTERS = 500_000  # characters whose frequency decides which have a bit of their own
_CHARACTERS_PER_CHUNK = 1 << 18  # characters numbered at once; 2 MB an array


class CharBits:
    """The bit of each character in its n-th occurrence.

    `tokens` have a bit of their own: code point << 2 | occurrence, at most 52 of them.
    """

    def __init__(self, tokens: Ints) -> None:
        self.tokens = tokens

    @classmethod
    def from_texts(cls, columns: Sequence[tuple[CodePoints, Ints]]) -> "CharBits":
        """Give the most frequent characters of some columns a bit each.

        A column is the code points of its texts and their lengths. Of large ones a part is read.
        """
        counts = dict[int, int]()
        characters = sum(len(points) for points, _ in columns)
        step = 1 + characters // _SAMPLE_CHARACTERS
        for points, lengths in columns:
            for number, chunk in enumerate(_chunks(points, lengths)):
                if number % step == 0:
                    tokens, _ = _number_tokens(*chunk)
                    distinct, frequency = np.unique(tokens, return_counts=True)
                    for token, count in zip(distinct.tolist(), frequency.tolist(), strict=True):
                        counts[token] = counts.get(token, 0) + count
        by_frequency = sorted(counts, key=lambda token: (-counts[token], token))
        return cls(np.array(by_frequency[:DEDICATED_BITS], dtype=np.int64))

    def _number_bits(self, tokens: int) -> BitNumbers:
        """Return the bits of all tokens below a number."""
        shared = np.arange(DEDICATED_BITS, MASK_BITS, dtype=np.uint8)
        bits = np.resize(shared, tokens)
        occurring = np.flatnonzero(self.tokens < tokens)
        bits[self.tokens[occurring]] = occurring
        return bits

    def number(self, points: CodePoints, lengths: Ints) -> tuple[BitNumbers, BitNumbers]:
        """Return the bit of each character, with occurrences counted from the left and the right.

        `points` are the code points of some texts, end to end.
        """
        from_left = np.empty(len(points), dtype=np.uint8)
        from_right = np.empty(len(points), dtype=np.uint8)
        bit_of = self._number_bits((int(points.max(initial=0)) + 1) << _OCCURRENCE_BITS)
        start = 0
        for chunk_points, chunk_lengths in _chunks(points, lengths):
            left_tokens, right_tokens = _number_tokens(chunk_points, chunk_lengths)
            stop = start + len(chunk_points)
            from_left[start:stop] = bit_of[left_tokens]
            from_right[start:stop] = bit_of[right_tokens]
            start = stop
        return from_left, from_right


def _chunks(points: CodePoints, lengths: Ints) -> Iterator[tuple[CodePoints, Ints]]:
    offsets = run_offsets(lengths)
    for chunk in slice_chunks(lengths, _CHARACTERS_PER_CHUNK):
        yield points[offsets[chunk.start] : offsets[chunk.stop]], lengths[chunk]


def _number_tokens(points: CodePoints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return the token of each character, with occurrences counted from the left and the right."""
    place_bits = len(points).bit_length()
    # Text, character and place as one number: sorted, equal characters of a text stand in a run.
    keys = np.repeat(np.arange(len(lengths)) << (CODE_POINT_BITS + place_bits), lengths)
    keys |= points.astype(np.int64) << place_bits
    keys |= np.arange(len(points))
    keys.sort()
    places = keys & ((1 << place_bits) - 1)
    keys >>= place_bits
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(keys)))
    from_left = np.arange(len(keys)) - np.repeat(starts, sizes)
    from_right = np.repeat(sizes, sizes) - 1 - from_left
    characters = (keys & ((1 << CODE_POINT_BITS) - 1)) << _OCCURRENCE_BITS
    left_tokens = np.empty(len(keys), dtype=np.int64)
    right_tokens = np.empty(len(keys), dtype=np.int64)
    left_tokens[places] = characters | np.minimum(from_left, MAX_OCCURRENCE)
    right_tokens[places] = characters | np.minimum(from_right, MAX_OCCURRENCE)
    return left_tokens, right_tokens


def combine_bits(bits: BitNumbers, lengths: Ints) -> UInts:
    """Return the mask of each of some texts from the bits of their characters."""
    masks = np.zeros(len(lengths), dtype=np.uint64)
    # reduceat cannot express empty runs, so empty texts keep the mask 0.
    filled = np.flatnonzero(lengths)
    if len(filled):
        flags = np.uint64(1) << bits.astype(np.uint64)
        masks[filled] = np.bitwise_or.reduceat(flags, run_offsets(lengths)[filled])
    return masks


class MissingBits:
    """Counts the bits that each of some masks has and each of some others lacks.

    Its arrays are used again by each call, which halves the time.
    """

    def __init__(self, rows: int, columns: int) -> None:
        """Make room for at most `rows` masks and exactly `columns` others."""
        self._masks = np.empty((rows, columns), dtype=np.uint64)
        self._counts = np.empty((rows, columns), dtype=np.uint8)

    def count(self, masks: UInts, inverted_others: UInts) -> NDArray[np.uint8]:
        """Return the counts, a row for each mask; they hold until the next call."""
        missing, counts = self._masks[: len(masks)], self._counts[: len(masks)]
        np.bitwise_and(masks[:, None], inverted_others, out=missing)
        return np.bitwise_count(missing, out=counts)


def count_missing(masks: UInts, others: UInts) -> NDArray[np.uint8]:
    """Count the characters of each mask that the other mask lacks."""
    counts: NDArray[np.uint8] = np.bitwise_count(masks & ~others)
    return counts


def within_edits(
    longer: UInts, shorter: UInts, max_edits: int, length_difference: Ints | int
) -> Bools:
    """Return True where the masks allow at most `max_edits` edits between the texts.

    >>> longer, shorter = np.array([0b0111], np.uint64), np.array([0b1001], np.uint64)
    >>> within_edits(longer, shorter, 1, 0).tolist()
    [False]
    """
    deleted, inserted = count_missing(longer, shorter), count_missing(shorter, longer)
    possible: Bools = (deleted <= max_edits) & (inserted <= max_edits - length_difference)
    return possible
