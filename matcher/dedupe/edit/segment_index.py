"""An index of the segments of the longer texts: finds the shorter texts that share one.

A text enters the index with the segments that it does not ignore. A pair that shares a segment must
also allow the edits before and after it, by the masks of both parts of each text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.char_masks import MissingBits, count_missing
from matcher.dedupe.base.text_columns import (
    expand_ranges,
    run_offsets,
    slice_chunks,
    split_runs,
    stable_argsort,
)
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.partition import Grid, Lookup, Probe
from matcher.dedupe.edit.text_blocks import TextBlock

Counts = NDArray[np.uint8]  # edits, at most 255
# Number of pairs compared, and the places (longer, shorter) of the texts that the masks allow.
Matches = tuple[int, Ints, Ints]

MAX_EDITS = 40  # beyond it segments are too short to be rare
PAIRS_PER_CHUNK = 1 << 20  # pairs whose masks are gathered at once
PAIRS_PER_GRID = 1 << 17  # pairs of masks compared at once, few enough for the processor's cache
MIN_GRID_PAIRS = 1 << 11  # pairs of one segment that are compared all with all
MIN_SLOT_TEXTS = 16  # longer texts among these pairs
_MIN_SLOT_BITS = 8  # 256 slots at least
_MAX_SLOT_BITS = 20  # a million slots at most; bounds memory
_SLOTS_PER_TEXT_BITS = 3  # 8 slots a text, so that few different segments share one


def slot_bits(texts: int) -> int:
    """Return the number of bits that number the slots of a table of some texts."""
    return min(_MAX_SLOT_BITS, max(_MIN_SLOT_BITS, texts.bit_length() + _SLOTS_PER_TEXT_BITS))


def hash_slots(hashes: UInts, bits: int) -> Ints:
    """Return the slot of each hash: its leading bits."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


@dataclass(frozen=True)
class _SegmentTable:
    """The longer texts by the hash of one segment, with the masks of the parts around it.

    Texts of slot i are `first[i]` to `first[i + 1]`.
    """

    probe: Probe
    bits: int
    first: NDArray[np.int32]
    sizes: NDArray[np.int32]
    places: Ints
    edits_before: Counts
    left_masks: UInts
    right_masks: UInts

    @classmethod
    def build(
        cls, grid: Grid, probe: Probe, block: TextBlock, rows: Ints, edits_before: Counts
    ) -> "_SegmentTable":
        start, stop = grid.bounds[probe.segment], grid.bounds[probe.segment + 1]
        bits = slot_bits(len(rows))
        slots = hash_slots(block.hash_pieces(probe.pieces)[rows], bits)
        order = stable_argsort(slots)
        sizes = np.bincount(slots, minlength=1 << bits)
        rows = rows[order]
        return cls(
            probe,
            bits,
            run_offsets(sizes).astype(np.int32),
            sizes.astype(np.int32),
            block.places[rows],
            edits_before[order],
            block.left_masks(start)[rows],
            block.right_masks(stop)[rows],
        )


class SegmentIndex:
    """The kept segments of some longer texts on one grid."""

    def __init__(
        self, join: LengthJoin, grid: Grid, block: TextBlock, rows: Ints, is_kept: Bools
    ) -> None:
        """Index some texts of a block; `is_kept` has a row for each segment, a column for each."""
        self._join = join
        self._grid = grid
        self._tables = list[_SegmentTable]()
        # The number of a segment among those kept is the number of edits before it.
        edits_before: Counts = (np.cumsum(is_kept, axis=0) - is_kept).astype(np.uint8)
        for segment in range(grid.segments):
            edits = edits_before[segment]
            for probe in grid.probes(segment):
                is_served = is_kept[segment] & (edits >= probe.least_edits)
                kept = np.flatnonzero(is_served & (edits <= probe.most_edits))
                if len(kept):
                    table = _SegmentTable.build(grid, probe, block, rows[kept], edits[kept])
                    self._tables.append(table)

    def match(self, block: TextBlock) -> Iterator[Matches]:
        """Yield the pairs that share a segment and that the masks allow."""
        for table in self._tables:
            segment = table.probe.segment
            for lookup in self._grid.lookups(table.probe):
                lengths = self._grid.partner_lengths(segment, lookup.shift)
                texts = block.range_of_lengths(*lengths)
                if texts.start < texts.stop:
                    yield from self._match_segment(table, lookup, block, texts)

    def _match_segment(
        self, table: _SegmentTable, lookup: Lookup, block: TextBlock, texts: slice
    ) -> Iterator[Matches]:
        shift, segment = lookup.shift, table.probe.segment
        start = self._grid.bounds[segment] + shift
        stop = self._grid.bounds[segment + 1] + shift
        slots = hash_slots(block.hash_pieces(lookup.pieces, texts), table.bits)
        hits = np.flatnonzero(table.sizes[slots])
        if not len(hits):
            return
        slots = slots[hits]
        sizes = table.sizes[slots].astype(np.int64)
        shorter = _Parts(
            block.places[texts][hits],
            self._grid.length - block.lengths[texts][hits],
            block.left_masks(start)[texts][hits],
            block.right_masks(stop)[texts][hits],
        )
        comparison = _Comparison(table, shift, self._grid, shorter)
        is_rare = np.ones(len(hits), dtype=np.bool_)
        frequent = np.flatnonzero(sizes >= MIN_SLOT_TEXTS)
        frequent = frequent[stable_argsort(slots[frequent])]
        runs = [array.tolist() for array in split_runs(slots[frequent])]
        for slot, first, count in zip(*runs, strict=True):
            entries = range(int(table.first[slot]), int(table.first[slot + 1]))
            if count * len(entries) >= MIN_GRID_PAIRS:
                rows = frequent[first : first + count]
                is_rare[rows] = False
                yield from comparison.compare_all(entries, rows)
        rare = np.flatnonzero(is_rare)
        for chunk in slice_chunks(sizes[rare], PAIRS_PER_CHUNK):
            rows = rare[chunk]
            paired = expand_ranges(table.first[slots[rows]].astype(np.int64), sizes[rows])
            yield comparison.compare(paired, np.repeat(rows, sizes[rows]))


