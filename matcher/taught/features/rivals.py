"""Rivals: how a pair compares with the other candidates of its two records; needs no labels."""

import numpy as np

from matcher.array_types import Floats, Ints
from matcher.features.rival_margins import compute_rival_margins
from matcher.taught.features.feature import NEVER_LOWERS, NEVER_RAISES, Feature

_FEATURES = (
    ("lead, smaller", NEVER_LOWERS),
    ("lead, larger", NEVER_LOWERS),
    ("second lead, smaller", NEVER_LOWERS),
    ("rank, better", NEVER_RAISES),
    ("rank, worse", NEVER_RAISES),
)
# Rank beyond which ranks mean the same.
MAX_RANK = 10.0


def rival_features(group: str, value_name: str) -> list[Feature]:
    """Return the features that compare one value of a pair with its rivals' values."""
    return [Feature(group, f"{value_name}, {name}", trend) for name, trend in _FEATURES]


def compare_with_rivals(left: Ints, right: Ints, value: Floats, is_self_join: bool) -> Floats:
    """Compare each pair's value with those of the other pairs of either record.

    Returns (pairs, features): the smaller and the larger lead over the best rival of the two
    records, the smaller lead over the second-best rival, and both ranks, from 0.

    >>> value = np.array([0.75, 0.5], np.float32)
    >>> compare_with_rivals(np.array([0, 0]), np.array([1, 2]), value, True).tolist()
    [[0.25, 0.75, 0.75, 0.0, 0.0], [-0.25, 0.5, 0.5, 0.0, 1.0]]
    """
    known = np.nan_to_num(value)
    if is_self_join:
        # Each record owns the pairs of which it is either side.
        owner = np.concatenate([left, right])
        margins = compute_rival_margins(owner, np.concatenate([known, known]))
        parts = [np.split(part, 2) for part in (margins.lead, margins.second_lead, margins.rank)]
    else:
        of_left = compute_rival_margins(left, known)
        of_right = compute_rival_margins(right, known)
        parts = [
            [of_left.lead, of_right.lead],
            [of_left.second_lead, of_right.second_lead],
            [of_left.rank, of_right.rank],
        ]
    lead, second_lead, rank = parts
    rank = [np.minimum(side, MAX_RANK) for side in rank]
    return np.column_stack(
        (
            np.minimum(*lead),
            np.maximum(*lead),
            np.minimum(*second_lead),
            np.minimum(*rank),
            np.maximum(*rank),
        )
    ).astype(np.float32)
