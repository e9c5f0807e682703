"""Prices as shops mark them up: on sale with the old one struck through, in fields with more decimals than cents."""

from decimal import Decimal

import pytest

from parser.page.document import Document
from parser.page_reader import read_page
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

ALL = products(10)
FIELDS = [
    ("three decimals in a field whose others have two", "33.948", "33.95"),
    ("four", "249.0012", "249.00"),
    ("as the others", "12.50", "12.50"),
    ("none at all", "1299", "1299.00"),
]


@pytest.mark.parametrize(("name", "said", "price"), FIELDS, ids=[case[0] for case in FIELDS])
def test_decimals_of_bare_numbers(name: str, said: str, price: str) -> None:
    """The known offers show that a point stands before the decimals of such a field."""
    shown = '<h1>{0}</h1><b itemprop="price" content="{1}"></b>'
    rules, _ = induce(
        [make_example(product, shown.format(product.title, product.price)) for product in ALL]
    )
    offer = read_page(
        Document(shown.format("Other lamp", said), "https://shop.example/p/99"), rules
    ).offer
    assert offer is not None
    assert offer.price == Decimal(price)


def test_thousands_in_what_people_read() -> None:
    """There `1.299` stays a thousand, though all known prices have decimals behind a point."""
    shown = "<h1>{0}</h1><b class='price'>{1} SEK</b>"
    rules, _ = induce(
        [make_example(product, shown.format(product.title, product.price)) for product in ALL]
    )
    offer = read_page(
        Document(shown.format("Other lamp", "1.299"), "https://shop.example/p/99"), rules
    ).offer
    assert offer is not None
    assert offer.price == Decimal("1299.00")
