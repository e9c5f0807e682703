"""An element in a link or card that leads to another page is none of the page's own offer."""

import time

import pytest

from catalog.models import Attribute
from parser.compiled_rules import CompiledRules
from parser.page.document import Document
from parser.page_reader import read_page
from parser.rules.model import Origin, Rule, RuleSet, Template
from parser.rules.selector import AttributeAt, TextAt

URL = "https://shop.example/p/oak-table?lang=en"
CARD = "<li class='card'><a href='/p/{0}'><img src='{0}.jpg'></a><h3>{0}</h3><b>9</b></li>"
CASES = [
    ("a link to another page", "<a href='/p/ash-chair'><b>9</b></a>", True),
    ("deep inside such a link", "<a href='/p/ash-chair'><span><i><b>9</b></i></span></a>", True),
    ("nothing but such a link", "<b> <i><a href='/p/ash-chair'>9</a></i> </b>", True),
    ("such a link and a text", "<b>9 <a href='/p/ash-chair'>more</a></b>", False),
    ("a link to another site", "<a href='https://pins.example/?u=1'><b>9</b></a>", True),
    ("a link to the home page", "<a href='/'><b>9</b></a>", True),
    ("another offer by the query", "<a href='/p/oak-table?lang=de'><b>9</b></a>", True),
    ("a link to the page itself", f"<a href='{URL}'><b>9</b></a>", False),
    ("a link to a part of the page", "<a href='#reviews'><b>9</b></a>", False),
    ("the page with another parameter", "<a href='/p/oak-table?add=1'><b>9</b></a>", False),
    ("the page in another folder", "<a href='/sale/oak-table'><b>9</b></a>", False),
    ("the page's canonical address", "<a href='/oak/17'><b>9</b></a>", False),
    ("a link to a picture", "<a href='/files/table.JPG?v=2'><b>9</b></a>", False),
    ("a link without an address", "<a><b>9</b></a>", False),
    ("a script's link", "<a href='javascript:zoom()'><b>9</b></a>", False),
    ("a malformed link", "<a href='http://['><b>9</b></a>", False),
    ("one of several cards", f"<ul>{CARD.format('x')}{CARD.format('y')}</ul>", True),
    ("a card alone", f"<ul>{CARD.format('x')}</ul>", False),
    ("pictures of the page's own gallery", f"<ul>{CARD.format('oak-table')}</ul>" * 2, False),
    (
        "columns of the page's own offer, one with its heading",
        "<div class=c><h1>T</h1><a href='/brand/elm'><img></a><b>9</b></div>"
        "<div class=c><a href='/p/ash-chair'><img></a></div>",
        False,
    ),
    (
        "rows with links in text",
        "<p><a href='/x'>x</a><b>9</b></p><p><a href='/y'>y</a></p>",
        False,
    ),
]


@pytest.mark.parametrize(("name", "body", "is_contained"), CASES, ids=[case[0] for case in CASES])
def test_elements_in_cards(name: str, body: str, is_contained: bool) -> None:
    """Links to other pages, and like elements each with a picture or heading that links to a page of its own."""
    page = Document(f"<link rel=canonical href='/oak/17'><body>{body}</body>", URL)
    node = page.first("b")
    assert node is not None
    assert page.cards.contains(node) is is_contained


RULES = [
    (Attribute.PRICE, "learnt", None),
    (Attribute.TITLE, "learnt", None),
    (Attribute.PRICE, "manual", "9.00"),
    (Attribute.SKU, "learnt", "9.00"),
]


@pytest.mark.parametrize(("attribute", "origin", "value"), RULES)
def test_rules_read_no_card(attribute: Attribute, origin: Origin, value: str | None) -> None:
    """Titles, prices and pictures are not read there, unless a person has set the rule."""
    heading = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
    rule = Rule(attribute=attribute, selector=TextAt(css="b"), origin=origin)
    rules = RuleSet(templates=(Template(name="1", rules=(heading, rule)),))
    page = Document("<h1>Table</h1><a href='/p/ash-chair'><b>9.00</b></a>", URL)
    for reading in (read_page(page, rules), CompiledRules(rules).read(page)):
        [vote] = [vote for vote in reading.readings[attribute].votes if vote.rule == rule]
        assert vote.value == value


def test_a_page_without_a_price() -> None:
    """It is an offer, and takes no price of the offers beside its own."""
    price = Rule(attribute=Attribute.PRICE, selector=TextAt(css=".price"))
    image = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css="img", name="src"))
    heading = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
    rules = RuleSet(templates=(Template(name="1", rules=(heading, price, image)),))
    related = "".join(
        f"<li class=r><a href='/p/{name}'><img src='/{name}.jpg'></a><i class=price>9</i></li>"
        for name in "abc"
    )
    offer = read_page(Document(f"<h1>Table</h1><ul>{related}</ul>", URL), rules).offer
    assert offer is not None
    assert (offer.title, offer.price, offer.images) == ("Table", None, [])


HOSTILE = [
    ("many alike in many lists", "<div><p><a href=/x><img></a></p>" + "<i>9</i>" * 200 + "</div>"),
    ("many comments", "<p><a href=/x><img></a><i>9</i></p>" + "<!---->" * 2_000),
]


@pytest.mark.parametrize(("name", "part"), HOSTILE, ids=[case[0] for case in HOSTILE])
def test_large_pages_take_little_time(name: str, part: str) -> None:
    """Each element is judged once, however many are in it."""
    page = Document(f"<body><section>{part * 40}</section>" * 2, URL)
    begin = time.process_time()
    assert any(map(page.cards.contains, page.all("i"))) is False
    assert time.process_time() - begin < 5
