"""Texts of single values as pages and feeds write them; each line is a text."""

from catalog.models import Attribute
from catalog.values import Hint, make_offer, normalise, offer_values
from tests.field.field_cases import FieldCase, each_case, limited_time

PAGE = "https://shop.example/p/1"


def read(attribute: Attribute, text: str) -> str | None:
    """Read a text; a price is followed by its currency."""
    offer = make_offer({attribute: text}, Hint(base_url=PAGE))
    values = offer_values(offer).get(attribute)
    if values is None:
        return None
    return " ".join([*values, offer.currency or ""]).strip()


@each_case("values")
def test_values(case: FieldCase) -> None:
    """Each text is read as the expected value, or as one of several; none is read as another."""
    attribute = Attribute(case.expected["attribute"])
    wrong = {}
    for text, expected in zip(case.lines, case.expected["values"], strict=True):
        with limited_time():
            value = read(attribute, text)
        accepted = expected if isinstance(expected, list) else [expected]
        if value not in accepted:
            wrong[text] = (value, expected)
    assert wrong == {}


@each_case("values")
def test_normalised_values_stay(case: FieldCase) -> None:
    """A normalised text of any attribute stays unchanged."""
    for text in case.lines:
        for attribute in Attribute:
            value = normalise(attribute, text, Hint(base_url=PAGE))
            assert value is None or normalise(attribute, value) == value, (attribute, text)
