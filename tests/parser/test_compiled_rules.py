"""Compiled rules: they read every page as the rules one by one do."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute, PageKind
from parser.compiled_rules import CompiledRule, CompiledRules, PageLookups
from parser.page.document import Document
from parser.page_reader import PageReading, read_page
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.rules.trim import Trim
from parser.scripts.blocks import css_string
from parser.scripts.syntax.jsonpath import child_path
from parser.templates.template_match import page_fingerprint
from parser.voting.votes import normalisation_key, run_rule
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite
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
        Document((folder / "page.html").read_bytes(), (folder / "url.txt").read_text().strip())
        for folder in folders
    ]


def selectors_in(document: Document) -> Iterator[AnySelector]:
    """Selectors of every kind for the content of a page."""
    for block in document.blocks:
        keys = list(block.data)[:4] if isinstance(block.data, dict) else [0]
        yield from (
            JsonAt(css=block.css, block=block.name, path=child_path("$", key)) for key in keys
        )
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
    yield TextAt(css="p, td, b", behind="ean|price")


def rules_of(documents: list[Document]) -> RuleSet:
    """Rules of two templates with signatures that read all attributes from all over the pages."""
    selectors = list(
        dict.fromkeys(selector for document in documents for selector in selectors_in(document))
    )
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
            selector=selector,
            trim=trims[place % 5],
            form=form,
            score=1 - place % 7 / 10,
        )
        for place, selector in enumerate(selectors)
        for attribute, form in (
            (list(Attribute)[place % len(Attribute)], "plain"),
            (Attribute.PRICE, "minor"),
        )
    )
    halves = [
        Template(
            name=str(number),
            signature=Signature(
                marks=dict.fromkeys(sorted(page_fingerprint(document))[number::2], 0.5),
                threshold=0.4,
            ),
            rules=rules[number::2],
        )
        for number, document in enumerate(documents[:2])
    ]
    return RuleSet(templates=tuple(halves), currency="EUR")


def needed_votes(page: PageReading) -> PageReading:
    """A page's reading with the votes that were needed."""
    return replace(
        page,
        readings={name: reading._replace(all_votes=()) for name, reading in page.readings.items()},
    )


@pytest.mark.parametrize("host", HOSTS)
def test_corpus_pages_are_read_alike(host: str) -> None:
    """Same kind, reason, similarity, values, confidence and votes, in any order of the pages."""
    documents = pages_of(host)
    rules = rules_of(documents)
    plan = CompiledRules(rules)
    again = CompiledRules(rules)
    expected = [read_page(document, rules) for document in documents]
    assert [plan.read(document) for document in documents] == [
        needed_votes(result) for result in expected
    ]
    assert [again.read(document) for document in reversed(documents)] == [
        needed_votes(result) for result in expected[::-1]
    ]
    assert any(result.kind is PageKind.OFFER for result in expected)


def test_demo_pages_are_read_alike() -> None:
    """Pages made by the demo shop, other than offer pages included."""
    site = DemoSite(DemoShop.make(seed=3))
    answers = [(target, site.answer(target)) for target in site.targets()[::23]]
    base = "https://demo.example"
    documents = [
        Document(answer.body_for(base), f"{base}{target}")
        for target, answer in answers
        if answer.content_type == HTML
    ]
    rules = rules_of(documents[:8])
    plan = CompiledRules(rules)
    expected = [needed_votes(read_page(document, rules)) for document in documents]
    assert [plan.read(document) for document in documents] == expected


