"""Verdict thresholds: verdicts reach the required precision, and doubtful ones become unsure."""

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import OfferFields, Verdict
from matcher.config import MatcherConfig
from matcher.decision.thresholds import choose_thresholds
from matcher.match import match_offers

PROBABILITIES = st.lists(st.floats(0, 1), max_size=30)


@given(PROBABILITIES, PROBABILITIES, st.floats(0.5, 1))
def test_thresholds_reach_the_precision(
    paired: list[float], unpaired: list[float], precision: float
) -> None:
    """Verdicts are expected to be right as often as required, where thresholds can do that."""
    config = MatcherConfig(precision=precision)
    thresholds = choose_thresholds(np.array(paired), np.array(unpaired), config)
    assert thresholds.missing <= config.missing_below < config.listed_from <= thresholds.listed
    listed = [probability for probability in paired if probability >= thresholds.listed + 1e-9]
    if listed and thresholds.listed < 0.95:
        assert np.mean(listed) >= precision - 0.01
    strict = MatcherConfig(precision=(1 + precision) / 2)
    stricter = choose_thresholds(np.array(paired), np.array(unpaired), strict)
    assert stricter.listed >= thresholds.listed
    assert stricter.missing <= thresholds.missing


def test_a_higher_precision_makes_the_doubtful_unsure(lamps: list[OfferFields]) -> None:
    """Offers with a half similar catalog offer are decided at low precision, unsure at the top."""
    unlike = {"url": None, "sku": None, "images": [], "price": Decimal(9)}
    catalog = []
    for lamp in lamps[::2]:
        catalog.append(lamp.model_copy(update=unlike | {"title": (lamp.title or "")[:12]}))
    catalog += lamps[1::4]
    unsure = []
    for precision in (0.5, 1.0):
        results = match_offers(lamps, catalog, config=MatcherConfig(precision=precision))
        unsure.append([result.verdict for result in results].count(Verdict.UNSURE))
    assert unsure[0] < unsure[1]
