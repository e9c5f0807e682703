"""Catalog context: a pair seen against its rivals. It needs no labels, only both whole sides."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]


def rivals(owner: NDArray[np.int64], value: Values) -> tuple[Values, Values, Values]:
    """For each pair its value minus its owner's best and second-best other one, and its rank among them from 0.

    Equal values share the better rank; a missing rival counts as 0.

    >>> lead, lead2, rank = rivals(np.array([0, 0, 0, 1]), np.array([0.5, 0.9, 0.4, 0.7], dtype=np.float32))
    >>> [round(float(x), 2) for x in lead], [round(float(x), 2) for x in lead2], rank.tolist()
    ([-0.4, 0.4, -0.5, 0.7], [0.1, 0.5, -0.1, 0.7], [1.0, 0.0, 2.0, 0.0])
    """
    order = np.lexsort((-value, owner))
    sorted_owner, sorted_value = owner[order], value[order].astype(np.float32)
    first = np.searchsorted(sorted_owner, sorted_owner)
    place = np.arange(len(owner)) - first
    best, second, third = (_nth(sorted_owner, sorted_value, first, n) for n in range(3))
    lead = sorted_value - np.where(place == 0, second, best)
    lead2 = sorted_value - np.where(place <= 1, third, second)
    better = (
        np.maximum.accumulate(np.where(_new(sorted_owner, sorted_value), np.arange(len(owner)), 0))
        - first
    )
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return lead[back], lead2[back], better[back].astype(np.float32)


def _nth(owner: NDArray[np.int64], value: Values, first: NDArray[np.int64], n: int) -> Values:
    """The n-th best value of each row's owner; 0 where it has fewer."""
    if not len(owner):
        return value
    at = np.minimum(first + n, len(owner) - 1)
    there = (first + n < len(owner)) & (owner[at] == owner)
    return np.where(there, value[at], 0).astype(np.float32)


def _new(owner: NDArray[np.int64], value: Values) -> NDArray[np.bool_]:
    """Where in the sorted order another owner or another value begins."""
    changed = np.ones(len(owner), dtype=bool)
    changed[1:] = (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])
    return changed
