"""Reliability: confidence compared with the share of right values, and the weights that predict it."""

import pytest

from catalog.models import Attribute
from parser.voting.confidence import ConfidenceFeatures
from rules_generator.evaluation.calibration import fit_weights, predict_held_out
from rules_generator.evaluation.reliability import (
    JudgedReading,
    reliability_figures,
    reliability_rows,
)


def judged(
    shop: str, is_right: bool, confidence: float, support: float, dissent: float
) -> JudgedReading:
    """A reading of a price."""
    features = ConfidenceFeatures(support, 0.0, 1.0, dissent)
    return JudgedReading(shop, Attribute.PRICE, confidence, features, is_right)


def readings_of(shops: int) -> list[JudgedReading]:
    """Readings of several shops in which dissent goes with errors, and support against them."""
    readings = []
    for number in range(400):
        has_dissent = number % 5 == 0
        is_right = not has_dissent or number % 3 == 2
        shop = f"shop{number % shops}"
        readings.append(judged(shop, is_right, 0.9, 1.0 + number % 3, float(has_dissent)))
    return readings


def test_bins_compare_confidence_with_the_share_right() -> None:
    """Nine of ten values with a confidence of 92 % are right; another attribute stays apart."""
    readings = [judged("a.example", number > 0, 0.92, 1.0, 0.0) for number in range(10)]
    readings.append(judged("b.example", False, 0.3, 1.0, 0.0)._replace(attribute=Attribute.TITLE))
    figures = reliability_figures(readings)
    assert figures["price"] == [
        {"from": 0.9, "to": 0.95, "values": 10, "mean_confidence": 0.92, "right": 0.9}
    ]
    assert [row["values"] for row in figures["all"]] == [1, 10]


def test_weights_learn_support_and_dissent() -> None:
    """Support has a positive weight, dissent a negative one."""
    weights = fit_weights(readings_of(4))
    assert weights[1] > 0 > weights[4]


def test_each_shop_is_predicted_by_the_others() -> None:
    """On shops left out of the fit, the mean confidence is the share of right values."""
    readings = readings_of(4)
    predicted = predict_held_out(readings)
    assert predicted is not None
    right = sum(row["mean_confidence"] * row["values"] for row in reliability_rows(predicted))
    assert right == pytest.approx(sum(reading.is_right for reading in readings), rel=0.03)


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param([], id="no reading"),
        pytest.param(readings_of(1), id="one shop"),
        pytest.param(
            [reading._replace(is_right=True) for reading in readings_of(4)], id="no error"
        ),
    ],
)
def test_without_other_shops_or_errors_nothing_is_predicted(readings: list[JudgedReading]) -> None:
    """A fit needs other shops, and both right and wrong values."""
    assert predict_held_out(readings) is None
