"""The majority of many words at each of 64 bits, for many texts at a time: counters that are sliced by bits.

The n-th bits of all 64 counters of a text are one number; adding a word to them takes an AND and an XOR a slice, for
all texts with as many words at once. A count bit by bit takes twenty times as long, and is left to long texts.
"""

from itertools import pairwise

import numpy as np

from matcher.dedupe.base.join import Indices, Words
from matcher.dedupe.base.text_columns import in_order, offsets

MOST_SLICED = 64


def majority(words: Words, counts: Indices) -> Words:
    """Each bit as more than half of a text's words have it; 0 for a text without any.

    >>> majority(np.array([0b11, 0b01, 0b10, 0b110], dtype=np.uint64), np.array([3, 0, 1])).tolist()
    [3, 0, 6]
    """
    found, starts = np.zeros(len(counts), dtype=np.uint64), offsets(counts)
    order = in_order(counts)
    sizes, first = np.unique(counts[order], return_index=True)
    for size, (begin, end) in zip(
        sizes.tolist(), pairwise([*first.tolist(), len(order)]), strict=True
    ):
        texts = order[begin:end]
        if 0 < size <= MOST_SLICED:
            found[texts] = _above([words[starts[texts] + at] for at in range(size)], size // 2)
        elif size:
            for text in texts.tolist():
                found[text] = _counted(words[starts[text] : starts[text + 1]])
    return found


def _above(columns: list[Words], half: int) -> Words:
    """The bits that more than `half` of the columns have."""
    slices = list[Words]()
    for number, column in enumerate(columns, 1):
        carry = column
        for at, held in enumerate(slices):
            slices[at], carry = held ^ carry, held & carry
        if len(slices) < number.bit_length():
            slices.append(carry)
    more, level = np.zeros_like(columns[0]), ~np.zeros_like(columns[0])
    for at in reversed(range(len(slices))):
        if half >> at & 1:
            level = level & slices[at]
        else:
            more, level = more | level & slices[at], level & ~slices[at]
    return more


def _counted(words: Words) -> np.uint64:
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    return np.uint64(
        np.packbits(2 * bits.sum(axis=0, dtype=np.int64) > len(words), bitorder="little").view(
            np.uint64
        )[0]
    )
