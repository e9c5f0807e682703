"""Sets of bigrams as signatures of 256 bits: a second lower bound on the edit distance.

An edit removes at most two bigrams from a text and adds at most two; a deleted character removes
two and adds one. Bigrams share bits, which can only loosen the bound. It rules out most of the pairs
that have the same characters in another order.
"""

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.text_columns import (
    CODE_POINT_BITS,
    CodePoints,
    run_offsets,
    slice_chunks,
)
from matcher.mixed_bits import mix_bits

WORDS = 4  # machine words of 64 bits of a signature
_WORD_BITS = 6
_HASH_BITS = 8  # bits that number the bits of a signature
_CHARACTERS_PER_CHUNK = 1 << 20  # characters hashed at once; 8 MB an array
# The sum of four bytes, by a product, in the last of them.
_SUM_OF_BYTES = np.uint32(0x01010101)
_LAST_BYTE = np.uint32(24)


def build_signatures(points: CodePoints, lengths: Ints) -> UInts:
    """Return the signatures of some texts, a row each; `points` are their characters, end to end."""
    signatures = np.zeros((len(lengths), WORDS), dtype=np.uint64)
    offsets = run_offsets(lengths)
    for chunk in slice_chunks(lengths, _CHARACTERS_PER_CHUNK):
        # A text of one character has no bigram.
        texts = np.flatnonzero(lengths[chunk] > 1) + chunk.start
        if not len(texts):
            continue
        start, stop = int(offsets[chunk.start]), int(offsets[chunk.stop])
        characters = points[start:stop].astype(np.int64)
        hashes = mix_bits(characters[:-1] << CODE_POINT_BITS | characters[1:])
        bits = hashes >> np.uint64(64 - _HASH_BITS)
        flags = np.uint64(1) << (bits & np.uint64((1 << _WORD_BITS) - 1))
        words = bits >> np.uint64(_WORD_BITS)
        # The bigram of the last character of a text and the first of the next one is none.
        ends = offsets[chunk.start + 1 : chunk.stop + 1] - start - 1
        flags[ends[(ends >= 0) & (ends < len(flags))]] = 0
        for word in range(WORDS):
            of_word = np.where(words == word, flags, np.uint64(0))
            signatures[texts, word] = np.bitwise_or.reduceat(of_word, offsets[texts] - start)
    return signatures


def may_be_within_edits(
    longer: UInts, shorter: UInts, max_edits: int, length_difference: Ints
) -> Bools:
    """Return True where the signatures allow at most `max_edits` edits between the texts.

    Signatures stand in rows, a pair each.
    """
    # In int64, so that no bound falls below zero unnoticed.
    possible = _count_missing(longer, shorter) <= 2 * max_edits
    possible &= (
        _count_missing(shorter, longer).astype(np.int64) <= 2 * max_edits - length_difference
    )
    return possible


def _count_missing(signatures: UInts, others: UInts) -> NDArray[np.uint32]:
    """Count the bits of each signature that the other one lacks."""
    counts = np.bitwise_count(signatures & ~others)
    # 256 becomes 0, which can only let a pair pass.
    total: NDArray[np.uint32] = counts.view(np.uint32)[:, 0] * _SUM_OF_BYTES >> _LAST_BYTE
    return total
