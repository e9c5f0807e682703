"""Values are spelled as the catalog spells them, whatever the shop's pages make of quotes, dashes and slashes."""

import json

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from rules_generator.induction.induce import induce
from tests.pages import products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)


def test_a_title_is_read_where_it_is_spelled_as_the_catalog_spells_it() -> None:
    """Shops' pages set quotes of their own, which their data do not have."""
    page = "<h1>{0}’s {1} 24″ Lamp</h1><p class='x'>{2}</p>"
    titles = [f"{one.brand}'s {one.number} 24\" Lamp" for one in (*ALL, OTHER)]
    pages = [
        page.format(one.brand, one.number, title)
        for one, title in zip((*ALL, OTHER), titles, strict=True)
    ]
    members = [
        taught(one, text, title=title) for one, text, title in zip(ALL, pages, titles, strict=False)
    ]
    rules, _ = induce(members)
    read = read_attributes(Document(pages[-1], "https://shop.example/p"), rules.templates[0])
    assert read[Attribute.TITLE].value == titles[-1]


TYPESET = [
    ("some examples tell", "", ["{0}'s Lamp", '{0} 24" Lamp'], "Elm’s – Lamp", "Elm's - Lamp"),
    ("the catalog has them as well", "", ["{0}’s Lamp"], "Elm’s – Lamp", "Elm’s – Lamp"),
    ("no example tells", "", ["{0} Lamp"], "Elm’s – Lamp", "Elm’s – Lamp"),
    (
        "no example tells, but WordPress sets them",
        "<link href='/wp-content/a.css'>",
        ["{0} Lamp"],
        "Elm’s",
        "Elm's",
    ),
    (
        "the catalog has typed quotes and set dashes",
        "",
        ["{0}'s Lamp", "{0} – Lamp"],
        "Elm’s – Lamp",
        "Elm's – Lamp",
    ),
    (
        "the catalog has set quotes and typed times",
        "",
        ["{0}’s Lamp", "{0} 2x3"],
        "Elm’s 2×3",
        "Elm’s 2x3",
    ),
]


@pytest.mark.parametrize(
    ("name", "head", "titles", "shown", "read"), TYPESET, ids=[case[0] for case in TYPESET]
)
def test_signs_of_a_typesetter(
    name: str, head: str, titles: list[str], shown: str, read: str
) -> None:
    """Where the catalog has a keyboard's quotes and dashes for those that the shop's software sets."""
    members = []
    for place, one in enumerate(ALL):
        title = titles[place % len(titles)].format(one.title)
        typeset = title.replace("'", "’").replace('"', "″").replace("2x3", "2×3")
        members.append(taught(one, f"{head}<h1>{typeset}</h1>", title=title))
    rules, _ = induce(members)
    found = read_attributes(
        Document(f"{head}<h1>{shown}</h1>", "https://shop.example/p"), rules.templates[0]
    )
    assert found[Attribute.TITLE].value == read


SLASHED = [
    ("the catalog has them", ["Lamps", "Gel / Skins"], "Gel / Skins", "Desk / Wall", "Desk / Wall"),
    (
        "the catalog has paths there",
        ["Lamps > Desk", "Lamps > Wall"],
        "Lamps / Wall",
        "Rugs / Wool",
        "Rugs > Wool",
    ),
    ("no example tells", ["Lamps", "Rugs"], "Rugs", "Desk / Wall", "Desk / Wall"),
]


@pytest.mark.parametrize(
    ("name", "known", "shown", "other", "read"), SLASHED, ids=[case[0] for case in SLASHED]
)
def test_slashes_in_categories(
    name: str, known: list[str], shown: str, other: str, read: str
) -> None:
    """One slash may stand between the steps of a path or be a part of one: the known offers tell."""
    page = "<h1>{0}</h1><p class='kind'>{1}</p>"
    said = {known[0]: known[0], known[1]: shown}
    members = [
        taught(one, page.format(one.title, said[known[place % 2]]), category=known[place % 2])
        for place, one in enumerate(ALL)
    ]
    rules, _ = induce(members)
    found = read_attributes(
        Document(page.format("Other", other), "https://shop.example/p"), rules.templates[0]
    )
    assert found[Attribute.CATEGORY].value == read


def test_what_data_spells_comes_before_what_is_undone() -> None:
    """WordPress sets no signs in data: a dash that is one there is the catalog's own, and not undone in the heading."""
    page = (
        "<link href='/wp-content/a.css'><h1>{0}</h1><script type='application/ld+json'>{1}</script>"
    )
    data = [
        json.dumps({"@type": "Product", "name": title})
        for title in (*[one.title for one in ALL], "Elm – Lamp")
    ]
    members = [
        taught(one, page.format(one.title, said)) for one, said in zip(ALL, data, strict=False)
    ]
    rules, _ = induce(members)
    read = read_attributes(
        Document(page.format("Elm – Lamp", data[-1]), "https://shop.example/p"), rules.templates[0]
    )
    assert read[Attribute.TITLE].value == "Elm – Lamp"
    assert {rule.form for rule in rules.templates[0].of(Attribute.TITLE)} == {"plain", "typed"}


BRANDED = [
    ("only the title says it", "", "Elm Lamp", "Elm"),
    (
        "the shop's address says it, too",
        "<form action='https://elm.example/cart'></form>",
        "Elm Lamp",
        "Elm",
    ),
    ("the page says it as the catalog does", "<b class='brand'>{0}</b>", "Elm Lamp", "Elm Canada"),
]


@pytest.mark.parametrize(
    ("name", "beside", "title", "read"), BRANDED, ids=[case[0] for case in BRANDED]
)
def test_a_brand_that_the_catalog_spells_shorter_and_longer(
    name: str, beside: str, title: str, read: str
) -> None:
    """The shorter one is not wrong, and read where nothing says which it is; capitals are kept."""
    brands = ["Elm", "Elm", "Elm Canada"]
    members = []
    for place, one in enumerate(ALL):
        brand, known = brands[place % len(brands)], f"Elm {one.number} Lamp"
        members.append(
            taught(one, f"{beside.format(brand)}<h1>{known}</h1>", brand=brand, title=known)
        )
    rules, _ = induce(members)
    page = Document(f"{beside.format('Elm Canada')}<h1>{title}</h1>", "https://elm.example/p")
    assert read_attributes(page, rules.templates[0])[Attribute.BRAND].value == read
