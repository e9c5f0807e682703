"""Pairs of row numbers packed into one integer, `left << 32 | right`, so that numpy can sort them.

Also the equi-join that blocking methods are built on: all pairs of rows whose 64-bit keys are
equal.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, UInts
from matcher.dedupe.base.join import check_pair_count
from matcher.dedupe.base.text_columns import (
    expand_ranges,
    run_offsets,
    slice_chunks,
    sort_unique,
    split_runs,
)

PAIRS_PER_CHUNK = 4_000_000  # pairs handled at once; 32 MB an array of codes


def pack_pairs(left: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]]) -> Ints:
    """Pack pairs of row numbers below 2^31 into single numbers.

    >>> unpack_pairs(pack_pairs(np.array([3]), np.array([5])))
    (array([3]), array([5]))
    """
    codes: Ints = left.astype(np.int64, copy=False) << 32 | right
    return codes


def unpack_pairs(codes: Ints) -> tuple[Ints, Ints]:
    """Return the left and the right row numbers of packed pairs."""
    return codes >> 32, codes & 0xFFFFFFFF


def _keep_all(codes: Ints) -> Ints:
    return codes


def collect_unique(
    chunks: Iterable[Ints], keep: Callable[[Ints], Ints] = _keep_all
) -> tuple[int, Ints]:
    """Count all codes of some chunks, and return the distinct ones that pass the filter `keep`.

    Duplicates are removed on the way, so that they never fill the memory. Raises UsageError if
    there are too many pairs.
    """
    codes = np.empty(0, dtype=np.int64)
    pending = list[Ints]()
    pending_count = total = 0
    for chunk in chunks:
        pending.append(keep(chunk))
        pending_count += len(pending[-1])
        total += len(chunk)
        # Sorting again only when the pending codes outnumber the sorted ones keeps it n log n.
        if pending_count > max(PAIRS_PER_CHUNK, len(codes)):
            codes = sort_unique(np.concatenate([codes, *pending]))
            pending, pending_count = [], 0
        check_pair_count(len(codes))
    return total, sort_unique(np.concatenate([codes, *pending]))


def match_keys(
    left: UInts, right: UInts | None = None, max_group: int | None = None
) -> Iterator[Ints]:
    """Yield chunks of packed pairs of rows with equal keys; in a self-join each pair once.

    Groups of more than `max_group` rows of one key, those of both sides counted, have no pairs.

    Key and row number are sorted as one integer, ten times as fast as an argsort. The row number
    takes the key's leading bits, so two different keys may rarely match: callers verify the pairs.

    >>> [codes.tolist() for codes in match_keys(np.array([5, 7, 5], dtype=np.uint64))]
    [[2]]
    """
    keys = left
    if right is not None:
        keys = np.concatenate([left, right])
    order, group_starts, group_sizes = _group_equal_keys(keys, max_group)
    group_ends = np.repeat(group_starts + group_sizes, group_sizes)
    if right is None:
        # Each row is paired with the rows after it in its group.
        partner_starts = np.arange(len(order)) + 1
        right_offset = 0
    else:
        # Left rows come first in each group; each is paired with all right rows of the group.
        right_offset = len(left)
        is_left = order < right_offset
        left_before = np.concatenate([[0], np.cumsum(is_left)])
        left_in_group = left_before[group_starts + group_sizes] - left_before[group_starts]
        first_right = np.repeat(group_starts + left_in_group, group_sizes)
        partner_starts = np.where(is_left, first_right, group_ends)
    partner_counts = group_ends - partner_starts
    paired = np.flatnonzero(partner_counts > 0)
    for chunk in slice_chunks(partner_counts[paired], PAIRS_PER_CHUNK):
        places = paired[chunk]
        counts = partner_counts[places]
        partners = order[expand_ranges(partner_starts[places], counts)] - right_offset
        yield pack_pairs(np.repeat(order[places], counts), partners)


def _group_equal_keys(keys: UInts, max_group: int | None) -> tuple[Ints, Ints, Ints]:
    """Return the rows of keys that occur twice or more, each group's start and size."""
    row_bits = np.uint64(len(keys).bit_length())
    packed = keys << row_bits | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    group_keys = packed >> row_bits
    equals_previous = np.zeros(len(keys) + 1, dtype=np.bool_)
    np.equal(group_keys[1:], group_keys[:-1], out=equals_previous[1:-1])
    repeated = np.flatnonzero(equals_previous[1:] | equals_previous[:-1])
    row_mask = (np.uint64(1) << row_bits) - np.uint64(1)
    rows = (packed[repeated] & row_mask).astype(np.int64)
    _, starts, sizes = split_runs(group_keys[repeated])
    if max_group is not None and sizes.max(initial=0) > max_group:
        is_kept = sizes <= max_group
        rows, sizes = rows[np.repeat(is_kept, sizes)], sizes[is_kept]
        starts = run_offsets(sizes)[:-1]
    return rows, starts, sizes
