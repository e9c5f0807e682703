"""Train the classifier on labelled pairs; where labels are few, on surely equal pairs as well.

Candidates that agreement is sure about stand in for labels, with a weight that all of them share:
so much that they steady fifty labels, and hardly anything beside thousands. Sure matches weigh less
where labels show that agreement takes other pairs for matches, sure other pairs where it misses
duplicates.
"""

from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Floats, Ints
from matcher.evaluation.pair_evaluation import best_threshold
from matcher.model.calibrated_model import CalibratedModel
from matcher.model.calibration import Sigmoid, fit_sigmoid
from matcher.taught.features.feature import Feature
from matcher.taught.model.regression import fit_regression, measure_scale
from matcher.taught.model.taught_model import Classifier, ScoringTable
from matcher.training.classifier import fit_trees

# Labels that the sure candidates weigh together, and their number at most.
SURE_WEIGHT = 50.0
MAX_SURE = 1_500
# Rows that the scale of the features is measured on; cap on time.
MAX_SCALE_ROWS = 20_000
# Folds of the labels for calibration and threshold, and labels of each class that they need.
FOLDS = 5
MIN_LABELS_PER_CLASS = 15
# Labels per leaf of a tree: one in 40 labels, within these bounds.
LABELS_PER_LEAF = 40
MIN_LEAF = 2
MAX_LEAF = 12
# Labelled duplicates at which the threshold lies midway between even odds and their best one.
STEADYING_DUPLICATES = 100
# Probability from which on a pair is a match if the labels are too few to choose.
DEFAULT_THRESHOLD = 0.5
# Few bins: with weights, scikit-learn computes each bound of a bin by itself, most of the time.
TREES = {
    "max_iter": 150,
    "learning_rate": 0.08,
    "max_leaf_nodes": 8,
    "max_features": 0.5,
    "max_bins": 48,
}


@dataclass(frozen=True)
class Trained:
    """A classifier, the threshold chosen for it, and the held-out probabilities of the labels."""

    classifier: Classifier
    threshold: float
    held_out: Floats


def train(
    scored: ScoringTable,
    features: tuple[Feature, ...],
    rows: Ints,
    labels: Bools,
    groups: Ints,
    seed: int = 0,
) -> Trained | None:
    """Train on the labelled rows of a table; None if all labels are the same.

    `groups` numbers the left record of each row: pairs of one record stay in one fold.
    """
    if not 0 < labels.sum() < len(labels):
        return None
    trainer = _Trainer(scored, features, rows, labels, seed)
    classifier = trainer.fit(np.ones(len(rows), bool))
    counts = min(int(labels.sum()), int((~labels).sum()))
    if counts < MIN_LABELS_PER_CLASS:
        return Trained(classifier, DEFAULT_THRESHOLD, np.empty(0, np.float32))
    fold = np.random.default_rng(seed).integers(0, FOLDS, int(groups.max()) + 1)[groups]
    held_out = np.empty(len(rows), np.float64)
    for number in range(FOLDS):
        is_training = fold != number
        if not 0 < labels[is_training].sum() < is_training.sum():
            return Trained(classifier, DEFAULT_THRESHOLD, np.empty(0, np.float32))
        model = trainer.fit(is_training)
        held_out[~is_training] = model.raw_log_odds(scored.table[rows[~is_training]])
    probability = (1 / (1 + np.exp(-held_out))).astype(np.float32)
    sigmoid = fit_sigmoid(probability, labels)
    calibrated = sigmoid(probability)
    classifier = Classifier(classifier.trees, classifier.regression, sigmoid)
    threshold = _steady_threshold(best_threshold(calibrated, labels), sigmoid, int(labels.sum()))
    return Trained(classifier, threshold, calibrated)


