"""MinHash signatures and LSH bands, for many texts at a time.

datasketch and rensa make a signature a text; here one permutation is applied to thousands of texts at once, in 32-bit
arithmetic. Texts with equal numbers of shingles lie side by side, so that a minimum is taken over columns and not over
runs of unequal length.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from matcher.dedupe.base.join import Indices, Words
from matcher.dedupe.base.rolling_hash import mixed
from matcher.dedupe.base.text_columns import offsets

Signatures = NDArray[np.uint32]
Plan = tuple[int, int]
PERMUTATIONS = 128
RECALL = 0.95
COLUMNS = 4096
NOTHING = np.uint32(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def bands(threshold: float, permutations: int = PERMUTATIONS, recall: float = RECALL) -> Plan:
    """The number of bands and of rows in each: the longest rows with which pairs at the threshold meet often enough.

    >>> bands(0.8), bands(0.5)
    ((18, 7), (42, 3))
    """
    for rows in range(permutations, 1, -1):
        count = permutations // rows
        if 1 - (1 - threshold**rows) ** count >= recall:
            return count, rows
    return permutations, 1


def signatures(hashes: Words, counts: Indices, permutations: int = PERMUTATIONS) -> Signatures:
    """The least value of each text's shingles under each permutation, a row a permutation."""
    found = np.full((permutations, len(counts)), NOTHING, dtype=np.uint32)
    low = (hashes >> np.uint64(32)).astype(np.uint32)
    seeds = mixed(np.arange(2 * permutations))
    factors, shifts = (
        (seeds[:permutations] | np.uint64(1)).astype(np.uint32),
        seeds[permutations:].astype(np.uint32),
    )
    starts, order = offsets(counts), np.argsort(counts, kind="stable")
    sizes, first = np.unique(counts[order], return_index=True)
    for size, (begin, end) in zip(
        sizes.tolist(), pairwise([*first.tolist(), len(order)]), strict=True
    ):
        for here in range(begin, end, COLUMNS) if size else ():
            texts = order[here : min(here + COLUMNS, end)]
            values = low[starts[texts][None, :] + np.arange(size)[:, None]]
            for row, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
                found[row, texts] = (values * factor + shift).min(axis=0)
    return found


def band_keys(signature: Signatures, plan: Plan) -> list[Words]:
    """The key of each text in each band."""
    count, rows = plan
    found = []
    for band in range(count):
        key = np.full(signature.shape[1], band, dtype=np.uint64)
        for row in signature[band * rows : (band + 1) * rows]:
            key = key * _STEP + row
        found.append(mixed(key))
    return found
