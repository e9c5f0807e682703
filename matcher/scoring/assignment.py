"""One to one: which pairs hold when every offer of either side may be paired at most once.

Each group of offers that compete is solved exactly (Jonker-Volgenant, by scipy) for the greatest sum of log-odds; a
group too large for that is paired greedily, strongest first.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from matcher.blocking.nearest_rows import Pairs

MOST_CELLS = 4_000_000


def assign(pairs: Pairs, weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Indices of the chosen pairs: one to one, each of positive weight, with the greatest sum.

    >>> assign(np.array([[0, 0], [0, 1], [1, 0]]), np.array([5.0, 4.0, 4.5])).tolist()
    [1, 2]
    """
    rows = np.flatnonzero(weight > 0)
    if not len(rows):
        return rows
    chosen = [_solve(part, pairs, weight) for part in _competing(rows, pairs)]
    return np.sort(np.concatenate(chosen))


def _competing(rows: NDArray[np.int64], pairs: Pairs) -> list[NDArray[np.int64]]:
    """The pairs by connected component."""
    left, right = (
        np.unique(pairs[rows, 0], return_inverse=True)[1],
        np.unique(pairs[rows, 1], return_inverse=True)[1],
    )
    size = int(left.max()) + 1 + int(right.max()) + 1
    graph = sparse.coo_array(
        (np.ones(len(rows)), (left, right + int(left.max()) + 1)), shape=(size, size)
    )
    label = connected_components(graph, directed=False)[1][left]
    order = np.argsort(label, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)


def _solve(part: NDArray[np.int64], pairs: Pairs, weight: NDArray[np.float64]) -> NDArray[np.int64]:
    if len(part) == 1:
        return part
    shop, left = np.unique(pairs[part, 0], return_inverse=True)
    known, right = np.unique(pairs[part, 1], return_inverse=True)
    if len(shop) * len(known) > MOST_CELLS:
        return _greedy(part, left, right, weight)
    table, place = np.zeros((len(shop), len(known))), np.full((len(shop), len(known)), -1)
    table[left, right], place[left, right] = weight[part], part
    found: NDArray[np.int64] = place[linear_sum_assignment(table, maximize=True)]
    return found[found >= 0]


def _greedy(
    part: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> NDArray[np.int64]:
    chosen, taken_left, taken_right = [], set(), set()
    for at in np.argsort(-weight[part], kind="stable").tolist():
        if left[at] not in taken_left and right[at] not in taken_right:
            taken_left.add(left[at])
            taken_right.add(right[at])
            chosen.append(part[at])
    return np.array(chosen, dtype=np.int64)
