"""Scores of a tool, and F1 at its own threshold and at the best of all."""

from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles


@dataclass(frozen=True)
class Scores:
    """A probability per test pair, and the threshold that the tool decides by."""

    probability: Doubles
    threshold: float = 0.5

    def f1(self, labels: Bools) -> float:
        """Return F1 at the tool's own threshold."""
        return f1(self.probability >= self.threshold, labels)

    def best_f1(self, labels: Bools) -> float:
        """Return F1 at the threshold that is best on the test pairs: what nobody can know."""
        order = np.argsort(-self.probability, kind="stable")
        correct = np.cumsum(labels[order])
        # Pairs of one score stand or fall together.
        is_last = np.append(np.diff(self.probability[order]) != 0, True)
        values = 2 * correct / (np.arange(1, len(order) + 1) + labels.sum())
        return float(values[is_last].max(initial=0.0))


def f1(predicted: Bools, labels: Bools) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * float((predicted & labels).sum()) / max(1.0, float(predicted.sum() + labels.sum()))


def best_threshold(probability: Doubles, labels: Bools) -> float:
    """Return the threshold with the greatest F1 on labelled pairs."""
    thresholds = np.unique(probability)
    scores = [f1(probability >= threshold, labels) for threshold in thresholds]
    return float(thresholds[int(np.argmax(scores))]) if len(thresholds) else 0.5
