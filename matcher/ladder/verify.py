"""The edit distance of candidates, computed by rapidfuzz, and the distances that a threshold allows."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from matcher.ladder.rung import Floats, Indices

BLOCK = 200_000


def allowed(length: int, threshold: Fraction) -> int:
    """The greatest distance at which two texts, the longer of this length, have at least this similarity.

    >>> allowed(10, Fraction("0.8")), allowed(9, Fraction("0.8")), allowed(0, Fraction("0.8"))
    (2, 1, 0)
    """
    return int((1 - threshold) * length)


def distances(left: Sequence[str], right: Sequence[str], most: int) -> Indices:
    """The edit distance of each pair; `most` + 1 where it is greater than `most`."""
    found: Indices = cpdist(left, right, scorer=Levenshtein.distance, score_cutoff=most, dtype=np.int64)
    return found


def similarities(distance: Indices, longer: Indices | int) -> Floats:
    """1 - distance / longer length; 1 where both are empty."""
    found: Floats = 1.0 - distance / np.maximum(longer, 1)
    return found


def edit_reasons(most: int) -> tuple[str, ...]:
    """The reason for each distance from 0 to `most`."""
    return "equal text", *(f"edit distance {distance}" for distance in range(1, most + 1))
