"""Numbers scrambled to look random: keys of hash tables, and draws that no order decides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, Keys

# Fractional part of the golden ratio times 2^64 (Knuth, TAOCP 3, 6.4): an odd factor whose
# multiples modulo 2^64 are spread evenly.
GOLDEN_RATIO_64 = 0x9E3779B97F4A7C15
# Arbitrary odd constant that is added before mixing.
_SEED = 0xD1B54A32D192ED03


def mix_bits(values: NDArray[np.integer[Any]]) -> Keys:
    """Scramble numbers to look random, with the finaliser of splitmix64 (Steele et al., 2014)."""
    with np.errstate(over="ignore"):
        mixed: Keys = values.astype(np.uint64) + np.uint64(_SEED)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def draw_rows(keys: NDArray[np.integer[Any]], count: int, draw: int = 0) -> Ints:
    """Draw `count` rows by their keys; returns their sorted positions, all if there are no more.

    The rows of the smallest mixed keys are drawn (bottom-k sketch; Cohen and Kaplan, 2007): a few
    rows more or less change few of them, and their order changes none. `draw` numbers independent
    draws.
    """
    if len(keys) <= count:
        return np.arange(len(keys))
    mixed = mix_bits(keys.astype(np.uint64) ^ mix_bits(np.array([draw])))
    return np.sort(np.argsort(mixed, kind="stable")[:count])
