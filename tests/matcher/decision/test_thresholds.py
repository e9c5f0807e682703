"""Calibration and bounds: probabilities mean what they say, and doubtful verdicts become unsure on request."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import OfferFields, Verdict
from matcher.decision.thresholds import LISTED, MISSING, bounds
from matcher.match import match
from matcher.model.calibration import Sigmoid, held_out, log_odds, sigmoid

PROBABILITIES = st.lists(st.floats(0, 1), max_size=30)


@pytest.mark.parametrize("too_sure", [1.5, 2.0, 3.0])
def test_what_is_too_sure_of_itself_is_evened_out(too_sure: float) -> None:
    """Log-odds that are too large by a factor are divided by it."""
    chance = np.random.default_rng(1)
    true = chance.uniform(0.02, 0.98, 4000)
    same = chance.random(4000) < true
    said = Sigmoid(too_sure)(true.astype(np.float32))
    found = sigmoid(said, same)
    assert found.slope == pytest.approx(1 / too_sure, abs=0.1)
    assert np.abs(found(said) - true).mean() < 0.03


@given(
    st.lists(st.floats(0, 1, width=32), min_size=2, max_size=20, unique=True),
    st.floats(0.3, 1),
    st.floats(-1, 1),
)
def test_calibration_keeps_the_order(said: list[float], slope: float, shift: float) -> None:
    """However they are calibrated, pairs stay in their order."""
    found = Sigmoid(slope, shift)(np.array(sorted(said), dtype=np.float32))
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(log_odds(found)).all()


def test_too_little_to_calibrate_with() -> None:
    """Where one half of the examples has one answer only, probabilities are left as they are."""
    tables = [np.full((4, 1), 0.5, np.float32)] * 2
    truths = [np.array([True, False, True, False]), np.ones(4, bool)]
    assert (
        sigmoid(*held_out(tables, truths, lambda table, same: lambda rows: rows[:, 0])) == Sigmoid()
    )


@given(PROBABILITIES, PROBABILITIES, st.floats(0.5, 1))
def test_bounds(paired: list[float], unpaired: list[float], precision: float) -> None:
    """What remains listed or missing is expected to be right as often as wanted, where bounds can do that."""
    found = bounds(np.array(paired), np.array(unpaired), precision)
    assert found.missing <= MISSING < LISTED <= found.listed
    listed = [p for p in paired if p >= found.listed + 1e-9]
    if listed and found.listed < 0.95:
        assert np.mean(listed) >= precision - 0.01
    stricter = bounds(np.array(paired), np.array(unpaired), (1 + precision) / 2)
    assert stricter.listed >= found.listed
    assert stricter.missing <= found.missing


def test_a_higher_precision_makes_the_doubtful_unsure(lamps: list[OfferFields]) -> None:
    """Offers whose nearest known one is half like them are decided at low precision, unsure at the highest."""
    half = [
        one.model_copy(
            update={
                "url": None,
                "sku": None,
                "images": [],
                "price": Decimal(9),
                "title": (one.title or "")[:17],
            }
        )
        for one in lamps[::2]
    ] + lamps[1::4]
    low, high = (
        [one.verdict for one in match(lamps, half, precision=precision)].count(Verdict.UNSURE)
        for precision in (0.5, 1.0)
    )
    assert low < high
