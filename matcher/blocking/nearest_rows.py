"""Nearest-neighbour search: the rows of the other side with the greatest products.

Small sides are multiplied in full, which is exact. With a million rows on one side that would take
hours, mostly for n-grams that every tenth title has and that say nothing. There, each row reads its
rarest n-grams first until it has met BUDGET rows of the other side. Only the products of the most
promising rows are computed in full. This bounds the cost per row for any number of rows.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from matcher.array_types import Floats, Ints, Matrix, Pairs

# Products of rows up to which the exact search is used; bounds time.
MAX_EXACT_CELLS = 200_000_000
# Cells of one block of products; bounds memory.
BLOCK_CELLS = 10_000_000
# Rows of the other side that a row meets in the bounded search.
BUDGET = 50_000
# The rarest n-gram is read even if it alone costs up to this many budgets.
RAREST_BUDGETS = 4
# Candidates per wanted neighbour whose products are computed in full.
PROMISING_PER_NEIGHBOUR = 4
# Share of a row's best partial product below which a candidate is dropped.
MIN_PARTIAL = 0.25
# Left rows whose n-grams are sorted by rarity at once; bounds memory.
_LEFT_ROWS = 20_000
# Pairs whose full products are computed at once; bounds memory.
CHUNK = 20_000
_NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def find_nearest(left: Matrix, right: Matrix, count: int, budget: int = BUDGET) -> Pairs:
    """Find for each row of `left` the `count` rows of `right` with the greatest product.

    Pairs are sorted by left row, the greatest product first; products of zero are left out. Between
    large sides a row meets about `budget` rows only.
    """
    if needs_bounded_search(left, right):
        return find_nearest_bounded(left, right, count, budget)
    return find_nearest_exact(left, right, count)


def needs_bounded_search(left: Matrix, right: Matrix) -> bool:
    """Return True if the exact search of all rows would take too long."""
    return bool(left.shape[0] * right.shape[0] > MAX_EXACT_CELLS)


def find_nearest_exact(left: Matrix, right: Matrix, count: int) -> Pairs:
    """Find nearest rows by all products; the result of a row does not depend on other rows."""
    transposed = right.T.tocsr()
    blocks = [_NO_PAIRS]
    step = max(1, BLOCK_CELLS // max(1, right.shape[0]))
    for start in range(0, left.shape[0], step):
        block = (left[start : start + step] @ transposed).toarray()
        blocks.append(_greatest_of_block(block, start, count))
    return np.concatenate(blocks)


def find_nearest_bounded(left: Matrix, right: Matrix, count: int, budget: int = BUDGET) -> Pairs:
    """Find nearest rows as `find_nearest`, but each row meets about `budget` rows of `right` only.

    These are the rows that share its rarest n-grams.
    """
    transposed = right.T.tocsr()
    column_counts = np.diff(transposed.indptr)
    blocks = [_NO_PAIRS]
    for first in range(0, left.shape[0], _LEFT_ROWS):
        rare, cost = _rarest_columns(left[first : first + _LEFT_ROWS], column_counts, budget)
        for start, end in _split_by_cost(cost):
            partial = (rare[start:end] @ transposed).tocsr()
            pairs = _promising(partial, PROMISING_PER_NEIGHBOUR * count)
            pairs[:, 0] += first + start
            blocks.append(_greatest(pairs, multiply_pairs(left, right, pairs), count))
    return np.concatenate(blocks)


def multiply_pairs(left: Matrix, right: Matrix, pairs: Pairs) -> Floats:
    """Return the dot product of the two rows of each pair."""
    products = [np.empty(0, np.float32)]
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        elementwise = left[chunk[:, 0]].multiply(right[chunk[:, 1]])
        products.append(np.asarray(elementwise.sum(axis=1)).ravel())
    return np.concatenate(products).astype(np.float32)


def _greatest_of_block(block: Floats, start: int, count: int) -> Pairs:
    """Return the greatest `count` entries above zero of each row, the greatest first.

    `start` is the left row of the block's first row.
    """
    if block.shape[1] > count:
        columns = np.argpartition(-block, count - 1, axis=1)[:, :count]
    else:
        columns = np.tile(np.arange(block.shape[1]), (block.shape[0], 1))
    rows = np.repeat(np.arange(block.shape[0]), columns.shape[1])
    pairs = np.column_stack((rows + start, columns.ravel())).astype(np.int64)
    return _greatest(pairs, block[rows, columns.ravel()], count)


def _rarest_columns(left: Matrix, column_counts: Ints, budget: int) -> tuple[Matrix, Ints]:
    """Reduce each row to its rarest columns; also return the rows that it meets by them.

    `column_counts` says how many rows of the other side have each column.
    """
    # Of the type of the columns: a product of matrices of two types copies the larger one.
    row_numbers = np.arange(left.shape[0], dtype=left.indices.dtype)
    row = np.repeat(row_numbers, np.diff(left.indptr))
    cost = column_counts[left.indices].astype(np.int64)
    order = np.lexsort((cost, row))
    # Running cost within each row, the rarest column first.
    spent = np.cumsum(cost[order])
    spent -= np.concatenate(([0], spent))[left.indptr[:-1]][row[order]]
    is_rarest = (spent == cost[order]) & (spent <= RAREST_BUDGETS * budget)
    read = order[((spent <= budget) | is_rarest) & (cost[order] > 0)]
    reduced = sparse.csr_array((left.data[read], (row[read], left.indices[read])), shape=left.shape)
    return reduced, np.bincount(row[read], cost[read], minlength=left.shape[0]).astype(np.int64)


def _split_by_cost(cost: Ints) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of runs of rows that together cost about one block of products."""
    block = np.cumsum(cost) // BLOCK_CELLS
    starts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
    ends = [*starts[1:], len(cost)][: len(starts)]
    yield from zip(starts, ends, strict=True)


def _promising(block: Matrix, count: int) -> Pairs:
    """Return the greatest `count` entries of each row of a sparse block, without faint ones."""
    row = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    best = np.zeros(block.shape[0], np.float32)
    np.maximum.at(best, row, block.data)
    clear = np.flatnonzero(block.data > MIN_PARTIAL * best[row])
    pairs = np.column_stack((row[clear], block.indices[clear])).astype(np.int64)
    return _greatest(pairs, block.data[clear], count)


def _greatest(pairs: Pairs, product: Floats, count: int) -> Pairs:
    """Keep for each left row the `count` pairs of the greatest product above zero.

    Equal products are ordered by right row, so that the result does not depend on the input order.
    """
    order = np.lexsort((pairs[:, 1], -product, pairs[:, 0]))
    order = order[product[order] > 0]
    greatest: Pairs = pairs[order[rank_in_row(pairs[order, 0]) < count]]
    return greatest


def rank_in_row(left_rows: Ints) -> Ints:
    """Return the place of each pair, from 0, among those of its left row, which are sorted.

    >>> rank_in_row(np.array([0, 0, 2, 2, 2])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(len(left_rows)) - np.searchsorted(left_rows, left_rows)
