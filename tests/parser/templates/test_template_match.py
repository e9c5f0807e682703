"""The gate: which pages are offers, by their marks."""

import pytest

from parser.page.document import Document
from parser.rules.model import RuleSet, Signature, Template
from parser.templates.template_match import Gate, likeness, marks_of, ranked
from tests.pages import article_page, products, text_page

ONE, TWO = products(2)
URL = "https://shop.example/de/p/1"


def test_marks_are_what_a_template_leaves_on_each_page() -> None:
    """Two products of one template leave the same marks, whatever their numbers are."""
    assert marks_of(Document(text_page(ONE), URL)) - marks_of(Document(text_page(TWO), URL)) == {
        ".notice"
    }


def test_marks_name_data_schema_and_folders() -> None:
    """The types of schema.org data, schema.org names and the URL's folders are marks too."""
    thing = '<script type="application/ld+json">{"@type": "Product", "name": "x"}</script>'
    page = f'<meta property="og:type" content="product"><b itemprop="sku">1</b>{thing}'
    marks = marks_of(Document(page, URL))
    assert {
        "og:type=product",
        "b[itemprop=sku]",
        "ld+json Product",
        "url:/de/",
        "url:/de/p/",
    } <= marks


def test_likeness_is_the_weighted_share_of_marks() -> None:
    """Half of the weight is half of the likeness; a signature without marks takes every page."""
    signature = Signature(marks={"a": 3.0, "b": 1.0}, least=0.5)
    assert likeness(frozenset({"a"}), signature) == 0.75
    assert likeness(frozenset(), Signature()) == 1.0


def test_state_in_a_template_is_a_mark_where_a_signature_knows_it() -> None:
    """Templates are not looked into where none does."""
    mark = 'template[data-varname="__STATE__"] ::content script'
    state = Document(
        "<template data-varname='__STATE__'><script>{\"a\": 1}</script></template>", URL
    )
    plain = Document("<template data-varname='__STATE__'><script>a()</script></template>", URL)
    assert mark in marks_of(state)
    gate = Gate([Template(name="1", signature=Signature(marks={mark: 1.0}, least=0.5))])
    assert [gate.ranked(one)[0].share for one in (state, plain)] == [1.0, 0.0]
    unread = Document(text_page(ONE), URL)
    Gate([Template(name="1", signature=Signature(marks={"url:/de/": 1.0}, least=0.5))]).ranked(
        unread
    )
    assert "in_templates" not in vars(unread.scripts)


DOORS = [
    "https://shop.example",
    "https://shop.example/",
    "https://shop.example/index.html",
    "https://shop.example/home",
]


@pytest.mark.parametrize("url", DOORS)
def test_the_front_door_is_never_an_offer(url: str) -> None:
    """A start page may show a whole product; the product has a page of its own."""
    rules = RuleSet(templates=(Template(name="1"),))
    assert Gate(rules.templates).ranked(Document(text_page(ONE), url)) == []


def test_the_likest_template_takes_a_page() -> None:
    """Each page goes to the template whose marks it shows, or to none."""
    rules = RuleSet(
        templates=(
            Template(name="text", signature=Signature(marks={".product-view": 1}, least=0.5)),
            Template(name="data", signature=Signature(marks={".item-box": 1}, least=0.5)),
        )
    )
    gate = Gate(rules.templates)
    assert [
        (one.template.name, one.takes) for one in gate.ranked(Document(text_page(ONE), URL))
    ] == [
        ("text", True),
        ("data", False),
    ]
    assert not any(one.takes for one in gate.ranked(Document(article_page(), URL)))


def test_a_template_without_marks_takes_what_no_other_does() -> None:
    """It takes every page, so it is asked last; one that a page is likest to, but not like enough, is after it."""
    marked = Template(name="marked", signature=Signature(marks={"a": 1, "b": 1, "c": 1}, least=0.6))
    bare = Template(name="bare")
    orders = [
        [one.template.name for one in ranked(marks, [bare, marked])]
        for marks in ({"a", "b"}, {"a"}, set())
    ]
    assert orders == [["marked", "bare"], ["bare", "marked"], ["bare", "marked"]]
