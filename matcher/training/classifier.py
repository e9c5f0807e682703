"""The pair classifier: from comparison features to the probability that both offers are the same.

A small catalog trains a scorecard, a larger one gradient-boosted trees, which take unknown values as
they are. Both are constrained to be monotonic: better agreement never lowers the odds, so a few
hundred synthetic pairs cannot teach them the opposite. For a catalog too small to train on, a fixed
logistic formula over the strongest features takes their place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from matcher.array_types import Bools, Floats
from matcher.blocking.candidates import find_candidates
from matcher.blocking.vectors import build_vector_space
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.features.pair_features import compute_features
from matcher.features.table import COLUMN, FEATURES, TRENDS
from matcher.model.calibrated_model import CalibratedModel
from matcher.model.calibration import fit_sigmoid, score_held_out, score_probabilities
from matcher.model.scorecard import Scorecard, fit_scorecard
from matcher.model.tree_export import FittedTrees, on_one_thread
from matcher.records.record import Record
from matcher.training.feedback import FeedbackExamples
from matcher.training.synthetic_pairs import SyntheticPairs, generate_synthetic_pairs

# Nearest neighbours per offer of a synthetic round.
NEIGHBOURS = 5
# Defaults of the trees; small and regularised, as synthetic pairs are few.
TREE_SETTINGS: Mapping[str, Any] = {
    "max_iter": 120,
    "learning_rate": 0.1,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 12,
    "random_state": 0,
}
L2_REGULARIZATION = 1.0

# The fixed formula, in log-odds per unit of a feature; an unknown feature adds nothing.
_FORMULA_WEIGHTS = {
    "grams": 4.0,
    "shared": 4.0,
    "same_title": 2.0,
    "rarest_only_shop": -2.5,
    "rarest_only_known": -2.5,
    "codes_only_shop": -0.7,
    "codes_only_known": -0.7,
    "quantities_differ": -2.0,
    "kinds_differ": -3.0,
    "price_gap": -1.5,
    "grams_lead_shop": 2.0,
    "grams_lead_known": 2.0,
}
# Log-odds if a value agrees (above one half), and if it differs.
_FORMULA_AGREEMENT = {
    "ean": (3.0, -2.5),
    "sku": (2.5, -1.5),
    "han": (2.0, -1.5),
    "image": (2.5, -0.8),
    "brand": (0.5, -1.5),
}
_FORMULA_BASE = -4.0
# Log-odds are cut here, so that the exponential stays finite.
_MAX_LOGIT = 20


class Classifier(Protocol):
    """Gives each row of features the probability that both offers are the same."""

    def __call__(self, table: Floats) -> Floats: ...


@dataclass(frozen=True)
class TrainingRows:
    """The catalog rows of each synthetic round, None to draw them, and the size of the catalog
    where it is not in memory as a whole.
    """

    rounds: Sequence[Sequence[int]] | None = None
    catalog_size: int | None = None


ALL_ROWS = TrainingRows()


@dataclass(frozen=True)
class _Examples:
    """Rows of features with labels."""

    table: Floats
    labels: Bools


def apply_formula(table: Floats) -> Floats:
    """Score rows by the fixed formula, for catalogs too small to train on."""
    logit = np.full(len(table), _FORMULA_BASE, dtype=np.float32)
    for name, weight in _FORMULA_WEIGHTS.items():
        logit += weight * np.nan_to_num(table[:, COLUMN[name]])
    for name, (agreeing, differing) in _FORMULA_AGREEMENT.items():
        value = table[:, COLUMN[name]]
        known_odds = np.where(value > 0.5, agreeing, differing)
        logit += np.where(np.isnan(value), 0.0, known_odds)
    return (1 / (1 + np.exp(-np.clip(logit, -_MAX_LOGIT, _MAX_LOGIT)))).astype(np.float32)


def train_classifier(
    catalog: Sequence[Record],
    pages: Mapping[int, Record],
    feedback: FeedbackExamples,
    config: MatcherConfig = DEFAULT_CONFIG,
    training: TrainingRows = ALL_ROWS,
) -> Classifier:
    """Train a classifier for this catalog on synthetic pairs and reviewer feedback.

    `pages` gives the shop's own record of some catalog rows, `training` the rows to train on.
    Returns the fixed formula if there is too little to train on.
    """
    catalog_size = training.catalog_size or len(catalog)
    if catalog_size < config.min_training_offers:
        return apply_formula
    generated = generate_synthetic_pairs(catalog, pages, training.rounds)
    rounds = [_examples(pairs) for pairs in generated]
    if not rounds:
        return apply_formula
    tables = [examples.table for examples in rounds]
    labels = [examples.labels for examples in rounds]
    synthetic_labels = np.concatenate(labels)
    if not 0 < synthetic_labels.sum() < len(synthetic_labels):
        return apply_formula
    weight = None
    if len(feedback.labels):
        synthetic_weight = np.ones(len(synthetic_labels), np.float32)
        weight = np.concatenate((synthetic_weight, feedback.weight))
    fit_model = fit_scorecard if catalog_size < config.min_tree_offers else fit_trees
    fit: Callable[..., Scorecard | FittedTrees] = partial(fit_model, trends=TRENDS)
    model = fit(
        np.concatenate((*tables, feedback.table)),
        np.concatenate((synthetic_labels, feedback.labels)),
        weight=weight,  # without reviews none: weighted percentiles take most of the training
    )
    # Calibrated on synthetic pairs alone: reviewers pick doubtful pairs, which are no fair sample.
    probability, true_labels = score_held_out(tables, labels, fit)
    sigmoid = fit_sigmoid(probability, true_labels)
    summary = {
        "catalog_offers": catalog_size,
        "pages": len(pages),
        "reviews": len(feedback.labels),
        "synthetic_rounds": len(rounds),
        "pairs": len(synthetic_labels),
    }
    scores = score_probabilities(sigmoid(probability), true_labels)
    return CalibratedModel(model, sigmoid, summary | scores)


def fit_trees(
    table: Floats,
    labels: Bools,
    trends: Sequence[int],
    weight: Floats | None = None,
    **settings: Any,
) -> FittedTrees:
    """Fit monotonic gradient-boosted trees; the same examples always give the same trees.

    `trends` are the monotonic constraints of the columns. `settings` override TREE_SETTINGS.
    """
    # Imported late: it takes most of a second, and a small catalog trains no trees.
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        l2_regularization=L2_REGULARIZATION,
        monotonic_cst=list(trends),
        early_stopping=False,
        **(dict(TREE_SETTINGS) | settings),
    )
    # A column without any value would be rejected; zeros say as little.
    filled = np.where(np.isnan(table).all(axis=0), 0, table)
    with on_one_thread():
        model.fit(filled, labels, sample_weight=weight)
    return FittedTrees(model)


def _examples(pairs: SyntheticPairs) -> _Examples:
    """Compute features and labels of the candidate pairs of one synthetic round."""
    if not pairs.catalog:
        return _Examples(np.empty((0, len(FEATURES)), np.float32), np.empty(0, bool))
    space = build_vector_space(pairs.shop, pairs.catalog)
    candidates = find_candidates(pairs.shop, pairs.catalog, space, NEIGHBOURS)
    true_row = np.array([-1 if row is None else row for row in pairs.truth])
    table = compute_features(pairs.shop, pairs.catalog, space, candidates)
    return _Examples(table, true_row[candidates[:, 0]] == candidates[:, 1])
