"""The scorecard: the pair classifier of small catalogs.

Each feature is cut into steps, and each step that a value has passed adds points, in log-odds. The
points have the sign of the feature's trend, so better agreement never lowers the odds. A few
hundred synthetic pairs teach such a sum without interactions more surely than trees, which are as
good with 250 offers (`python -m benchmarks.small_catalogs DATA --sizes 90,250`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Doubles, Floats
from matcher.model.bounded_logistic import fit_signed_weights

# Steps of a feature, at most, and strength of the L2 penalty on the points of standardised steps, in
# pairs. 20 steps, or a penalty of .1 or 1, change the right and wrong verdicts by less than .01 each
# (python -m benchmarks.small_catalogs DATA --sizes 10,35).
MAX_STEPS = 12
PENALTY = 0.3
# Added to the spread of a step, so that one that few pairs pass cannot weigh much.
MIN_SPREAD = 0.01
# Log-odds from which on further points count by their logarithm only: single precision cannot tell
# probabilities nearer to 1 than those of 16 apart.
_SURE_LOGIT = 9.0


@dataclass(frozen=True)
class Scorecard:
    """Points per step of each feature.

    Row n of `cuts` and `points`, both of shape (features, MAX_STEPS), belongs to feature n: a value
    above cut k gains points k; unused cuts are infinite. `unknown` has the points of an unknown
    value, `base` is the log-odds without any points.
    """

    cuts: Doubles
    points: Doubles
    unknown: Doubles
    base: float

    def __call__(self, table: Floats) -> Floats:
        """Return the probability of each row of features."""
        odds = np.full(len(table), self.base)
        for feature, cuts in enumerate(self.cuts):
            values = table[:, feature].astype(np.float64)
            total = np.append(0.0, np.cumsum(self.points[feature]))
            # NaN is sorted behind all cuts; its points are replaced.
            passed = total[np.searchsorted(cuts, values)]
            odds += np.where(np.isnan(values), self.unknown[feature], passed)
        size = np.abs(odds)
        beyond = np.log1p(np.maximum(size - _SURE_LOGIT, 0))
        damped = np.sign(odds) * (np.minimum(size, _SURE_LOGIT) + beyond)
        probability: Floats = (1 / (1 + np.exp(-damped))).astype(np.float32)
        return probability

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays from which `from_arrays` restores the scorecard."""
        return {"cuts": self.cuts, "points": self.points, "unknown": self.unknown}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], base: float, width: int
    ) -> "Scorecard":
        """Restore a scorecard of `width` features. Raises KeyError or ValueError."""
        cuts, points, unknown = (
            np.asarray(arrays[name], dtype=np.float64) for name in ("cuts", "points", "unknown")
        )
        if cuts.shape != (width, MAX_STEPS) or points.shape != cuts.shape:
            raise ValueError("the steps of the stored scorecard do not fit the features")
        if unknown.shape != (width,):
            raise ValueError("the points of unknown values do not fit the features")
        if not (np.isfinite(points).all() and np.isfinite(unknown).all()):
            raise ValueError("the stored scorecard has points that are no numbers")
        # Neighbours are compared, as the difference of two infinities is no number.
        if not (cuts[:, 1:] >= cuts[:, :-1]).all():
            raise ValueError("the cuts of the stored scorecard do not increase")
        return cls(cuts, points, unknown, base)


def fit_scorecard(
    table: Floats, labels: Bools, trends: Sequence[int], weight: Floats | None = None
) -> Scorecard:
    """Fit a scorecard; the same examples always give the same one.

    An unknown value counts as the mean of the known ones: that a field is absent says little of two
    offers, and synthetic pairs would teach how often it is.
    """
    cuts = np.array([_choose_cuts(values) for values in table.T.astype(np.float64)])
    features, steps = np.nonzero(np.isfinite(cuts))
    columns = np.empty((len(table), len(features)))
    shares = np.empty(len(features))
    for column, (feature, step) in enumerate(zip(features, steps, strict=True)):
        values = table[:, feature]
        is_known = ~np.isnan(values)
        is_above = values > cuts[feature, step]
        shares[column] = is_above[is_known].mean()
        columns[:, column] = np.where(is_known, is_above, shares[column])
    mean, spread = columns.mean(axis=0), columns.std(axis=0) + MIN_SPREAD
    weights, intercept = fit_signed_weights(
        (columns - mean) / spread,
        labels.astype(np.float64),
        np.ones(len(table)) if weight is None else weight.astype(np.float64),
        [trends[feature] for feature in features.tolist()],
        PENALTY,
    )
    points = np.zeros(cuts.shape)
    points[features, steps] = weights / spread
    unknown = np.zeros(len(cuts))
    np.add.at(unknown, features, weights / spread * shares)
    return Scorecard(cuts, points, unknown, intercept - float((weights / spread) @ mean))


def _choose_cuts(values: Doubles) -> Doubles:
    """Return MAX_STEPS cuts: between neighbouring values at quantiles, then infinity."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    cuts = np.full(MAX_STEPS, np.inf)
    if len(distinct) > 1:
        middles = (distinct[1:] + distinct[:-1]) / 2
        quantiles = np.quantile(known, np.linspace(0, 1, MAX_STEPS + 2)[1:-1])
        nearest = np.minimum(np.searchsorted(middles, quantiles), len(middles) - 1)
        chosen = np.unique(middles[nearest])
        cuts[: len(chosen)] = chosen
    return cuts
