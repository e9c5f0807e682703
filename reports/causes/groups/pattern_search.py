"""Search for the groups of offers that the catalog lacks: the smallest set that explains the most.

A group (a category, a brand, an interval of prices) is a pattern if its offers are missing far more
often than the others. Groups overlap, so they are chosen one after another, each by the offers that
the groups chosen so far leave unexplained: the group with the greatest gain in likelihood
(Kulldorff 1997), less a penalty for the number of groups that it was chosen from (minimum
description length). Afterwards each chosen group is chosen again, given all others, until nothing
changes; one that the others explain falls away.

The search runs twice: with groups that are missing nearly as a whole first, and without preference.
The set that explains the missing offers better is the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from matcher.array_types import Bools, Doubles, Ints
from reports.causes.config import CauseConfig
from reports.causes.groups.group_statistics import (
    correct_p_values,
    effect_size,
    hypergeometric_p_values,
    likelihood_gain,
    log_likelihood,
)
from reports.causes.groups.interval_scan import Interval, scan_intervals, sort_order
from reports.causes.offer_columns import Column, OfferColumns, Scale, Trait

# Groups with the greatest gain whose exact p-value is computed; the others cannot be chosen.
_MAX_EXACT_TESTS = 200
# Times that every chosen group is chosen again, against two sets that lead to each other.
_MAX_REVISIONS = 4
# Penalty of traits that only Scout knows, in nats: of two groups that fit about as well, a merchant
# understands the category and not the folder of the URLs. The value stands for a prior of 1 in 150.
_TECHNICAL_PENALTY = 5.0
_TECHNICAL_TRAITS = frozenset({Trait.TEMPLATE, Trait.FOLDER})
# Gains that differ less are equal (sums of weights carry rounding errors).
_EQUAL_GAIN = 1e-6


# Patterns are compared by identity: arrays have no truth value.
@dataclass(frozen=True, eq=False)
class Pattern:
    """Group of offers that are missing more often than the others.

    `members` marks the group's offers (shape: offers). `low` and `high` are the borders of an
    interval, both included; None is open. `unit` is the currency of a price. `p_value` is corrected
    for all groups tested. `penalty` is the cost of the group's name, in nats. `is_whole` is True if
    nearly all of the offers that no other pattern holds are missing.
    """

    trait: Trait
    value: str
    members: Bools
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    p_value: float = 1.0
    penalty: float = 0.0
    is_whole: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """The group's identity."""
        return self.trait, self.value, self.low, self.high, self.unit


@dataclass(frozen=True)
class _Figures:
    """Sums of weights, likelihood gain, p-value and penalty of several groups, one entry each."""

    missing: Doubles
    offers: Doubles
    gains: Doubles
    p_values: Doubles
    penalties: Doubles


def find_patterns(columns: OfferColumns, config: CauseConfig | None = None) -> list[Pattern]:
    """Return the groups that explain the missing offers best; none if chance explains them."""
    search = _Search(columns, config or CauseConfig())
    by_gain = search.find(prefers_whole=False)
    # A preference for whole groups would have chosen the same.
    if all(pattern.is_whole for pattern in by_gain):
        return by_gain
    whole_first = search.find(prefers_whole=True)
    if search.score(by_gain) > search.score(whole_first) + _EQUAL_GAIN:
        return by_gain
    return whole_first


