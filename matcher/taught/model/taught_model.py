"""The taught model: agreement without labels, and the classifier that labels add to it.

The classifier is the mean, in log-odds, of monotonic boosted trees and a monotonic regression: the
regression is steadier with few labels, the trees are better with many. Both read the comparison
features and, as two more of them, the agreement without labels.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matcher.array_types import Doubles, Floats, Pairs
from matcher.model.calibrated_model import CalibratedModel
from matcher.model.calibration import Sigmoid, log_odds
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.comparison import Comparison
from matcher.taught.features.feature import AGREEMENT, ALL_COLUMNS, NEVER_LOWERS, Feature
from matcher.taught.model.agreement import AgreementModel
from matcher.taught.model.partners import (
    Partners,
    partners_of_tables,
    share_among_rivals,
)
from matcher.taught.model.regression import Regression
from matcher.taught.model.similarities import group_similarities

# Rows that are scored at once; cap on memory, as both halves compute with copies in double precision.
ROWS_PER_CHUNK = 100_000
AGREEMENT_FEATURES = (
    Feature(AGREEMENT, "of the columns", NEVER_LOWERS),
    Feature(AGREEMENT, "among rivals", NEVER_LOWERS),
)


@dataclass(frozen=True)
class Classifier:
    """Classifier trained on labels: trees and a regression, calibrated together."""

    trees: CalibratedModel
    regression: Regression
    sigmoid: Sigmoid

    def raw_log_odds(self, table: Floats) -> Doubles:
        """Return the mean log-odds of both before calibration."""
        parts = [np.empty(0)]
        for start in range(0, len(table), ROWS_PER_CHUNK):
            chunk = table[start : start + ROWS_PER_CHUNK]
            parts.append((log_odds(self.trees(chunk)) + self.regression.log_odds(chunk)) / 2)
        return np.concatenate(parts)

    def log_odds(self, table: Floats) -> Doubles:
        """Return the calibrated log-odds of each row."""
        odds: Doubles = self.sigmoid.slope * self.raw_log_odds(table) + self.sigmoid.shift
        return odds


@dataclass(frozen=True)
class TaughtModel:
    """A model that can be stored and applied to other files with the same columns.

    `threshold` is the probability from which on a pair is a match. `classifier` is None without
    labels. `summary` says what the model was made of.
    """

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    features: tuple[Feature, ...]
    agreement: AgreementModel
    classifier: Classifier | None = None
    threshold: float = 0.5
    summary: dict[str, Any] = field(default_factory=dict)

    def log_odds(self, scored: "ScoringTable") -> Doubles:
        """Return the log-odds of candidate pairs."""
        if self.classifier is None:
            return log_odds(scored.shared.astype(np.float64))
        return self.classifier.log_odds(scored.table)


@dataclass(frozen=True)
class ScoringTable:
    """Candidate pairs with all features; `shared` is the probability that agreement gives them."""

    pairs: Pairs
    table: Floats
    shared: Doubles
    partners: Partners


def add_agreement(
    comparison: Comparison, pairs: Pairs, table: Floats, agreement: AgreementModel
) -> ScoringTable:
    """Add what agreement says of each pair to its features."""
    similarities = group_similarities(table, comparison.features)
    is_self_join = comparison.is_self_join
    if is_self_join:
        partners = Partners(agreement.has_one_partner, agreement.has_one_partner)
    else:
        overall = similarities[ALL_COLUMNS]
        partners = partners_of_tables(pairs, overall, agreement.has_several)
    odds = agreement.log_odds(similarities)
    shared = share_among_rivals(odds, pairs, partners, is_self_join)
    columns = (table, odds, log_odds(shared))
    return ScoringTable(pairs, np.column_stack(columns).astype(np.float32), shared, partners)


def all_features(comparison: Comparison) -> tuple[Feature, ...]:
    """Return the features of a scoring table, in order."""
    return (*comparison.features, *AGREEMENT_FEATURES)