@dataclass(frozen=True)
class _Parts:
    """Shorter texts, with the masks of their parts before and after a substring."""

    places: Ints
    length_differences: Ints
    left_masks: UInts
    right_masks: UInts


class _Comparison:
    """Compares the masks of longer and shorter texts that share a segment at some shift.

    Longer texts are entries of a table, shorter ones rows of their parts.
    """

    def __init__(self, table: _SegmentTable, shift: int, grid: Grid, shorter: _Parts) -> None:
        self._table = table
        self._shift = shift
        self._max_edits = grid.max_edits
        self._shorter = shorter
        # The longer part of a text rules out more pairs.
        self._is_left_longer = 2 * table.probe.segment >= grid.segments

    def compare_all(self, entries: range, rows: Ints) -> Iterator[Matches]:
        """Compare all texts of a slot with all of some shorter texts."""
        table = self._table
        places = slice(entries.start, entries.stop)
        possible = np.flatnonzero(table.edits_before[places] >= abs(self._shift)) + entries.start
        step = max(1, PAIRS_PER_GRID // len(rows))
        missing = MissingBits(min(step, len(possible)), len(rows))
        not_left, not_right = ~self._shorter.left_masks[rows], ~self._shorter.right_masks[rows]
        inserted = np.uint8(max(0, self._shift))
        for start in range(0, len(possible), step):
            compared = possible[start : start + step]
            before = table.edits_before[compared][:, None]
            is_near = missing.count(table.left_masks[compared], not_left) <= before - inserted
            after = np.uint8(self._max_edits) - before
            is_near &= missing.count(table.right_masks[compared], not_right) <= after
            near = np.flatnonzero(is_near)
            near_rows = rows[near % len(rows)]
            _, longer, shorter = self.compare(compared[near // len(rows)], near_rows)
            yield is_near.size, longer, shorter

    def compare(self, entries: Ints, rows: Ints) -> Matches:
        """Compare texts of the table with as many shorter texts, pair by pair."""
        pairs = len(entries)
        sides = [self._allow_left, self._allow_right]
        if not self._is_left_longer:
            sides.reverse()
        for allow in sides:
            near = np.flatnonzero(allow(entries, rows))
            entries, rows = entries[near], rows[near]
        return pairs, self._table.places[entries], self._shorter.places[rows]

    def _allow_left(self, entries: Ints, rows: Ints) -> Bools:
        """Return True where the masks allow the edits before the segment."""
        # In int64 a negative bound rules a pair out.
        before = self._table.edits_before[entries].astype(np.int64)
        longer, shorter = self._table.left_masks[entries], self._shorter.left_masks[rows]
        # So many characters more the shorter text has there.
        inserted = self._shift
        is_near: Bools = count_missing(longer, shorter) <= before - max(0, inserted)
        is_near &= count_missing(shorter, longer) <= before + min(0, inserted)
        return is_near

    def _allow_right(self, entries: Ints, rows: Ints) -> Bools:
        """Return True where the masks allow the edits after the segment."""
        after = self._max_edits - self._table.edits_before[entries].astype(np.int64)
        longer, shorter = self._table.right_masks[entries], self._shorter.right_masks[rows]
        # So many characters less the shorter text has there.
        deleted = self._shorter.length_differences[rows] + self._shift
        is_near: Bools = count_missing(longer, shorter) <= after + np.minimum(0, deleted)
        is_near &= count_missing(shorter, longer) <= after - np.maximum(0, deleted)
        return is_near
