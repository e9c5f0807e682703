"""Reliability: confidence compared with the share of right values, and the weights that predict it."""

import pytest

from catalog.models import Attribute
from rules_generator.evaluation.calibration import (
    CalibrationRow,
    fit_weights,
    held_out_reliability,
)
from rules_generator.evaluation.reliability import Reliability


def rows_of(shops: int) -> list[CalibrationRow]:
    """Readings of several shops in which dissent goes with errors, and support against them."""
    return [
        CalibrationRow(
            f"shop{number % shops}",
            Attribute.PRICE,
            (1.0 + number % 3, 0.0, 1.0, float(number % 5 == 0)),
            number % 5 != 0 or number % 3 == 2,
        )
        for number in range(400)
    ]


def test_bins_compare_confidence_with_the_share_right() -> None:
    """Nine of ten values with a confidence of 92 % are right; another attribute stays apart."""
    reliability, other = Reliability(), Reliability()
    for number in range(10):
        reliability.count(Attribute.PRICE, 0.92, number > 0)
    other.count(Attribute.TITLE, 0.3, False)
    reliability.add(other)
    rows = reliability.figures()
    assert rows["price"] == [{"from": 0.9, "to": 0.95, "values": 10, "said": 0.92, "right": 0.9}]
    assert [row["values"] for row in rows["all"]] == [1, 10]


def test_weights_learn_support_and_dissent() -> None:
    """Support has a positive weight, dissent a negative one."""
    weights = fit_weights(rows_of(4))
    assert weights[1] > 0 > weights[4]


def test_each_shop_is_predicted_by_the_others() -> None:
    """On shops left out of the fit, the mean confidence is the share of right values."""
    rows = rows_of(4)
    reliability = held_out_reliability(rows)
    assert reliability is not None
    predicted = sum(row["said"] * row["values"] for row in reliability.rows())
    assert predicted == pytest.approx(sum(row.is_right for row in rows), rel=0.03)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no reading"),
        pytest.param(rows_of(1), id="one shop"),
        pytest.param([row._replace(is_right=True) for row in rows_of(4)], id="no error"),
    ],
)
def test_without_other_shops_or_errors_nothing_is_predicted(rows: list[CalibrationRow]) -> None:
    """A fit needs other shops, and both right and wrong values."""
    reliability = held_out_reliability(rows)
    assert reliability is None or not reliability.bins
