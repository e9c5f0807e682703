"""Cuts are learnt from what stands around known values, and never cost a digit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.trim import Trim
from rules_generator.cuts import around, trims

LEARNT = [
    ("the same on all pages", [("EAN: ", ""), ("EAN: ", "")], Trim(left="EAN: ")),
    (
        "another end on each page",
        [("Lamp | EAN: ", " |"), ("Rug | EAN: ", " |")],
        Trim(left=" | EAN: ", right=" |", inside=True),
    ),
    ("both ends", [("(", ")"), ("(", ")")], Trim(left="(", right=")")),
]


@pytest.mark.parametrize(("name", "arounds", "expected"), LEARNT, ids=[case[0] for case in LEARNT])
def test_learns_the_cut_that_the_pages_share(name: str, arounds: list[tuple[str, str]], expected: Trim) -> None:
    """Literals where all pages agree, delimiters where only the side next to the value does."""
    assert expected in trims(Attribute.SKU, arounds)


def test_no_cut_of_digits_is_learnt() -> None:
    """A literal with a digit in it would take a part of some other number away."""
    assert trims(Attribute.PRICE, [("10", ""), ("10", "")]) == []


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), min_size=1, max_size=6))
def test_identifiers_are_never_cut_by_count(arounds: list[tuple[str, str]]) -> None:
    """Whatever the pages show, an identifier's cuts are literals without digits."""
    for trim in trims(Attribute.EAN, arounds):
        assert not any(isinstance(cut, int) and cut for cut in (trim.left, trim.right))
        assert not any(char.isdigit() for char in f"{trim.left or ''}{trim.right or ''}")


@given(st.text(max_size=10), st.text(min_size=1, max_size=10), st.text(max_size=10))
def test_what_stands_around_a_value_adds_up(left: str, value: str, right: str) -> None:
    """Left side, value and right side make the text again."""
    raw = left + value + right
    found = around(raw, [value])
    assert found is None or (raw.startswith(found[0]) and raw.endswith(found[1]))
