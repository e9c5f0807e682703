"""The majority of many 64-bit words at each bit, for many texts at a time: bit-sliced counters.

The n-th bits of all 64 counters of a text form one word. Adding a word to the counters takes an AND
and an XOR per slice, for all texts with as many words at once. Counting bit by bit takes twenty
times as long, and is left to long texts.
"""

from itertools import pairwise

import numpy as np

from matcher.array_types import Ints, UInts
from matcher.dedupe.base.text_columns import run_offsets, stable_argsort

MAX_SLICED_WORDS = 64  # words; longer texts are few, and counted bit by bit


def majority_bits(words: UInts, counts: Ints) -> UInts:
    """Return for each text the bits that more than half of its words have; 0 without words.

    >>> words = np.array([0b11, 0b01, 0b10, 0b110], dtype=np.uint64)
    >>> majority_bits(words, np.array([3, 0, 1])).tolist()
    [3, 0, 6]
    """
    majority = np.zeros(len(counts), dtype=np.uint64)
    starts = run_offsets(counts)
    order = stable_argsort(counts)
    sizes, first_of_size = np.unique(counts[order], return_index=True)
    ranges = pairwise([*first_of_size.tolist(), len(order)])
    for size, (begin, end) in zip(sizes.tolist(), ranges, strict=True):
        texts = order[begin:end]
        if size == 0:
            continue
        if size <= MAX_SLICED_WORDS:
            columns = [words[starts[texts] + place] for place in range(size)]
            majority[texts] = _majority_of_columns(columns, size // 2)
            continue
        for text in texts.tolist():
            majority[text] = _majority_of_words(words[starts[text] : starts[text + 1]])
    return majority


def _majority_of_columns(columns: list[UInts], half: int) -> UInts:
    """Return the bits that more than `half` of the columns have, for all texts at once."""
    # slices[n] has the n-th bit of the count of each of the 64 bit positions.
    slices = list[UInts]()
    for number, column in enumerate(columns, 1):
        carry = column
        for place, counter in enumerate(slices):
            slices[place], carry = counter ^ carry, counter & carry
        if len(slices) < number.bit_length():
            slices.append(carry)
    # Compare the counts with `half`, from the most significant bit down.
    greater, is_equal = np.zeros_like(columns[0]), ~np.zeros_like(columns[0])
    for place in reversed(range(len(slices))):
        if half >> place & 1:
            is_equal = is_equal & slices[place]
        else:
            greater = greater | is_equal & slices[place]
            is_equal = is_equal & ~slices[place]
    return greater


def _majority_of_words(words: UInts) -> np.uint64:
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    is_majority = 2 * bits.sum(axis=0, dtype=np.int64) > len(words)
    return np.uint64(np.packbits(is_majority, bitorder="little").view(np.uint64)[0])
