"""Known labels of a pair's rivals: a record with a known partner hardly has another one.

Used between two tables where the pairs to decide and the labels are of the same records. Published
pair classifiers do not see them, so figures are given with and without. A second, small set of
trees reads the first score, its margin over the rivals' scores, and the rivals' labels; a labelled
pair never sees its own label. Where few labels are of one record, the second score is worse than the
first: it counts if it predicts held-out labels better.
"""

from functools import partial

import numpy as np

from matcher.array_types import Bools, Doubles, Floats, Ints, Pairs
from matcher.evaluation.cross_fitting import cross_fit, tree_fit
from matcher.evaluation.label_features import compute_label_features
from matcher.evaluation.metrics import fit_trees_to_labels
from matcher.model.calibration import log_odds
from matcher.taught.features.rivals import compare_with_rivals

FOLDS = 5
# Labels from which on the labels of rivals are worth reading.
MIN_LABELS = 200
# Weight of the second score.
SECOND_WEIGHT = 2 / 3
fit_small_trees = partial(fit_trees_to_labels, max_iter=150, learning_rate=0.06)


def score_with_labelled_rivals(
    pairs: Pairs, odds: Doubles, rows: Ints, labels: Bools, held_out: Doubles, seed: int = 0
) -> Doubles:
    """Return log-odds of all pairs that also read the labels of their rivals, or `odds`.

    `odds` are first scores, `held_out` those of the labelled `rows` by models that did not see
    them. The labels of rivals are left out if held-out labels are predicted no better with them.
    """
    first = odds.astype(np.float64).copy()
    first[rows] = held_out
    probability = (1 / (1 + np.exp(-first))).astype(np.float32)
    margins = compare_with_rivals(pairs[:, 0], pairs[:, 1], probability, is_self_join=False)
    of_labels = compute_label_features(pairs, probability, rows, labels)
    table: Floats = np.column_stack((first, margins, of_labels)).astype(np.float32)
    left_count = int(pairs[:, 0].max(initial=0)) + 1
    fold = np.random.default_rng(seed).integers(0, FOLDS, left_count)[pairs[:, 0]]
    fit = partial(fit_small_trees, random_state=seed)
    second = log_odds(cross_fit(tree_fit(fit, table), rows, labels, fold, FOLDS))
    combined: Doubles = (1 - SECOND_WEIGHT) * first + SECOND_WEIGHT * second
    return combined if _log_loss(combined[rows], labels) < _log_loss(held_out, labels) else odds


def _log_loss(odds: Doubles, labels: Bools) -> float:
    """Return the mean cross-entropy of log-odds and labels, in nats."""
    return float(np.mean(np.logaddexp(0, np.where(labels, -odds, odds))))
