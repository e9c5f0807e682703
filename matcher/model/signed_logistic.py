"""Logistic regression whose weights have given signs.

A weight may only have the sign of its column's trend, so a few hundred examples cannot teach that a
better agreement speaks against a pair.
"""

from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from matcher.array_types import Doubles

# Iterations of the solver, at most.
MAX_ITERATIONS = 300
# Bounds of a weight by the trend of its column.
_BOUNDS = {1: (0, None), -1: (None, 0), 0: (None, None)}


def fit_signed_weights(
    columns: Doubles,
    target: Doubles,
    weight: Doubles,
    trends: Sequence[int],
    penalty: float,
) -> tuple[Doubles, float]:
    """Fit to rows with a target from 0 to 1 and a weight each; returns the weights and intercept.

    `columns` should have similar spreads, as `penalty` (L2, in rows) is the same for all.
    """
    # Imported late: a stored classifier needs no solver.
    from scipy.optimize import minimize

    def loss(parameters: Doubles) -> tuple[float, Doubles]:
        weights, intercept = parameters[:-1], parameters[-1]
        odds = columns @ weights + intercept
        error = weight * (1 / (1 + np.exp(-odds)) - target)
        value = float((weight * (np.logaddexp(0, odds) - target * odds)).sum())
        gradient = np.append(columns.T @ error + penalty * weights, error.sum())
        return value + 0.5 * penalty * float(weights @ weights), gradient

    bounds = [*(_BOUNDS[trend] for trend in trends), _BOUNDS[0]]
    # One thread: the matrices are so small that waiting for others costs most of the time.
    with threadpool_limits(1):
        fitted = minimize(
            loss,
            np.zeros(len(bounds)),
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": MAX_ITERATIONS},
        )
    return fitted.x[:-1], float(fitted.x[-1])
