"""Choose how each longer text is compared: by segments, and which of them, or by masks with all.

A segment is as good as it is rare among the shorter texts. Their frequencies are estimated on a
sample, which decides on the work and never on the pairs: each choice finds them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Ints
from matcher.dedupe.base.bigram_signatures import may_be_within_edits
from matcher.dedupe.base.char_masks import within_edits
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.partition import Grid
from matcher.dedupe.edit.segment_index import MAX_EDITS, hash_slots, slot_bits
from matcher.dedupe.edit.text_blocks import TextBlock

CHARACTERS_PER_BLOCK = 1 << 20  # characters of the shorter texts that are looked up at once; 25 MB
SPARE_SEGMENTS = (0, 1, 2, 3, 4, 6, 9, 13)  # numbers of ignored segments that are tried
MIN_SEGMENT_LENGTH = 2  # characters of a segment on average
SAMPLED_TEXTS = 2_048  # shorter texts whose segments are counted
SAMPLED_MASKS = 256  # texts of each side whose masks are compared

# Cost model; seconds, measured on one core: only their ratios matter.
SECONDS_PER_LOOKUP_CALL = 60e-6  # overhead of numpy calls for one segment, shift and block of texts
SECONDS_PER_COUNT = 20e-6  # overhead for one segment and shift of the sample
SECONDS_PER_LOOKUP = 6e-9  # one substring looked up
SECONDS_PER_ENTRY = 150e-9  # one segment of a longer text indexed
SECONDS_PER_MATCH = 4e-9  # one pair with an equal segment
SECONDS_PER_MASK_PAIR = 3e-9  # one pair of masks compared
SECONDS_PER_SIGNATURE = 60e-9  # one pair of signatures compared
SECONDS_PER_DISTANCE = 500e-9  # one edit distance computed

# Grids without and with neighbours are tried if comparing all masks takes so many times as long as
# counting on the sample.
MIN_GAINS = ((False, 2), (True, 20))
# Pairs that the masks of two parts of a text allow, relative to those that whole masks allow.
MATCH_SHARE = 0.5


@dataclass(frozen=True)
class PairCosts:
    """Estimated seconds for a pair that shares a segment, and for one that is compared by masks."""

    match: float
    masks: float


@dataclass(frozen=True)
class GridChoice:
    """Longer texts that are compared by the segments of a grid.

    `rows` are their numbers in a block; `is_kept` has a row for each segment and a column for each
    text.
    """

    grid: Grid
    rows: Ints
    is_kept: Bools


@dataclass(frozen=True)
class Choice:
    """The comparison of each longer text of a block: by a grid, or else by masks with all."""

    grids: Sequence[GridChoice]
    by_masks: Ints


def estimate_costs(join: LengthJoin, longer: Ints) -> PairCosts:
    """Estimate the costs from a sample of pairs that masks and signatures do not rule out.

    `longer` are places of the longer texts.
    """
    longer = longer[_spread(0, len(longer), SAMPLED_MASKS)]
    shorter = _spread(*join.shorter_range(), SAMPLED_MASKS)
    differences = join.length - join.shorter.column.lengths[shorter]
    is_near = within_edits(
        join.longer.masks[longer][:, None], join.shorter.masks[shorter], join.max_edits, differences
    )
    rows, columns = np.nonzero(is_near)
    is_possible = may_be_within_edits(
        join.longer.signatures[longer[rows]],
        join.shorter.signatures[shorter[columns]],
        join.max_edits,
        differences[columns],
    )
    later = SECONDS_PER_SIGNATURE * len(rows) + SECONDS_PER_DISTANCE * int(is_possible.sum())
    later /= is_near.size
    return PairCosts(SECONDS_PER_MATCH + MATCH_SHARE * later, SECONDS_PER_MASK_PAIR + later)


def useful_grids(join: LengthJoin, texts: int, costs: PairCosts) -> list[Grid]:
    """Return the grids to choose from for some longer texts; none if choosing does not pay."""
    first, end = join.shorter_range()
    possible = costs.masks * texts * (end - first)
    grids = list[Grid]()
    if join.max_edits > MAX_EDITS:
        return grids
    for with_neighbours, gain in MIN_GAINS:
        counted = list[Grid]()
        seconds = 0.0
        for spare in SPARE_SEGMENTS:
            grid = Grid(join.length, join.max_edits, spare, with_neighbours)
            length = grid.length // grid.segments
            if length >= MIN_SEGMENT_LENGTH or spare == 0 < length:
                counted.append(grid)
                seconds += SECONDS_PER_COUNT * grid.lookup_count()
                seconds += SECONDS_PER_LOOKUP * texts * grid.segments
        if possible < gain * seconds:
            break
        grids += counted
    return grids


def choose_segments(
    join: LengthJoin, block: TextBlock, grids: Sequence[Grid], costs: PairCosts
) -> Choice:
    """Choose for each of some longer texts the cheapest comparison."""
    first, end = join.shorter_range()
    partners = end - first
    sample = join.shorter.block(_spread(first, end, SAMPLED_TEXTS))
    fixed, variable = [0.0], [np.full(len(block), costs.masks * partners)]
    for grid in grids:
        lookups = grid.lookup_count()
        block_count = 1 + partners * join.length // CHARACTERS_PER_BLOCK
        fixed.append(
            lookups * (SECONDS_PER_LOOKUP_CALL * block_count + SECONDS_PER_LOOKUP * partners)
        )
        matches = _count_matches(grid, block, sample)
        kept = np.partition(matches, grid.max_edits, axis=0)[: grid.max_edits + 1].sum(axis=0)
        # Half a match stands for the segments that the sample has not.
        share = (kept + 0.5) / len(sample)
        variable.append(share * partners * costs.match + grid.segments * SECONDS_PER_ENTRY)
    plans = _select_plans(fixed, variable)
    cheapest = np.array(plans)[np.argmin([variable[plan] for plan in plans], axis=0)]
    chosen = list[GridChoice]()
    for number, grid in enumerate(grids, 1):
        rows = np.flatnonzero(cheapest == number)
        if len(rows):
            # Counted again: the matches of all grids at once would fill memory.
            matches = _count_matches(grid, block, sample)[:, rows]
            chosen.append(GridChoice(grid, rows, _keep_rarest(grid, matches)))
    return Choice(chosen, np.flatnonzero(cheapest == 0))


def _select_plans(fixed: Sequence[float], variable: Sequence[Doubles]) -> list[int]:
    """Return the plans whose cheapest for each text costs least, chosen one after the other."""
    totals = [cost + float(costs.sum()) for cost, costs in zip(fixed, variable, strict=True)]
    plans = [int(np.argmin(totals))]
    total = totals[plans[0]]
    while True:
        least = np.min([variable[plan] for plan in plans], axis=0)
        spent = sum(fixed[plan] for plan in plans)
        totals = [
            spent + cost + float(np.minimum(least, costs).sum())
            for cost, costs in zip(fixed, variable, strict=True)
        ]
        best = int(np.argmin(totals))
        if totals[best] >= total:
            return plans
        plans.append(best)
        total = totals[best]


def _count_matches(grid: Grid, block: TextBlock, sample: TextBlock) -> Ints:
    """Count the texts of a sample that match each segment (row) of each longer text (column)."""
    bits = slot_bits(len(block))
    counts = list[Ints]()
    for segment in range(grid.segments):
        segment_counts = np.zeros(len(block), dtype=np.int64)
        for probe in grid.probes(segment):
            # A text without an edit before a later segment is rare.
            if segment and not probe.most_edits:
                continue
            matched = [np.empty(0, dtype=np.int64)]
            for lookup in grid.lookups(probe):
                texts = sample.range_of_lengths(*grid.partner_lengths(segment, lookup.shift))
                if texts.start < texts.stop:
                    matched.append(hash_slots(sample.hash_pieces(lookup.pieces, texts), bits))
            frequency = np.bincount(np.concatenate(matched), minlength=1 << bits)
            segment_counts += frequency[hash_slots(block.hash_pieces(probe.pieces), bits)]
        counts.append(segment_counts)
    return np.stack(counts)


def _keep_rarest(grid: Grid, matches: Ints) -> Bools:
    """Return for each segment (row) and text (column) if it is kept: the `max_edits` + 1 rarest."""
    order = np.argsort(matches, axis=0, kind="stable")
    is_kept = np.zeros(matches.shape, dtype=np.bool_)
    np.put_along_axis(is_kept, order[: grid.max_edits + 1], True, axis=0)
    return is_kept


def _spread(first: int, end: int, count: int) -> Ints:
    """Return at most `count` numbers of a range, evenly spread."""
    count = min(count, end - first)
    return first + np.arange(count) * (end - first) // max(1, count)
