"""Similarity of part numbers: contained, a letter apart, or absent."""

import numpy as np
import pytest

from catalog.models import OfferFields
from matcher.features.part_numbers import PART_NUMBER_FEATURES, part_number_features
from matcher.records.record import build_records


def compare(first: OfferFields, second: OfferFields) -> dict[str, float]:
    """Return the features of one pair, the same either way round."""
    a, b = build_records([first, second])
    forth = {name: float(v[0]) for name, v in part_number_features([a], [b]).items()}
    back = {name: float(v[0]) for name, v in part_number_features([b], [a]).items()}
    assert {name: forth[name] for name in PART_NUMBER_FEATURES} == pytest.approx(back, nan_ok=True)
    return forth


def test_a_contained_number_is_near() -> None:
    """A part number is found in the other offer's title, in spite of its colour letters."""
    lamp = OfferFields(title="lamp", han="LUM-341-BLK")
    contained = compare(lamp, OfferFields(title="lamp lum341"))
    different = compare(lamp, OfferFields(title="lamp lum528"))
    equal = compare(OfferFields(title="lamp lum341"), OfferFields(title="lamp lum341"))
    assert different["codes_near"] < 0.5 < contained["codes_near"] < equal["codes_far"] == 1


def test_nothing_to_compare() -> None:
    """Without a number on either side nothing is known; short ones say nothing of long ones."""
    unknown = compare(OfferFields(title="oak table"), OfferFields(title="oak chair"))
    assert np.isnan([*unknown.values()]).all()
    short = compare(OfferFields(title="fono a12"), OfferFields(title="fono a12s"))
    assert short["codes_near"] > 0
    assert np.isnan(short["codes_long_near"])
