"""Character bags as 64-bit masks: a lower bound on the edit distance in two operations a pair.

One edit removes at most one character from the bag and adds at most one. So if more than d
characters of one text are missing in the other, their distance is above d. Each bit stands for a
character in its n-th occurrence. The most frequent ones have a bit of their own, the others share
bits, which can only loosen the bound.
"""

from collections.abc import Sequence

import numpy as np

from matcher.dedupe.base.join import BoolArray, IntArray, UInt64Array
from matcher.dedupe.base.text_columns import (
    TextColumn,
    code_points,
    number_occurrences,
    run_offsets,
)

MASK_BITS = 64  # bits of a mask: one machine word
DEDICATED_BITS = 52  # bits that stand for a single character each; the other 12 are shared
MAX_OCCURRENCE = 3  # later occurrences of a character share the token of this one (two bits)


def build_masks(columns: Sequence[TextColumn]) -> list[UInt64Array]:
    """Return the masks of the texts of some columns; the bits mean the same in all."""
    tokens_of_column = [_mask_tokens(column) for column in columns]
    bit_of = _assign_bits(tokens_of_column)
    masks = list[UInt64Array]()
    for column, tokens in zip(columns, tokens_of_column, strict=True):
        masks.append(_combine_bits(bit_of[tokens], column.lengths))
    return masks


def _mask_tokens(column: TextColumn) -> IntArray:
    points, occurrence = number_occurrences(code_points(column.texts), column.lengths)
    return (points.astype(np.int64) << 2) | np.minimum(occurrence, MAX_OCCURRENCE)


def _assign_bits(tokens_of_column: list[IntArray]) -> UInt64Array:
    """Return the bit of each token: dedicated for the most frequent, the others take turns."""
    token_count = 1
    for tokens in tokens_of_column:
        token_count = max(token_count, int(tokens.max(initial=0)) + 1)
    frequency = np.zeros(token_count, dtype=np.int64)
    for tokens in tokens_of_column:
        frequency += np.bincount(tokens, minlength=token_count)
    used = np.flatnonzero(frequency)
    rank = np.empty(len(used), dtype=np.int64)
    rank[np.argsort(-frequency[used], kind="stable")] = np.arange(len(used))
    shared_bit = DEDICATED_BITS + rank % (MASK_BITS - DEDICATED_BITS)
    bit_number = np.where(rank < DEDICATED_BITS, rank, shared_bit)
    bit_of = np.zeros(token_count, dtype=np.uint64)
    bit_of[used] = np.uint64(1) << bit_number.astype(np.uint64)
    return bit_of


def _combine_bits(bits: UInt64Array, lengths: IntArray) -> UInt64Array:
    masks = np.zeros(len(lengths), dtype=np.uint64)
    # reduceat cannot express empty runs, so empty texts keep the mask 0.
    filled = np.flatnonzero(lengths)
    if len(filled):
        masks[filled] = np.bitwise_or.reduceat(bits, run_offsets(lengths)[filled])
    return masks


def within_edits(
    longer: UInt64Array, shorter: UInt64Array, max_edits: int, length_difference: IntArray | int
) -> BoolArray:
    """Return True where the masks allow at most `max_edits` edits between the texts.

    >>> longer, shorter = np.array([0b0111], np.uint64), np.array([0b1001], np.uint64)
    >>> within_edits(longer, shorter, 1, 0).tolist()
    [False]
    """
    deleted = np.bitwise_count(longer & ~shorter)
    inserted = np.bitwise_count(shorter & ~longer)
    possible: BoolArray = (deleted <= max_edits) & (inserted <= max_edits - length_difference)
    return possible
