"""Boilerplate: what a shop says of every offer is taken out, what it says of one stays."""

import pytest

from matcher.records.boilerplate import without_boilerplate
from matcher.records.record import Record

OWN = [f"{m} item {n} made of {m}" for n, m in enumerate(("oak", "brass", "wool", "glass") * 5)]
SHIPPING = "free shipping from 50 eur within two working days"


@pytest.mark.parametrize("form", ["{own} {phrase}", "{phrase} {own}", "{phrase} {own} {phrase}"])
def test_the_shops_own_phrases_are_taken_out(form: str) -> None:
    """A phrase that all descriptions have goes, wherever it stands; an offer's own words stay."""
    items = [Record(title=own, description=form.format(own=own, phrase=SHIPPING)) for own in OWN]
    assert [item.description for item in without_boilerplate(items)] == OWN


def test_what_few_say_stays() -> None:
    """A series of a few siblings with one text is no boilerplate, nor is anything in a handful of offers."""
    items = [Record(description=SHIPPING if n < 5 else own) for n, own in enumerate(OWN)]
    assert without_boilerplate(items) == items
    assert (
        without_boilerplate([Record(description=SHIPPING)] * 3)
        == [Record(description=SHIPPING)] * 3
    )


def test_descriptions_that_are_not_there() -> None:
    """Offers without descriptions, or with a word or two, are left as they are."""
    items = [Record(), Record(description="oak")] * 10
    assert without_boilerplate(items) == items
