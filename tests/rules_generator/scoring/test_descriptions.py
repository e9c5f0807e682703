"""Descriptions are read where all of their words stand, and no others: some places cut them off, or add to them."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

*ALL, OTHER = products(11)
SENTENCE = "{0} {1} is made by hand of beech and brass, and it is cared for with oil. "


def told(number: int, sentences: int) -> str:
    """A description of so many sentences."""
    return "".join(SENTENCE.format(number, place) for place in range(sentences)).strip()


ADDING = [
    (
        "the names of tabs",
        "<div class='description'><b>Description</b> <b>Reviews</b> <div class='x'>{0}</div></div>",
    ),
    ("nothing between lines", "<i data-description='{1}'></i><div class='x'>{0}</div>"),
]


@pytest.mark.parametrize(("name", "shown"), ADDING, ids=[case[0] for case in ADDING])
def test_words_that_the_catalog_does_not_have(name: str, shown: str) -> None:
    """Of places that have nearly all of the known words, the one that has all of them and no others is read."""

    def page(text: str) -> str:
        return f"<h1>x</h1>{shown.format(text, text.replace('. ', '.'))}"

    members = [
        make_example(product, page(told(product.number, 4)), description=told(product.number, 4))
        for product in ALL
    ]
    whole = told(OTHER.number, 4)
    found = read_attributes(
        Document(page(whole), "https://shop.example/p"), induce(members)[0].templates[0]
    )
    assert found[Attribute.DESCRIPTION].value == whole
