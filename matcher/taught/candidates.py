"""Candidate pairs: nearest neighbours of each record, pairs of any join method, random pairs."""

from collections.abc import Iterable

import numpy as np

from catalog.runtime.spark.session import SparkJobs
from matcher.array_types import Ints, Matrix, Pairs
from matcher.blocking.distributed_rows import find_nearest_distributed
from matcher.blocking.nearest_rows import BUDGET, find_nearest
from matcher.dedupe.base.join import JoinResult
from matcher.dedupe.base.pair_codes import pack_pairs, unpack_pairs
from matcher.dedupe.base.text_columns import sort_unique
from matcher.taught.features.token_space import TokenSpace

# Nearest neighbours of each record, by 3-grams and by words.
DEFAULT_NEIGHBOURS = 10
# Rows that all rows together meet in the bounded search; bounds time.
MAX_MEETINGS = 500_000_000
MIN_BUDGET = 200
# Random pairs for each other candidate. Where records have dozens of copies, all neighbours are copies,
# and without other pairs agreement learns nothing (12 works, 40 citations each: recall .14 without them,
# .91 with .03, 1.00 with .05). Elsewhere F1 is as before or better by .004 at most.
RANDOM_SHARE = 0.05


def find_neighbours(
    space: TokenSpace,
    is_self_join: bool,
    count: int = DEFAULT_NEIGHBOURS,
    jobs: SparkJobs | None = None,
) -> Pairs:
    """Find the most similar records of each record, from both sides; sorted unique pairs.

    With `jobs` they are searched for on Spark.
    """
    sides = (
        (space.left.grams, space.right.grams),
        (space.left.unit_words, space.right.unit_words),
    )
    parts = [find_nearest_pairs(left, right, is_self_join, count, jobs) for left, right in sides]
    return unite_pairs(parts, is_self_join)


def find_nearest_pairs(
    left: Matrix, right: Matrix, is_self_join: bool, count: int, jobs: SparkJobs | None = None
) -> Pairs:
    """Find the `count` rows of the other side with the greatest product, from both sides."""
    if is_self_join:
        # Each record is its own nearest neighbour.
        return _search(left, right, count + 1, jobs)
    of_left, of_right = _search(left, right, count, jobs), _search(right, left, count, jobs)
    return np.concatenate([of_left, of_right[:, ::-1]])


def draw_random_pairs(left_size: int, right_size: int, candidates: int, seed: int) -> Pairs:
    """Draw pairs of any records to stand beside a number of candidates."""
    generator = np.random.default_rng(seed)
    count = int(RANDOM_SHARE * candidates)
    left = generator.integers(0, left_size, count)
    right = generator.integers(0, right_size, count)
    return np.column_stack((left, right))


def unite_pairs(parts: Iterable[Pairs], is_self_join: bool) -> Pairs:
    """Return the distinct pairs of several sets, sorted; in a self-join with left < right.

    >>> unite_pairs([np.array([[2, 1], [1, 1]]), np.array([[1, 2]])], is_self_join=True).tolist()
    [[1, 2]]
    """
    pairs = np.concatenate([np.empty((0, 2), np.int64), *parts])
    if is_self_join:
        pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    codes = sort_unique(pack_pairs(pairs[:, 0], pairs[:, 1]))
    return np.column_stack(unpack_pairs(codes))


def joined_pairs(result: JoinResult) -> Pairs:
    """Return the pairs that a join method found."""
    return np.column_stack((result.left, result.right)).astype(np.int64)


def _search(left: Matrix, right: Matrix, count: int, jobs: SparkJobs | None) -> Pairs:
    budget = max(MIN_BUDGET, min(BUDGET, MAX_MEETINGS // max(1, left.shape[0])))
    if jobs is not None:
        return find_nearest_distributed(jobs, left, right, count, budget)
    return find_nearest(left, right, count, budget)


def find_rows(pairs: Pairs, wanted: Pairs) -> Ints:
    """Return the row of each wanted pair among sorted pairs, -1 if it is not there."""
    codes = pack_pairs(pairs[:, 0], pairs[:, 1])
    wanted_codes = pack_pairs(wanted[:, 0], wanted[:, 1])
    place = np.minimum(np.searchsorted(codes, wanted_codes), max(0, len(codes) - 1))
    if not len(codes):
        return np.full(len(wanted), -1, np.int64)
    return np.where(codes[place] == wanted_codes, place, -1).astype(np.int64)
