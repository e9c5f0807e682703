"""Rules learnt from pages with known values, as a library user calls it."""

import pytest

from catalog.errors import LearnError, UsageError
from parser import read_page
from rules_generator import learn_rules

PAGE = '<h1>{}</h1><p class="shipping">Shipping 4.90</p><p class="amount">Only {} EUR</p>'
OFFERS = (
    ("Desk lamp", "49.90"),
    ("Tea pot", "24.00"),
    ("Red mug", "7.50"),
    ("Wall clock", "39.00"),
)


def examples(**values: str) -> list[tuple[str, str, dict[str, str]]]:
    """The pages of all offers with their known values, some replaced."""
    return [
        (f"https://shop.example/{n}", PAGE.format(t, p), {"title": t, "price": p, **values})
        for n, (t, p) in enumerate(OFFERS)
    ]


def test_rules_read_a_page_that_was_no_example() -> None:
    """The learnt rules read title, price and currency of another page of the template."""
    rules = learn_rules(examples())
    page = read_page(PAGE.format("Blue chair", "89.00"), rules, url="https://shop.example/9")
    assert page.offer is not None
    assert (page.offer.title, str(page.offer.price), page.offer.currency) == (
        "Blue chair",
        "89.00",
        "EUR",
    )


def test_an_attribute_may_have_several_accepted_values() -> None:
    """Any of several known values counts as right."""
    pages = [
        (url, html, {"title": [known["title"], "Another title"], "price": known["price"]})
        for url, html, known in examples()
    ]
    page = read_page(
        PAGE.format("Blue chair", "89.00"), learn_rules(pages), url="https://shop.example/9"
    )
    assert page.offer is not None
    assert page.offer.title == "Blue chair"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"colour": "red"}, "no attribute is called 'colour'; there are title, description"),
        ({"price": "on request"}, "'on request' is no price"),
    ],
)
def test_bad_input_is_named(values: dict[str, str], message: str) -> None:
    """An unknown attribute and an impossible value are refused with the page's URL."""
    with pytest.raises(UsageError, match=message) as error:
        learn_rules(examples(**values))
    assert "https://shop.example/0" in str(error.value)


def test_values_that_stand_nowhere_give_an_error() -> None:
    """Examples whose values are not on their pages teach nothing, and say so."""
    pages = [(url, "<p>empty</p>", known) for url, _, known in examples()]
    with pytest.raises(LearnError, match="no common place"):
        learn_rules(pages)
