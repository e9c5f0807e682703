"""Pictures and words that the shop shows where an offer has none are not the offer's."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

*ALL, OTHER = products(11)
SHARED = "https://shop.example/files/sharing.jpg"
PAGE = "<meta property='og:image' content='{1}'><h1>{0}</h1>"


def front(url: str, picture: str = SHARED) -> Document:
    """The shop's front page, or what else has this address."""
    return Document(PAGE.format("Welcome", picture), url)


OWN = "https://shop.example/pictures/{0}.jpg"
FRONTS = [
    ("the front page names it", front("https://shop.example/"), None),
    ("only a category does", front("https://shop.example/c/lamps"), SHARED),
    ("no page does", front("https://shop.example/", OWN.format("hero")), SHARED),
]


@pytest.mark.parametrize(("name", "page", "read"), FRONTS, ids=[case[0] for case in FRONTS])
def test_the_picture_of_the_front_page(name: str, page: Document, read: str | None) -> None:
    """What the head of the front page names for others to show, it names on pages of offers without a picture, too."""
    urls = [OWN.format(one.number) for one in ALL]
    members = [
        make_example(one, PAGE.format(one.title, url), images=[url])
        for one, url in zip(ALL, urls, strict=True)
    ]
    rules, _ = induce(members, [*(one.document for one in members), page])
    found = read_attributes(
        Document(PAGE.format("Other", SHARED), "https://shop.example/p"), rules.templates[0]
    )
    assert found[Attribute.IMAGE].value == read


def test_a_known_picture_is_read_though_the_front_page_names_it() -> None:
    """A front page may show an offer."""
    urls = [OWN.format(one.number) for one in ALL]
    members = [
        make_example(one, PAGE.format(one.title, url), images=[url])
        for one, url in zip(ALL, urls, strict=True)
    ]
    rules, _ = induce(members, [front("https://shop.example/", urls[0])])
    found = read_attributes(
        Document(PAGE.format("Other", urls[0]), "https://shop.example/p"), rules.templates[0]
    )
    assert found[Attribute.IMAGE].value == urls[0]


SLOGAN = "Lamps that light up your day."
PRAISE = "A lamp of {0} that lights up the whole of a room of {0}."
WORDED = "<meta name='description' content='{1}'><h1>{0}</h1>"


@pytest.mark.parametrize(
    ("said", "read"), [(SLOGAN, None), (PRAISE.format("glass"), PRAISE.format("glass"))]
)
def test_the_slogan_of_the_front_page(said: str, read: str | None) -> None:
    """What its head says of the shop, it says on pages of offers without a description, too."""
    texts = [PRAISE.format(one.sku) for one in ALL]
    members = [
        make_example(one, WORDED.format(one.title, text), description=text)
        for one, text in zip(ALL, texts, strict=True)
    ]
    rules, _ = induce(
        members, [Document(WORDED.format("Welcome", SLOGAN), "https://shop.example/")]
    )
    found = read_attributes(
        Document(WORDED.format("Other", said), "https://shop.example/p"), rules.templates[0]
    )
    assert found[Attribute.DESCRIPTION].value == read


SHAPES = ["A-11", "B-12", "C-23", "A-44", "D-15", "E-26", "F-37", "G-48", "H-59", "K-10"]


def test_fillers_are_not_read() -> None:
    """What stands on several pages where each offer should have its own is no value: a mark for there being none."""
    members = [
        make_example(one, f"<h1>{one.title}</h1><b id='n'>{SHAPES[place] if place % 3 else 'none-1'}</b>",
               sku=SHAPES[place] if place % 3 else None)
        for place, one in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    none = Document("<h1>Other</h1><b id='n'>none-1</b>", "https://shop.example/p")
    some = Document("<h1>Other</h1><b id='n'>Z-99</b>", "https://shop.example/p")
    assert read_attributes(none, rules.templates[0])[Attribute.SKU].value is None
    assert read_attributes(some, rules.templates[0])[Attribute.SKU].value == "Z-99"


def test_a_price_of_nothing_is_none() -> None:
    """Where a shop does not say its price, its data may say `0.00`: that speaks neither for them nor against them."""
    page = "<meta property='og:price:amount' content='{1}'><h1>{0}</h1><p class='cost'>{2}</p>"
    members = [
        make_example(one, page.format(one.title, one.price if place else "0.00", f"{one.price} €" if place else "Call us"),
               price=one.price if place else None)
        for place, one in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    read = [
        read_attributes(
            Document(page.format("Other", said, "Log in"), "https://shop.example/p"),
            rules.templates[0],
        )
        for said in ("31.50", "0.00")
    ]
    assert [one[Attribute.PRICE].value for one in read] == ["31.50", None]


def test_what_a_cut_leaves_where_there_is_no_number() -> None:
    """One offer without a number is enough to know what stands on the pages of all others that have none."""
    page = "<h1>{0}</h1><i data-id='{1}_{2}'></i>"
    members = [
        make_example(one, page.format(one.title, SHAPES[place] if place else "post", one.number),
               sku=SHAPES[place] if place else None)
        for place, one in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    read = [
        read_attributes(
            Document(page.format("Other", number, 77), "https://shop.example/p"), rules.templates[0]
        )
        for number in ("post", "Z-99")
    ]
    assert [one[Attribute.SKU].value for one in read] == [None, "Z-99"]


ONE_NUMBER = "<h1>{}</h1><p>Art. {}</p>"
LACKING = [
    ("a number that the catalog lacks", "K-70", "K-70"),
    ("a word", "on request", None),
]


@pytest.mark.parametrize(("name", "said", "read_as"), LACKING, ids=[case[0] for case in LACKING])
def test_what_a_cut_leaves_where_the_catalog_has_no_number(
    name: str, said: str, read_as: str | None
) -> None:
    """What stands on one such page is a number if it looks like the known ones, and no filler."""
    *known, last = ALL
    members = [
        make_example(one, ONE_NUMBER.format(one.title, SHAPES[place]), sku=SHAPES[place])
        for place, one in enumerate(known)
    ]
    members.append(make_example(last, ONE_NUMBER.format(last.title, said), sku=None))
    rules, _ = induce(members)
    page = Document(ONE_NUMBER.format("Other", said), "https://shop.example/p")
    assert read_attributes(page, rules.templates[0])[Attribute.SKU].value == read_as
