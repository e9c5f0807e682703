"""A heading that holds the title is read where no rule finds the title alone."""

from collections.abc import Callable

import pytest

from parser.page.document import Document
from parser.page_reader import read_page
from rules_generator.induction.inducer import induce
from tests.pages import Product, products
from tests.rules_generator.conftest import make_example

*EXAMPLES, LAST = products(11)
CARD = "<ul><li class='rel'><a href='/p/{0}'><b>{1}</b></a></li></ul>"


COLOURS = ("red", "dark blue", "black, matt", "white oak, with lid", "green")


def heading_of(product: Product) -> str:
    """The title with further properties behind it, divided from it by a blank alone."""
    return f"{product.title} {COLOURS[product.number % 5]}"


def longer_heading(product: Product) -> str:
    """A page whose heading has further properties behind the title."""
    return f"<h1>{heading_of(product)}</h1>"


def glued_title(product: Product) -> str:
    """A page whose head has the shop's name before the title without a gap, and its slogan behind it on most."""
    slogan = "" if product.number == 1 else " | Pots and trays for all plants"
    return f"<title>Potshop{product.title}{slogan}</title>{longer_heading(product)}"


def often_right_by_chance(product: Product) -> str:
    """A page with the title in a text that names another offer on most pages."""
    other = products(20)[(product.number * 7) % 20]
    named = product.title if product.number % 3 == 0 else other.title
    return f"<i class='seen'>{named}</i>{longer_heading(product)}"


def in_a_card(product: Product) -> str:
    """A page with cards of other offers, of which the first is sometimes the page's own."""
    return longer_heading(product) + CARD.format(product.number + 1, product.title)


CASES: list[tuple[Callable[[Product], str], str]] = [
    (longer_heading, heading_of(LAST)),
    (glued_title, LAST.title),
    (often_right_by_chance, heading_of(LAST)),
    (in_a_card, heading_of(LAST)),
]


@pytest.mark.parametrize(("build", "title"), CASES, ids=[case[0].__name__ for case in CASES])
def test_titles_in_longer_texts(build: Callable[[Product], str], title: str) -> None:
    """The heading is read where nothing else is, or what else is is right by chance."""
    rules, _ = induce([make_example(product, build(product)) for product in EXAMPLES])
    offer = read_page(Document(build(LAST), "https://shop.example/p/last"), rules).offer
    assert offer is not None
    assert offer.title == title


def test_a_page_on_which_the_other_rules_abstain() -> None:
    """The heading fills in where a title in the head has another end than on the examples."""
    rules, _ = induce([make_example(product, glued_title(product)) for product in EXAMPLES])
    page = f"<title>Pots | {LAST.title}</title>{longer_heading(LAST)}"
    offer = read_page(Document(page, "https://shop.example/p/last"), rules).offer
    assert offer is not None
    assert offer.title == heading_of(LAST)


def test_no_heading_where_a_rule_finds_all_titles() -> None:
    """Pages without a title stay no offer pages."""
    examples = [
        make_example(product, f"<h1><b>{product.title}</b> new</h1>{longer_heading(product)}")
        for product in EXAMPLES
    ]
    rules, _ = induce(examples)
    page = Document("<h1>All our tables, 40 cm, black</h1>", "https://shop.example/tables")
    assert read_page(page, rules).offer is None
