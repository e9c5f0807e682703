"""Precision and recall over the threshold, and the polylines that draw them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles

# Thresholds that are drawn, evenly spaced.
STEPS = 101


@dataclass(frozen=True)
class ThresholdPoint:
    """Precision, recall and F1 of all pairs from a threshold on."""

    threshold: float
    precision: float
    recall: float
    f1: float


def measure_thresholds(probability: Doubles, is_duplicate: Bools | Doubles) -> list[ThresholdPoint]:
    """Measure every threshold on pairs with labels, or with probabilities in place of labels.

    >>> points = measure_thresholds(np.array([0.9, 0.2]), np.array([True, False]))
    >>> points[50]
    ThresholdPoint(threshold=0.5, precision=1.0, recall=1.0, f1=1.0)
    """
    target = is_duplicate.astype(np.float64)
    total = float(target.sum())
    points = list[ThresholdPoint]()
    for threshold in np.linspace(0, 1, STEPS).tolist():
        is_pair = probability >= threshold
        count, correct = int(is_pair.sum()), float(target[is_pair].sum())
        precision = correct / count if count else 1.0
        recall = correct / total if total else 0.0
        f1 = 2 * correct / (count + total) if count + total else 0.0
        points.append(ThresholdPoint(round(threshold, 4), precision, recall, f1))
    return points


def polyline(values: Sequence[float], width: float, height: float) -> str:
    """Return the points of an SVG polyline over the whole width; values from 0 to 1.

    >>> polyline([0.0, 1.0], 100, 50)
    '0.0,50.0 100.0,0.0'
    """
    last = max(1, len(values) - 1)
    points = (
        f"{round(width * number / last, 1)},{round(height * (1 - value), 1)}"
        for number, value in enumerate(values)
    )
    return " ".join(points)
