"""The scorecard: points follow the trends, unknown values count as average, broken ones are refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.array_types import Bools, Floats
from matcher.model.calibrated_model import CalibratedModel, load_model
from matcher.model.calibration import Sigmoid
from matcher.model.scorecard import MAX_STEPS, Scorecard, fit_scorecard

# The second feature speaks against a pair the more, the greater it is; the third says nothing.
TRENDS = (1, -1, 1)


def make_examples(seed: int = 0, size: int = 300) -> tuple[Floats, Bools]:
    """Draw features with gaps, and labels that depend on the first two."""
    generator = np.random.default_rng(seed)
    table = generator.random((size, 3)).astype(np.float32)
    labels = table[:, 0] - table[:, 1] > 0
    table[generator.random(table.shape) < 0.1] = np.nan
    return table, labels


def test_it_learns_what_the_labels_say() -> None:
    """Most labels of other examples are told, and the same examples give the same scorecard."""
    scorecard = fit_scorecard(*make_examples(), TRENDS)
    table, labels = make_examples(seed=1)
    is_known = ~np.isnan(table[:, :2]).any(axis=1)
    right = (scorecard(table) > 0.5) == labels
    assert right[is_known].mean() > 0.9
    assert np.array_equal(fit_scorecard(*make_examples(), TRENDS)(table), scorecard(table))


@given(st.integers(0, 30), st.lists(st.floats(-1, 2), min_size=2, max_size=2))
def test_better_agreement_never_lowers_the_odds(seed: int, values: list[float]) -> None:
    """Labels at random cannot turn a trend round."""
    table, _ = make_examples(size=60)
    labels = np.random.default_rng(seed).random(60) < 0.5
    scorecard = fit_scorecard(table, labels, TRENDS)
    low, high = sorted(values)
    for feature, trend in enumerate(TRENDS):
        rows = np.full((2, 3), 0.5, np.float32)
        rows[:, feature] = low, high
        change = np.diff(scorecard(rows))[0]
        assert change * trend >= 0


def test_unknown_values_count_as_average() -> None:
    """An unknown value lies between the lowest and the highest known one, as their mean does."""
    table, labels = make_examples()
    scorecard = fit_scorecard(table, labels, TRENDS)
    rows = np.array([[0, 0.5, 0.5], [np.nan, 0.5, 0.5], [1, 0.5, 0.5]], np.float32)
    low, unknown, high = scorecard(rows)
    assert low < unknown < high


def test_features_without_any_difference() -> None:
    """A feature that is never known, or always the same, gets no points."""
    table, labels = make_examples()
    table[:, 1] = np.nan
    table[:, 2] = 7
    scorecard = fit_scorecard(table, labels, TRENDS)
    assert not scorecard.points[1:].any()
    assert not scorecard.unknown[1:].any()
    assert scorecard(np.empty((0, 3), np.float32)).shape == (0,)


def test_weights_of_examples() -> None:
    """An example that weighs as much as all others decides on its own kind of pair."""
    table, labels = make_examples()
    contrary = np.array([[0.9, 0.1, 0.5]], np.float32)
    all_rows = np.concatenate((table, contrary))
    all_labels = np.append(labels, False)
    weight = np.ones(len(all_rows), np.float32)
    weight[-1] = 3_000
    assert fit_scorecard(all_rows, all_labels, TRENDS)(contrary)[0] > 0.5
    assert fit_scorecard(all_rows, all_labels, TRENDS, weight)(contrary)[0] < 0.5


def test_a_stored_scorecard_scores_the_same() -> None:
    """The arrays of a calibrated scorecard restore it."""
    table, labels = make_examples()
    calibrated = CalibratedModel(fit_scorecard(table, labels, TRENDS), Sigmoid(0.7, 0.1))
    restored = load_model(calibrated.arrays(), 3, {})
    assert isinstance(restored.model, Scorecard)
    assert np.array_equal(restored(table), calibrated(table))


BROKEN: list[tuple[str, str, Any, str]] = [
    ("steps of too few features", "cuts", np.zeros((2, MAX_STEPS)), "do not fit"),
    ("cuts that fall", "cuts", np.arange(3.0 * MAX_STEPS)[::-1].reshape(3, -1), "do not increase"),
    ("a cut that is no number", "cuts", np.full((3, MAX_STEPS), np.nan), "do not increase"),
    ("points without end", "points", np.full((3, MAX_STEPS), np.inf), "no numbers"),
    ("no points of unknown values", "unknown", np.zeros(0), "unknown values"),
]


@pytest.mark.parametrize(
    ("name", "array", "value", "message"), BROKEN, ids=[case[0] for case in BROKEN]
)
def test_broken_scorecards(name: str, array: str, value: Any, message: str) -> None:
    """Stored arrays that are no scorecard of these features are refused when they are loaded."""
    table, labels = make_examples()
    arrays = CalibratedModel(fit_scorecard(table, labels, TRENDS), Sigmoid()).arrays()
    with pytest.raises(ValueError, match=message):
        load_model(arrays | {array: value}, 3, {})
