"""Boilerplate removal: shared phrases go, an offer's text words stay."""

import pytest

from matcher.records.boilerplate import remove_boilerplate
from matcher.records.record import Record

DESCRIPTIONS = [
    f"{m} item {n} made of {m}" for n, m in enumerate(("oak", "brass", "wool", "glass") * 5)
]
SHIPPING = "free shipping from 50 eur within two working days"


@pytest.mark.parametrize("form", ["{text} {phrase}", "{phrase} {text}", "{phrase} {text} {phrase}"])
def test_the_shops_own_phrases_are_taken_out(form: str) -> None:
    """A phrase that all descriptions have goes, wherever it stands; an offer's text words stay."""
    records = [
        Record(title=text, description=form.format(text=text, phrase=SHIPPING))
        for text in DESCRIPTIONS
    ]
    assert [record.description for record in remove_boilerplate(records)] == DESCRIPTIONS


def test_phrases_of_few_offers_stay() -> None:
    """The shared text of a few siblings, or of a handful of offers, is no boilerplate."""
    records = [
        Record(description=SHIPPING if n < 5 else text) for n, text in enumerate(DESCRIPTIONS)
    ]
    assert remove_boilerplate(records) == records
    assert (
        remove_boilerplate([Record(description=SHIPPING)] * 3) == [Record(description=SHIPPING)] * 3
    )


def test_descriptions_that_are_not_there() -> None:
    """Offers without descriptions, or with a word or two, are left as they are."""
    records = [Record(), Record(description="oak")] * 10
    assert remove_boilerplate(records) == records
