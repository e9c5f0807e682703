"""Fit the confidence of readings: a logistic regression on the votes for and against a value.

The weights in `parser.voting.confidence` are such a fit. To judge them honestly, each shop in turn is left out of the
fit and then predicted (leave-one-group-out cross-validation).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from catalog.models import Attribute
from catalog.values import is_same_value
from parser.voting.confidence import MAX_CONFIDENCE, confidence_features
from parser.voting.winner import Reading
from rules_generator.evaluation.reliability import Reliability

# Cap on the solver's steps; it converges in a few dozen.
MAX_ITERATIONS = 1_000

Floats = NDArray[np.float64]


class CalibrationRow(NamedTuple):
    """Features of one reading whose truth is known, and whether it was right."""

    shop: str
    attribute: Attribute
    features: tuple[float, ...]
    is_right: bool


def calibration_row(shop: str, reading: Reading, is_right: bool) -> CalibrationRow:
    """Make the row of a reading that found a value."""
    agreeing = [
        vote.rule
        for vote in reading.votes
        if vote.value
        and reading.value
        and is_same_value(reading.attribute, vote.value, reading.value)
    ]
    return CalibrationRow(
        shop, reading.attribute, confidence_features(reading.share, agreeing), is_right
    )


def fit_weights(rows: Sequence[CalibrationRow]) -> Floats:
    """Fit the weights of the features, the constant first."""
    model = _fit(rows)
    return np.concatenate([model.intercept_, model.coef_[0]])


def held_out_reliability(rows: Sequence[CalibrationRow]) -> Reliability | None:
    """Predict each shop by a fit on all others. None if there is one shop, or nothing to tell apart."""
    reliability = Reliability()
    for shop in sorted({row.shop for row in rows}):
        training_rows = [row for row in rows if row.shop != shop]
        if len({row.is_right for row in training_rows}) < 2:
            return None
        left_out = [row for row in rows if row.shop == shop]
        predicted = _fit(training_rows).predict_proba(_matrix(left_out))[:, 1].tolist()
        for row, probability in zip(left_out, predicted, strict=True):
            reliability.count(row.attribute, min(probability, MAX_CONFIDENCE), row.is_right)
    return reliability


def _fit(rows: Sequence[CalibrationRow]) -> LogisticRegression:
    is_right = np.array([row.is_right for row in rows])
    return LogisticRegression(max_iter=MAX_ITERATIONS).fit(_matrix(rows), is_right)


def _matrix(rows: Sequence[CalibrationRow]) -> Floats:
    return np.array([row.features for row in rows], dtype=np.float64)
