"""MinHash signatures (Broder, 1997) and LSH bands, for many texts at a time.

datasketch and rensa compute a signature per text; here a permutation is applied to thousands of
texts at once, in 32-bit arithmetic. Texts with equal numbers of shingles lie side by side, so that
the minimum is taken over columns instead of runs of unequal length.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, UInts
from matcher.dedupe.base.text_columns import run_offsets
from matcher.mixed_bits import GOLDEN_RATIO_64, mix_bits

Signatures = NDArray[np.uint32]  # a row per permutation, a column per text
DEFAULT_PERMUTATIONS = 128  # length of a signature, as in datasketch
DEFAULT_RECALL = 0.95  # share of the pairs at the threshold that share a band
TEXTS_PER_BLOCK = 4096  # texts whose minima are taken at once; cap on memory
EMPTY_MINIMUM = np.uint32(0xFFFFFFFF)  # value of a text without shingles
_FACTOR = np.uint64(GOLDEN_RATIO_64)  # odd factor of the polynomial hash


class BandPlan(NamedTuple):
    """A division of signatures into bands of consecutive rows."""

    bands: int
    rows: int


def plan_bands(
    threshold: float,
    permutations: int = DEFAULT_PERMUTATIONS,
    recall: float = DEFAULT_RECALL,
) -> BandPlan:
    """Choose the longest bands that still give pairs at the threshold the required recall.

    A pair of similarity s shares one of b bands of r rows with probability 1 - (1 - s^r)^b.

    >>> plan_bands(0.8), plan_bands(0.5)
    (BandPlan(bands=18, rows=7), BandPlan(bands=42, rows=3))
    """
    for rows in range(permutations, 1, -1):
        bands = permutations // rows
        if 1 - (1 - threshold**rows) ** bands >= recall:
            return BandPlan(bands, rows)
    return BandPlan(permutations, 1)


def compute_signatures(
    hashes: UInts, counts: Ints, permutations: int = DEFAULT_PERMUTATIONS
) -> Signatures:
    """Return the minimum of each text's shingle hashes under each permutation."""
    signatures = np.full((permutations, len(counts)), EMPTY_MINIMUM, dtype=np.uint32)
    upper_halves = (hashes >> np.uint64(32)).astype(np.uint32)
    # An odd factor and a shift permute the 32-bit numbers.
    seeds = mix_bits(np.arange(2 * permutations))
    factors = (seeds[:permutations] | np.uint64(1)).astype(np.uint32)
    shifts = seeds[permutations:].astype(np.uint32)
    starts, order = run_offsets(counts), np.argsort(counts, kind="stable")
    sizes, first_of_size = np.unique(counts[order], return_index=True)
    ranges = pairwise([*first_of_size.tolist(), len(order)])
    for size, (begin, end) in zip(sizes.tolist(), ranges, strict=True):
        if size == 0:
            continue
        for block_start in range(begin, end, TEXTS_PER_BLOCK):
            texts = order[block_start : min(block_start + TEXTS_PER_BLOCK, end)]
            values = upper_halves[starts[texts][None, :] + np.arange(size)[:, None]]
            for row, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
                signatures[row, texts] = (values * factor + shift).min(axis=0)
    return signatures


def band_keys(signatures: Signatures, plan: BandPlan) -> list[UInts]:
    """Return for each band the key of each text: a hash of its rows."""
    keys_of_band = list[UInts]()
    for band in range(plan.bands):
        keys = np.full(signatures.shape[1], band, dtype=np.uint64)
        for row in signatures[band * plan.rows : (band + 1) * plan.rows]:
            keys = keys * _FACTOR + row
        keys_of_band.append(mix_bits(keys))
    return keys_of_band
