"""Bounded logistic regression: the least loss within the bounds, whatever the examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.array_types import Doubles
from matcher.model.bounded_logistic import LogisticLoss, fit_signed_weights, minimise_bounded

PENALTY = 0.3


def make_loss(
    seed: int, rows: int = 60, columns: int = 8, penalty: float = PENALTY
) -> LogisticLoss:
    """Draw rows whose targets depend on the columns; the last column is the intercept."""
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(rows, columns))
    table[:, -1] = 1
    odds = table @ generator.normal(size=columns)
    target = (generator.random(rows) < 1 / (1 + np.exp(-odds))).astype(np.float64)
    return LogisticLoss(table, target, generator.random(rows), np.full(columns, penalty))


@given(st.integers(0, 200), st.integers(2, 80), st.integers(1, 30))
def test_no_weight_can_be_bettered(seed: int, rows: int, columns: int) -> None:
    """At the end each weight is at its least loss, or at a bound beyond which the loss falls."""
    loss = make_loss(seed, rows, columns)
    lower, upper = np.full(columns, -0.2), np.full(columns, 0.5)
    weights = minimise_bounded(loss, lower, upper, np.zeros(columns))
    assert ((lower <= weights) & (weights <= upper)).all()
    gradient = loss.derivatives(weights)[0]
    assert (np.abs(gradient[(lower < weights) & (weights < upper)]) < 1e-4).all()
    assert (gradient[weights == lower] > -1e-4).all()
    assert (gradient[weights == upper] < 1e-4).all()


@pytest.mark.parametrize("trend", [1, -1, 0])
def test_it_ends_no_farther_from_the_minimum_than_scipy(trend: int) -> None:
    """SciPy's L-BFGS-B is the peer."""
    optimize = pytest.importorskip("scipy.optimize")
    loss = make_loss(1, rows=400, columns=20)
    lower = np.full(20, -np.inf if trend < 1 else 0.0)
    upper = np.full(20, np.inf if trend > -1 else 0.0)

    def value_and_gradient(weights: Doubles) -> tuple[float, Doubles]:
        return loss.value(weights), loss.derivatives(weights)[0]

    bounds = list(zip(lower, upper, strict=True))
    peer = optimize.minimize(
        value_and_gradient, np.zeros(20), jac=True, bounds=bounds, method="L-BFGS-B"
    )
    weights = minimise_bounded(loss, lower, upper, np.zeros(20))
    assert loss.value(weights) <= peer.fun + 1e-9
    assert weights == pytest.approx(peer.x, abs=1e-3)


def test_weights_have_the_signs_of_the_trends() -> None:
    """A column that speaks against its trend weighs nothing."""
    generator = np.random.default_rng(2)
    columns = generator.normal(size=(200, 3))
    target = (columns.sum(axis=1) > 0).astype(np.float64)
    weights, _ = fit_signed_weights(columns, target, np.ones(200), (1, -1, 0), PENALTY)
    assert weights[0] > 0
    assert weights[1] == 0
    assert weights[2] > 0


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_label_only_gives_a_finite_intercept(label: float) -> None:
    """Nothing tells such rows apart: all weights stay 0."""
    columns = np.random.default_rng(3).normal(size=(20, 3))
    weights, intercept = fit_signed_weights(
        columns, np.full(20, label), np.ones(20), (1, -1, 0), PENALTY
    )
    assert np.abs(weights).max() < 1e-3
    assert np.isfinite(intercept)
    assert (intercept > 5) == (label == 1.0)


def test_rows_without_weight_teach_nothing() -> None:
    """Without any example the weights stay where they began."""
    loss = make_loss(4, penalty=0.0)
    silent = LogisticLoss(loss.table, loss.target, np.zeros(60), loss.penalties)
    start = np.full(8, 0.1)
    assert minimise_bounded(silent, start - 1, start + 1, start).tolist() == start.tolist()
