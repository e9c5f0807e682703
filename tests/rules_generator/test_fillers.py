"""Pictures and words that the shop shows where an offer has none are not the offer's."""

import pytest

from catalog.models import Attribute
from parser.document import Document
from parser.read import read_attributes
from rules_generator.induce import induce
from tests.pages import products
from tests.rules_generator.conftest import taught

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
    members = [taught(one, PAGE.format(one.title, url), images=[url]) for one, url in zip(ALL, urls, strict=True)]
    rules, _ = induce(members, [*(one.document for one in members), page])
    found = read_attributes(Document(PAGE.format("Other", SHARED), "https://shop.example/p"), rules.templates[0])
    assert found[Attribute.IMAGE].value == read


def test_a_known_picture_is_read_though_the_front_page_names_it() -> None:
    """A front page may show an offer."""
    urls = [OWN.format(one.number) for one in ALL]
    members = [taught(one, PAGE.format(one.title, url), images=[url]) for one, url in zip(ALL, urls, strict=True)]
    rules, _ = induce(members, [front("https://shop.example/", urls[0])])
    found = read_attributes(Document(PAGE.format("Other", urls[0]), "https://shop.example/p"), rules.templates[0])
    assert found[Attribute.IMAGE].value == urls[0]


SLOGAN, PRAISE = "Lamps that light up your day.", "A lamp of {0} that lights up the whole of a room of {0}."
WORDED = "<meta name='description' content='{1}'><h1>{0}</h1>"


@pytest.mark.parametrize(("said", "read"), [(SLOGAN, None), (PRAISE.format("glass"), PRAISE.format("glass"))])
def test_the_slogan_of_the_front_page(said: str, read: str | None) -> None:
    """What its head says of the shop, it says on pages of offers without a description, too."""
    texts = [PRAISE.format(one.sku) for one in ALL]
    members = [
        taught(one, WORDED.format(one.title, text), description=text) for one, text in zip(ALL, texts, strict=True)
    ]
    rules, _ = induce(members, [Document(WORDED.format("Welcome", SLOGAN), "https://shop.example/")])
    found = read_attributes(Document(WORDED.format("Other", said), "https://shop.example/p"), rules.templates[0])
    assert found[Attribute.DESCRIPTION].value == read
