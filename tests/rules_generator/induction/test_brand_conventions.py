"""Titles and categories of pages that say the brand there, as no page of a known offer does."""

from dataclasses import replace

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read
from rules_generator.induction.induce import induce
from rules_generator.training.training_example import Taught
from tests.pages import Product, headed_page, products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)
PRICE = "12.50"
SAID = [
    ("no known title begins with its brand", "{title}", True),
    ("known titles begin with their brands", "{brand} {title}", False),
]


def examples(title: str) -> list[Taught]:
    """Known offers with titles of that form, on pages that head them so."""
    named = [(one, title.format(brand=one.brand, title=f"Model {one.number}")) for one in ALL]
    return [
        taught(one, headed_page(said, said, one.brand, one.price), title=said)
        for one, said in named
    ]


@pytest.mark.parametrize(("name", "title", "is_bare"), SAID, ids=[case[0] for case in SAID])
def test_a_heading_that_says_the_brand_too(name: str, title: str, is_bare: bool) -> None:
    """What another place has without the brand is the title, if known titles are so."""
    rules, _ = induce(examples(title))
    assert rules.templates[0].bare_titles == is_bare
    shown = headed_page("Model 4711", f"{OTHER.brand} Model 4711", OTHER.brand, PRICE)
    found = read(Document(shown, "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == ("Model 4711" if is_bare else f"{OTHER.brand} Model 4711")


def test_words_that_are_no_brand_stay() -> None:
    """Other words before what the head has belong to the title: heads are written for search engines."""
    rules, _ = induce(examples("{title}"))
    shown = headed_page("Model 4711", "Second-hand Model 4711", OTHER.brand, PRICE)
    found = read(Document(shown, "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == "Second-hand Model 4711"


def test_a_locked_rule_has_the_last_word() -> None:
    """Who has locked the heading wants all that it says."""
    rules, _ = induce(examples("{title}"))
    template = rules.templates[0]
    locked = tuple(
        rule.model_copy(update={"locked": "h1" in str(rule.selector)}) for rule in template.rules
    )
    rules = rules.model_copy(update={"templates": (template.model_copy(update={"rules": locked}),)})
    heading = f"{OTHER.brand} Model 4711"
    shown = headed_page("Model 4711", heading, OTHER.brand, PRICE)
    found = read(Document(shown, "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == heading


SORTS = [
    ("no known category is a brand", "Ardwen {odd}", "{odd} lamps", None),
    ("known categories are brands", "Ardwen {odd}", "Ardwen {odd}", "Ardwen 1"),
    ("one brand alone does not tell", "Ardwen 1", "{odd} lamps", "Ardwen 1"),
]


@pytest.mark.parametrize(
    ("name", "brand", "category", "expected"), SORTS, ids=[case[0] for case in SORTS]
)
def test_breadcrumbs_that_lead_through_a_brand(
    name: str, brand: str, category: str, expected: str | None
) -> None:
    """A category that is the brand is none, if known ones are not so."""
    known = [replace(one, brand=brand.format(odd=one.number % 2)) for one in ALL]
    sorts = [category.format(odd=one.number % 2) for one in ALL]
    pages = [_in_category(one, sort) for one, sort in zip(known, sorts, strict=True)]
    told = zip(known, pages, sorts, strict=True)
    rules, _ = induce([taught(one, page, category=sort) for one, page, sort in told])
    shown = replace(OTHER, brand="Ardwen 1")
    found = read(Document(_in_category(shown, "Ardwen 1"), "https://shop.example/p"), rules)
    assert found.offer is not None
    assert (found.offer.brand, found.offer.category) == ("Ardwen 1", expected)
    assert bool(found.readings[Attribute.CATEGORY].left_out) == (expected is None)


def _in_category(one: Product, category: str) -> str:
    crumbs = f"<nav><a href='/'>Home</a> <a class='last' href='/c'>{category}</a></nav>"
    return crumbs + headed_page(one.title, one.title, one.brand, one.price)
