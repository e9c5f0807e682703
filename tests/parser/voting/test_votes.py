"""The value of a rule's text on a page."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import TextAt
from parser.voting.votes import run_rule

NUMBERS = [
    ("a GTIN of 13 digits", "4006381333931", None),
    ("one of 12 digits", "036000291452", None),
    ("one of 14 digits", "10036000291459", None),
    ("one with gaps", "4 006381-333931", None),
    ("a wrong check digit", "4006381333932", "4006381333932"),
    ("eight digits that may be a GTIN by chance", "12345670", "12345670"),
    ("ten that may be an ISBN", "0306406152", "0306406152"),
    ("letters and digits", "WH-1000XM4", "WH-1000XM4"),
]


@pytest.mark.parametrize(("name", "text", "han"), NUMBERS, ids=[case[0] for case in NUMBERS])
def test_a_gtin_is_no_manufacturers_number(name: str, text: str, han: str | None) -> None:
    """Shops write it into the same field where they have no number of the manufacturer."""
    rule = Rule(attribute=Attribute.HAN, selector=TextAt(css="b"))
    assert run_rule(Document(f"<b>{text}</b>", "https://shop.example/"), rule).value == han
