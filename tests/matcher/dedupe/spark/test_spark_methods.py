"""Join methods on Spark: the same pairs, figures and order as in memory."""

from fractions import Fraction

import numpy as np
import pytest

from catalog.errors import UsageError
from catalog.runtime.progress import no_progress
from catalog.runtime.spark.session import SparkJobs
from matcher.dedupe.base.join import JoinMethod, JoinResult
from matcher.dedupe.base.records import Records, records_from_fields, records_from_texts
from matcher.dedupe.base.text_columns import group_equal_texts
from matcher.dedupe.deduplication import default_method, find_duplicates
from matcher.dedupe.exact.exact_join import Exact
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from matcher.dedupe.spark.methods import check_supported, distribute

HALF_A_PAIR = "\ud83d mug"  # a lone surrogate, as JSON Lines may hold it


def table(offset: int) -> list[str]:
    """Titles in groups of variants: equal, differing in marks, and with a word more or less."""
    texts = ["", "!", "?", HALF_A_PAIR, HALF_A_PAIR + "s", "バスの花", "ハスの花", "Crème", "creme"]
    for number in range(offset, offset + 20):
        title = f"stoneware mug number {number} with a blue handle and {number % 7} dots"
        texts += [title, title.upper(), title + " new", title.replace("blue", "blau"), title]
    return texts


LEFT, RIGHT = records_from_texts(table(0)), records_from_texts(table(10))
TWO_FIELDS = records_from_fields(table(0), [text[:9] for text in table(3)])


def as_lists(result: JoinResult) -> list[object]:
    arrays = [result.left, result.right, result.similarity, result.reason]
    return [
        *(array.tolist() for array in arrays),
        result.reasons,
        result.candidates,
        result.comparisons,
        result.levels,
    ]


@pytest.mark.parametrize(
    ("method", "left", "right"),
    [
        (MinHash(Fraction(1, 2)), LEFT, RIGHT),
        (MinHash(Fraction(1, 2), max_group=6), LEFT, RIGHT),
        (default_method("chain", 0.8), TWO_FIELDS, None),
        (default_method("segments", 0.9), LEFT, RIGHT),
    ],
    ids=["minhash", "minhash of bounded groups", "ladder", "segments"],
)
def test_the_pairs_of_memory(
    method: JoinMethod, left: Records, right: Records | None, spark_jobs: SparkJobs
) -> None:
    """Pairs, similarities, reasons and counts of work are those of the method in memory."""
    local = find_duplicates(left, right, method)
    distributed = find_duplicates(left, right, distribute(method, spark_jobs))
    assert as_lists(distributed.pairs) == as_lists(local.pairs)
    assert distributed.clusters == local.clusters
    assert len(local.pairs) > 20


def test_no_records(spark_jobs: SparkJobs) -> None:
    """A file without records has no pairs."""
    assert not len(distribute(Exact(), spark_jobs)(records_from_texts([])))


@pytest.mark.parametrize(
    "method", [PrefixFilter(Fraction(4, 5)), default_method("chain", 0.8, "cosine")]
)
def test_other_methods_are_refused(method: JoinMethod) -> None:
    """A method that does not run on Spark is refused with those that do."""
    with pytest.raises(UsageError, match="exact, segments, minhash, and ladder"):
        check_supported(method)


def test_keys_of_two_bands_do_not_meet() -> None:
    """Equal keys of different bands have different numbers."""
    from matcher.dedupe.spark.shared_bands import _number_keys

    bands = np.array([0, 1, 0, 1], np.int32)
    numbers = _number_keys(bands, np.array([7, 7, 7, 8])).tolist()
    assert numbers[0] == numbers[2]
    assert len(set(numbers)) == 3


def test_keys_of_bands_are_those_of_memory() -> None:
    """Tasks compare the same bits of keys, or else chance pairs would be other ones."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("pyarrow.compute")
    from matcher.dedupe.minhash.minhash import _hash_side
    from matcher.dedupe.spark.shared_bands import _hash_batches, _spread_bands

    method = MinHash(Fraction(1, 2))
    column = group_equal_texts(LEFT.texts)
    plan = method.plan_bands()
    local = _hash_side(column, method, plan, no_progress)
    texts = [text.encode("utf-8", "surrogatepass") for text in column.texts]
    batch = pyarrow.record_batch(
        {"place": pyarrow.array(range(len(texts))), "text": pyarrow.array(texts)}
    )
    rows = pyarrow.Table.from_batches(_spread_bands(plan.bands)(_hash_batches(method)([batch])))
    for band in range(plan.bands):
        keys = rows.filter(pyarrow.compute.equal(rows["band"], band))["key"].to_pylist()
        assert keys == local.keys[band].tolist()
