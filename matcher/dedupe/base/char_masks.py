"""Bags of characters as 64 bits, for a bound on the edit distance that costs two operations a pair.

One edit takes at most one character out of the bag and puts at most one in. So a text of which more than `d` characters
are missing in the other is further than `d` away. Each bit stands for a character in its n-th occurrence; the commonest
have a bit of their own, the others share, which can only make the bound weaker, never wrong.
"""

from collections.abc import Sequence

import numpy as np

from matcher.dedupe.base.join import Flags, Indices, Words
from matcher.dedupe.base.text_columns import Distinct, bags, code_points, offsets

OWN = 52
BITS = 64
MOST_NTH = 3


def masks(columns: Sequence[Distinct]) -> list[Words]:
    """The masks of the texts of some columns, with the same meaning of bits in all."""
    found = [bags(code_points(column.texts), column.lengths) for column in columns]
    tokens = [(points.astype(np.int64) << 2) | np.minimum(nth, MOST_NTH) for points, nth in found]
    bit_of = _bits(tokens)
    return [
        _gathered(bit_of[token], column.lengths)
        for token, column in zip(tokens, columns, strict=True)
    ]


def _bits(tokens: list[Indices]) -> Words:
    """The bit of each token: own ones for the commonest, the rest of the 64 for the others in turn."""
    most = max((int(token.max()) for token in tokens if len(token)), default=0) + 1
    counts = sum(np.bincount(token, minlength=most) for token in tokens)
    used = np.flatnonzero(counts)
    ranks = np.empty(len(used), dtype=np.int64)
    ranks[np.argsort(-np.asarray(counts)[used], kind="stable")] = np.arange(len(used))
    places = np.where(ranks < OWN, ranks, OWN + ranks % (BITS - OWN))
    bit_of = np.zeros(most, dtype=np.uint64)
    bit_of[used] = np.uint64(1) << places.astype(np.uint64)
    return bit_of


def _gathered(bits: Words, lengths: Indices) -> Words:
    found = np.zeros(len(lengths), dtype=np.uint64)
    filled = np.flatnonzero(lengths)
    if len(filled):
        found[filled] = np.bitwise_or.reduceat(bits, offsets(lengths)[filled])
    return found


def near(longer: Words, shorter: Words, most: int, shorter_by: Indices | int) -> Flags:
    """Whether the masks allow at most `most` edits between a text and one that is shorter by so much.

    >>> near(np.array([0b0111], dtype=np.uint64), np.array([0b1001], dtype=np.uint64), 1, 0).tolist()
    [False]
    """
    lost = np.bitwise_count(longer & ~shorter)
    gained = np.bitwise_count(shorter & ~longer)
    possible: Flags = (lost <= most) & (gained <= most - shorter_by)
    return possible
