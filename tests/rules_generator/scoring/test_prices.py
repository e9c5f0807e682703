"""Prices as shops mark them up: on sale with the old one struck through, in fields with more decimals than cents."""

from decimal import Decimal

import pytest

from parser.page.document import Document
from parser.read import read
from rules_generator.induction.induce import induce
from tests.pages import products
from tests.rules_generator.conftest import taught

ALL = products(10)
ASKED = '<p class="price"><span class="amount">{price} €</span></p>'
WAS = '<del><span class="amount">999,00 €</span></del>'
ON_SALE = f'<p class="price">{WAS} <ins><span class="amount">{{price}} €</span></ins></p>'
RELATED = '<div class="related"><del>{0},50 €</del> <b>{0},10 €</b></div>'


def page(markup: str, price: str, number: int) -> str:
    """A product page with another offer, on sale, below."""
    return f"<h1>Lamp {number}</h1>{markup.format(price=price.replace('.', ','))}{RELATED.format(number + 3)}"


@pytest.mark.parametrize("on_sale", [set(), {2}, {1, 2, 5, 7}], ids=["none", "one", "four"])
def test_what_is_struck_through_is_not_the_price(on_sale: set[int]) -> None:
    """However many of the known offers are on sale themselves: the shop's pages show how it strikes prices through."""
    members = [
        taught(
            one,
            page(ON_SALE if one.number in on_sale else ASKED, one.price, one.number),
            title=f"Lamp {one.number}",
        )
        for one in ALL
    ]
    rules, _ = induce(members)
    for markup in (ASKED, ON_SALE):
        offer = read(Document(page(markup, "12.50", 99), "https://shop.example/p/99"), rules).offer
        assert offer is not None
        assert offer.price == Decimal("12.50")


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
    rules, _ = induce([taught(one, shown.format(one.title, one.price)) for one in ALL])
    offer = read(
        Document(shown.format("Other lamp", said), "https://shop.example/p/99"), rules
    ).offer
    assert offer is not None
    assert offer.price == Decimal(price)


def test_thousands_in_what_people_read() -> None:
    """There `1.299` stays a thousand, though all known prices have decimals behind a point."""
    shown = "<h1>{0}</h1><b class='price'>{1} SEK</b>"
    rules, _ = induce([taught(one, shown.format(one.title, one.price)) for one in ALL])
    offer = read(
        Document(shown.format("Other lamp", "1.299"), "https://shop.example/p/99"), rules
    ).offer
    assert offer is not None
    assert offer.price == Decimal("1299.00")
