"""A number that no example has is read where the shop keeps a field for it."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from parser.rules.selector import JsonAt
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

ALL = products(10)
EAN = "4006381333931"
SCHEMA = '<script type="application/ld+json">{{"@type": "Product", "name": "{0}"{1}}}</script>'
STATE = "<script>var meta = {{'product': {{'variants': [{{'name': '{0}', 'barcode': '{1}'}}]}}}};</script>"
LIST = "<script>var other = {{'items': [{{'name': 'Another', 'barcode': '{1}'}}]}};</script>"
ELEMENT = "<h1>{0}</h1><form data-barcode='{1}'></form>"
FIELDS = [
    ("schema.org's property, left out where empty", SCHEMA, ("", f', "gtin13": "{EAN}"'), EAN),
    ("a part of the object that bears the title", STATE, ("", EAN), EAN),
    ("an element's attribute", ELEMENT, ("", EAN), EAN),
    ("an object that bears another title", LIST, ("", EAN), None),
    ("a field that says something on the examples", STATE, (EAN, EAN), None),
    ("what is no such number", STATE, ("", "4006381333932"), None),
]


@pytest.mark.parametrize(
    ("name", "shown", "fillings", "ean"), FIELDS, ids=[case[0] for case in FIELDS]
)
def test_fields_named_for_it(
    name: str, shown: str, fillings: tuple[str, str], ean: str | None
) -> None:
    """If the field is empty on all examples, and belongs to the offer."""
    members = [
        make_example(
            product, f"<h1>{product.title}</h1>{shown.format(product.title, fillings[0])}", ean=None
        )
        for product in ALL
    ]
    template = induce(members)[0].templates[0]
    page = Document(f"<h1>Other</h1>{shown.format('Other', fillings[1])}", "https://shop.example/p")
    read = read_attributes(page, template).get(Attribute.EAN)
    assert (read.value if read else None) == ean
    assert all(rule.origin == "general" for rule in template.rules_for(Attribute.EAN))


def test_a_category_that_no_example_has() -> None:
    """The object's type is empty on all examples, and says the category of another offer."""
    shown = (
        "<h1>{0}</h1><script>var meta = {{'product': {{'title': '{0}', 'type': '{1}'}}}};</script>"
    )
    members = [make_example(product, shown.format(product.title, "")) for product in ALL]
    page = Document(shown.format("Other", "Desk Lamps"), "https://shop.example/p")
    assert (
        read_attributes(page, induce(members)[0].templates[0])[Attribute.CATEGORY].value
        == "Desk Lamps"
    )


def test_what_examples_know_is_left_to_them() -> None:
    """The catalog's own numbers stand elsewhere; the field that is empty on all examples is not asked."""
    members = [
        make_example(
            product,
            f"<h1>{product.title}</h1><b id='n'>{product.ean}</b>{STATE.format(product.title, '')}",
        )
        for product in ALL
    ]
    assert not any(
        isinstance(rule.selector, JsonAt)
        for rule in induce(members)[0].templates[0].rules_for(Attribute.EAN)
    )


def test_of_several_blocks_the_one_that_is_read_anyway() -> None:
    """A shop fills its blocks from one source, and each costs every page its time."""
    shown = (
        "<script>var other = {{'name': '{0}', 'barcode': ''}};</script>"
        "<script>var meta = {{'name': '{0}', 'code': '{1}', 'barcode': ''}};</script>"
    )
    members = [
        make_example(
            product, f"<h1>{product.title}</h1>{shown.format(product.title, product.sku)}", ean=None
        )
        for product in ALL
    ]
    (rule,) = induce(members)[0].templates[0].rules_for(Attribute.EAN)
    assert str(rule.selector) == "script {var meta =} $.barcode"


def test_beside_what_is_read_for_others() -> None:
    """Data in an element need not bear the title, if another attribute is read from the same object."""
    shown = "<h1>{0}</h1><textarea id='all'>[{{'sku': '{1}', 'barcode': '{2}'}}]</textarea>"
    members = [
        make_example(product, shown.format(product.title, product.sku, ""), ean=None)
        for product in ALL
    ]
    page = Document(shown.format("Other", "Z-1", EAN), "https://shop.example/p")
    assert read_attributes(page, induce(members)[0].templates[0])[Attribute.EAN].value == EAN
