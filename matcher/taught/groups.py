"""Groups of records by average linkage: two groups are joined if their pairs say so on average.

Connected components chain: A is like B, B like C, and A ends up with C although they differ. Here
every pair between two groups counts: scored pairs with their log-odds, pairs that were never
candidates as improbable, variants and pairs that a reviewer kept apart as impossible. Missing pairs
within small components are scored first (`missing_pairs`), so few are merely assumed. The result
does not depend on the order of the pairs.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Ints, Pairs
from matcher.dedupe.cluster.components import label_components
from matcher.taught.candidates import find_rows

# Log-odds of a pair that was no candidate.
UNSEEN_ODDS = -4.0
# Log-odds of a pair that must not be in one group; no sum of others outweighs it.
FORBIDDEN_ODDS = -1e9
# Log-odds are cut here, so that one sure pair does not outweigh many doubtful ones.
MAX_ODDS = 10.0
# Records of a component within which all pairs are scored; cap on their number.
MAX_COMPONENT = 40


def missing_pairs(pairs: Pairs, is_match: Bools) -> Pairs:
    """Return the pairs within small components of matches that are no candidates.

    >>> pairs = np.array([[0, 1], [1, 2]])
    >>> missing_pairs(pairs, np.array([True, True])).tolist()
    [[0, 2]]
    """
    possible = [np.empty((0, 2), np.int64)]
    for members in _components(pairs[is_match]):
        if 2 < len(members) <= MAX_COMPONENT:
            first, second = np.triu_indices(len(members), 1)
            rows = np.array(members, dtype=np.int64)
            possible.append(np.column_stack((rows[first], rows[second])))
    within = np.concatenate(possible)
    missing: Pairs = within[find_rows(pairs, within) < 0]
    return missing


def group_records(
    pairs: Pairs,
    odds: Doubles,
    forbidden: Bools,
    threshold_odds: float = 0.0,
    left_size: int | None = None,
) -> list[list[int]]:
    """Return the groups of two or more records, each sorted, in the order of their first record.

    `odds` are log-odds of each pair; `forbidden` pairs are never in one group. For two tables,
    `left_size` is added to the rows of the right side, and pairs of one side have no say.
    """
    right_offset = left_size or 0
    value = np.clip(odds - threshold_odds, -MAX_ODDS, MAX_ODDS)
    value = np.where(forbidden, FORBIDDEN_ODDS, value)
    edges = np.column_stack((pairs[:, 0], pairs[:, 1] + right_offset))
    components = _components(edges[value > 0])
    groups = list[list[int]]()
    larger = list[list[int]]()
    for members in components:
        # Two records are joined by the pair that made them a component.
        (groups if len(members) == 2 else larger).append(members)
    for members, within in zip(larger, _edges_within(larger, edges, value), strict=True):
        groups += _Linkage(members, within, left_size).groups()
    return sorted(groups)


def _edges_within(components: list[list[int]], edges: Ints, value: Doubles) -> "list[list[_Edge]]":
    """Return for each component the edges between its members."""
    component_of = np.full(int(edges.max(initial=-1)) + 1, -1, np.int64)
    for number, members in enumerate(components):
        component_of[members] = number
    left, right = component_of[edges[:, 0]], component_of[edges[:, 1]]
    edges_of: list[list[_Edge]] = [[] for _ in components]
    for row in np.flatnonzero((left >= 0) & (left == right)).tolist():
        edge = _Edge(int(edges[row, 0]), int(edges[row, 1]), float(value[row]))
        edges_of[left[row]].append(edge)
    return edges_of


@dataclass(frozen=True)
class _Edge:
    left: int
    right: int
    value: float


class _Linkage:
    """Joins the two groups with the greatest mean, as long as it is above zero."""

    def __init__(self, members: list[int], edges: list[_Edge], left_size: int | None) -> None:
        self._left_size = left_size
        self._members = {row: [row] for row in members}
        # Sum and number of the scored pairs between two groups.
        self._links: dict[int, dict[int, tuple[float, int]]] = {row: {} for row in members}
        for edge in edges:
            self._links[edge.left][edge.right] = self._links[edge.right][edge.left] = (
                edge.value,
                1,
            )
        self._version = dict.fromkeys(members, 0)
        self._queue = list[tuple[float, int, int, int, int]]()
        for edge in edges:
            self._push(*sorted((edge.left, edge.right)))

    def groups(self) -> list[list[int]]:
        """Return the groups of two or more records."""
        while self._queue:
            _, first, second, first_version, second_version = heapq.heappop(self._queue)
            is_current = (
                self._version.get(first) == first_version
                and self._version.get(second) == second_version
            )
            if is_current:
                self._join(first, second)
        return [sorted(rows) for rows in self._members.values() if len(rows) > 1]

    def _push(self, first: int, second: int) -> None:
        mean = self._mean(first, second)
        if mean > 0:
            versions = self._version[first], self._version[second]
            heapq.heappush(self._queue, (-mean, first, second, *versions))

    def _mean(self, first: int, second: int) -> float:
        total, count = self._links[first].get(second, (0.0, 0))
        possible = self._possible(self._members[first], self._members[second])
        return (total + UNSEEN_ODDS * (possible - count)) / max(1, possible)

    def _possible(self, first: list[int], second: list[int]) -> int:
        """Return the number of pairs between two groups that could have been scored."""
        if self._left_size is None:
            return len(first) * len(second)
        first_left = sum(row < self._left_size for row in first)
        second_left = sum(row < self._left_size for row in second)
        return first_left * (len(second) - second_left) + second_left * (len(first) - first_left)

    def _join(self, target: int, source: int) -> None:
        self._members[target] += self._members.pop(source)
        for neighbour, (total, count) in self._links.pop(source).items():
            del self._links[neighbour][source]
            if neighbour == target:
                continue
            known_total, known_count = self._links[target].get(neighbour, (0.0, 0))
            joined = known_total + total, known_count + count
            self._links[target][neighbour] = self._links[neighbour][target] = joined
        del self._version[source]
        self._version[target] += 1
        for neighbour in self._links[target]:
            self._push(*sorted((target, neighbour)))


def _components(edges: Ints) -> list[list[int]]:
    """Return the connected components of some edges, each sorted."""
    if not len(edges):
        return []
    nodes, label = label_components(edges)
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return [part.tolist() for part in np.split(nodes[order], cuts)]
