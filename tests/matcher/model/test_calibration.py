"""Calibration: probabilities become right as often as they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.model.calibration import Sigmoid, fit_sigmoid, log_odds, score_held_out


@pytest.mark.parametrize("overconfidence", [1.5, 2.0, 3.0])
def test_overconfidence_is_corrected(overconfidence: float) -> None:
    """Log-odds that are too large by a factor are divided by it."""
    generator = np.random.default_rng(1)
    true_probability = generator.uniform(0.02, 0.98, 4000)
    labels = generator.random(4000) < true_probability
    predicted = Sigmoid(overconfidence)(true_probability.astype(np.float32))
    sigmoid = fit_sigmoid(predicted, labels)
    assert sigmoid.slope == pytest.approx(1 / overconfidence, abs=0.1)
    assert np.abs(sigmoid(predicted) - true_probability).mean() < 0.03


@given(
    st.lists(st.floats(0, 1, width=32), min_size=2, max_size=20, unique=True),
    st.floats(0.3, 1),
    st.floats(-1, 1),
)
def test_calibration_keeps_the_order(
    probabilities: list[float], slope: float, shift: float
) -> None:
    """However they are calibrated, pairs stay in their order."""
    calibrated = Sigmoid(slope, shift)(np.array(sorted(probabilities), dtype=np.float32))
    assert (np.diff(calibrated) >= 0).all()
    assert np.isfinite(log_odds(calibrated)).all()


def test_too_few_labels_to_calibrate_with() -> None:
    """If one half of the examples has one label only, probabilities are left as they are."""
    tables = [np.full((4, 1), 0.5, np.float32)] * 2
    labels = [np.array([True, False, True, False]), np.ones(4, bool)]
    held_out = score_held_out(tables, labels, lambda table, labels: lambda rows: rows[:, 0])
    assert fit_sigmoid(*held_out) == Sigmoid()
