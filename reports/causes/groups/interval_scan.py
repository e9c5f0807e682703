"""Scan of a number (a price, a position) for the interval in which the most offers are missing.

The borders that are tested divide the offers into equal parts, so they do not depend on which
offers are missing, and the number of tests is known. The best interval's borders are then moved to
where they fit best.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from matcher.array_types import Doubles, Ints
from reports.causes.config import CauseConfig
from reports.causes.groups.group_statistics import hypergeometric_p_values, likelihood_gain
from reports.causes.offer_columns import Scale, Trait

# Share of missing offers between coarse borders that finer ones may make a whole interval of.
_NEARLY_WHOLE = 0.7
# Borders tried on each side when the best interval is refined.
_MAX_FINE_BORDERS = 200


@dataclass(frozen=True)
class Interval:
    """Offers between two borders, both included, with the figures of the test.

    `missing` and `offers` are sums of weights. `p_value` is corrected for the intervals tested.
    `penalty` is the cost of the borders, in nats.
    """

    low: float
    high: float
    missing: float
    offers: float
    gain: float
    p_value: float
    penalty: float


@dataclass(frozen=True)
class _Counts:
    """Weights of a scale's offers in ascending order, as sums up to each position.

    `unpaired` counts the feed's unpaired offers up to each position, `unpaired_anywhere` those that
    may stand at any.
    """

    numbers: Doubles
    missing: Doubles
    offers: Doubles
    unpaired: Doubles
    unpaired_anywhere: int
    total_missing: float
    total_offers: float


def sort_order(scale: Scale) -> Ints:
    """Return the indices of a scale's offers in ascending order, without those that have none."""
    order = np.argsort(scale.numbers, kind="stable")
    return np.asarray(order[: int((~np.isnan(scale.numbers)).sum())], dtype=np.int64)


def scan_intervals(
    scale: Scale, order: Ints, missing_weights: Doubles, weights: Doubles, config: CauseConfig
) -> list[Interval]:
    """Return the best intervals: open below, open above, and with two borders.

    Both weights are per offer, 0 for an offer that does not count.
    """
    counted = order[weights[order] > 0]
    if len(counted) < config.min_interval_products:
        return []
    numbers = scale.numbers[counted]
    unpaired = np.searchsorted(scale.unpaired, numbers).astype(float)
    unpaired[0] = 0.0
    counts = _Counts(
        numbers=numbers,
        unpaired_anywhere=scale.unpaired_anywhere,
        unpaired=np.append(unpaired, float(len(scale.unpaired))),
        missing=np.concatenate(([0.0], np.cumsum(missing_weights[counted]))),
        offers=np.concatenate(([0.0], np.cumsum(weights[counted]))),
        total_missing=float(missing_weights.sum()),
        total_offers=float(weights.sum()),
    )
    borders = _borders(counts.numbers, config.interval_borders)
    last = len(borders) - 1
    if last < 2:
        return []
    lows, highs = np.triu_indices(last + 1, k=1)
    is_open_below, is_open_above = lows == 0, highs == last
    shapes = [~is_open_below & is_open_above]
    if scale.trait is Trait.PRICE:
        shapes += [is_open_below & ~is_open_above, ~is_open_below & ~is_open_above]
    intervals = []
    for shape in shapes:
        intervals += _best_of_shape(counts, borders, lows[shape], highs[shape], config)
    return intervals


def _borders(numbers: Doubles, parts: int) -> Ints:
    """Return positions in the sorted numbers that divide them into equal parts, first and last too.

    Equal numbers are never divided.
    """
    starts = np.flatnonzero(np.concatenate(([True], numbers[1:] > numbers[:-1])))
    if len(starts) > parts:
        equal_steps = np.arange(parts) * len(numbers) / parts
        starts = np.unique(starts[np.searchsorted(starts, equal_steps, side="right") - 1])
    return np.append(starts, len(numbers)).astype(np.int64)


def _best_of_shape(
    counts: _Counts, borders: Ints, lows: Ints, highs: Ints, config: CauseConfig
) -> list[Interval]:
    """Return the interval of the greatest gain, and that among the nearly whole ones."""
    if not len(lows):
        return []
    missing, offers, gains = _measure(counts, borders[lows], borders[highs])
    is_enough = missing >= config.min_interval_products
    is_whole = is_enough & (missing >= _NEARLY_WHOLE * offers)
    chosen = []
    for eligible in (is_enough, is_whole):
        best = int(np.argmax(np.where(eligible, gains, 0.0)))
        if eligible[best] and gains[best] > 0 and best not in chosen:
            chosen.append(best)
    intervals = []
    for index in chosen:
        p_value = hypergeometric_p_values(
            [missing[index]], [offers[index]], counts.total_missing, counts.total_offers
        )[0]
        start, end = _refine(counts, borders, int(lows[index]), int(highs[index]))
        fine_missing, fine_offers, gain = _measure(counts, np.array([start]), np.array([end]))
        intervals.append(
            Interval(
                low=float(counts.numbers[start]),
                high=float(counts.numbers[end - 1]),
                missing=float(fine_missing[0]),
                offers=float(fine_offers[0]),
                gain=float(gain[0]),
                # Bonferroni correction: every interval of this shape is a test.
                p_value=min(1.0, float(p_value) * len(lows)),
                penalty=log(len(lows)),
            )
        )
    return intervals


def _measure(counts: _Counts, starts: Ints, ends: Ints) -> tuple[Doubles, Doubles, Doubles]:
    """Return missing weight, weight and likelihood gain of the offers from `starts` to `ends`."""
    missing = counts.missing[ends] - counts.missing[starts]
    # The feed may hold as many of the missing offers, only not paired.
    unpaired = counts.unpaired[ends] - counts.unpaired[starts] + counts.unpaired_anywhere
    missing = np.maximum(missing - unpaired, 0.0)
    offers = counts.offers[ends] - counts.offers[starts]
    gains = likelihood_gain(missing, offers, counts.total_missing, counts.total_offers)
    return missing, offers, gains


def _refine(counts: _Counts, borders: Ints, low: int, high: int) -> tuple[int, int]:
    """Move the borders of an interval to where the gain is greatest; open ends stay."""
    last = len(borders) - 1
    starts, ends = np.array([borders[0]]), np.array([borders[last]])
    if low > 0:
        starts = _fine_borders(counts.numbers, borders[low - 1], borders[min(low + 1, high)])
    if high < last:
        ends = _fine_borders(counts.numbers, borders[max(high - 1, low)], borders[high + 1])
    all_starts, all_ends = (grid.ravel() for grid in np.meshgrid(starts, ends, indexing="ij"))
    is_interval = all_starts < all_ends
    all_starts, all_ends = all_starts[is_interval], all_ends[is_interval]
    best = int(np.argmax(_measure(counts, all_starts, all_ends)[2]))
    return int(all_starts[best]), int(all_ends[best])


def _fine_borders(numbers: Doubles, start: int, end: int) -> Ints:
    """Return the positions between two borders at which the number changes."""
    positions = np.arange(max(start, 1), min(end, len(numbers) - 1) + 1)
    changes = positions[numbers[positions] > numbers[positions - 1]]
    if end >= len(numbers):
        changes = np.append(changes, len(numbers))
    if start == 0:
        changes = np.append(0, changes)
    step = max(1, -(-len(changes) // _MAX_FINE_BORDERS))
    return changes[::step].astype(np.int64)
