"""Monotonic logistic regression: steadier than trees where labels are few.

Each weight has the sign of its feature's trend (`matcher.model.bounded_logistic`). Unknown values
count as average ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcher.array_types import Doubles, Floats
from matcher.model.bounded_logistic import fit_signed_weights

# Strength of the L2 penalty, in labels.
PENALTY = 3.0
# Standard deviations beyond which a feature counts as that far away.
MAX_DEVIATION = 5.0
# Spread of a feature that never changes.
MIN_SPREAD = 1e-3


@dataclass(frozen=True)
class Regression:
    """Standardisation and weights of the features."""

    mean: Doubles
    spread: Doubles
    weights: Doubles
    intercept: float

    def log_odds(self, table: Floats) -> Doubles:
        """Return the log-odds of each row."""
        odds: Doubles = _standardise(table, self.mean, self.spread) @ self.weights + self.intercept
        return odds

    def as_json(self) -> dict[str, Any]:
        """Return the regression as plain values."""
        return {
            "mean": self.mean.tolist(),
            "spread": self.spread.tolist(),
            "weights": self.weights.tolist(),
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], width: int) -> "Regression":
        """Restore a regression of `width` features. Raises KeyError, TypeError or ValueError."""
        arrays = []
        for name in ("mean", "spread", "weights"):
            array = np.array(value[name], dtype=np.float64)
            if array.shape != (width,) or not np.isfinite(array).all():
                raise ValueError(f"{name} does not fit the features")
            arrays.append(array)
        if (arrays[1] <= 0).any():
            raise ValueError("a spread is not positive")
        return cls(arrays[0], arrays[1], arrays[2], float(value["intercept"]))


def fit_regression(
    table: Floats,
    target: Doubles,
    weight: Doubles,
    trends: Sequence[int],
    scale: tuple[Doubles, Doubles],
) -> Regression:
    """Fit to rows with a target from 0 to 1 each; `scale` is `measure_scale` of all candidates."""
    mean, spread = scale
    standardised = _standardise(table, mean, spread)

    weights, intercept = fit_signed_weights(standardised, target, weight, trends, PENALTY)
    return Regression(mean, spread, weights, intercept)


def measure_scale(table: Floats) -> tuple[Doubles, Doubles]:
    """Return the mean and the standard deviation of each feature, unknown values aside."""
    is_known = ~np.isnan(table)
    count = np.maximum(is_known.sum(axis=0), 1)
    filled = np.where(is_known, table, 0).astype(np.float64)
    mean = filled.sum(axis=0) / count
    variance = np.where(is_known, (filled - mean) ** 2, 0).sum(axis=0) / count
    return mean, np.sqrt(variance) + MIN_SPREAD


def _standardise(table: Floats, mean: Doubles, spread: Doubles) -> Doubles:
    deviations = np.nan_to_num((table - mean) / spread)
    clipped: Doubles = np.clip(deviations, -MAX_DEVIATION, MAX_DEVIATION).astype(np.float64)
    return clipped
