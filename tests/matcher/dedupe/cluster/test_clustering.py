"""Clusters do not chain: every two records of a cluster are a verified pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matcher.dedupe.base.join import JoinResult, PairBatch, build_result
from matcher.dedupe.cluster.clustering import cluster_pairs

Edges = dict[tuple[int, int], float]

EDGES = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.8, 0.9, 1.0]),
)


def result_of(edges: Edges) -> JoinResult:
    """Return a join result with the given pairs."""
    rows = np.array([*edges], dtype=np.int64).reshape(-1, 2)
    similarity = np.array([*edges.values()])
    reason = np.zeros(len(rows), dtype=np.int64)
    return build_result([PairBatch(rows[:, 0], rows[:, 1], similarity, reason)], ["similar"])


@given(edges=EDGES)
def test_no_chaining(edges: Edges) -> None:
    """Every two records of a cluster are a pair, no record is in two clusters, order is no matter."""
    clusters = cluster_pairs(result_of(edges))
    for rows in clusters:
        assert all((first, second) in edges for first in rows for second in rows if first < second)
    assert len({row for rows in clusters for row in rows}) == sum(map(len, clusters))
    assert clusters == cluster_pairs(result_of(dict(reversed(edges.items()))))


@given(edges=EDGES)
def test_clusters_are_maximal(edges: Edges) -> None:
    """No two clusters (or single records) that are completely paired stay apart."""
    groups = [set(rows) for rows in cluster_pairs(result_of(edges))]
    clustered = set[int]().union(*groups)
    groups += [{row} for row in range(10) if row not in clustered]
    for left in groups:
        for right in groups:
            crossing = [(min(a, b), max(a, b)) for a in left for b in right]
            assert left is right or not all(pair in edges for pair in crossing)


def test_two_sides() -> None:
    """Between two sides every left record of a cluster is paired with every right one."""
    edges = {(0, 0): 1.0, (1, 0): 0.9, (0, 1): 0.8, (2, 2): 1.0, (2, 3): 0.9, (3, 3): 0.8}
    assert cluster_pairs(result_of(edges), left_size=4) == [[0, 1, 4], [2, 6, 7]]
