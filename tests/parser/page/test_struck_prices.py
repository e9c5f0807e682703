"""Prices that a page shows struck through are not the price."""

import time

import pytest

from catalog.models import Attribute
from catalog.values import normalise
from parser.compiled_rules import CompiledRule, PageLookups
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, TextAt
from parser.variants import Item
from parser.voting.votes import run_rule

OLD, ASKED = "<b class=p>25,00 €</b>", "<b class=p>19,00 €</b>"
SPECIFICATION = (
    'itemprop="priceSpecification" itemscope itemtype="https://schema.org/UnitPriceSpecification"'
)

STRUCK = {
    "del": f"<del>{OLD}</del> <ins>{ASKED}</ins>",
    "s": f"<s>{OLD}</s>{ASKED}",
    "strike": f"<strike>{OLD}</strike>{ASKED}",
    "the element itself": f"<del class=p>25,00 €</del>{ASKED}",
    "an ancestor far up": f"<del><i><u><em><span><span>{OLD}</span></span></em></u></i></del>{ASKED}",
    "a style": f'<span style="color:red; text-decoration: line-through">{OLD}</span>{ASKED}',
    "a style of the line": f'<span style="text-decoration-line:line-through">{OLD}</span>{ASKED}',
    "a role": f'<span role="deletion">{OLD}</span>{ASKED}',
    "old-price": f'<p class="old-price">{OLD}</p><p class="special-price">{ASKED}</p>',
    "price-old": f'<span class="price-old">{OLD}</span><span class="price-new">{ASKED}</span>',
    "oldPrice": f'<span class="oldPrice">{OLD}</span>{ASKED}',
    "price--was": f'<span class="price--was">{OLD}</span>{ASKED}',
    "compare-at-price": f'<span class="x compare-at-price">{OLD}</span>{ASKED}',
    "price__compare": f'<span class="price__compare">{OLD}</span>{ASKED}',
    "list-price": f'<span class="list-price">{OLD}</span>{ASKED}',
    "line-through": f'<span class="text-decoration-line-through">{OLD}</span>{ASKED}',
    "strikethrough": f'<span class="strikethrough">{OLD}</span>{ASKED}',
    "crossed-out": f'<span class="crossed-out">{OLD}</span>{ASKED}',
    "rrp": f'<span class="rrp">{OLD}</span>{ASKED}',
    "German": f'<span class="alter-preis">{OLD}</span>{ASKED}',
    "French": f'<span class="prix-barre">{OLD}</span>{ASKED}',
    "Spanish": f'<span class="precio_anterior">{OLD}</span>{ASKED}',
    "in boxes of their own": f"<div><span><s>{OLD}</s></span></div><div><span>{ASKED}</span></div>",
}


@pytest.mark.parametrize("markup", STRUCK.values(), ids=STRUCK.keys())
@pytest.mark.parametrize("css", [".p", "div.price"])
def test_the_price_beside_a_struck_one_is_read(markup: str, css: str) -> None:
    """A rule for either reads the asked price; so do compiled rules and rules of variants."""
    selector = TextAt(css=css)
    assert _values(f'<main><div class="price">{markup}</div></main>', selector) == {"19.00"}


WITHIN = {
    "struck": ("<del>25,00 €</del> <ins>19,00 €</ins>", "19.00"),
    "words before": ("statt <s>25,00 €</s> nur 19,00 €", "19.00"),
    "named as old": (
        '<span class="was">UVP</span><span class="uvp">25,00 €</span> 19,00 €',
        "19.00",
    ),
    "cents apart": ("<del>25<sup>50</sup> €</del> 19<sup>50</sup> €", "19.50"),
    "only a struck one": ("<del>25,00 €</del>", None),
    "only one named as old": ('<span class="old-price">25,00 €</span>', "25.00"),
    "none": ("<i>19,00 €</i> inkl. <u>MwSt.</u>", "19.00"),
}


