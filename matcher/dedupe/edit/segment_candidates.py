"""Candidates of the segment join for texts of one length: by segments or by masks."""

from collections.abc import Iterator, Sequence

import numpy as np

from matcher.array_types import Ints
from matcher.dedupe.base.bigram_signatures import may_be_within_edits
from matcher.dedupe.base.char_masks import MASK_BITS, MissingBits
from matcher.dedupe.base.pair_codes import pack_pairs
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.segment_choice import (
    CHARACTERS_PER_BLOCK,
    choose_segments,
    estimate_costs,
    useful_grids,
)
from matcher.dedupe.edit.segment_index import PAIRS_PER_GRID, Matches, SegmentIndex

CHARACTERS_PER_INDEX = 1 << 22  # characters of the longer texts that are indexed at once; 100 MB
PARTNERS_PER_GRID = 1 << 12  # shorter texts whose masks are compared at once


def find_candidates(join: LengthJoin) -> Iterator[tuple[int, Ints]]:
    """Yield numbers of pairs, and those that are not ruled out, packed (longer, shorter).

    A pair may come several times.
    """
    for compared, longer, shorter in _match_texts(join):
        is_possible = may_be_within_edits(
            join.longer.signatures[longer],
            join.shorter.signatures[shorter],
            join.max_edits,
            join.length - join.shorter.column.lengths[shorter],
        )
        if join.is_self_join:
            # Texts stand by length, so each pair appears once with the longer text behind.
            is_possible &= longer > shorter
        yield compared, pack_pairs(longer[is_possible], shorter[is_possible])


def _match_texts(join: LengthJoin) -> Iterator[Matches]:
    if not join.partner_lengths():
        return
    for places in join.longer.slice_places(*join.longer_range(), CHARACTERS_PER_INDEX):
        costs = estimate_costs(join, places)
        grids = useful_grids(join, len(places), costs)
        if not grids:
            yield from _compare_masks(join, places)
            continue
        longer = join.longer.block(places)
        choice = choose_segments(join, longer, grids, costs)
        yield from _compare_masks(join, places[choice.by_masks])
        indexes = [
            SegmentIndex(join, chosen.grid, longer, chosen.rows, chosen.is_kept)
            for chosen in choice.grids
        ]
        # The indexes have the parts of its texts.
        del longer
        if indexes:
            yield from _match_segments(join, indexes)


def _match_segments(join: LengthJoin, indexes: Sequence[SegmentIndex]) -> Iterator[Matches]:
    """Look the segments of all shorter texts up in some indexes."""
    for places in join.shorter.slice_places(*join.shorter_range(), CHARACTERS_PER_BLOCK):
        shorter = join.shorter.block(places)
        for index in indexes:
            yield from index.match(shorter)


def _compare_masks(join: LengthJoin, longer: Ints) -> Iterator[Matches]:
    """Compare the masks of some longer texts with those of all shorter texts."""
    first, end = join.shorter_range()
    for partner in range(first, end, PARTNERS_PER_GRID):
        shorter = np.arange(partner, min(end, partner + PARTNERS_PER_GRID))
        shorter_masks = join.shorter.masks[shorter]
        differences = join.length - join.shorter.column.lengths[shorter]
        # No mask has more bits.
        deletions = np.minimum(join.max_edits, MASK_BITS).astype(np.uint8)
        insertions = np.minimum(join.max_edits - differences, MASK_BITS).astype(np.uint8)
        step = max(1, PAIRS_PER_GRID // len(shorter))
        missing = MissingBits(min(step, len(longer)), len(shorter))
        for start in range(0, len(longer), step):
            rows = longer[start : start + step]
            masks = join.longer.masks[rows]
            is_near = missing.count(masks, ~shorter_masks) <= deletions
            # Bits that the longer text lacks, as many as those that the shorter one has too many.
            is_near &= missing.count(~masks, shorter_masks) <= insertions
            near = np.flatnonzero(is_near)
            yield is_near.size, rows[near // len(shorter)], shorter[near % len(shorter)]
