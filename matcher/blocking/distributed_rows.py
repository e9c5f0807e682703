"""Nearest-neighbour search on Spark: each task searches for some rows of the left side.

The right side goes to all executors. The neighbours of a row do not depend on other left rows, so
the result is that of `matcher.blocking.nearest_rows`.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from catalog.runtime.spark.session import SparkJobs, Work
from matcher.array_types import Matrix, Pairs
from matcher.blocking.nearest_rows import (
    BUDGET,
    find_nearest_bounded,
    find_nearest_exact,
    needs_bounded_search,
)
from matcher.packed_arrays import matrix_arrays, pack_arrays, unpack_arrays, unpack_matrix

# Left rows of one item.
ROWS_PER_ITEM = 5_000


def find_nearest_distributed(
    jobs: SparkJobs, left: Matrix, right: Matrix, count: int, budget: int = BUDGET
) -> Pairs:
    """Find for each row of `left` the `count` rows of `right` with the greatest product.

    Between large sides a row meets about `budget` rows only.
    """
    settings = np.array([count, needs_bounded_search(left, right), budget], np.int64)
    shared = pack_arrays(settings=settings, **matrix_arrays("right", right))
    starts = range(0, left.shape[0], ROWS_PER_ITEM)

    def items() -> Iterator[bytes]:
        for start in starts:
            yield pack_arrays(**matrix_arrays("left", left[start : start + ROWS_PER_ITEM]))

    pairs = [np.empty((0, 2), np.int64)]
    for start, result in zip(starts, jobs.map(_prepare_search, shared, items()), strict=True):
        found = unpack_arrays(result)["pairs"]
        found[:, 0] += start
        pairs.append(found)
    return np.concatenate(pairs)


def _prepare_search(shared: bytes) -> Work:
    arrays = unpack_arrays(shared)
    right = unpack_matrix("right", arrays)
    count, is_bounded, budget = arrays["settings"].tolist()
    search = partial(find_nearest_bounded, budget=budget) if is_bounded else find_nearest_exact

    def run(item: bytes) -> bytes:
        left = unpack_matrix("left", unpack_arrays(item))
        return pack_arrays(pairs=search(left, right, count))

    return run
