"""A shop's own words for brands and categories are learnt where several known offers agree on what they mean."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from parser.rules.selector import TextAt
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import is_named
from rules_generator.candidates.value_mapping import meanings
from rules_generator.induction.induce import induce
from rules_generator.training.training_example import Taught
from tests.pages import products
from tests.rules_generator.conftest import taught

ALL = products(12)
FOUR = ["Lamps", "Rugs", "Vases", "Trays"]

TOLD = [
    ("one text, one value", ["Way", "Way", "Way", None], ["A", "A", "A", "B"], (("way", "A"),)),
    ("two that have no word in common", ["Way", "Way", None, None], ["A", "A", "B", "C"], ()),
    (
        "two that have one",
        ["Way", "Way", None, None],
        ["My Ways", "My Ways", "B", "C"],
        (("way", "My Ways"),),
    ),
    ("two texts for a value", ["X", "x", "Y", "Y", None, None], ["A"] * 4 + ["B", "C"], ()),
    ("a text that stands once", ["Way", None, None, None], ["A", "B", "C", "D"], ()),
    ("now this, now that", ["Way", "Way", None, None], ["A", "B", "C", "D"], ()),
    ("a value that most have", ["Way", "Way", None, None], ["Ways", "Ways", "Ways", "Ways"], ()),
    ("a front page", ["Home", "Home", *[None] * 6], ["A", "A", *"BCDEFG"], ()),
]


@pytest.mark.parametrize(
    ("name", "said", "known", "expected"), TOLD, ids=[case[0] for case in TOLD]
)
def test_what_a_text_means(
    name: str, said: list[str | None], known: list[str], expected: tuple[tuple[str, str], ...]
) -> None:
    """A text means a value where that is on all of its pages, and would seldom be by chance."""
    spread = [*known, *(f"Other {place}" for place in range(4))]
    examples = [
        taught(one, "", brand=brand).example
        for one, brand in zip(ALL[: len(spread)], spread, strict=True)
    ]
    padded = [*said, *[None] * 4]
    assert meanings(Attribute.BRAND, padded, examples) == expected


def learnt(members: list[Taught], attribute: Attribute, page: str) -> str | None:
    """What rules that these teach read from a page."""
    rules, _ = induce(members)
    reading = read_attributes(Document(page, "https://shop.example/p"), rules.templates[0]).get(
        attribute
    )
    return reading.value if reading else None


def test_a_menu_with_other_words_than_the_catalog() -> None:
    """Where the page's place in the menu is mostly the category, what it says instead of one means that one."""
    page = "<ul><li>Sale<li class='current'>{1}</ul><h1>{0}</h1>"
    shown = ["Lamps", "Rugs", "Servers"]
    members = [
        taught(
            one,
            page.format(one.title, shown[place % 3]),
            category=["Lamps", "Rugs", "Decanters"][place % 3],
        )
        for place, one in enumerate(ALL)
    ]
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Servers")) == "Decanters"
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Rugs")) == "Rugs"
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Spoons")) is None


def test_a_menu_that_few_offers_explain() -> None:
    """Two offers whose category it says and three that agree on what it means are enough, where none contradicts."""
    page = "<ul><li>Sale<li class='current'>{1}</ul><h1>{0}</h1>"
    shown = [
        "Lamps",
        "Rugs",
        "Servers",
        "Servers",
        "Servers",
        "Spoons",
        "Forks",
        "Cups",
        "Bowls",
        "Pans",
    ]
    named = ["Lamps", "Rugs", *["Decanters"] * 3, *(f"Kind {place}" for place in range(5))]
    members = [
        taught(one, page.format(one.title, shown[place]), category=named[place])
        for place, one in enumerate(ALL[:10])
    ]
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Servers")) == "Decanters"
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Spoons")) is None


def test_a_place_that_is_right_where_it_says_a_known_value() -> None:
    """The last step of a path may be a category or a sale: where it is a known category, and no more, it is one."""
    page = "<ul class='way'><li><a>Home</a><li><a>{1}</a></ul><h1>{0}</h1>"
    things = ["Lamps", "Rugs", "Vases"]
    shown = [things[place % 3] if place < 8 else f"{things[place % 2]} sale" for place in range(12)]
    members = [
        taught(one, page.format(one.title, said), category=things[place % 3])
        for place, (one, said) in enumerate(zip(ALL, shown, strict=True))
    ]
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Rugs")) == "Rugs"
    assert learnt(members, Attribute.CATEGORY, page.format("Other", "Rugs sale")) is None


def test_titles_that_begin_with_part_of_the_brand() -> None:
    """The first word tells the brand where offers of one brand only begin with it."""
    members = [taught(one, f"<h1>{one.title}</h1>", brand=f"{one.brand} Home Goods") for one in ALL]
    assert learnt(members, Attribute.BRAND, "<h1>Bolitt Spoon</h1>") == "Bolitt Home Goods"
    assert learnt(members, Attribute.BRAND, "<h1>Nordlicht Spoon</h1>") is None


WHERE = [
    ("as a title", "<h1>{0}</h1>", "Vase"),
    (
        "amid much else",
        "<p class='way'>Back home to all that we have for you and others: {0}</p><h1>-</h1>",
        None,
    ),
]


@pytest.mark.parametrize(("name", "page", "expected"), WHERE, ids=[case[0] for case in WHERE])
def test_titles_that_name_the_category(name: str, page: str, expected: str | None) -> None:
    """Six known offers that name theirs, and none that names another's, are enough, though most words stand once."""
    titles = [
        "Red Lamp Elm",
        "Rug of Wool",
        "Vase 7",
        "Big Tray",
        "The Clock",
        "Stool: small",
        "Lamp 8",
    ]
    things = ["Lamp", "Rug", "Vase", "Tray", "Clock", "Stool", "Lamp"]
    members = [
        taught(one, page.format(title), title=title, category=thing)
        for one, title, thing in zip(ALL[:7], titles, things, strict=True)
    ]
    other = page.format("Round Vase No. 99")
    assert learnt(members, Attribute.CATEGORY, other) == expected
    assert learnt(members[:5], Attribute.CATEGORY, other) is None


def test_a_section_is_no_type() -> None:
    """What kind of section of a theme an element is says nothing of the offer's category."""
    assert not is_named(Candidate(Attribute.CATEGORY, TextAt(css="div[data-section-type] a.back")))
