"""Clusters of records in which every two are a verified pair (complete linkage).

Connected components chain: if A is similar to B and B to C, A and C end up together although no
method found them similar. Here two clusters are joined only if every record of one is paired with
every record of the other (between two sets: every left record with every right one). The most
similar pairs come first, so a record that fits two clusters joins the closer one. The result does
not depend on the order of the pairs.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from matcher.array_types import Bools, Ints
from matcher.dedupe.base.join import JoinResult


def cluster_pairs(pairs: JoinResult, left_size: int | None = None) -> list[list[int]]:
    """Return the clusters of two or more records, each sorted, in the order of their first record.

    For a join of two sides, `left_size` is the number of records on the left; it is added to the
    row numbers of the right side.

    >>> from matcher.dedupe.base.join import PairBatch, build_result
    >>> left, right = np.array([0, 1, 3]), np.array([1, 2, 4])
    >>> batch = PairBatch(left, right, np.array([0.9, 0.8, 1.0]), np.array([0, 0, 0]))
    >>> cluster_pairs(build_result([batch], ["similar"]))
    [[0, 1], [3, 4]]
    """
    most_similar_first = np.lexsort((pairs.right, pairs.left, -pairs.similarity))
    left = pairs.left[most_similar_first]
    right = pairs.right[most_similar_first]
    if left_size is not None:
        return _join_clusters(left, right + left_size, left_size)
    representative = pairs.representative
    if representative is None:
        return _cluster_self_join(left, right)
    clusters = _cluster_self_join(representative[left], representative[right])
    return _add_represented(clusters, representative)


def _add_represented(clusters: list[list[int]], representative: Ints) -> list[list[int]]:
    """Add equal records to their cluster, and clusters of equal records only."""
    equal_rows = defaultdict[int, list[int]](list)
    for row in np.flatnonzero(representative != np.arange(len(representative))).tolist():
        equal_rows[int(representative[row])].append(row)
    unclustered = set(equal_rows).difference(*clusters)
    extended = list[list[int]]()
    for members in [*clusters, *([row] for row in unclustered)]:
        with_equals = [*members]
        for row in members:
            with_equals += equal_rows.get(row, ())
        extended.append(sorted(with_equals))
    return sorted(extended)


def _cluster_self_join(left: Ints, right: Ints) -> list[list[int]]:
    """Cluster the pairs within one set, the most similar first."""
    is_other = left != right
    left, right = np.minimum(left, right)[is_other], np.maximum(left, right)[is_other]
    # Most components are fully connected, and are clusters without any further work.
    component, is_complete = _find_components(left, right)
    is_open = ~is_complete[component[left]]
    clusters = _join_clusters(left[is_open], right[is_open], None)
    return sorted([*clusters, *_component_members(component, is_complete)])


def _find_components(left: Ints, right: Ints) -> tuple[Ints, Bools]:
    """Return the component of each row, and for each component whether all its rows are paired."""
    size = int(right.max(initial=-1)) + 1
    if not size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    graph = sparse.coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(size, size))
    count, component = connected_components(graph, directed=False)
    records = np.bincount(component, minlength=count)
    edges = np.bincount(component[left], minlength=count)
    return component, (records > 1) & (edges == records * (records - 1) // 2)


def _component_members(component: Ints, is_complete: Bools) -> list[list[int]]:
    """Return the rows of each complete component."""
    if not len(component):
        return []
    rows = np.flatnonzero(is_complete[component])
    rows = rows[np.argsort(component[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[rows])) + 1
    return [part.tolist() for part in np.split(rows, cuts) if len(part)]


def _join_clusters(left: Ints, right: Ints, left_size: int | None) -> list[list[int]]:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return _ClusterBuilder(pairs, left_size).clusters()


class _ClusterBuilder:
    """Joins clusters pair by pair, given the number of verified pairs between any two of them."""

    def __init__(self, pairs: Iterable[tuple[int, int]], left_size: int | None) -> None:
        edges = list(pairs)
        self._links: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for left, right in edges:
            self._links[left][right] += 1
            self._links[right][left] += 1
        self._members = {row: [row] for row in self._links}
        self._cluster_of = {row: row for row in self._links}
        self._left_size = left_size
        for left, right in edges:
            self._join(self._cluster_of[left], self._cluster_of[right])

    def clusters(self) -> list[list[int]]:
        """Return the clusters of two or more records."""
        return sorted(sorted(rows) for rows in self._members.values() if len(rows) > 1)

    def _join(self, target: int, source: int) -> None:
        if target == source:
            return
        if self._links[target][source] < self._pairs_to_join(target, source):
            return
        # The cluster with fewer links is moved, so that each link moves a logarithmic number of
        # times.
        if len(self._links[target]) < len(self._links[source]):
            target, source = source, target
        for row in self._members[source]:
            self._cluster_of[row] = target
        self._members[target] += self._members.pop(source)
        for cluster, count in self._links.pop(source).items():
            del self._links[cluster][source]
            if cluster != target:
                self._links[target][cluster] += count
                self._links[cluster][target] += count

    def _pairs_to_join(self, first: int, second: int) -> int:
        """Return the number of verified pairs that two clusters must have to be joined."""
        first_rows, second_rows = self._members[first], self._members[second]
        if self._left_size is None:
            return len(first_rows) * len(second_rows)
        first_left = self._count_left(first_rows)
        second_left = self._count_left(second_rows)
        first_right = len(first_rows) - first_left
        second_right = len(second_rows) - second_left
        return first_left * second_right + second_left * first_right

    def _count_left(self, rows: list[int]) -> int:
        assert self._left_size is not None
        return sum(row < self._left_size for row in rows)
