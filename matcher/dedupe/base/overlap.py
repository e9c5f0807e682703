"""How many tokens two sets share, for many pairs at once: both sets sorted together, equal neighbours counted."""

import numpy as np

from matcher.dedupe.base.join import Indices, Words
from matcher.dedupe.base.measures import Bags
from matcher.dedupe.base.text_columns import chunks, once, spread

MOST_TOKENS = 1_000_000


def as_sets(hashes: Words, counts: Indices) -> Bags:
    """The hashes of each text, each once, by their upper half.

    >>> as_sets(np.array([1 << 32, 1 << 32, 2 << 32], dtype=np.uint64), np.array([2, 1])).sizes.tolist()
    [1, 1]
    """
    half = np.uint64(32)
    found = once(
        np.repeat(np.arange(len(counts), dtype=np.uint64) << half, counts) | (hashes >> half)
    )
    sizes = np.bincount((found >> half).astype(np.int64), minlength=len(counts))
    return Bags((found & np.uint64(0xFFFFFFFF)).astype(np.int64), sizes)


def shared(left: Bags, right: Bags, a: Indices, b: Indices) -> Indices:
    """The number of tokens in both of each pair of sets.

    >>> left, right = Bags(np.array([1, 2, 3]), np.array([3])), Bags(np.array([2, 3, 4, 9]), np.array([3, 1]))
    >>> shared(left, right, np.array([0, 0]), np.array([0, 1])).tolist()
    [2, 0]
    """
    found = np.zeros(len(a), dtype=np.int64)
    starts, other_starts = left.starts(), right.starts()
    for part in chunks(left.sizes[a] + right.sizes[b], MOST_TOKENS):
        here, there = a[part], b[part]
        pair = np.arange(len(here))
        keys = np.concatenate(
            [
                np.repeat(pair, left.sizes[here]) << 32
                | left.tokens[spread(starts[here], left.sizes[here])],
                np.repeat(pair, right.sizes[there]) << 32
                | right.tokens[spread(other_starts[there], right.sizes[there])],
            ]
        )
        keys.sort()
        found[part] = np.bincount(keys[1:][keys[1:] == keys[:-1]] >> 32, minlength=len(pair))
    return found
