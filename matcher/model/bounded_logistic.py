"""Logistic regression whose weights have bounds, such as a sign.

A weight that may only have the sign of its column's trend never says that a better agreement speaks
against a pair, however few the examples.

The loss is convex, so projected Newton steps (Bertsekas, 1982: see `docs/references.md`) reach its
minimum in about twenty steps. On the examples of a small catalog they take as long as SciPy's
L-BFGS-B, end nearer to the minimum, and do without a module that takes a fifth of a second to load:
a thirtieth of a shop's first run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from matcher.array_types import Bools, Doubles

# Newton steps, at most.
MAX_STEPS = 100
# Largest derivative, in rows, at which the minimum counts as reached.
TOLERANCE = 1e-6
# Part of the decrease promised by the derivative that a step has to bring (Armijo's rule).
MIN_DECREASE = 1e-4
# Shortest part of a Newton step that is tried.
MIN_FRACTION = 1e-6
# Added to each second derivative: without a penalty it may be 0.
MIN_CURVATURE = 1e-9


def fit_signed_weights(
    columns: Doubles,
    target: Doubles,
    weight: Doubles,
    trends: Sequence[int],
    penalty: float,
) -> tuple[Doubles, float]:
    """Fit to rows with a target from 0 to 1 and a weight each; returns the weights and intercept.

    `trends` has a sign per column: 1, -1, or 0 for either. `columns` should have similar spreads,
    as `penalty` (L2, in rows) is the same for all.
    """
    signs = np.array([*trends, 0])
    loss = LogisticLoss(
        np.column_stack([columns, np.ones(len(columns))]),
        target,
        weight,
        np.append(np.full(len(trends), penalty), 0.0),
    )
    lower = np.where(signs > 0, 0.0, -np.inf)
    upper = np.where(signs < 0, 0.0, np.inf)
    weights = minimise_bounded(loss, lower, upper, np.zeros(len(signs)))
    return weights[:-1], float(weights[-1])


@dataclass(frozen=True)
class LogisticLoss:
    """Log loss of rows with a target from 0 to 1 and a weight each, and an L2 penalty per column.

    `table` has shape (rows, columns). An intercept is a column of ones.
    """

    table: Doubles
    target: Doubles
    weight: Doubles
    penalties: Doubles

    def value(self, weights: Doubles) -> float:
        """Return the loss."""
        odds = self.table @ weights
        errors = self.weight * (np.logaddexp(0, odds) - self.target * odds)
        return float(errors.sum() + 0.5 * self.penalties @ weights**2)

    def derivatives(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return the gradient, and the second derivative of each row by its log-odds."""
        probability = 1 / (1 + np.exp(-(self.table @ weights)))
        errors = self.weight * (probability - self.target)
        gradient: Doubles = self.table.T @ errors + self.penalties * weights
        return gradient, self.weight * probability * (1 - probability)

    def newton_step(self, gradient: Doubles, curvature: Doubles, is_free: Bools) -> Doubles:
        """Return the step to the minimum of the quadratic approximation; 0 where it is not free."""
        free = self.table[:, is_free]
        hessian = free.T @ (free * curvature[:, None])
        hessian[np.diag_indices_from(hessian)] += self.penalties[is_free] + MIN_CURVATURE
        step = np.zeros(len(gradient))
        step[is_free] = -np.linalg.solve(hessian, gradient[is_free])
        return step


def minimise_bounded(loss: LogisticLoss, lower: Doubles, upper: Doubles, start: Doubles) -> Doubles:
    """Return the weights of least loss within bounds, which may be infinite."""
    weights = start
    # One thread: the matrices are so small that waiting for others costs most of the time.
    with threadpool_limits(1):
        value = loss.value(weights)
        for _ in range(MAX_STEPS):
            gradient, curvature = loss.derivatives(weights)
            # At a bound a weight is held where the loss falls beyond it.
            is_held = ((weights <= lower) & (gradient > 0)) | ((weights >= upper) & (gradient < 0))
            if np.abs(gradient[~is_held]).max(initial=0) < TOLERANCE:
                break
            step = loss.newton_step(gradient, curvature, ~is_held)
            fraction = 1.0
            while fraction >= MIN_FRACTION:
                moved = np.clip(weights + fraction * step, lower, upper)
                new_value = loss.value(moved)
                if new_value <= value + MIN_DECREASE * float(gradient @ (moved - weights)):
                    break
                fraction /= 2
            else:
                # Rounding hides any further decrease.
                break
            weights, value = moved, new_value
    return weights
