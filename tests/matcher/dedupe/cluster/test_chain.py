"""Chained join methods: records that one method settles are not compared by the next."""

from catalog.runtime.progress import Progress, no_progress
from matcher.dedupe.base.join import JoinMethod, JoinResult, parse_threshold
from matcher.dedupe.base.records import Records, records_from_texts
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.cluster.clustering import cluster_pairs
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact_join import Exact
from tests.matcher.dedupe.brute_force import pairs_of

STEPS: tuple[tuple[str, JoinMethod], ...] = (
    ("exact", Exact()),
    ("segments", Segments(parse_threshold(0.8), workers=1)),
)


def test_self_join() -> None:
    """Only the first of equal records goes on; levels and reasons carry the method's name."""
    result = Chain(STEPS)(records_from_texts(["Red  Mug!!", "red mug!!", "red mug!?", "lamp"]))
    assert pairs_of(result) == {(0, 1): 1.0}
    assert [level.method for level in result.levels] == ["exact", "segments"]
    assert result.reasons[result.reason[0]] == "exact: equal after normalising"


def test_remaining_records() -> None:
    """A method is given the remaining records, and a pair that two methods find is reported once."""
    given = list[list[str]]()

    def spy(
        left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        given.append(left.texts)
        return Segments(parse_threshold(0.6), workers=1)(left, right, progress)

    texts = ["red mug 1", "RED MUG 1", "red mug 1234", "red mug", "lamp"]
    steps = (("exact", Exact()), ("first", spy), ("second", spy))
    result = Chain(steps)(records_from_texts(texts))
    assert given == [
        ["red mug 1", "red mug 1234", "red mug", "lamp"],
        ["red mug 1", "red mug 1234", "lamp"],
    ]
    assert [*pairs_of(result)] == [(0, 1), (0, 2), (0, 3)]
    assert len(result) == 3


def test_two_sides() -> None:
    """Between two sides a left record that has found a partner does not go on."""
    left = records_from_texts(["Red Mug", "lamps"])
    right = records_from_texts(["red mug", "red mugs", "lamp"])
    result = Chain(STEPS)(left, right)
    assert [*pairs_of(result)] == [(0, 0), (1, 2)]
    assert cluster_pairs(result, left_size=2) == [[0, 2], [1, 4]]


def test_equal_records_in_clusters() -> None:
    """Pairs of the first of equal records hold for all of them; nothing else is chained."""
    texts = ["red mug 12", "Red Mug 12", "red mug 13", "red mug 1345", "lamp", "LAMP", "vase"]
    assert cluster_pairs(Chain(STEPS)(records_from_texts(texts))) == [[0, 1, 2], [4, 5]]