class _Search:
    def __init__(self, columns: OfferColumns, config: CauseConfig) -> None:
        self._columns = columns
        self._config = config
        self._missing_weights = columns.weights * columns.is_missing
        self._orders = [sort_order(scale) for scale in columns.scales]
        sizes = [len(column.values) for column in columns.columns]
        # First group of each column in the arrays of all groups, and the end.
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        penalties = [self._penalty(column.trait) for column in columns.columns]
        self._group_penalties = np.repeat(penalties, sizes)

    def _penalty(self, trait: Trait) -> float:
        """Return the cost of naming a group of a trait: the logarithm of their number."""
        penalty = log(max(1, self._columns.choices_of(trait)))
        if trait in _TECHNICAL_TRAITS:
            penalty += _TECHNICAL_PENALTY
        return penalty

    def find(self, prefers_whole: bool) -> list[Pattern]:
        """Choose groups one after another, then each again given all others."""
        chosen: list[Pattern] = []
        while len(chosen) < self._config.max_causes:
            pattern = self._choose(chosen, prefers_whole)
            if pattern is None:
                break
            chosen.append(pattern)
        for _ in range(_MAX_REVISIONS):
            revised = self._revise(chosen, prefers_whole)
            if [pattern.key for pattern in revised] == [pattern.key for pattern in chosen]:
                break
            chosen = revised
        return chosen

    def _revise(self, chosen: Sequence[Pattern], prefers_whole: bool) -> list[Pattern]:
        if len(chosen) < 2:
            return list(chosen)
        revised = list(chosen)
        # The last one was chosen with the fewest offers left, so it is the most doubtful.
        for index in reversed(range(len(chosen))):
            former = revised[index]
            other_patterns = [pattern for pattern in revised if pattern is not former]
            pattern = self._choose(other_patterns, prefers_whole)
            if pattern is None:
                revised.remove(former)
            else:
                revised[revised.index(former)] = pattern
        return revised

    def score(self, patterns: Sequence[Pattern]) -> float:
        """Return the log-likelihood of a set of groups, less the penalty for each."""
        remaining = np.ones(len(self._columns.weights), dtype=bool)
        score = 0.0
        for pattern in patterns:
            members = pattern.members & remaining
            # The group's name, and half the logarithm of the offers for its missing share.
            penalty = pattern.penalty + log(len(self._columns.weights)) / 2
            score += self._log_likelihood(members) - penalty
            remaining &= ~pattern.members
        return score + self._log_likelihood(remaining)

    def _log_likelihood(self, members: Bools) -> float:
        missing = self._missing_weights[members].sum()
        return float(log_likelihood(missing, self._columns.weights[members].sum()))

    def _choose(self, other_patterns: Sequence[Pattern], prefers_whole: bool) -> Pattern | None:
        """Return the best group for the offers outside the others; None if chance explains them."""
        counted = np.ones(len(self._columns.weights), dtype=bool)
        for pattern in other_patterns:
            counted &= ~pattern.members
        weights = np.where(counted, self._columns.weights, 0.0)
        missing_weights = np.where(counted, self._missing_weights, 0.0)
        groups, numbers = self._test_groups(missing_weights, weights)
        intervals = self._scan_scales(missing_weights, weights)
        figures = _with_intervals(groups, [interval for _, interval in intervals])
        p_values = self._corrected(figures, float(missing_weights.sum()), float(weights.sum()))
        is_cause = p_values < self._config.false_discovery_rate
        if not is_cause.any():
            return None
        is_whole = figures.missing >= self._config.whole_share * figures.offers
        if prefers_whole and (is_cause & is_whole).any():
            is_cause &= is_whole
        scores = np.where(is_cause, figures.gains - figures.penalties, -np.inf)
        # The first of equal groups: columns come in the order of traits, upper levels first.
        best = int(np.flatnonzero(scores >= scores.max() - _EQUAL_GAIN)[0])
        p_value, covers_whole_group = float(p_values[best]), bool(is_whole[best])
        if best < len(numbers):
            return self._group_pattern(int(numbers[best]), p_value, covers_whole_group)
        index, interval = intervals[best - len(numbers)]
        return self._interval_pattern(index, interval, p_value, covers_whole_group)

    def _test_groups(self, missing_weights: Doubles, weights: Doubles) -> tuple[_Figures, Ints]:
        """Test the groups of all columns; returns their figures and their numbers."""
        parts = [
            _count_groups(column, missing_weights, weights) for column in self._columns.columns
        ]
        if not parts:
            empty = np.zeros(0)
            return _Figures(empty, empty, empty, empty, empty), np.zeros(0, dtype=np.int64)
        missing = np.concatenate([part[0] for part in parts])
        offers = np.concatenate([part[1] for part in parts])
        # Chosen without a look at the missing offers: a group this small proves nothing.
        numbers = np.flatnonzero(offers >= self._config.min_products - _EQUAL_GAIN)
        missing, offers = missing[numbers], offers[numbers]
        total_missing, total = float(missing_weights.sum()), float(weights.sum())
        gains = likelihood_gain(missing, offers, total_missing, total)
        p_values = np.ones(len(numbers))
        frequent = np.argsort(-gains)[:_MAX_EXACT_TESTS]
        p_values[frequent] = hypergeometric_p_values(
            missing[frequent], offers[frequent], total_missing, total
        )
        figures = _Figures(missing, offers, gains, p_values, self._group_penalties[numbers])
        return figures, numbers

    def _scan_scales(
        self, missing_weights: Doubles, weights: Doubles
    ) -> list[tuple[int, Interval]]:
        """Return the best intervals with the index of their scale."""
        intervals = []
        scales = zip(self._columns.scales, self._orders, strict=True)
        for index, (scale, order) in enumerate(scales):
            for interval in scan_intervals(scale, order, missing_weights, weights, self._config):
                intervals.append((index, interval))
        return intervals

    def _group_pattern(self, number: int, p_value: float, is_whole: bool) -> Pattern:
        index = int(np.searchsorted(self._starts, number, side="right")) - 1
        column = self._columns.columns[index]
        code = number - int(self._starts[index])
        return Pattern(
            trait=column.trait,
            value=column.values[code],
            members=column.codes == code,
            p_value=p_value,
            penalty=float(self._group_penalties[number]),
            is_whole=is_whole,
        )

    def _interval_pattern(
        self, index: int, interval: Interval, p_value: float, is_whole: bool
    ) -> Pattern:
        scale, order = self._columns.scales[index], self._orders[index]
        low, high = _open_borders(scale, order, interval.low, interval.high)
        members = ~np.isnan(scale.numbers)
        if low is not None:
            members &= scale.numbers >= low
        if high is not None:
            members &= scale.numbers <= high
        return Pattern(
            trait=scale.trait,
            value="",
            members=members,
            low=low,
            high=high,
            unit=scale.unit,
            p_value=p_value,
            penalty=interval.penalty,
            is_whole=is_whole,
        )

    def _corrected(self, figures: _Figures, total_missing: float, total: float) -> Doubles:
        """Correct the p-values for all tests; 1 where the effect or the group is too small."""
        corrected = correct_p_values(figures.p_values, len(figures.p_values))
        offers_outside = total - figures.offers
        other_share = np.divide(
            total_missing - figures.missing,
            offers_outside,
            out=np.ones(len(offers_outside)),
            where=offers_outside > _EQUAL_GAIN,
        )
        share = figures.missing / np.maximum(figures.offers, _EQUAL_GAIN)
        is_large = effect_size(share, other_share) >= self._config.min_effect
        is_enough = figures.missing >= self._config.min_products - _EQUAL_GAIN
        return np.where(is_large & is_enough, corrected, 1.0)


