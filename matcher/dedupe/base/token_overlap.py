"""Count the tokens that two sets share, for many pairs at once, by one sort."""

import numpy as np

from matcher.array_types import Ints, UInts
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import expand_ranges, slice_chunks, sort_unique

TOKENS_PER_CHUNK = 1_000_000  # tokens sorted at once; cap on memory


def build_token_sets(hashes: UInts, counts: Ints) -> TokenBags:
    """Return the distinct hashes of each text, cut to their upper 32 bits.

    >>> hashes = np.array([1 << 32, 1 << 32, 2 << 32], dtype=np.uint64)
    >>> build_token_sets(hashes, np.array([2, 1])).sizes.tolist()
    [1, 1]
    """
    half = np.uint64(32)
    text_of_hash = np.repeat(np.arange(len(counts), dtype=np.uint64) << half, counts)
    distinct = sort_unique(text_of_hash | (hashes >> half))
    sizes = np.bincount((distinct >> half).astype(np.int64), minlength=len(counts))
    return TokenBags((distinct & np.uint64(0xFFFFFFFF)).astype(np.int64), sizes)


def count_shared_tokens(
    left: TokenBags, right: TokenBags, left_rows: Ints, right_rows: Ints
) -> Ints:
    """Return the number of tokens that both sets of each pair have.

    >>> left = TokenBags(np.array([1, 2, 3]), np.array([3]))
    >>> right = TokenBags(np.array([2, 3, 4, 9]), np.array([3, 1]))
    >>> count_shared_tokens(left, right, np.array([0, 0]), np.array([0, 1])).tolist()
    [2, 0]
    """
    overlap = np.zeros(len(left_rows), dtype=np.int64)
    left_offsets, right_offsets = left.offsets(), right.offsets()
    tokens_per_pair = left.sizes[left_rows] + right.sizes[right_rows]
    for chunk in slice_chunks(tokens_per_pair, TOKENS_PER_CHUNK):
        pair_numbers = np.arange(len(left_rows[chunk]))
        keys = np.concatenate(
            [
                _pair_keys(left, left_offsets, left_rows[chunk], pair_numbers),
                _pair_keys(right, right_offsets, right_rows[chunk], pair_numbers),
            ]
        )
        keys.sort()
        # A token of both sets stands twice under the pair's number, side by side.
        shared = keys[1:][keys[1:] == keys[:-1]]
        overlap[chunk] = np.bincount(shared >> 32, minlength=len(pair_numbers))
    return overlap


def _pair_keys(bags: TokenBags, offsets: Ints, rows: Ints, pair_numbers: Ints) -> Ints:
    sizes = bags.sizes[rows]
    tokens = bags.tokens[expand_ranges(offsets[rows], sizes)]
    keys: Ints = np.repeat(pair_numbers, sizes) << 32 | tokens
    return keys
