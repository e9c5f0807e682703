"""The plan: it reads every page as the rules do one by one, and no page that is no offer."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from catalog.models import Attribute, PageKind
from parser.compiled_rules import Plan
from parser.page.document import Document
from parser.read import PageReading, read
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.rules.trim import Trim
from parser.scripts.blocks import css_string
from parser.scripts.syntax.jsonpath import child
from parser.templates.template_match import marks_of
from scout.demo.assortment.demo_shop import Demo
from scout.demo.site.demo_site import Site
from scout.demo.site.responses import HTML
from tests.pages import data_page, products, text_page

CORPUS = Path(__file__).parents[1] / "corpus"
HOSTS = sorted(
    path.name for path in CORPUS.iterdir() if path.is_dir() and any(path.glob("*/page.html"))
)


@lru_cache
def pages_of(host: str) -> list[Document]:
    """The corpus pages of a host."""
    folders = sorted(folder for folder in (CORPUS / host).iterdir() if folder.is_dir())
    return [
        Document((one / "page.html").read_bytes(), (one / "url.txt").read_text().strip())
        for one in folders
    ]


def selectors_in(document: Document) -> Iterator[AnySelector]:
    """Selectors of every kind for what a page holds: each block's first keys, marked elements, their own texts."""
    for block in document.blocks:
        keys = list(block.data)[:4] if isinstance(block.data, dict) else [0]
        yield from (JsonAt(css=block.css, block=block.name, path=child("$", key)) for key in keys)
        yield JsonAt(css=block.css, block=block.name, path="$..name")
    for node in document.tree.css("meta[property], meta[name], [itemprop]"):
        for name in ("property", "name", "itemprop"):
            if node.attributes.get(name):
                css = f'{node.tag}[{name}="{css_string(node.attributes[name] or "")}"]'
                yield from (
                    AttributeAt(css=css, name="content"),
                    TextAt(css=css),
                    TextAt(css=css, own=True),
                )
    yield from (TextAt(css=css, join=True) for css in ("nav a", "ul li", "h1"))
    yield TextAt(css="a", named_in="h1")
    yield TextAt(css="p, td, b", behind="ean|price")
    yield JsonAt(css="script", block="-> 1", path="$..name")


def rules_of(documents: list[Document]) -> RuleSet:
    """Rules that read all attributes from all over the pages, by two templates of which each has its signature."""
    selectors = list(dict.fromkeys(one for document in documents for one in selectors_in(document)))
    trims = (
        Trim(),
        Trim(left=1),
        Trim(left=" ", right="", inside=True),
        Trim(last=True, left=" "),
        Trim(words=("a",)),
    )
    rules = tuple(
        Rule(
            attribute=attribute,
            selector=one,
            trim=trims[place % 5],
            form=form,
            score=1 - place % 7 / 10,
        )
        for place, one in enumerate(selectors)
        for attribute, form in (
            (list(Attribute)[place % len(Attribute)], "plain"),
            (Attribute.PRICE, "minor"),
        )
    )
    halves = [
        Template(
            name=str(number),
            signature=Signature(
                marks=dict.fromkeys(sorted(marks_of(document))[number::2], 0.5), least=0.4
            ),
            rules=rules[number::2],
        )
        for number, document in enumerate(documents[:2])
    ]
    return RuleSet(templates=tuple(halves), currency="EUR")


def heard_in(page: PageReading) -> PageReading:
    """A page's reading with the votes that were needed."""
    return replace(
        page, readings={name: one._replace(all_votes=()) for name, one in page.readings.items()}
    )


@pytest.mark.parametrize("host", HOSTS)
def test_a_plan_reads_corpus_pages_as_the_rules_do(host: str) -> None:
    """Same kind, reason, likeness, values, weights and votes heard, in any order of the pages."""
    documents = pages_of(host)
    rules = rules_of(documents)
    plan = Plan(rules)
    again = Plan(rules)
    expected = [read(document, rules) for document in documents]
    assert [plan.read(document) for document in documents] == [heard_in(one) for one in expected]
    assert [again.read(document) for document in reversed(documents)] == [
        heard_in(one) for one in expected[::-1]
    ]
    assert any(one.kind is PageKind.OFFER for one in expected)


def test_a_plan_reads_demo_pages_as_the_rules_do() -> None:
    """Pages made by the demo shop, those that are no offers included."""
    site = Site(Demo.make(seed=3))
    answers = [(target, site.answer(target)) for target in site.targets()[::23]]
    base = "https://demo.example"
    documents = [
        Document(one.at(base), f"{base}{target}") for target, one in answers if one.kind == HTML
    ]
    rules = rules_of(documents[:8])
    plan = Plan(rules)
    expected = [heard_in(read(document, rules)) for document in documents]
    assert [plan.read(document) for document in documents] == expected


@pytest.mark.parametrize("first", ["trail", "field"])
def test_one_text_that_is_a_value_in_one_place_only(first: str) -> None:
    """What data calls "Home" is a kind of goods, and a trail that says so is none, whichever is asked first."""
    places: dict[str, AnySelector] = {
        "trail": TextAt(css="nav"),
        "field": JsonAt(css="script", block="p =", path="$.t"),
    }
    order = (first, *(name for name in places if name != first))
    rules = tuple(Rule(attribute=Attribute.CATEGORY, selector=places[name]) for name in order)
    shop = RuleSet(templates=(Template(name="1", rules=rules),))
    document = Document(
        "<nav>Home</nav><script>p = {'t': 'Home'};</script>", "https://shop.example/p"
    )
    expected = read(document, shop)
    assert [vote.value for vote in expected.readings[Attribute.CATEGORY].votes].count("Home") == 1
    assert Plan(shop).read(document) == heard_in(expected)


@pytest.mark.parametrize(
    ("source", "picture"),
    [
        ("media/a.jpg", "https://shop.example/media/a.jpg"),
        ("/media/a.jpg", "https://shop.example/media/a.jpg"),
        ("http://cdn.example/a.jpg", "http://cdn.example/a.jpg"),
    ],
)
def test_pictures_start_from_the_base_of_the_page(source: str, picture: str) -> None:
    """The plan and the rules one by one read the address that a browser would load."""
    rule = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css="img", name="src"))
    shop = RuleSet(templates=(Template(name="1", rules=(rule,)),))
    body = f'<head><base href="https://shop.example/"></head><img src="{source}">'
    for reader in (lambda page: read(page, shop), Plan(shop).read):
        readings = reader(Document(body, "http://www.shop.example/p/lamp")).readings
        assert [vote.value for vote in readings[Attribute.IMAGE].votes] == [picture]


@pytest.mark.parametrize("page", [text_page, data_page])
def test_a_page_like_no_template_is_not_read(page: object) -> None:
    """The gate comes first: of other pages no rule is asked."""
    document = Document(page(products(1)[0]), "https://shop.example/p/1")  # type: ignore[operator]
    template = Template(name="1", signature=Signature(marks={".never": 1.0}, least=0.5))
    reading = Plan(RuleSet(templates=(template,))).read(document)
    assert (reading.kind, dict(reading.readings)) == (PageKind.OTHER, {})