def _with_intervals(groups: _Figures, intervals: Sequence[Interval]) -> _Figures:
    """Append the figures of intervals to those of groups."""
    return _Figures(
        missing=np.append(groups.missing, [interval.missing for interval in intervals]),
        offers=np.append(groups.offers, [interval.offers for interval in intervals]),
        gains=np.append(groups.gains, [interval.gain for interval in intervals]),
        p_values=np.append(groups.p_values, [interval.p_value for interval in intervals]),
        penalties=np.append(groups.penalties, [interval.penalty for interval in intervals]),
    )


def _count_groups(
    column: Column, missing_weights: Doubles, weights: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the missing weight and the weight of each group."""
    size = len(column.values) + 1
    codes = column.codes + 1
    missing = np.bincount(codes, missing_weights, size)[1:].astype(float)
    offers = np.bincount(codes, weights, size)[1:].astype(float)
    if column.unpaired is not None:
        # The feed may hold as many of the group's missing offers, only not paired.
        missing = np.maximum(missing - column.unpaired, 0.0)
    return missing, offers


def _open_borders(
    scale: Scale, order: Ints, low: float, high: float
) -> tuple[float | None, float | None]:
    """Return None for a border beyond which no offer lies."""
    lowest, highest = scale.numbers[order[0]], scale.numbers[order[-1]]
    return (None if low <= lowest else low), (None if high >= highest else high)
