"""Powers of the base of polynomial hashes: all substrings of a text are hashed by a product each.

The hash of a prefix is the sum of its characters times powers of an odd base, modulo 2^64 (Karp and
Rabin, 1987). That of a substring is the difference of two prefix sums times an inverse power. Equal
substrings have equal hashes; a rare collision costs one distance computation, never a pair.
"""

from functools import lru_cache

import numpy as np

from matcher.array_types import UInts
from matcher.mixed_bits import GOLDEN_RATIO_64

# The base is odd, and so invertible modulo 2^64.
_INVERSE = pow(GOLDEN_RATIO_64, -1, 1 << 64)


def base_powers(count: int, inverse: bool = False) -> UInts:
    """Return the first powers of the base, or of its inverse, modulo 2^64."""
    # Rounded up to a power of two, so that the cache serves many lengths.
    return _base_powers(count.bit_length(), inverse)[:count]


@lru_cache(maxsize=4)
def _base_powers(bits: int, inverse: bool) -> UInts:
    base = _INVERSE if inverse else GOLDEN_RATIO_64
    factors = np.full(1 << bits, base, dtype=np.uint64)
    factors[0] = 1
    powers: UInts = np.cumprod(factors)
    return powers
