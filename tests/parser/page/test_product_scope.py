"""Whose data a block is: what a page's titles and its address tell."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt

URL = "https://shop.example/de/products/desk-lamp-oak?variant=7"
HEAD = "<title>Desk lamp, oak | Ardwen</title><meta property='og:title' content='Lamp for desks'>"

BLOCKS: list[tuple[str, Any, str | None]] = [
    ("named as the heading", {"title": "Desk lamp", "variants": []}, None),
    ("with words of its own, too", {"title": "DESK LAMP (2021) new", "variants": []}, None),
    ("of another kind", {"title": "Wool rug", "variants": []}, "Wool rug"),
    ("named by schema.org", {"@type": "Product", "name": "Wool rug", "offers": {}}, "Wool rug"),
    (
        "that shares less than half",
        {"title": "Floor lamp in wool and steel", "handle": "x"},
        "Floor lamp in wool and steel",
    ),
    (
        "in another language, at the address",
        {"title": "Schreibtischleuchte", "handle": "desk-lamp-oak"},
        None,
    ),
    (
        "in another language, elsewhere",
        {"title": "Schreibtischleuchte", "handle": "leuchte"},
        "Schreibtischleuchte",
    ),
    ("that is a variant's", {"title": "Small / Red", "sku": "A-1"}, None),
    ("that is a theme's", {"name": "Debut", "id": 3}, None),
    ("without a name", {"title": None, "variants": []}, None),
    ("with a name that is none", {"title": {"en": "Wool rug"}, "variants": []}, None),
    ("that is a list", [{"title": "Wool rug", "variants": []}], None),
]


@pytest.mark.parametrize(("name", "data", "another"), BLOCKS, ids=[case[0] for case in BLOCKS])
def test_another_products_data(name: str, data: Any, another: str | None) -> None:
    """Only what names itself as a product, and hardly as the page does, is another's."""
    assert Document(f"{HEAD}<h1>Desk lamp</h1>", URL).owner.another(data) == another


def test_what_was_asked_before_changes_nothing() -> None:
    """A variant's or another product's data of the same name do not decide for what comes after them."""
    owner = Document(f"{HEAD}<h1>Desk lamp</h1>", URL).owner
    asked = [
        {"title": "Leuchte"},
        {"title": "Leuchte", "handle": "desk-lamp-oak"},
        {"title": "Leuchte", "handle": "x"},
    ]
    assert [owner.another(data) for data in asked] == [None, None, "Leuchte"]
    assert [owner.another(data) for data in reversed(asked)] == ["Leuchte", None, None]


@pytest.mark.parametrize(
    ("markup", "url"),
    [
        ("<p>9.90</p>", URL),
        ("<title>Ardwen, lights since 1921</title><h1>Ardwen</h1>", URL),
        ("<h1>Desk lamp</h1>", "https://shop.example/show?id=17"),
        ("<h1>Desk lamp</h1>", "https://shop.example/p/17"),
    ],
    ids=["none", "the shop's own", "at a number", "at a path of one"],
)
def test_titles_without_a_word_of_the_address_tell_nothing(markup: str, url: str) -> None:
    """They may be the same on all pages, so the first block counts, as ever."""
    assert Document(markup, url).owner.another({"title": "Wool rug", "variants": []}) is None


def test_what_a_selector_finds_is_the_pages_own() -> None:
    """The cards above it and below have data of the same name; where there are only such, it finds nothing."""
    cards = [
        {"title": name, "handle": name, "vendor": name[0]} for name in ("Rug", "Desk lamp", "Chair")
    ]
    forms = "".join(f"<form data-product='{json.dumps(card)}'></form>" for card in cards)
    vendor = JsonAt(css="[data-product]", block="@data-product", path="$.vendor")
    page = Document(f"<h1>Desk lamp</h1>{forms}", URL)
    assert (page.find(vendor), page.another_at(vendor)) == ("D", "Rug")
    page = Document(f"<h1>Mirror</h1>{forms}", "https://shop.example/products/mirror")
    assert (page.find(vendor), page.another_at(vendor)) == (None, "Rug")


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_product_that_is_named_as_the_page_is_its_own(heading: str, handle: str) -> None:
    """Whatever signs the name has."""
    page = Document("<h1></h1>", URL)
    node = page.tree.css_first("h1")
    assert node is not None
    node.insert_child(heading)
    assert page.owner.another({"title": heading, "handle": handle}) is None
