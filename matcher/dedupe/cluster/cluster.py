"""Clusters: records of which every two are a verified pair.

Connected components chain: A like B and B like C makes A and C one, though nobody found them alike. Here two clusters
become one only where every record of the one is paired with every record of the other (between two sets: where every
record of the left is paired with every one of the right); the most similar pairs come first, so a record that could go
either way goes to the nearer side. The result does not depend on the pairs' order.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from matcher.dedupe.base.join import Flags, Indices, Joined


def clusters(pairs: Joined, split: int | None = None) -> list[list[int]]:
    """The clusters of two records and more, each sorted, in the order of their first record.

    In a join of two sides, rows of the right one come out with `split` (the size of the left) added.

    >>> from matcher.dedupe.base.join import joined
    >>> chain = [(np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([0.9, 0.8, 1.0]), np.zeros(3, dtype=np.int64))]
    >>> clusters(joined(chain, ["alike"]))
    [[0, 1], [3, 4]]
    """
    order = np.lexsort((pairs.right, pairs.left, -pairs.similarity))
    left, right = pairs.left[order], pairs.right[order] + (split or 0)
    if split is None and pairs.same is not None:
        return _with_equals(_clusters(pairs.same[left], pairs.same[right]), pairs.same)
    return _clusters(left, right, split)


def _with_equals(found: list[list[int]], same: Indices) -> list[list[int]]:
    """Clusters of records that stand for others, with those others; equal records are one whatever they are like."""
    others = defaultdict[int, list[int]](list)
    for row in np.flatnonzero(same != np.arange(len(same))).tolist():
        others[int(same[row])].append(row)
    alone = {row: [row] for row in others}
    for members in found:
        for row in members:
            alone.pop(row, None)
    whole = [
        [*members, *(other for row in members for other in others[row])]
        for members in [*found, *alone.values()]
    ]
    return sorted(sorted(members) for members in whole)


def _clusters(left: Indices, right: Indices, split: int | None = None) -> list[list[int]]:
    """The clusters of pairs, the most similar first."""
    if split is not None:
        return _Parts(zip(left.tolist(), right.tolist(), strict=True), split).groups()
    apart = left != right
    left, right = np.minimum(left, right)[apart], np.maximum(left, right)[apart]
    component, whole = _components(left, right)
    rest = ~whole[component[left]]
    found = _Parts(zip(left[rest].tolist(), right[rest].tolist(), strict=True), None).groups()
    return sorted([*found, *_members(component, whole)])


def _components(left: Indices, right: Indices) -> tuple[Indices, Flags]:
    """The connected component of each row, and for each whether all its records are paired with one another."""
    size = int(right.max(initial=-1)) + 1
    graph = sparse.coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(size, size))
    count, component = (
        connected_components(graph, directed=False) if size else (0, np.empty(0, dtype=np.int64))
    )
    records, edges = (
        np.bincount(component, minlength=count),
        np.bincount(component[left], minlength=count),
    )
    return component, (records > 1) & (edges == records * (records - 1) // 2)


def _members(component: Indices, whole: Flags) -> list[list[int]]:
    rows = np.flatnonzero(whole[component]) if len(component) else component
    rows = rows[np.argsort(component[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[rows])) + 1
    return [part.tolist() for part in np.split(rows, cuts) if len(part)]


class _Parts:
    """Disjoint sets, with the number of verified pairs between any two of them; built by joining, nearest first."""

    def __init__(self, pairs: Iterable[tuple[int, int]], split: int | None) -> None:
        held = list(pairs)
        self._links: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for a, b in held:
            self._links[a][b] += 1
            self._links[b][a] += 1
        self._members = {row: [row] for row in self._links}
        self._part = {row: row for row in self._links}
        self._split = split
        for a, b in held:
            self._join(self._part[a], self._part[b])

    def groups(self) -> list[list[int]]:
        """The parts of two records and more."""
        return sorted(sorted(rows) for rows in self._members.values() if len(rows) > 1)

    def _join(self, a: int, b: int) -> None:
        if a == b or self._links[a][b] < self._needed(self._members[a], self._members[b]):
            return
        if len(self._links[a]) < len(self._links[b]):
            a, b = b, a
        for row in self._members[b]:
            self._part[row] = a
        self._members[a] += self._members.pop(b)
        for other, count in self._links.pop(b).items():
            del self._links[other][b]
            if other != a:
                self._links[a][other] += count
                self._links[other][a] += count

    def _needed(self, some: list[int], others: list[int]) -> int:
        if self._split is None:
            return len(some) * len(others)
        left, right = (
            sum(row < self._split for row in some),
            sum(row < self._split for row in others),
        )
        return left * (len(others) - right) + right * (len(some) - left)
