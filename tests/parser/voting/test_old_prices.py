"""The price before a reduction among the votes for a price."""

import json

import pytest

from catalog.models import Attribute
from catalog.values.prices.price import old_amounts
from parser.compiled_rules import CompiledRules
from parser.page.document import Document
from parser.page_reader import read_page
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.schema_org import SCHEMA_ORG
from parser.voting.old_prices import is_shown

IN_SCRIPT = JsonAt(block="var product =", path="$.price")
IN_LAYER = JsonAt(block="dataLayer.push(", path="$.value")
IN_META = AttributeAt(css='meta[property="product:price:amount"]', name="content")
IN_JSON_LD = JsonAt(css=SCHEMA_ORG, block="ld+json Product", path="$.offers.price")
SHOWN = TextAt(css="span.now")
SCRIPTS = '<script>var product = {"price": 25.0}; dataLayer.push({"value": "25.00"});</script>'
META = '<meta property="product:price:amount" content="25.00">'


def _page(box: str, behind: str = "") -> str:
    return f"{META}<main><h1>Lamp</h1>{box}</main>{behind}{SCRIPTS}"


OLD_PRICES = {
    "struck": "<p><del>25,00 €</del> <span class=now>19,00 €</span></p>",
    "in another box near the heading": "<div><p><s>25,00 €</s></p></div><section><div><div><div><p>"
    "<span class=now>19,00 €</span></p></div></div></div></section>",
    "named as old": '<p><i class="old-price">25,00 €</i> <span class=now>19,00 €</span></p>',
    "in words": "<p><span class=now>statt 25,00 € nur 19,00 €</span></p>",
}


@pytest.mark.parametrize("box", OLD_PRICES.values(), ids=OLD_PRICES.keys())
def test_a_script_with_the_old_price_is_outvoted(box: str) -> None:
    """However many sources state the price before the reduction, the page's asked one is read."""
    selectors = (IN_SCRIPT, IN_LAYER, IN_META, SHOWN)
    assert _price(_page(box), *selectors) == "19.00"
    assert _price(_page(box), *reversed(selectors)) == "19.00"


def test_list_prices_of_json_ld_are_old_prices() -> None:
    """The page shows only the asked price; its structured data say which one is the list price."""
    offer = {"priceSpecification": [
        {"price": "25.00", "priceType": "https://schema.org/ListPrice"}, {"price": "19.00"}
    ]}  # fmt: skip
    thing = {"@type": "Product", "offers": offer}
    script = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
    page = _page("<p>Lamp</p>", script)
    assert _price(page, IN_SCRIPT, IN_LAYER, IN_JSON_LD) == "19.00"


KEPT = {
    "no other source": ("<p><del>25,00 €</del></p>", (IN_SCRIPT, IN_META), "25.00"),
    "no old price on the page": ("<p><span class=now>19,00 €</span></p>", (IN_SCRIPT, IN_LAYER, SHOWN), "25.00"),
    "a higher price elsewhere": ("<p><s>25,00 €</s><span class=now>49,00 €</span></p>", (IN_SCRIPT, IN_LAYER, SHOWN), "25.00"),
    "another old price": ("<p><s>39,00 €</s><span class=now>19,00 €</span></p>", (IN_SCRIPT, IN_LAYER, SHOWN), "25.00"),
}  # fmt: skip


@pytest.mark.parametrize(("box", "selectors", "expected"), KEPT.values(), ids=KEPT.keys())
def test_other_contradictions_are_decided_by_weight(
    box: str, selectors: tuple[AnySelector, ...], expected: str
) -> None:
    """Only a vote for the page's old price beside a lower one loses its value."""
    assert _price(_page(box), *selectors) == expected


def test_shown_elements() -> None:
    """Meta elements and scripts are not seen, wherever they stand."""
    shown = [TextAt(css="div.price b"), AttributeAt(css="span[itemprop=price]", name="content")]
    hidden = [
        IN_META,
        IN_SCRIPT,
        AttributeAt(css='div.offer > meta[itemprop="price"]', name="content"),
    ]
    for selectors, expected in ((shown, True), (hidden, False)):
        for selector in selectors:
            assert is_shown(Rule(attribute=Attribute.PRICE, selector=selector)) is expected


WORDS = [
    ("statt 129,00 € nur 99,00 €", ["129.00"]),
    ("Was £20.00 Now £15.00", ["20.00"]),
    ("UVP 49,95 €", ["49.95"]),
    ("25,37 € (101,48 €/kg)", []),
    ("99,00 €", []),
    ("12", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_old_amounts_by_words(text: str, expected: list[str]) -> None:
    """Words before an amount tell that it is no longer asked."""
    assert old_amounts(text) == expected


def _price(markup: str, *selectors: AnySelector) -> str | None:
    rules = tuple(Rule(attribute=Attribute.PRICE, selector=selector) for selector in selectors)
    title = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
    rule_set = RuleSet(templates=(Template(name="1", rules=(title, *rules)),))
    url = "https://shop.example/p"
    reading = read_page(Document(markup, url), rule_set).readings[Attribute.PRICE]
    compiled = CompiledRules(rule_set).read(Document(markup, url)).readings[Attribute.PRICE]
    assert reading.value == compiled.value
    return reading.value
