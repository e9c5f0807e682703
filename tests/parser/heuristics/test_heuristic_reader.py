"""Offers read by heuristics."""

import pytest

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document

LABELLED = [
    ("a brand", "<li>Hersteller: Bosch</li>", {Attribute.BRAND: "Bosch"}),
    ("beside its label", "<li><b>Marque</b> Bosch</li>", {Attribute.BRAND: "Bosch"}),
    ("a label of two words", "<li>Brand name: Bosch</li>", {Attribute.BRAND: "Bosch"}),
    ("the maker's number before the maker", "<li>Hersteller-Nr.: 0601</li><li>Hersteller: Bosch</li>",
     {Attribute.HAN: "0601", Attribute.BRAND: "Bosch"}),
    ("a GTIN as the maker's number", "<li>Hersteller-Nr.: 4006381333931</li>", {}),
    ("eight digits as the maker's number", "<li>Hersteller-Nr.: 12345670</li>", {Attribute.HAN: "12345670"}),
    ("a label that begins with one", "<li>Manufacturer's warranty: 2 years</li>", {}),
    ("two in one", "<li>Marke/Hersteller: Bosch</li>", {Attribute.BRAND: "Bosch"}),
    ("whose number it is", "<li>Référence fabricant : 0601</li><li>Référence : AB1</li>",
     {Attribute.SKU: "AB1", Attribute.HAN: "0601"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "expected"), LABELLED, ids=[case[0] for case in LABELLED])
def test_values_behind_labels(name: str, rows: str, expected: dict[Attribute, str]) -> None:
    """A label is recognised by its whole text, up to its mark or the end of its element."""
    page = f"<title>Drill GSR</title><main><h1>Drill GSR</h1><p>129,00 €</p><ul>{rows}</ul></main>"
    read = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    numbers = (Attribute.BRAND, Attribute.SKU, Attribute.HAN, Attribute.EAN)
    assert {name: read[name].value for name in numbers if name in read} == expected


def test_nested_lists_hold_no_product() -> None:
    """Lists of any depth do no harm."""
    deep = "[" * 1000 + "]" * 1000
    page = f'<h1>Lamp</h1><script type="application/ld+json">{{"@type": "Product", "mainEntity": {deep}}}</script>'
    assert Attribute.PRICE not in read_by_heuristics(Document(page, "https://shop.example/p/1"))
    page = page.replace("Product", "WebPage")
    assert Attribute.PRICE not in read_by_heuristics(Document(page, "https://shop.example/p/1"))


AMOUNTS = [
    ("named as old", '<p class="old-price">25,00 €</p><p class="price">19,00 €</p>'),
    (
        "struck through by a style",
        '<p style="text-decoration:line-through">25,00 €</p><p>19,00 €</p>',
    ),
    ("a saving", '<p class="savings">6,00 €</p><p>19,00 €</p>'),
    ("around both prices", '<div class="has-old-price"><s>25,00 €</s> <span>19,00 €</span></div>'),
]


@pytest.mark.parametrize(("name", "markup"), AMOUNTS, ids=[case[0] for case in AMOUNTS])
def test_amounts_that_are_no_price(name: str, markup: str) -> None:
    """Old prices, by the rules' own marks, and savings are no price; an element around both is."""
    page = f"<title>Drill GSR</title><main><h1>Drill GSR</h1>{markup}</main>"
    read = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    assert read[Attribute.PRICE].value == "19.00"
