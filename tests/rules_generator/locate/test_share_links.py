"""Pictures that only a button for sharing names are learnt from its link's query."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from parser.rules.trim import Trim
from rules_generator.induction.induce import induce
from rules_generator.locate.share_links import around_pictures, pictures_in
from tests.pages import products
from tests.rules_generator.conftest import taught

ALL = products(8)
LINKS = [
    ("none", "//pin.example/?url=https://shop.example/p/1", []),
    ("one among others", "/pin?url=/p/1&media=/a.jpg?v=2&text=x", [("&media=", "/a.jpg?v=2", "&")]),
    ("the last, encoded", "/pin?text=x&img=%2F%2Fcdn.example%2Fa.png", [("&img=", "%2F%2Fcdn.example%2Fa.png", "")]),
    ("a picture itself", "//cdn.example/a.jpg?v=1", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "link", "expected"), LINKS, ids=[case[0] for case in LINKS])
def test_parameters_that_say_a_picture(
    name: str, link: str, expected: list[tuple[str, str, str]]
) -> None:
    """Each with what stands before and behind it."""
    assert list(pictures_in(link)) == expected


def test_cuts_that_stand_once_are_none() -> None:
    """A parameter of one example is no way to read others."""
    found = [("&media=", "/a.jpg", "&"), ("&media=", "/b.jpg", "&"), ("&img=", "/c.jpg", "")]
    assert around_pictures(found) == [Trim(left="&media=", right="&", inside=True)]


@pytest.mark.parametrize(
    "link", ["?url=/p&media={0}&text=x", "?url=/p&image={0}"], ids=["amid others", "at the end"]
)
@pytest.mark.parametrize(
    "address", ["//cdn.example/{0}_600x.jpg?v=1", "https%3A%2F%2Fcdn.example%2F{0}_600x.jpg"]
)
def test_a_picture_to_share(link: str, address: str) -> None:
    """The picture is read where nothing but the link for sharing names it, also if it is encoded there."""
    page = (
        "<h1>{0}</h1><a class='pin' href='//pin.example/"
        + link.format(address.format("{1}"))
        + "'>Share</a>"
    )
    members = [
        taught(one, page.format(one.title, one.sku), images=[f"https://cdn.example/{one.sku}.jpg"])
        for one in ALL
    ]
    rules, _ = induce(members)
    other = Document(page.format("Other", "SK-9"), "https://shop.example/p")
    read = read_attributes(other, rules.templates[0])[Attribute.IMAGE].value
    assert read is not None
    assert read.startswith("https://cdn.example/SK-9_600x.jpg")
