"""What is made of pairs: clusters that do not chain, merged records, rungs one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.feeds.rows import Row
from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Joined, exactly, joined
from matcher.dedupe.base.records import Records, of_fields, of_texts
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.cluster.cluster import clusters
from matcher.dedupe.cluster.merge import merge
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact import Exact
from tests.matcher.dedupe.brute import pairs_of

EDGES = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.8, 0.9, 1.0]),
)


def _joined(edges: dict[tuple[int, int], float]) -> Joined:
    rows = np.array([*edges], dtype=np.int64).reshape(-1, 2)
    why = np.zeros(len(rows), dtype=np.int64)
    return joined([(rows[:, 0], rows[:, 1], np.array([*edges.values()]), why)], ["alike"])


@given(edges=EDGES)
def test_no_chaining(edges: dict[tuple[int, int], float]) -> None:
    """Every two records of a cluster are a verified pair, and no record is in two clusters."""
    found = clusters(_joined(edges))
    assert all((a, b) in edges for rows in found for a in rows for b in rows if a < b)
    assert len({row for rows in found for row in rows}) == sum(map(len, found))
    assert found == clusters(_joined(dict(reversed(edges.items()))))


@given(edges=EDGES)
def test_nothing_left_apart(edges: dict[tuple[int, int], float]) -> None:
    """No two clusters (or records) that are paired throughout stay two."""
    found = [set(rows) for rows in clusters(_joined(edges))]
    found += [{row} for row in range(10) if not any(row in rows for rows in found)]
    for one in found:
        for other in found:
            crossing = [(min(a, b), max(a, b)) for a in one for b in other]
            assert one is other or not all(pair in edges for pair in crossing)


def test_two_sides() -> None:
    """Between two files a cluster is whole when every left record of it is paired with every right one."""
    edges = {(0, 0): 1.0, (1, 0): 0.9, (0, 1): 0.8, (2, 2): 1.0, (2, 3): 0.9, (3, 3): 0.8}
    assert clusters(_joined(edges), split=4) == [[0, 1, 4], [2, 6, 7]]


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([{"ean": ["1"]}, {"ean": []}], {"ean": ["1"]}),
        ([{"title": ["old"]}, {"title": ["new"]}], {"title": ["old"]}),
        ([{"title": ["old"]}, {"title": ["new"]}, {"title": ["new"]}], {"title": ["new"]}),
        ([{"title": ["Old"]}, {"title": ["a mug"]}, {"title": ["A  Mug"]}], {"title": ["a mug"]}),
        ([{"tag": ["a", "b"]}, {"tag": ["c"]}, {"tag": ["A"]}, {}], {"tag": ["a", "b", "c"]}),
        ([{"a": ["1"]}, {"b": ["2"]}], {"a": ["1"], "b": ["2"]}),
    ],
)
def test_merge(rows: list[dict[str, list[str]]], texts: dict[str, list[str]]) -> None:
    """Compound fields are united; a simple one comes from who has it, from most, from the oldest."""
    assert merge([Row(line, row) for line, row in enumerate(rows, 1)]).texts == texts


def test_provenance() -> None:
    """Of each value it is kept which of the records have it, in whatever spelling."""
    rows = [
        {"title": ["old"], "tag": ["x"]},
        {"title": ["New"]},
        {"title": ["new"], "tag": ["x", "y"]},
    ]
    found = merge([Row(line, row) for line, row in enumerate(rows, 1)])
    assert (found.texts["title"], found.sources) == (["New"], {"title": [1, 2], "tag": [0, 2]})


def test_chain() -> None:
    """What one rung has decided the next does not see: of equal records only the first goes on."""
    rungs = (("exact", Exact()), ("segments", Segments(exactly(0.8), workers=1)))
    found = Chain(rungs)(of_texts(["Red  Mug!!", "red mug!!", "red mug!?", "lamp"]))
    assert pairs_of(found) == {(0, 1): 1.0}
    assert [level.rung for level in found.levels] == ["exact", "segments"]
    assert found.reasons[found.why[0]] == "exact: equal after normalising"


def test_chain_hands_on() -> None:
    """A rung is given what the ones before have left, and a pair that two of them find is told once."""
    given = list[list[str]]()

    def spy(left: Records, right: Records | None = None, progress: Progress = silent) -> Joined:
        given.append(left.texts)
        return Segments(exactly(0.6), workers=1)(left, right, progress)

    texts = ["red mug 1", "RED MUG 1", "red mug 1234", "red mug", "lamp"]
    found = Chain((("exact", Exact()), ("one", spy), ("other", spy)))(of_texts(texts))
    assert given == [
        ["red mug 1", "red mug 1234", "red mug", "lamp"],
        ["red mug 1", "red mug 1234", "lamp"],
    ]
    assert [*pairs_of(found)] == [(0, 1), (0, 2), (0, 3)]
    assert len(found) == 3


def test_chain_between() -> None:
    """Between two sides a left record that has found a partner does not go on."""
    rungs = (("exact", Exact()), ("segments", Segments(exactly(0.8), workers=1)))
    found = Chain(rungs)(of_texts(["Red Mug", "lamps"]), of_texts(["red mug", "red mugs", "lamp"]))
    assert [*pairs_of(found)] == [(0, 0), (1, 2)]
    assert clusters(found, split=2) == [[0, 2], [1, 4]]


def test_equals_in_clusters() -> None:
    """Equal records are one: what is found of the first of them holds for all, and no more than that is chained."""
    rungs = (("exact", Exact()), ("segments", Segments(exactly(0.8), workers=1)))
    texts = ["red mug 12", "Red Mug 12", "red mug 13", "red mug 1345", "lamp", "LAMP", "vase"]
    assert clusters(Chain(rungs)(of_texts(texts))) == [[0, 1, 2], [4, 5]]


def test_exact() -> None:
    """Records are equal when each field is, after normalising, within one side and between two."""
    left = of_fields(["Crème", "creme", "a b"], ["1", "1", ""])
    assert pairs_of(Exact()(left)) == {(0, 1): 1.0}
    assert pairs_of(Exact()(left, of_fields(["CREME", "a"], ["1", "b"]))) == {
        (0, 0): 1.0,
        (1, 0): 1.0,
    }
    assert len(Exact()(of_texts([]))) == 0
