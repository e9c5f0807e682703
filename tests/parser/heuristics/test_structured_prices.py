"""Prices in structured data, read without known offers."""

import json
from html import escape

import pytest

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document

LISTED = {
    "@type": "UnitPriceSpecification",
    "priceType": "https://schema.org/ListPrice",
    "price": "32.00",
}
ASKED = {"@type": "UnitPriceSpecification", "price": "12.00", "priceCurrency": "EUR"}
PER_KILO = {"price": "48.00", "referenceQuantity": {"value": "1", "unitCode": "KGM"}}
THING = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Lamp",
    "sku": "A-1",
    "mpn": "M-77",
    "gtin13": "4006381333931",
    "brand": {"@type": "Brand", "name": "Luma"},
}
CRUMBS = '{"@type": "BreadcrumbList", "itemListElement": []}'
EXPECTED = {
    Attribute.PRICE: "12.00",
    Attribute.EAN: "4006381333931",
    Attribute.SKU: "A-1",
    Attribute.HAN: "M-77",
    Attribute.BRAND: "Luma",
}


@pytest.mark.parametrize(
    "specifications",
    [ASKED, [ASKED], [LISTED, ASKED], [ASKED, LISTED], [PER_KILO, LISTED, ASKED]],
)
@pytest.mark.parametrize(
    "form", ["plain", "behind crumbs", "escaped", "brace missing", "brace too many"]
)
def test_values_that_stand_nowhere_else(specifications: object, form: str) -> None:
    """All values of a product are read, however its script and its prices are written."""
    offer = {"@type": "Offer", "priceSpecification": specifications}
    script = json.dumps(THING | {"offers": offer})
    scripts = {
        "plain": script,
        "behind crumbs": f"{CRUMBS}\n{script}",
        "escaped": escape(script),
        "brace missing": script[:-1],
        "brace too many": script + "}",
    }
    page = f'<h1>Lamp</h1><script type="application/ld+json">{scripts[form]}</script>'
    values = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    assert {name: values[name].value for name in EXPECTED if name in values} == EXPECTED


MICRODATA = {
    "a struck price": '<del><span itemprop="price">32.00</span></del><span itemprop="price">12.00</span>',
    "a list price": '<div itemprop="priceSpecification" itemscope itemtype="https://schema.org/PriceSpecification">'
    '<link itemprop="priceType" href="https://schema.org/ListPrice"><meta itemprop="price" content="32.00"></div>'
    '<meta itemprop="price" content="12.00">',
}  # fmt: skip


@pytest.mark.parametrize("offer", MICRODATA.values(), ids=MICRODATA.keys())
def test_old_prices_in_microdata_are_not_claimed(offer: str) -> None:
    """The first price of a product that is asked counts."""
    page = (
        '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Lamp</h1>'
        f'<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">{offer}</div></div>'
    )
    values = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    assert values[Attribute.PRICE].value == "12.00"


STRUCK = {
    "struck through": "<p><del>25,00 €</del> <b>19,00 €</b></p>",
    "named as old": '<p><i class="old-price">25,00 €</i> <b>19,00 €</b></p>',
    "in another box": "<section><div><p><s>25,00 €</s></p></div></section><p><b>19,00 €</b></p>",
}


@pytest.mark.parametrize("box", STRUCK.values(), ids=STRUCK.keys())
def test_old_prices_that_the_head_states_are_dropped(box: str) -> None:
    """However many sources state the price that the page strikes out, the asked one is read."""
    thing = json.dumps(THING | {"offers": {"price": "25.00"}})
    head = f'<meta property="product:price:amount" content="25.00"><script type="application/ld+json">{thing}</script>'
    page = f"{head}<main><h1>Lamp</h1>{box}</main>"
    assert (
        read_by_heuristics(Document(page, "https://shop.example/p/1"))[Attribute.PRICE].value
        == "19.00"
    )


def test_an_old_price_alone_is_read() -> None:
    """A page that strikes out its only price is sold out: no lower one is asked."""
    thing = json.dumps(THING | {"offers": {"price": "25.00"}})
    page = f'<script type="application/ld+json">{thing}</script><h1>Lamp</h1><del>25,00 €</del>'
    assert (
        read_by_heuristics(Document(page, "https://shop.example/p/1"))[Attribute.PRICE].value
        == "25.00"
    )
