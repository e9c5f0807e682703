"""Titles of pages whose heading says the brand as well, as no page of a known offer does."""

import pytest

from parser.document import Document
from parser.read import read
from rules_generator.induce import Taught, induce
from tests.pages import products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)
PAGE = "<title>{0} | Shop</title><h1>{1}</h1><b class='brand'>{2}</b><i class='price'>{3} €</i>"
SAID = [
    ("no known title begins with its brand", "{title}", True),
    ("known titles begin with their brands", "{brand} {title}", False),
]


def page(title: str, heading: str, brand: str, price: str = "12.50") -> str:
    """An offer's page with that heading."""
    return PAGE.format(title, heading, brand, price)


def examples(title: str) -> list[Taught]:
    """Known offers with titles of that form, on pages that head them so."""
    named = [(one, title.format(brand=one.brand, title=f"Model {one.number}")) for one in ALL]
    return [taught(one, page(said, said, one.brand, one.price), title=said) for one, said in named]


@pytest.mark.parametrize(("name", "title", "is_bare"), SAID, ids=[case[0] for case in SAID])
def test_a_heading_that_says_the_brand_too(name: str, title: str, is_bare: bool) -> None:
    """What another place has without the brand is the title, if known titles are so."""
    rules, _ = induce(examples(title))
    assert rules.templates[0].bare_titles == is_bare
    shown = page("Model 4711", f"{OTHER.brand} Model 4711", OTHER.brand)
    found = read(Document(shown, "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == ("Model 4711" if is_bare else f"{OTHER.brand} Model 4711")


def test_words_that_are_no_brand_stay() -> None:
    """Other words before what the head has belong to the title: heads are written for search engines."""
    rules, _ = induce(examples("{title}"))
    shown = page("Model 4711", "Second-hand Model 4711", OTHER.brand)
    found = read(Document(shown, "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == "Second-hand Model 4711"


def test_a_locked_rule_has_the_last_word() -> None:
    """Who has locked the heading wants all that it says."""
    rules, _ = induce(examples("{title}"))
    template = rules.templates[0]
    locked = tuple(rule.model_copy(update={"locked": "h1" in str(rule.selector)}) for rule in template.rules)
    rules = rules.model_copy(update={"templates": (template.model_copy(update={"rules": locked}),)})
    heading = f"{OTHER.brand} Model 4711"
    found = read(Document(page("Model 4711", heading, OTHER.brand), "https://shop.example/p"), rules)
    assert found.offer is not None
    assert found.offer.title == heading
