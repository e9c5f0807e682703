"""Article numbers that are only a dash: read where the catalog lists them, and nowhere else."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from parser.rules.model import Template
from rules_generator.induction.inducer import induce
from rules_generator.training.examples import TrainingExample
from rules_generator.training.sampling import examples_needed, sample_examples
from tests.pages import Product, products
from tests.rules_generator.conftest import make_example

ALL = products(12)
WITHOUT = range(3)


def page(product: Product, sku: str) -> str:
    """A page that says a number in a table; a dash stands beside it, too."""
    return f"<h1>{product.title}</h1><p>Home - Lamps</p><table><tr><td>No.</td><td class='number'>{sku}</td></tr></table>"


def learnt(said: str, known: str | None) -> Template:
    """The rules of a shop that says so of its first offers, and the catalog that; all others have numbers."""
    members: list[TrainingExample] = [
        make_example(product, page(product, said), sku=known)
        if place in WITHOUT
        else make_example(product, page(product, product.sku))
        for place, product in enumerate(ALL)
    ]
    return induce(members)[0].templates[0]


SAID = [
    ("listed", "-", "-", "-", "-"),
    ("a longer one", "–", "–", "–", "–"),
    ("not listed", "-", None, "-", None),
    ("not listed, and a filler said", "wc", None, "wc", None),
    ("a number where others have a dash", "-", "-", "X-99", "X-99"),
    ("nothing said where others have a dash", "-", "-", "", None),
]


@pytest.mark.parametrize(
    ("name", "said", "known", "here", "sku"), SAID, ids=[case[0] for case in SAID]
)
def test_a_dash_is_read_where_the_catalog_lists_it(
    name: str, said: str, known: str | None, here: str, sku: str | None
) -> None:
    """What shows that an offer has no number is the dash that is known of others."""
    document = Document(page(products(30)[-1], here), "https://shop.example/p")
    assert read_attributes(document, learnt(said, known))[Attribute.SKU].value == sku


def test_nothing_is_learnt_from_a_dash() -> None:
    """It stands at many places, and leads to none."""
    members = [make_example(product, page(product, "-"), sku="-") for product in ALL]
    rules, story = induce(members)
    assert not rules.templates[0].rules_for(Attribute.SKU)
    assert "sku" not in story.not_found


def test_an_example_with_a_dash_is_no_example_of_a_number() -> None:
    """One with a number is taken before it, and more of those are asked for."""
    members = [
        make_example(product, page(product, "-"), sku="-", ean=None, brand=None)
        for product in ALL[:9]
    ]
    members += [
        make_example(product, page(product, product.sku), ean=None, brand=None)
        for product in ALL[9:]
    ]
    (first,) = sample_examples(members, 1)
    assert first in members[9:]
    assert examples_needed(members)["sku"] == examples_needed(members[9:])["sku"]


def test_what_a_shop_without_dashes_says_is_no_number() -> None:
    """All its known offers have numbers, and a further one has none."""
    rules = induce([make_example(product, page(product, product.sku)) for product in ALL])[
        0
    ].templates[0]
    assert (
        read_attributes(Document(page(ALL[0], "-"), "https://shop.example/p"), rules)[
            Attribute.SKU
        ].value
        is None
    )
