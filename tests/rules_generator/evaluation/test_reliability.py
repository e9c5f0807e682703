"""Reliability: what was said of values beside what was right, and the weights that say it."""

import pytest

from catalog.models import Attribute
from rules_generator.evaluation.calibrate import fit
from rules_generator.evaluation.reliability import Reliability


def test_bins_tell_what_was_said_and_what_was_right() -> None:
    """Nine of ten values said to be 92 % sure are right; another attribute stays apart."""
    found, other = Reliability(), Reliability()
    for number in range(10):
        found.count(Attribute.PRICE, 0.92, number > 0)
    other.count(Attribute.TITLE, 0.3, False)
    found.add(other)
    rows = found.figures()
    assert rows["price"] == [{"from": 0.9, "to": 0.95, "values": 10, "said": 0.92, "right": 0.9}]
    assert [one["values"] for one in rows["all"]] == [1, 10]


def test_the_weights_learn_what_speaks_for_a_value() -> None:
    """Where dissent goes with errors, and support against them, the weights say so, on shops left out as well."""
    rows = [
        (
            f"shop{n % 4}",
            "price",
            (1.0 + n % 3, 0.0, 1.0, float(n % 5 == 0)),
            n % 5 != 0 or n % 3 == 2,
        )
        for n in range(400)
    ]
    weights, found = fit(rows)
    assert weights[1] > 0 > weights[4]
    said = sum(one["said"] * one["values"] for one in found.rows())
    assert said == pytest.approx(sum(right for *_, right in rows), rel=0.03)