PIECES = st.sampled_from(
    [
        "<h1>Desk lamp</h1>",
        "<h1> - </h1>",
        "<b class=p>1.299,50 €</b>",
        "<b class=p>1299</b>",
        "<nav>Home</nav><nav>Lamps | Desk</nav>",
        "<p>EAN: 4006381333931</p>",
        '<meta itemprop="sku" content="A-1">',
        '<meta itemprop="sku" content="desk-lamps">',
        '<img src="media/a.jpg"><img src="//cdn.example/b.jpg">',
        '<base href="https://shop.example/de/">',
        "<script>p = {'t': 'Home', 'n': [1, 'A-1'], 'c': ''};</script>",
        "<script>p = {'t': 'Desk lamp'}; sku = 'A-1';</script>",
        '<script type="application/ld+json">{"@type": "Product", "sku": "A-1", "t": "-"}</script>',
    ]
)
SELECTORS = st.sampled_from(
    [
        TextAt(css="h1"),
        TextAt(css="h1", own=True),
        TextAt(css="b.p"),
        TextAt(css="nav"),
        TextAt(css="nav", join=True),
        TextAt(css="p", behind="EAN"),
        AttributeAt(css='meta[itemprop="sku"]', name="content"),
        AttributeAt(css="img", name="src"),
        JsonAt(css="script", block="p =", path="$.t"),
        JsonAt(css="script", block="p =", path="$.n[*]"),
        JsonAt(css="script", block="p =", path="$.n[*]", join=True),
        JsonAt(css="script", block="p =", path="$.c"),
        JsonAt(css="script", block="pairs", path="$.sku"),
        JsonAt(css='script[type="application/ld+json"]', block="ld+json Product", path="$.t"),
    ]
)
TRIMS = st.sampled_from(
    [Trim(), Trim(left=1), Trim(left="EAN: "), Trim(shape=r"\d+"), Trim(words=("lamp", "Desk"))]
)
RULES = st.builds(
    Rule,
    attribute=st.sampled_from(Attribute),
    selector=SELECTORS,
    trim=TRIMS,
    form=st.sampled_from(["plain", "comma", "point", "minor", "slug", "dash"]),
    blocklist=st.sampled_from([(), ("A-1",), ("Desk lamp", "Home")]),
)
PAGES = st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=1, max_size=3)


@given(PAGES, st.lists(RULES, min_size=1, max_size=6))
def test_a_compiled_rule_votes_as_run_rule_does(pages: list[str], rules: list[Rule]) -> None:
    """Whatever was cached of earlier pages and of other rules, the vote is the same."""
    values: dict[tuple[Hashable, ...], dict[str, str | None]] = {}
    compiled = [
        CompiledRule(rule, values.setdefault(normalisation_key(rule), {})) for rule in rules
    ]
    for body in pages * 2:
        for of_key in values.values():
            of_key.clear()
        document = Document(body, "https://shop.example/p/lamp")
        lookups = PageLookups(document)
        votes = [rule.run(lookups) for rule in compiled]
        assert votes == [run_rule(Document(body, document.url), rule) for rule in rules]


@pytest.mark.parametrize("first", ["trail", "field"])
def test_a_text_may_be_a_value_in_one_place_only(first: str) -> None:
    """A data field "Home" is a category, a breadcrumb is none, whichever comes first."""
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
    expected = read_page(document, shop)
    assert [vote.value for vote in expected.readings[Attribute.CATEGORY].votes].count("Home") == 1
    assert CompiledRules(shop).read(document) == needed_votes(expected)


@pytest.mark.parametrize(
    ("source", "picture"),
    [
        ("media/a.jpg", "https://shop.example/media/a.jpg"),
        ("/media/a.jpg", "https://shop.example/media/a.jpg"),
        ("http://cdn.example/a.jpg", "http://cdn.example/a.jpg"),
    ],
)
def test_pictures_resolve_against_the_base_of_the_page(source: str, picture: str) -> None:
    """Both ways read the URL that a browser would load."""
    rule = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css="img", name="src"))
    shop = RuleSet(templates=(Template(name="1", rules=(rule,)),))
    body = f'<head><base href="https://shop.example/"></head><img src="{source}">'
    for reader in (lambda page: read_page(page, shop), CompiledRules(shop).read):
        readings = reader(Document(body, "http://www.shop.example/p/lamp")).readings
        assert [vote.value for vote in readings[Attribute.IMAGE].votes] == [picture]


@pytest.mark.parametrize("page", [text_page, data_page])
def test_a_page_that_matches_no_template_is_not_read(page: object) -> None:
    """No rule runs on it."""
    document = Document(page(products(1)[0]), "https://shop.example/p/1")  # type: ignore[operator]
    template = Template(name="1", signature=Signature(marks={".never": 1.0}, threshold=0.5))
    reading = CompiledRules(RuleSet(templates=(template,))).read(document)
    assert (reading.kind, dict(reading.readings)) == (PageKind.OTHER, {})
