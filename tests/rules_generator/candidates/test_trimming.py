"""Cuts are learnt from what stands around known values, and never cost a digit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from parser.rules.trim import Trim
from rules_generator.candidates.trimming import (
    drop_ambient_words,
    learn_trims,
    surroundings,
    trims_by_look,
)
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

LEARNT = [
    (
        "the same on all pages",
        [("EAN: ", ""), ("EAN: ", "")],
        Trim(left="EAN: ", right="", inside=True),
    ),
    (
        "another end on each page",
        [("Lamp | EAN: ", " |"), ("Rug | EAN: ", " |")],
        Trim(left=" | EAN: ", right=" |", inside=True),
    ),
    ("both ends", [("(", ")"), ("(", ")")], Trim(left="(", right=")", inside=True)),
    (
        "one that says something else",
        [("/pen-id-", ""), ("/ink-id-", ""), ("/paper-500-count-", "")],
        Trim(left="-id-", right="", inside=True),
    ),
]


@pytest.mark.parametrize(("name", "arounds", "expected"), LEARNT, ids=[case[0] for case in LEARNT])
def test_learns_the_cut_that_the_pages_share(
    name: str, arounds: list[tuple[str, str]], expected: Trim
) -> None:
    """The side next to the value, as far as all pages agree in it, or most."""
    assert expected in learn_trims(arounds)


def test_no_cut_of_digits_is_learnt() -> None:
    """A literal with a digit in it would take a part of some other number away."""
    assert learn_trims([("10", ""), ("10", "")]) == []


LOOKS = [
    (
        "one shape",
        Attribute.SKU,
        ["AB-12", "C-345", "AB-7"],
        [Trim(shape=r"[A-Z]{1,2}\-[0-9]{1,3}")],
    ),
    ("shapes that differ", Attribute.SKU, ["AB-12", "12-AB", "AB-7"], []),
    ("no digit in it", Attribute.SKU, ["AB", "C", "DE"], []),
    ("too few", Attribute.SKU, ["AB-12", "C-345"], []),
    ("known words", Attribute.BRAND, ["Ardwen", "Elm", "Ardwen"], [Trim(words=("Ardwen", "Elm"))]),
    ("one word only", Attribute.BRAND, ["Ardwen", "Ardwen"], []),
    ("nothing of a title", Attribute.TITLE, ["A 1", "B 2", "C 3"], []),
]


@pytest.mark.parametrize(
    ("name", "attribute", "known", "expected"), LOOKS, ids=[case[0] for case in LOOKS]
)
def test_a_value_may_be_told_by_its_look(
    name: str, attribute: Attribute, known: list[str], expected: list[Trim]
) -> None:
    """Identifiers by the shape that all have, brands by being one of those that are known."""
    assert trims_by_look(attribute, known) == expected


WORDS = ("Bamboo", "Elm", "Shirts")

SAID = [
    (
        "a shop that is called like one",
        [("Tee - Bamboo Shop", "Shirts"), ("Sock - Bamboo Shop", "Elm")],
        WORDS[1:],
    ),
    ("once may be an error", [("Tee - Bamboo Shop", "Shirts"), ("Elm tee", "Elm")], WORDS),
    (
        "a part of the value",
        [("Bamboo Shirts", "Bamboo Shirts"), ("Bamboo Socks", "Bamboo Socks")],
        WORDS,
    ),
    ("nothing said", [], WORDS),
]


@pytest.mark.parametrize(("name", "said", "left"), SAID, ids=[case[0] for case in SAID])
def test_words_that_texts_have_whatever_their_value(
    name: str, said: list[tuple[str, str]], left: tuple[str, ...]
) -> None:
    """What stands in two texts that mean something else tells nothing there."""
    texts = [(text, [value]) for text, value in said]
    assert drop_ambient_words(Trim(words=WORDS), texts).words == left


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), min_size=1, max_size=6))
def test_values_are_never_cut_by_count(arounds: list[tuple[str, str]]) -> None:
    """Whatever the pages show, the cuts are literals without digits."""
    for trim in learn_trims(arounds):
        assert not any(isinstance(cut, int) and cut for cut in (trim.left, trim.right))
        assert not any(char.isdigit() for char in f"{trim.left or ''}{trim.right or ''}")


@given(st.text(max_size=10), st.text(min_size=1, max_size=10), st.text(max_size=10))
def test_what_stands_around_a_value_adds_up(left: str, value: str, right: str) -> None:
    """Left side, value and right side make the text again."""
    raw = left + value + right
    found = surroundings(raw, [value])
    assert found is None or (raw.startswith(found[0]) and raw.endswith(found[1]))


LETTERS = "abcdefghijklmnopqrst"
SHARED = "".join(
    f"<a class='share share-{name}' href='https://{name}.example/?u={{0}}'>x</a>"
    for name in "abcdefgh"
)


def test_among_many_examples_a_sign_stands_beside_the_last_part() -> None:
    """The last part of an address is the number on most pages, but some word on others; a sign before it tells."""
    page = f"<h1>{{1}}</h1><section id='more'><aside class='shares'><div class='list'>{SHARED}</div></aside></section>"
    members = []
    for product in products(40):
        number = str(7000 + product.number) if product.number % 3 else None
        end = (
            f"{'count' if product.number % 11 in (1, 5, 8) else 'id'}-{number}"
            if number
            else LETTERS[product.number % 13 :]
        )
        stale = "9999" if number and product.number % 5 == 0 else number
        members.append(
            make_example(
                product,
                page.format(f"p/set-{LETTERS[product.number % 17 :][:3]}-{end}", product.title),
                sku=stale,
            )
        )
    template = induce(members)[0].templates[0]
    shown = (
        Document(page.format(f"p/{end}", "x"), "https://shop.example/p")
        for end in ("pen-id-9", "pen-and-ink")
    )
    assert [read_attributes(page, template)[Attribute.SKU].value for page in shown] == ["9", None]
