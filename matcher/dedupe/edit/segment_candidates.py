"""Candidates of the segment join for texts of one length: by segments or by masks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from matcher.dedupe.base.char_masks import within_edits
from matcher.dedupe.base.join import BoolArray, IntArray, UInt64Array
from matcher.dedupe.base.pair_codes import pack_pairs
from matcher.dedupe.base.rolling_hash import HashedColumn
from matcher.dedupe.base.text_columns import (
    expand_ranges,
    slice_chunks,
    sort_unique,
    split_runs,
)
from matcher.dedupe.edit.partition import (
    Placement,
    Placements,
    count_placements,
    possible_placements,
    segment_bounds,
)
from matcher.mixed_bits import mix_bits

PAIRS_PER_CHUNK = 4_000_000  # candidate pairs handled at once
MAX_EDITS = 40  # beyond it segments are too short to be rare, and all masks are compared
MAX_EDITS_FOR_TWO_INTACT = 5  # beyond it two intact segments have too many placements

# Cost model that decides between segments and masks; seconds, only their ratios matter.
SECONDS_PER_PLACEMENT = 20e-6  # overhead of numpy calls for one placement
SECONDS_PER_LOOKUP = 15e-9  # one substring key looked up
SECONDS_PER_MASK_PAIR = 2e-9  # one pair of masks compared

Places = NDArray[np.uint32]  # places of texts in a column


@dataclass(frozen=True)
class LengthJoin:
    """The texts of one length, and all texts at most `max_edits` shorter to compare them with.

    `only_shorter` leaves out texts of the same length.
    """

    longer: HashedColumn
    shorter: HashedColumn
    length: int
    max_edits: int
    is_self_join: bool = False
    only_shorter: bool = False

    def partner_lengths(self) -> list[int]:
        """Return the lengths of the shorter texts that occur."""
        last = self.length - self.only_shorter
        possible = range(self.length - self.max_edits, last + 1)
        return [length for length in possible if length in self.shorter.length_ranges]

    def partner_count(self, lengths: Sequence[int]) -> int:
        """Count the shorter texts of some lengths."""
        return sum(map(self.shorter.count, lengths))

    def intact_segments(self) -> int:
        """Return how many segments must agree: two if the texts are long and alike enough."""
        if self.max_edits <= MAX_EDITS_FOR_TWO_INTACT and self.length >= self.max_edits + 2:
            return 2
        return 1


def find_candidates(join: LengthJoin) -> tuple[list[IntArray], int]:
    """Return chunks of packed pairs (longer, shorter), and their number before masks."""
    lengths = join.partner_lengths()
    if _is_cheaper_by_masks(join, lengths):
        return _compare_all_masks(join, lengths)
    return _match_segments(join, lengths)


def _is_cheaper_by_masks(join: LengthJoin, lengths: Sequence[int]) -> bool:
    """Return True if comparing all masks costs less than looking up segments."""
    if join.max_edits > MAX_EDITS or join.length <= join.max_edits:
        return True
    partners = join.partner_count(lengths)
    mask_pairs = join.longer.count(join.length) * partners
    placements = count_placements(join.max_edits, join.intact_segments())
    lookup_seconds = SECONDS_PER_LOOKUP * partners / max(1, len(lengths))
    seconds_per_placement = SECONDS_PER_PLACEMENT + lookup_seconds
    return mask_pairs * SECONDS_PER_MASK_PAIR <= placements * seconds_per_placement


def _compare_all_masks(join: LengthJoin, lengths: Sequence[int]) -> tuple[list[IntArray], int]:
    start, stop = join.longer.length_ranges[join.length]
    chunks, compared = list[IntArray](), 0
    for length in lengths:
        first, end = join.shorter.length_ranges[length]
        shorter = join.shorter.masks[None, first:end]
        step = max(1, PAIRS_PER_CHUNK // (end - first))
        for chunk_start in range(start, stop, step):
            longer = join.longer.masks[chunk_start : min(chunk_start + step, stop), None]
            is_near = within_edits(longer, shorter, join.max_edits, join.length - length)
            rows, columns = np.nonzero(is_near)
            chunks.append(_pack(join, rows + chunk_start, columns + first))
            compared += is_near.size
    return chunks, compared


def _match_segments(join: LengthJoin, lengths: Sequence[int]) -> tuple[list[IntArray], int]:
    """Equi-join on the keys of segments: a hash join by polars, then masks on the matches."""
    keys, owners = _segment_keys(join)
    lookups = [*_substring_keys(join, lengths, _KeyFilter(keys))]
    queries = pl.DataFrame(
        {
            "key": np.concatenate([lookup_keys for lookup_keys, _ in lookups]),
            "shorter": np.concatenate([places for _, places in lookups]),
        }
    )
    order = np.argsort(keys)
    distinct_keys, starts, counts = split_runs(keys[order])
    index = pl.DataFrame({"key": distinct_keys, "start": starts, "count": counts})
    matches = queries.join(index, on="key", how="inner")
    start = matches["start"].to_numpy()
    count = matches["count"].to_numpy()
    shorter = matches["shorter"].to_numpy()
    candidates = int(count.sum())
    # Frequent segments can match more pairs than there are: then masks alone are cheaper.
    if candidates > join.longer.count(join.length) * join.partner_count(lengths):
        return _compare_all_masks(join, lengths)
    owners = owners[order]
    chunks = list[IntArray]()
    for chunk in slice_chunks(count, PAIRS_PER_CHUNK):
        longer = owners[expand_ranges(start[chunk], count[chunk])]
        partners = np.repeat(shorter[chunk], count[chunk])
        chunks.append(_filter_by_masks(join, longer, partners))
    return chunks, candidates


def _filter_by_masks(join: LengthJoin, longer: Places, shorter: Places) -> IntArray:
    """Return the distinct pairs of texts that the masks do not rule out, packed."""
    length_difference = join.length - join.shorter.column.lengths[shorter]
    is_near = within_edits(
        join.longer.masks[longer], join.shorter.masks[shorter], join.max_edits, length_difference
    )
    return sort_unique(_pack(join, longer[is_near], shorter[is_near]))


def _pack(
    join: LengthJoin, longer: NDArray[np.integer[Any]], shorter: NDArray[np.integer[Any]]
) -> IntArray:
    if join.is_self_join:
        # Texts stand by length, so each pair appears once with the longer text behind.
        is_behind = longer > shorter
        longer, shorter = longer[is_behind], shorter[is_behind]
    return pack_pairs(longer, shorter)


def _segment_keys(join: LengthJoin) -> tuple[UInt64Array, Places]:
    """Return the keys of all choices of intact segments of the longer texts, and their owners."""
    choices = set[tuple[int, ...]]()
    for length_difference in range(join.max_edits + 1):
        for placements in possible_placements(
            join.max_edits, join.intact_segments(), length_difference
        ):
            choices.add(tuple(placement.segment for placement in placements))
    keys = list[UInt64Array]()
    for segments in sorted(choices):
        in_place = tuple(Placement(segment, 0) for segment in segments)
        keys.append(_hash_segments(join, join.longer, join.length, in_place))
    start, stop = join.longer.length_ranges[join.length]
    return np.concatenate(keys), np.tile(np.arange(start, stop, dtype=np.uint32), len(keys))


def _substring_keys(
    join: LengthJoin, lengths: Sequence[int], key_filter: "_KeyFilter"
) -> Iterator[tuple[UInt64Array, Places]]:
    """Yield the keys of the shorter texts' substrings that may match, and their owners."""
    yield np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint32)
    bounds = segment_bounds(join.length, join.max_edits + join.intact_segments())
    for length in lengths:
        first, _ = join.shorter.length_ranges[length]
        difference = join.length - length
        for placements in possible_placements(join.max_edits, join.intact_segments(), difference):
            if not _fits(placements, bounds, length):
                continue
            keys = _hash_segments(join, join.shorter, length, placements)
            possible = np.flatnonzero(key_filter.may_contain(keys))
            yield keys[possible], (possible + first).astype(np.uint32)