def _steady_threshold(best: float, sigmoid: Sigmoid, duplicates: int) -> float:
    """Return a threshold between the best one of the labels and even odds before calibration.

    Few labels choose erratically, and are rarely a fair sample of the candidates: people label
    doubtful pairs, or as many duplicates as others.

    >>> _steady_threshold(0.8, Sigmoid(), 100), _steady_threshold(0.8, Sigmoid(), 10_000)
    (0.6667, 0.7978)
    """
    share = duplicates / (duplicates + STEADYING_DUPLICATES)
    best_odds = float(np.log(best / (1 - best)))
    raw_odds = share * (best_odds - sigmoid.shift) / sigmoid.slope
    odds = sigmoid.slope * raw_odds + sigmoid.shift
    return round(float(1 / (1 + np.exp(-odds))), 4)


class _Trainer:
    """Fits classifiers to parts of the labels."""

    def __init__(
        self,
        scored: ScoringTable,
        features: tuple[Feature, ...],
        rows: Ints,
        labels: Bools,
        seed: int,
    ) -> None:
        self._table = scored.table
        self._trends = [feature.trend for feature in features]
        self._rows = rows
        self._labels = labels
        self._seed = seed
        step = max(1, len(scored.table) // MAX_SCALE_ROWS)
        self._scale = measure_scale(scored.table[::step])
        is_match = scored.shared[rows] > 0.5
        reliances = _reliance(is_match, labels), _reliance(~is_match, ~labels)
        self._sure, self._sure_target, self._sure_weight = _sure_pairs(
            scored, rows, reliances, seed
        )

    def fit(self, is_training: Bools) -> Classifier:
        """Fit to some of the labels."""
        rows = np.concatenate([self._rows[is_training], self._sure])
        target = np.concatenate([self._labels[is_training], self._sure_target])
        weight = np.concatenate([np.ones(int(is_training.sum())), self._sure_weight])
        table = self._table[rows]
        regression = fit_regression(
            table, target.astype(np.float64), weight, self._trends, self._scale
        )
        leaf = int(np.clip(is_training.sum() // LABELS_PER_LEAF, MIN_LEAF, MAX_LEAF))
        trees = fit_trees(
            table,
            target,
            self._trends,
            weight.astype(np.float32),
            min_samples_leaf=leaf,
            random_state=self._seed,
            **TREES,
        )
        return Classifier(CalibratedModel(trees, Sigmoid()), regression, Sigmoid())


def _reliance(has_verdict: Bools, has_label: Bools) -> float:
    """Return how much a verdict of agreement is to be relied on, from 0 to 1, by labelled pairs.

    The verdict is "match" or "no match"; the arguments tell which pairs have it, and which have the
    label that confirms it. Of the pairs with the verdict, the result is the square of the share that
    is confirmed less the share that is not; one of each is added (Laplace's rule of succession). Where most candidates are
    duplicates, agreement is right about matches and misses many: 50 labels give citations F1 .86 if
    both verdicts weigh alike, so .99; affiliations .82 and .85.

    >>> labels = np.array([True] * 9 + [False])
    >>> round(_reliance(labels, labels), 2), round(_reliance(~labels, labels), 2)
    (0.67, 0.0)
    """
    confirmed = float((has_verdict & has_label).sum())
    precision = (confirmed + 1) / (float(has_verdict.sum()) + 2)
    return max(0.0, 2 * precision - 1) ** 2


def _sure_pairs(
    scored: ScoringTable, labelled: Ints, reliances: tuple[float, float], seed: int
) -> tuple[Ints, Bools, Doubles]:
    """Draw candidates without label; each weighs by how sure agreement is about it.

    All together weigh SURE_WEIGHT, times the reliance on matches or that on other pairs.
    """
    unlabelled = np.setdiff1d(np.arange(len(scored.pairs)), labelled)
    drawn = np.random.default_rng(seed).permutation(unlabelled)[:MAX_SURE]
    probability = scored.shared[drawn]
    sureness = np.abs(probability - 0.5) * 2
    of_matches, of_others = reliances
    weight = sureness * np.where(probability > 0.5, of_matches, of_others)
    weight *= SURE_WEIGHT / max(1e-9, float(sureness.sum()))
    counts = weight > 0
    return drawn[counts], probability[counts] > 0.5, weight[counts]
