"""Part numbers that are near: within each other, a letter apart, or not there."""

import numpy as np
import pytest

from catalog.models import OfferFields
from matcher.features.part_numbers import NEARNESS, code_columns
from matcher.records.record import records


def near(one: OfferFields, other: OfferFields) -> dict[str, float]:
    (a,), (b,) = records([one]), records([other])
    forth, back = (
        {name: float(v[0]) for name, v in code_columns([x], [y]).items()}
        for x, y in ((a, b), (b, a))
    )
    assert {name: forth[name] for name in NEARNESS} == pytest.approx(back, nan_ok=True)
    return forth


def test_a_number_within_another() -> None:
    """A part number of one offer's own field is found in the other's title, colour letters and all."""
    found = near(OfferFields(title="lamp", han="LUM-341-BLK"), OfferFields(title="lamp lum341"))
    other = near(OfferFields(title="lamp", han="LUM-341-BLK"), OfferFields(title="lamp lum528"))
    equal = near(OfferFields(title="lamp lum341"), OfferFields(title="lamp lum341"))
    assert other["codes_near"] < 0.5 < found["codes_near"] < equal["codes_far"] == 1


def test_nothing_to_compare() -> None:
    """Without a number on either side nothing is known; short ones say nothing of long ones."""
    assert np.isnan(
        [*near(OfferFields(title="oak table"), OfferFields(title="oak chair")).values()]
    ).all()
    short = near(OfferFields(title="fono a12"), OfferFields(title="fono a12s"))
    assert short["codes_near"] > 0
    assert np.isnan(short["codes_long_near"])