@pytest.mark.parametrize(("markup", "expected"), WITHIN.values(), ids=WITHIN.keys())
def test_a_struck_price_inside_the_element_is_left_out(markup: str, expected: str | None) -> None:
    """The text of an element with both prices is that of the asked one."""
    assert _values(f'<main><p class="price">{markup}</p></main>', TextAt(css=".price")) == {
        expected
    }


KEPT = {
    "a name that may mean a list": ('<div class="list-price"><b class=p>19,00 €</b></div>', "19.00"),
    "a regular price": ('<div class="regular-price"><b class=p>19,00 €</b></div>', "19.00"),
    "a name with a lower price behind": (f'<i class="list-price">{ASKED}</i>{OLD}', "19.00"),
    "a struck price alone": (f"<div><s>{OLD}</s></div>", None),
    "a price in another card": (
        f"<ul><li><div><p><s>{OLD}</s></p></div></li><li><div><p>{ASKED}</p></div></li></ul>", None),
    "words like old": ('<div class="gold-price household"><b class=p>19,00 €</b></div>', "19.00"),
}  # fmt: skip


@pytest.mark.parametrize(("markup", "expected"), KEPT.values(), ids=KEPT.keys())
def test_names_alone_cost_no_price(markup: str, expected: str | None) -> None:
    """A class only decides between two prices; a struck price is none, even if it is the only one."""
    assert _values(f"<main>{markup}</main>", TextAt(css=".p")) == {expected}


def _specification(inner: str) -> str:
    return f"<span {SPECIFICATION}>{inner}</span>"


LIST_PRICES = {
    "a link": '<link itemprop="priceType" href="https://schema.org/ListPrice">',
    "a meta element": '<meta itemprop="priceType" content="StrikethroughPrice">',
    "a text": '<i itemprop="priceType">MSRP</i>',
    "a price per unit": '<b itemprop="referenceQuantity">1 kg</b>',
}


@pytest.mark.parametrize("mark", LIST_PRICES.values(), ids=LIST_PRICES.keys())
def test_list_prices_in_microdata_are_not_the_price(mark: str) -> None:
    """A specification with the type of a list price, or for a unit, is skipped."""
    listed = _specification(f'{mark}<meta itemprop="price" content="25.00">')
    asked = _specification('<meta itemprop="price" content="19.00">')
    at = AttributeAt(css='meta[itemprop="price"]', name="content")
    for markup in (listed + asked, asked + listed):
        assert _values(f"<main><div>{markup}</div></main>", at) == {"19.00"}


def test_other_attributes_are_read_as_they_stand() -> None:
    """Only prices are concerned: a title may be struck through."""
    page = Document("<del><b class=p>Lamp</b></del><b class=p>Rug</b>", "https://shop.example/")
    rule = Rule(attribute=Attribute.TITLE, selector=TextAt(css=".p"))
    assert run_rule(page, rule).value == "Lamp"


def _values(markup: str, selector: AnySelector) -> set[str | None]:
    """Return the prices that a rule reads on a page, compiled or not, and inside a variant's row."""
    page = Document(f"<body>{markup}</body>", "https://shop.example/")
    rule = Rule(attribute=Attribute.PRICE, selector=selector)
    text = Item(node=page.first("main")).find_price(selector)
    compiled = CompiledRule(rule, {}).run(PageLookups(page))
    assert run_rule(page, rule) == compiled
    return {compiled.value, normalise(Attribute.PRICE, text) if text else None}


def test_hostile_markup_is_read_in_bounded_time() -> None:
    """Marks, alternatives and levels are capped."""
    deep = "<div><s>" * 900 + '<b class="p old-price">25 €</b>' * 20_000
    wide = '<div class="p">' + "<s>1 €</s>" * 50_000
    begin = time.process_time()
    for markup in (deep, wide):
        page = Document(markup, "https://shop.example/", trusted=True)
        page.price_at(page.first(".p"), TextAt(css=".p"))
    assert time.process_time() - begin < 5
