"""Levenshtein distances of candidate pairs (by rapidfuzz), and the distance a threshold allows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist

from matcher.array_types import Doubles, Ints
from matcher.dedupe.base.text_columns import split_runs

ObjectArray = np.ndarray[tuple[int], np.dtype[np.object_]]


def max_distance(length: int, threshold: Fraction) -> int:
    """Return the greatest distance that keeps the similarity of two texts at the threshold.

    `length` is that of the longer text; similarity is 1 - distance / length.

    >>> max_distance(10, Fraction("0.8")), max_distance(9, Fraction("0.8"))
    (2, 1)
    """
    # In whole numbers: fractions take ten times as long, and this is computed for each length.
    return (threshold.denominator - threshold.numerator) * length // threshold.denominator


def compute_distances(left: Sequence[str], right: Sequence[str], cutoff: int) -> Ints:
    """Return the edit distance of each pair of texts; `cutoff` + 1 if it exceeds `cutoff`."""
    distances: Ints = cpdist(
        left, right, scorer=Levenshtein.distance, score_cutoff=cutoff, dtype=np.int64
    )
    return distances


def compute_distances_by_row(
    left: ObjectArray, right: ObjectArray, left_rows: Ints, right_rows: Ints, cutoff: int
) -> Ints:
    """Return the edit distance of each pair of rows, as `compute_distances`.

    `left_rows` must be sorted: rapidfuzz prepares each left text once for all its partners, which
    halves the time.
    """
    distances = np.empty(len(left_rows), dtype=np.int64)
    partners = right[right_rows].tolist()
    rows, starts, _ = split_runs(left_rows)
    ranges = pairwise([*starts.tolist(), len(left_rows)])
    for row, (start, stop) in zip(rows.tolist(), ranges, strict=True):
        distances[start:stop] = cdist(
            [left[row]],
            partners[start:stop],
            scorer=Levenshtein.distance,
            score_cutoff=cutoff,
            dtype=np.int32,
        )[0]
    return distances


def edit_similarity(distances: Ints, longer: Ints | int) -> Doubles:
    """Return 1 - distance / length of the longer text; 1 if both texts are empty."""
    similarity: Doubles = 1.0 - distances / np.maximum(longer, 1)
    return similarity


def edit_reasons(max_edits: int) -> tuple[str, ...]:
    """Return the reason for each distance from 0 to `max_edits`."""
    return "equal text", *(f"edit distance {edits}" for edits in range(1, max_edits + 1))
