"""A trade number is read behind a label that no example has shown."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from parser.rules.model import Template
from rules_generator.induction.induce import induce
from rules_generator.training.training_example import Taught
from tests.pages import products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)
EAN = "4006381333931"
LABELLED = "<h1>{0}</h1><table><tr><td>{1}</td><td>{2}</td></tr></table>"


def learnt(members: list[Taught]) -> Template:
    """The rules that these teach."""
    return induce(members)[0].templates[0]


def ean_on(template: Template, markup: str) -> str | None:
    """The number that is read from a page."""
    reading = read_attributes(Document(markup, "https://shop.example/p"), template).get(
        Attribute.EAN
    )
    return reading.value if reading else None


SAID = [
    ("another label", LABELLED.format("Other", "UPC/EAN", EAN), EAN),
    ("a list in place of a table", f"<h1>Other</h1><ul><li><b>Barcode:</b> {EAN}</li></ul>", EAN),
    ("schema.org's name", f"<h1>Other</h1><meta itemprop='gtin13' content='{EAN}'>", EAN),
    ("another label, but no such number", LABELLED.format("Other", "UPC", "4006381333932"), None),
    ("no label", LABELLED.format("Other", "Ocean", EAN), None),
]


@pytest.mark.parametrize(("name", "markup", "ean"), SAID, ids=[case[0] for case in SAID])
def test_other_ways_to_say_it(name: str, markup: str, ean: str | None) -> None:
    """Known offers show one way, and the shop has others."""
    members = [
        taught(one, LABELLED.format(one.title, "GTIN", one.ean if place else ""))
        for place, one in enumerate(ALL)
    ]
    assert ean_on(learnt(members), markup) == ean


def test_not_where_the_learnt_rules_find_all_that_is_known() -> None:
    """The shop has one way to say it, and a page that says none has none."""
    members = [taught(one, LABELLED.format(one.title, "GTIN", one.ean)) for one in ALL]
    assert all(rule.origin == "learnt" for rule in learnt(members).of(Attribute.EAN))


def test_a_shop_that_gives_no_numbers_is_not_asked_for_them() -> None:
    """Its catalog lists none of its offers with one."""
    members = [taught(one, f"<h1>{one.title}</h1>", ean=None) for one in ALL]
    assert not learnt(members).of(Attribute.EAN)


@pytest.mark.parametrize(("unknown", "asked"), [("", True), (OTHER.ean, False)])
def test_not_where_it_says_what_the_catalog_does_not_know(unknown: str, asked: bool) -> None:
    """One offer without a number, on whose page one stands behind a label, is enough."""
    first, *rest = ALL
    shown = [one.ean if place else "" for place, one in enumerate(rest)]
    members = [
        taught(one, f"<h1>{one.title}</h1><b id='n'>{said}</b>")
        for one, said in zip(rest, shown, strict=True)
    ]
    members.append(taught(first, LABELLED.format(first.title, "EAN", unknown), ean=None))
    assert ean_on(learnt(members), LABELLED.format("Other", "EAN", EAN)) == (EAN if asked else None)


def test_an_example_is_not_set_aside_for_what_no_example_has_taught() -> None:
    """Its number stands nowhere; silence of a general rule contradicts nobody."""
    members = [taught(one, f"<h1>{one.title}</h1><b id='p'>{one.price}</b>") for one in ALL]
    members[0] = taught(ALL[0], f"<h1>{ALL[0].title}</h1><b id='p'>1.00</b>")
    assert induce(members)[1].set_aside == ()


LENGTHS = [
    (
        "in JSON-LD",
        '<script type="application/ld+json">{{"@type": "Product", "offers": {{"{}": "{}"}}}}</script>',
    ),
    ("as numbers", '<script type="application/ld+json">{{"@type": "Product", "{}": {}}}</script>'),
    ("in microdata", "<b><meta itemprop='{}' content='{}'></b>"),
]


@pytest.mark.parametrize(("name", "place"), LENGTHS, ids=[case[0] for case in LENGTHS])
def test_a_number_of_another_length_has_another_name(name: str, place: str) -> None:
    """All known numbers have thirteen digits, and a page has one of twelve."""
    members = [taught(one, f"<h1>{one.title}</h1>{place.format('gtin13', one.ean)}") for one in ALL]
    template = learnt(members)
    assert (
        ean_on(template, f"<h1>Other</h1>{place.format('gtin12', '600000000002')}")
        == "600000000002"
    )
    assert ean_on(template, f"<h1>Other</h1>{place.format('other12', '600000000002')}") is None
