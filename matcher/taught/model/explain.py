"""Explain a probability as a waterfall: the log-odds that each column adds, exact in their sum.

Trees have no coefficients. The columns are revealed one after the other, from the first and from
the last, and each gets the mean change of its reveals. The weights of a pair and the base add
up to its log-odds. Agreement without labels is no column: it is recomputed with each reveal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Doubles
from matcher.taught.features.comparison import Comparison
from matcher.taught.features.feature import RIVALS, VARIANTS
from matcher.taught.model.similarities import MARKER_GROUPS, group_similarities
from matcher.taught.model.taught_model import AGREEMENT_FEATURES, ScoringTable, TaughtModel


@dataclass(frozen=True)
class Waterfall:
    """The base log-odds of some pairs, and the log-odds that each column adds, (pairs, columns)."""

    groups: tuple[str, ...]
    base: float
    weights: Doubles

    def total(self) -> Doubles:
        """Return the log-odds of each pair."""
        total: Doubles = self.base + self.weights.sum(axis=1)
        return total


def explain_pairs(
    model: TaughtModel, comparison: Comparison, scored: ScoringTable, rows: Sequence[int]
) -> Waterfall:
    """Explain the log-odds of some rows of a scoring table."""
    groups = tuple(dict.fromkeys(feature.group for feature in comparison.features))
    table = scored.table[list(rows)]
    similarities = group_similarities(table[:, : -len(AGREEMENT_FEATURES)], comparison.features)
    parts = model.agreement.weights(similarities)
    of_markers = [parts.pop(group) for group in MARKER_GROUPS.values() if group in parts]
    parts[VARIANTS] = sum(of_markers, np.zeros(len(table)))
    # Log-odds that the rivals take from a pair, beyond the weight of its lead over them.
    rival_share = table[:, -1].astype(np.float64) - table[:, -2]
    if model.classifier is None:
        weights = np.column_stack([parts.get(group, np.zeros(len(table))) for group in groups])
        weights[:, groups.index(RIVALS)] += rival_share
        return Waterfall(groups, model.agreement.base, weights)
    columns = {
        group: [n for n, feature in enumerate(comparison.features) if feature.group == group]
        for group in groups
    }
    weights = np.zeros((len(table), len(groups)))
    base = 0.0
    for order in (range(len(groups)), range(len(groups) - 1, -1, -1)):
        shown = np.full_like(table, np.nan)
        agreed = np.full(len(table), model.agreement.base)
        share = np.zeros(len(table))
        shown[:, -2] = shown[:, -1] = agreed
        before = model.classifier.log_odds(shown)
        base = float(before[0]) if len(before) else 0.0
        for number in order:
            group = groups[number]
            shown[:, columns[group]] = table[:, columns[group]]
            agreed = agreed + parts.get(group, 0.0)
            if group == RIVALS:
                share = rival_share
            shown[:, -2], shown[:, -1] = agreed, agreed + share
            after = model.classifier.log_odds(shown)
            weights[:, number] += (after - before) / 2
            before = after
    return Waterfall(groups, base, weights)


def describe_probability(odds: float) -> float:
    """Return the probability of log-odds, rounded to four digits."""
    return round(float(1 / (1 + np.exp(-odds))), 4)
