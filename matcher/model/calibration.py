"""Probability calibration: of the pairs given 0.8, eight in ten should be the same offer.

Boosted trees are overconfident. They score synthetic pairs that they were not trained on, and a
sigmoid over their log-odds is fitted to the labels (Platt, 1999, "Probabilistic outputs for support
vector machines"). Unlike isotonic steps it keeps the order of the pairs, and it has two parameters
only, which a few hundred examples can support.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Floats
from matcher.model.bounded_logistic import LogisticLoss, minimise_bounded

# Trains on a feature table with labels; returns a function from a table to probabilities.
Fit = Callable[[Floats, Bools], Callable[[Floats], Floats]]
# Bounds of the slope: never steeper than the trees, never nearly flat.
MAX_SLOPE = 1.0
MIN_SLOPE = 0.3
# Bound of the shift in log-odds, either way.
MAX_SHIFT = 1.0
# Probabilities are kept this far from 0 and 1, so that log-odds are finite.
_MARGIN = 1e-6


@dataclass(frozen=True)
class Sigmoid:
    """A calibration: log-odds times `slope` plus `shift`."""

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, probability: Floats) -> Floats:
        """Return calibrated probabilities, in the same order of size.

        >>> Sigmoid(0.5)(np.array([0.5, 0.9, 0.999], dtype=np.float32)).round(2).tolist()
        [0.5, 0.75, 0.9700000286102295]
        """
        logit = -self.slope * log_odds(probability) - self.shift
        return (1 / (1 + np.exp(logit))).astype(np.float32)


def log_odds(probability: Floats | Doubles) -> Doubles:
    """Return finite log-odds, also of 0 and 1."""
    clipped = np.clip(probability.astype(np.float64), _MARGIN, 1 - _MARGIN)
    odds: Doubles = np.log(clipped / (1 - clipped))
    return odds


def score_held_out(
    tables: Sequence[Floats], labels: Sequence[Bools], fit: Fit
) -> tuple[Floats, Bools]:
    """Score each half of the tables by a model that was trained on the other half.

    Returns the probabilities and their labels; both are empty if a half has one label only.
    """
    halves = (range(0, len(tables), 2), range(1, len(tables), 2))
    probabilities: list[Floats] = [np.empty(0, np.float32)]
    true_labels: list[Bools] = [np.empty(0, bool)]
    for training, held_out in (halves, halves[::-1]):
        training_labels = np.concatenate([labels[n] for n in training] or [np.empty(0, bool)])
        if not 0 < training_labels.sum() < len(training_labels):
            return np.empty(0, np.float32), np.empty(0, bool)
        model = fit(np.concatenate([tables[n] for n in training]), training_labels)
        for n in held_out:
            probabilities.append(model(tables[n]))
            true_labels.append(labels[n])
    return np.concatenate(probabilities), np.concatenate(true_labels)


def score_probabilities(probability: Floats, label: Bools) -> dict[str, float]:
    """Return the Brier score, and precision and recall at even odds, rounded to four digits."""
    positive = probability >= 0.5
    correct = float((positive & label).sum())
    brier = 0.0
    if len(probability):
        brier = round(float(np.mean((probability - label) ** 2)), 4)
    return {
        "brier": brier,
        "precision": round(correct / max(1.0, float(positive.sum())), 4),
        "recall": round(correct / max(1.0, float(label.sum())), 4),
    }


def fit_sigmoid(probability: Floats, label: Bools) -> Sigmoid:
    """Fit the sigmoid of the least log loss within the bounds; the identity without examples."""
    if not len(probability):
        return Sigmoid()
    odds = log_odds(probability)
    loss = LogisticLoss(
        table=np.column_stack([odds, np.ones(len(odds))]),
        target=label.astype(np.float64),
        weight=np.ones(len(odds)),
        penalties=np.zeros(2),
    )
    lower, upper = np.array([[MIN_SLOPE, -MAX_SHIFT], [MAX_SLOPE, MAX_SHIFT]])
    slope, shift = minimise_bounded(loss, lower, upper, start=np.array([1.0, 0.0])).tolist()
    return Sigmoid(slope, shift)
