"""Looking up what hundreds of selectors ask for gives what the parser gives."""

import time

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.rules.selector import AttributeAt, JsonAt, TextAt
from rules_generator.candidates.selectors import selectors_for
from rules_generator.locate.occurrences import find_occurrences
from rules_generator.locate.value_matcher import ValueMatcher
from rules_generator.training import page_cache
from rules_generator.training.page_cache import ANCHORED_SELECTOR, PageCache, SlowPage
from tests.pages import products, text_page

SPLIT = [
    ("a step below an anchor", "div.a b", "div.a"),
    ("a space within quotes", 'div[id="x y"] b[name="p"]', 'div[id="x y"]'),
    ("two steps", "div.a p b:nth-of-type(2)", "div.a p"),
    ("a child of it", "div.a > b", None),
    ("a label's neighbour", 'td:lexbor-contains("in stock" i) + td', None),
    ("quotes alone", 'a[title="b c"]', None),
    ("a flag", 'a[title="b" i]', None),
    ("within brackets", ":not(.a .b)", None),
]


@pytest.mark.parametrize(("name", "css", "anchor"), SPLIT, ids=[case[0] for case in SPLIT])
def test_the_anchor_of_a_selector(name: str, css: str, anchor: str | None) -> None:
    """It is what stands before the last step, where that is looked for anywhere below."""
    match = ANCHORED_SELECTOR.fullmatch(css)
    assert (match and match[1]) == anchor


def test_all_candidates_find_what_the_parser_finds() -> None:
    """On the page that they were made from, and on another."""
    first, second = (text_page(product, products(9)[8]) for product in products(2))
    product = products(1)[0]
    known = ValueMatcher(
        {
            Attribute.TITLE: [product.title],
            Attribute.PRICE: [product.price],
            Attribute.EAN: [product.ean],
        },
        "",
    )
    document = Document(first, "https://shop.example/p/1")
    made = {
        selector
        for found in find_occurrences(document, known).values()
        for place in found
        for selector in selectors_for(place)
    }
    assert len(made) > 20
    for page in (document, Document(second, "https://shop.example/p/2")):
        lookup = PageCache(page)
        assert [lookup.find(selector) for selector in made] == [
            page.find(selector) for selector in made
        ]


NESTED = """<div class="a"><p>none</p><div class="a"><b title="x">1<i>2</i></b></div></div><div class="a"><b>3</b></div>
<script>var meta = {"sku": "S"};</script><b class="a">4</b>"""
FOUND = [
    (TextAt(css="div.a b"), "12"),
    (TextAt(css="div.a b", own=True), "1"),
    (AttributeAt(css="div.a b", name="title"), "x"),
    (TextAt(css=".a .a"), "12"),
    (TextAt(css="div.a u"), None),
    (TextAt(css="div.a b", join=True), "12 > 3"),
    (JsonAt(block="var meta =", path="$.sku"), "S"),
]


@pytest.mark.parametrize(("selector", "value"), FOUND, ids=[str(case[0]) for case in FOUND])
def test_finds(selector: TextAt | AttributeAt | JsonAt, value: str | None) -> None:
    """The first in the page's order, though anchors stand within each other."""
    document = Document(NESTED, "https://shop.example/")
    assert PageCache(document).find(selector) == document.find(selector) == value


def test_selectors_are_given_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that waits for the processor is not slow; one that computes for long is."""
    monkeypatch.setattr(page_cache, "MAX_SECONDS", 0.1)
    document = Document("<p>a</p>", "https://shop.example/")
    wait, compute = PageCache(document), PageCache(document)
    monkeypatch.setattr(Document, "all", lambda *_: time.sleep(0.3) or [])
    assert wait.all("p") == []
    assert not wait.is_slow
    monkeypatch.setattr(Document, "all", lambda *_: _compute(0.2) or [])
    with pytest.raises(SlowPage):
        compute.all("p")


def _compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
