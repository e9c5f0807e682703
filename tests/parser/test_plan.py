"""The plan: it reads every page as the rules do one by one, and decodes no more than they ask for."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute, PageKind
from parser import blocks
from parser.blocks import Script, css_string
from parser.document import Document, by_name
from parser.gate import marks_of
from parser.paths import child
from parser.plan import Plan, Wanted
from parser.read import read
from parser.rules import Rule, RuleSet, Signature, Template
from parser.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.trim import Trim
from scout.demo.answers import HTML
from scout.demo.shop import Demo
from scout.demo.site import Site
from tests.pages import data_page, products, text_page

CORPUS = Path(__file__).parents[1] / "corpus"
HOSTS = sorted(path.name for path in CORPUS.iterdir() if path.is_dir() and any(path.glob("*/page.html")))


@lru_cache
def pages_of(host: str) -> list[Document]:
    """The corpus pages of a host."""
    folders = sorted(folder for folder in (CORPUS / host).iterdir() if folder.is_dir())
    return [Document((one / "page.html").read_bytes(), (one / "url.txt").read_text().strip()) for one in folders]


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
                yield from (AttributeAt(css=css, name="content"), TextAt(css=css), TextAt(css=css, own=True))


def rules_of(documents: list[Document]) -> RuleSet:
    """Rules that read all attributes from all over the pages, by two templates of which each has its signature."""
    selectors = list(dict.fromkeys(one for document in documents for one in selectors_in(document)))
    trims = (Trim(), Trim(left=1), Trim(left=" ", right="", inside=True))
    rules = tuple(
        Rule(attribute=attribute, selector=one, trim=trims[place % 3], form=form, score=1 - place % 7 / 10)
        for place, one in enumerate(selectors)
        for attribute, form in ((list(Attribute)[place % len(Attribute)], "plain"), (Attribute.PRICE, "minor"))
    )
    halves = [
        Template(
            name=str(number),
            signature=Signature(marks=dict.fromkeys(sorted(marks_of(document))[number::2], 0.5), least=0.4),
            rules=rules[number::2],
        )
        for number, document in enumerate(documents[:2])
    ]
    return RuleSet(templates=tuple(halves), currency="EUR")


@pytest.mark.parametrize("host", HOSTS)
def test_a_plan_reads_corpus_pages_as_the_rules_do(host: str) -> None:
    """Same kind, reason, likeness, values, weights and votes, in any order of the pages."""
    documents = pages_of(host)
    rules = rules_of(documents)
    plan = Plan(rules)
    again = Plan(rules)
    expected = [read(document, rules) for document in documents]
    assert [plan.read(document) for document in documents] == expected
    assert [again.read(document) for document in reversed(documents)] == expected[::-1]
    assert any(one.kind is PageKind.OFFER for one in expected)


def test_a_plan_reads_demo_pages_as_the_rules_do() -> None:
    """Pages made by the demo shop, those that are no offers included."""
    site = Site(Demo.make(seed=3))
    answers = [(target, site.answer(target)) for target in site.targets()[::23]]
    base = "https://demo.example"
    documents = [Document(one.at(base), f"{base}{target}") for target, one in answers if one.kind == HTML]
    rules = rules_of(documents[:8])
    plan = Plan(rules)
    assert [plan.read(document) for document in documents] == [read(document, rules) for document in documents]


NAMES = ["var meta0 =", "", "pairs", "push(", "x0 y0 =", "ld+json Product", "a.b ="]
PIECES = st.sampled_from(
    [
        "var meta17 = ",
        "x1\ty2=",
        "push(",
        "a.b =",
        '{"sku": 1}',
        "{sku: 'A'}",
        '{"s\\u006bu": 2}',
        '"sku": "B",',
        "sku=3;",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "\n",
        ";",
        " ",
        "0",
        "\\",
        '"var meta1 = {"',
        "function(){",
        "[1, [2]]",
        "sku",
    ]
)
CODE = st.lists(PIECES, max_size=25).map("".join)


@given(st.lists(CODE, min_size=1, max_size=4), st.lists(st.sampled_from(NAMES), min_size=1))
def test_no_script_that_holds_a_wanted_block_is_passed_over(texts: list[str], names: list[str]) -> None:
    """What the rules read out of all blocks, they read out of those that the plan decodes."""
    scripts = [Script(blocks.SCHEMA_ORG if one.startswith("{") else blocks.CODE, one) for one in texts]
    everything = by_name(block for script in scripts for block in script.blocks())
    selectors = [
        JsonAt(css=css, block=name, path=path)
        for name in names
        for css in (blocks.CODE, blocks.SCHEMA_ORG)
        for path in ("$.sku", "$.*", "$..sku", "$[0]")
    ]
    document = Document("<p>", "https://shop.example/p")
    for wanted in ([one] for one in selectors):
        held = by_name(Wanted(wanted).blocks_in(scripts))
        assert document.find_data(wanted[0], held) == document.find_data(wanted[0], everything)
    held = by_name(Wanted(selectors).blocks_in(scripts))
    assert [document.find_data(one, held) for one in selectors] == [
        document.find_data(one, everything) for one in selectors
    ]


def test_scripts_that_no_rule_needs_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many scripts only the one that holds the wanted name and key is looked into."""
    looked_into = []
    monkeypatch.setattr(Script, "blocks", lambda script, pairs=True: looked_into.append((script.text, pairs)) or [])
    texts = ['var meta = {"sku": 1}', 'var meta = {"other": 1}', "var metadata = 1; sku()", "x = {'sku': 1}"]
    wanted = Wanted([JsonAt(css="script", block="var meta =", path="$.sku")])
    list(wanted.blocks_in([Script("script", text) for text in texts]))
    assert looked_into == [(texts[0], False)]


@pytest.mark.parametrize("page", [text_page, data_page])
def test_a_page_like_no_template_is_not_read(page: object) -> None:
    """The gate comes first: of other pages no rule is asked."""
    document = Document(page(products(1)[0]), "https://shop.example/p/1")  # type: ignore[operator]
    template = Template(name="1", signature=Signature(marks={".never": 1.0}, least=0.5))
    reading = Plan(RuleSet(templates=(template,))).read(document)
    assert (reading.kind, dict(reading.readings)) == (PageKind.OTHER, {})
