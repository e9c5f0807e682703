"""The heading is the title of pages on which the learnt rules find none."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from parser.voting.winner import Reading
from rules_generator.induction.induce import induce
from rules_generator.training.training_example import Taught
from tests.pages import Product, products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)


def page(heading: str, price: object = "5.00") -> str:
    """A page of a shop that says the title in its heading only."""
    return f"<body><h1>{heading}</h1><p class='price'>{price} EUR</p><p>Free shipping over 50</p>"


def read_title(members: list[Taught], heading: str) -> Reading:
    """What is read of a page's title by the rules that the examples teach."""
    rules, _ = induce(members)
    return read_attributes(Document(page(heading), "https://shop.example/p"), rules.templates[0])[
        Attribute.TITLE
    ]


SAID = [
    ("the usual words stand behind it", "Elm Lamp - Only here", "Elm Lamp"),
    ("they do not", "Elm Lamp", "Elm Lamp"),
]


@pytest.mark.parametrize(("name", "heading", "title"), SAID, ids=[case[0] for case in SAID])
def test_headings_with_and_without_the_layouts_words(name: str, heading: str, title: str) -> None:
    """What is learnt is what to cut off; where there is nothing to cut the heading is the title, though less surely."""
    members = [taught(one, page(f"{one.title} - Only here", one.price)) for one in ALL]
    reading = read_title(members, heading)
    assert reading.value == title
    assert (reading.weight > 0.5) == (title != heading)


def heading_of(one: Product, place: int) -> str:
    """The title, but on one page."""
    return "Welcome to our shop" if place == 4 else f"{one.title} - Only here"


def test_a_heading_that_may_be_the_shops_own_is_no_title() -> None:
    """One example whose heading says something else is enough."""
    members = [
        taught(one, page(heading_of(one, place), one.price), brand=None)
        for place, one in enumerate(ALL)
    ]
    assert read_title(members, "Welcome to our shop").value is None