def _fits(placements: Placements, bounds: list[int], length: int) -> bool:
    """Return True if all shifted segments lie within a text of some length."""
    for segment, shift in placements:
        if bounds[segment] + shift < 0 or bounds[segment + 1] + shift > length:
            return False
    return True


def _hash_segments(
    join: LengthJoin, column: HashedColumn, length: int, placements: Placements
) -> UInt64Array:
    """Hash some segments, as placed in each text of a length, to one key."""
    bounds = segment_bounds(join.length, join.max_edits + join.intact_segments())
    keys = np.zeros(column.count(length), dtype=np.uint64)
    for segment, shift in placements:
        start, stop = bounds[segment] + shift, bounds[segment + 1] + shift
        # A salt for each segment: equal texts of different segments must not match.
        keys += column.substring_hashes(length, start, stop) * _SEGMENT_SALTS[segment]
    keys ^= keys >> np.uint64(29)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    return keys


_SEGMENT_SALTS = mix_bits(np.arange(MAX_EDITS + 3)) | np.uint64(1)


class _KeyFilter:
    """A set of keys by their leading bits, small enough for the processor's cache.

    It answers False only for keys that are absent (a Bloom filter with a single hash).
    """

    def __init__(self, keys: UInt64Array) -> None:
        bits = min(22, max(10, len(keys).bit_length() + 3))
        self._shift = np.uint64(64 - bits)
        self._flags = np.zeros(1 << bits, dtype=np.bool_)
        self._flags[keys >> self._shift] = True

    def may_contain(self, keys: UInt64Array) -> BoolArray:
        """Return False for each key that is absent."""
        flags: BoolArray = self._flags[keys >> self._shift]
        return flags
