"""Rival margins: a pair's value relative to the other candidates of its offer; needs no labels."""

from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Floats, Ints


@dataclass(frozen=True)
class RivalMargins:
    """Per pair: its margins over the best and the second-best rival, and its rank from 0."""

    lead: Floats
    second_lead: Floats
    rank: Floats


def compute_rival_margins(owner: Ints, value: Floats) -> RivalMargins:
    """Compare each pair's value with the values of the other pairs of the same owner.

    Equal values share the better rank; a missing rival counts as 0.

    >>> values = np.array([0.5, 0.9, 0.4, 0.7], dtype=np.float32)
    >>> margins = compute_rival_margins(np.array([0, 0, 0, 1]), values)
    >>> [round(float(x), 2) for x in margins.lead]
    [-0.4, 0.4, -0.5, 0.7]
    >>> [round(float(x), 2) for x in margins.second_lead]
    [0.1, 0.5, -0.1, 0.7]
    >>> margins.rank.tolist()
    [1.0, 0.0, 2.0, 0.0]
    """
    # Sorted by owner, the best value first: rivals are then neighbours.
    order = np.lexsort((-value, owner))
    sorted_owner = owner[order]
    sorted_value = value[order].astype(np.float32)
    first = np.searchsorted(sorted_owner, sorted_owner)
    place = np.arange(len(owner)) - first
    best, second, third = (_nth_best(sorted_owner, sorted_value, first, n) for n in range(3))
    # The best pair's own rivals are the second and the third.
    lead = sorted_value - np.where(place == 0, second, best)
    second_lead = sorted_value - np.where(place <= 1, third, second)
    starts = np.where(_starts_run(sorted_owner, sorted_value), np.arange(len(owner)), 0)
    rank = np.maximum.accumulate(starts) - first
    # Back into the order of the input.
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return RivalMargins(lead[back], second_lead[back], rank[back].astype(np.float32))


def _nth_best(owner: Ints, value: Floats, first: Ints, n: int) -> Floats:
    """Return the n-th best value of each row's owner, from 0; 0 if it has fewer."""
    if not len(owner):
        return value
    position = np.minimum(first + n, len(owner) - 1)
    exists = (first + n < len(owner)) & (owner[position] == owner)
    return np.where(exists, value[position], 0).astype(np.float32)


def _starts_run(owner: Ints, value: Floats) -> Bools:
    """Return where, in sorted order, another owner or another value begins."""
    changed = np.ones(len(owner), dtype=bool)
    changed[1:] = (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])
    return changed
