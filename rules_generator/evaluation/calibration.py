"""Fit the confidence of readings: a logistic regression on the votes for and against a value.

The weights in `parser.voting.confidence` are such a fit. To judge them honestly, each shop in turn
is left out of the fit and then predicted (leave-one-group-out cross-validation).
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from parser.voting.confidence import MAX_CONFIDENCE
from rules_generator.evaluation.reliability import JudgedReading

# Cap on the solver's steps; it converges in a few dozen.
MAX_ITERATIONS = 1_000

Floats = NDArray[np.float64]


def fit_weights(readings: Sequence[JudgedReading]) -> Floats:
    """Fit the weights of the features, the constant first."""
    model = _fit(readings)
    return np.concatenate([model.intercept_, model.coef_[0]])


def predict_held_out(readings: Sequence[JudgedReading]) -> list[JudgedReading] | None:
    """Return the readings with the confidence by a fit on all other shops.

    None if there is no reading or one shop, or the other shops are all right or all wrong.
    """
    by_shop = defaultdict[str, list[JudgedReading]](list)
    for reading in readings:
        by_shop[reading.shop].append(reading)
    predicted = []
    for shop, left_out in sorted(by_shop.items()):
        others = [reading for reading in readings if reading.shop != shop]
        if len({reading.is_right for reading in others}) < 2:
            return None
        confidences = _fit(others).predict_proba(_matrix(left_out))[:, 1].clip(max=MAX_CONFIDENCE)
        for reading, confidence in zip(left_out, confidences.tolist(), strict=True):
            predicted.append(reading._replace(confidence=confidence))
    return predicted or None


def _fit(readings: Sequence[JudgedReading]) -> LogisticRegression:
    is_right = [reading.is_right for reading in readings]
    return LogisticRegression(max_iter=MAX_ITERATIONS).fit(_matrix(readings), is_right)


def _matrix(readings: Sequence[JudgedReading]) -> Floats:
    return np.array([reading.features for reading in readings], dtype=np.float64)
