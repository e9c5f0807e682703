"""The nearest texts: for every row of one side the rows of the other side with the greatest product.

Small sides are multiplied whole, which is exact. With a million rows on one side that would take hours, and nearly all
of the work would go into grams that every tenth title has and that tell nothing. There a row reads its rarest grams
first, until it has met BUDGET rows of the other side; the products of the most promising ones are computed in full.
What a row costs is bounded so, however many rows there are.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.blocking.vectors import Matrix

Pairs = NDArray[np.int64]
MOST_CELLS = 200_000_000
MOST_PRODUCTS = 10_000_000
BUDGET = 50_000
FOR_THE_RAREST = 4
PROMISING = 4
FAINT = 0.25
CHUNK = 200_000


def nearest(left: Matrix, right: Matrix, top: int) -> Pairs:
    """For every row of `left` the `top` rows of `right` with the greatest product, the greatest first."""
    if left.shape[0] * right.shape[0] > MOST_CELLS:
        return rarest_first(left, right, top)
    turned, rows, found = right.T.tocsr(), left.shape[0], [np.empty((0, 2), dtype=np.int64)]
    step = max(1, MOST_PRODUCTS // max(1, right.shape[0]))
    for start in range(0, rows, step):
        found.append(_top((left[start : start + step] @ turned).toarray(), start, top))
    return np.concatenate(found)


def rarest_first(left: Matrix, right: Matrix, top: int, budget: int = BUDGET) -> Pairs:
    """As `nearest`, but each row of `left` meets about `budget` rows of `right`: those that share its rarest grams."""
    turned = right.T.tocsr()
    read, met = _read(left, np.diff(turned.indptr), budget)
    found = [np.empty((0, 2), dtype=np.int64)]
    for start, end in _blocks(met):
        block = (read[start:end] @ turned).tocsr()
        pairs = _promising(block, PROMISING * top)
        pairs[:, 0] += start
        found.append(_greatest(pairs, products(left, right, pairs), top))
    return np.concatenate(found)


def products(left: Matrix, right: Matrix, pairs: Pairs) -> NDArray[np.float32]:
    """The product of each pair's rows."""
    chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
    found = [
        np.asarray(left[part[:, 0]].multiply(right[part[:, 1]]).sum(axis=1)).ravel()
        for part in chunks
    ]
    return np.concatenate([np.empty(0, np.float32), *found]).astype(np.float32)


def _top(block: NDArray[np.float32], start: int, top: int) -> Pairs:
    """The greatest `top` entries above zero of each row, the greatest first."""
    if block.shape[1] > top:
        columns = np.argpartition(-block, top - 1, axis=1)[:, :top]
    else:
        columns = np.tile(np.arange(block.shape[1]), (block.shape[0], 1))
    rows = np.repeat(np.arange(block.shape[0]), columns.shape[1])
    pairs = np.column_stack((rows + start, columns.ravel())).astype(np.int64)
    return _greatest(pairs, block[rows, columns.ravel()], top)


def _read(
    left: Matrix, carriers: NDArray[np.int32], budget: int
) -> tuple[Matrix, NDArray[np.int64]]:
    """The grams that each row reads, and how many rows it meets by them."""
    row = np.repeat(np.arange(left.shape[0]), np.diff(left.indptr))
    cost = carriers[left.indices].astype(np.int64)
    order = np.lexsort((cost, row))
    spent = np.cumsum(cost[order])
    spent -= np.concatenate(([0], spent))[left.indptr[:-1]][row[order]]
    rarest = (spent == cost[order]) & (spent <= FOR_THE_RAREST * budget)
    kept = order[((spent <= budget) | rarest) & (cost[order] > 0)]
    read = sparse.csr_array((left.data[kept], (row[kept], left.indices[kept])), shape=left.shape)
    return read, np.bincount(row[kept], cost[kept], minlength=left.shape[0]).astype(np.int64)


def _blocks(met: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of rows that together meet about as many rows as a block of products may have."""
    number = np.cumsum(met) // MOST_PRODUCTS
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    yield from zip(starts.tolist(), [*starts[1:].tolist(), len(met)][: len(starts)], strict=True)


def _promising(block: Matrix, most: int) -> Pairs:
    """The greatest `most` entries of each row of a sparse block, less what is faint beside the row's greatest."""
    row = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    best = np.zeros(block.shape[0], np.float32)
    np.maximum.at(best, row, block.data)
    clear = np.flatnonzero(block.data > FAINT * best[row])
    pairs = np.column_stack((row[clear], block.indices[clear])).astype(np.int64)
    return _greatest(pairs, block.data[clear], most)


def _greatest(pairs: Pairs, value: NDArray[np.float32], most: int) -> Pairs:
    """Of each left row's pairs the `most` of the greatest value above zero; equal ones by their right row."""
    order = np.lexsort((pairs[:, 1], -value, pairs[:, 0]))
    order = order[value[order] > 0]
    owner = pairs[order, 0]
    place = np.arange(len(order)) - np.searchsorted(owner, owner)
    found: Pairs = pairs[order[place < most]]
    return found
