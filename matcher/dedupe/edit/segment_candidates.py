"""Candidates of the segment join for texts of one length: by segments or by masks."""

from collections.abc import Iterator

import numpy as np

from matcher.dedupe.base.bigram_signatures import may_be_within_edits
from matcher.dedupe.base.char_masks import MASK_BITS, within_edits
from matcher.dedupe.base.join import IntArray
from matcher.dedupe.base.pair_codes import pack_pairs
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.segment_choice import CHARACTERS_PER_BLOCK, choose_segments
from matcher.dedupe.edit.segment_index import PAIRS_PER_GRID, Matches, SegmentIndex

CHARACTERS_PER_INDEX = 1 << 22  # characters of the longer texts that are indexed at once; 100 MB
PARTNERS_PER_GRID = 1 << 12  # shorter texts whose masks are compared at once


def find_candidates(join: LengthJoin) -> Iterator[tuple[int, IntArray]]:
    """Yield numbers of pairs, and those that are not ruled out, packed (longer, shorter).

    A pair may come several times.
    """
    for compared, longer, shorter in _match_texts(join):
        if join.is_self_join:
            # Texts stand by length, so each pair appears once with the longer text behind.
            is_behind = longer > shorter
            longer, shorter = longer[is_behind], shorter[is_behind]
        is_possible = may_be_within_edits(
            join.longer.signatures[longer],
            join.shorter.signatures[shorter],
            join.max_edits,
            join.length - join.shorter.column.lengths[shorter],
        )
        yield compared, pack_pairs(longer[is_possible], shorter[is_possible])


def _match_texts(join: LengthJoin) -> Iterator[Matches]:
    first, end = join.shorter_range()
    if first == end:
        return
    for longer in join.longer.blocks(*join.longer_range(), CHARACTERS_PER_INDEX):
        choice = choose_segments(join, longer)
        yield from _compare_masks(join, longer.places[choice.by_masks])
        indexes = [
            SegmentIndex(join, chosen.grid, longer, chosen.rows, chosen.is_kept)
            for chosen in choice.grids
        ]
        if not indexes:
            continue
        del longer
        for shorter in join.shorter.blocks(first, end, CHARACTERS_PER_BLOCK):
            for index in indexes:
                yield from index.match(shorter)


def _compare_masks(join: LengthJoin, longer: IntArray) -> Iterator[Matches]:
    """Compare the masks of some longer texts with those of all shorter texts."""
    first, end = join.shorter_range()
    for partner in range(first, end, PARTNERS_PER_GRID):
        shorter = np.arange(partner, min(end, partner + PARTNERS_PER_GRID))
        differences = join.length - join.shorter.column.lengths[shorter]
        # No mask misses more bits than it has.
        insertions = np.minimum(join.max_edits - differences, MASK_BITS).astype(np.uint8)
        shorter_masks = join.shorter.masks[shorter]
        step = max(1, PAIRS_PER_GRID // len(shorter))
        for start in range(0, len(longer), step):
            rows = longer[start : start + step]
            # The tighter bound first: few pairs are left for the second.
            inserted = np.bitwise_count(shorter_masks & ~join.longer.masks[rows][:, None])
            near = np.flatnonzero(inserted <= insertions)
            near_longer, near_shorter = rows[near // len(shorter)], near % len(shorter)
            is_near = within_edits(
                join.longer.masks[near_longer],
                shorter_masks[near_shorter],
                join.max_edits,
                differences[near_shorter],
            )
            yield inserted.size, near_longer[is_near], shorter[near_shorter[is_near]]
