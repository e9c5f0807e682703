"""The edit distance of candidates, computed by rapidfuzz, and the distances that a threshold allows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist

from matcher.dedupe.base.join import Floats, Indices
from matcher.dedupe.base.text_columns import runs

Objects = np.ndarray[tuple[int], np.dtype[np.object_]]


def allowed(length: int, threshold: Fraction) -> int:
    """The greatest distance at which two texts, the longer of this length, have at least this similarity.

    >>> allowed(10, Fraction("0.8")), allowed(9, Fraction("0.8")), allowed(0, Fraction("0.8"))
    (2, 1, 0)
    """
    return int((1 - threshold) * length)


def distances(left: Sequence[str], right: Sequence[str], most: int) -> Indices:
    """The edit distance of each pair; `most` + 1 where it is greater than `most`."""
    found: Indices = cpdist(
        left, right, scorer=Levenshtein.distance, score_cutoff=most, dtype=np.int64
    )
    return found


def by_row(left: Objects, right: Objects, pairs: tuple[Indices, Indices], most: int) -> Indices:
    """The same for pairs (sorted by the first) given as places in two columns.

    A text that is compared with many is prepared once for all of them, which halves the time.
    """
    first, second = pairs
    found, choices = np.empty(len(first), dtype=np.int64), right[second].tolist()
    rows, starts, _ = runs(first)
    for row, (start, stop) in zip(
        rows.tolist(), pairwise([*starts.tolist(), len(first)]), strict=True
    ):
        found[start:stop] = cdist(
            [left[row]],
            choices[start:stop],
            scorer=Levenshtein.distance,
            score_cutoff=most,
            dtype=np.int32,
        )[0]
    return found


def similarities(distance: Indices, longer: Indices | int) -> Floats:
    """1 - distance / longer length; 1 where both are empty."""
    found: Floats = 1.0 - distance / np.maximum(longer, 1)
    return found


def edit_reasons(most: int) -> tuple[str, ...]:
    """The reason for each distance from 0 to `most`."""
    return "equal text", *(f"edit distance {distance}" for distance in range(1, most + 1))
