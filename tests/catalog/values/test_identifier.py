"""Identifiers: GTINs by their check digit, and the free keys of manufacturers and shops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean

from catalog.values import identifier

GTINS = [
    ("4006381333931", "4006381333931"),
    (" 4 006381 333931 ", "4006381333931"),
    ("4006381-333931", "4006381333931"),
    ("036000291452", "036000291452"),
    ("96385074", "96385074"),
    ("10614141000415", "10614141000415"),
    ("0-306-40615-2", "9780306406157"),
    ("080442957X", "9780804429573"),
]
NO_GTINS = [
    "",
    "4006381333932",
    "EAN: 4006381333931",
    "4006381333931.0",
    "0000000000000",
    "00000000",
    "0000000000",
    "2000000000008",
    "0200000000004",
    "200000000004",
    "9900000000004",
    "400638133393",
    "40063813339311",
    "４００６３８１３３３９３１",
    "400638133393X",
    "4" * 5000,
]


@pytest.mark.parametrize(("raw", "digits"), GTINS)
def test_gtins(raw: str, digits: str) -> None:
    """A GTIN of 8, 12, 13 or 14 digits is read through its gaps; an ISBN of ten becomes one of
    thirteen.
    """
    assert identifier.normalise_gtin(raw) == digits


@pytest.mark.parametrize("raw", NO_GTINS)
def test_no_gtins(raw: str) -> None:
    """A wrong check digit, words beside it, all zeros or a restricted prefix make no GTIN."""
    assert identifier.normalise_gtin(raw) is None


@given(st.integers(min_value=3_000_000_000_00, max_value=9_700_000_000_00))
def test_one_wrong_digit_is_always_found(base: int) -> None:
    """Of the ten last digits exactly one makes a GTIN of thirteen."""
    right = [last for last in "0123456789" if identifier.normalise_gtin(f"{base}{last}")]
    assert right == [ean.calc_check_digit(str(base))]


@pytest.mark.parametrize(
    ("raw", "result"),
    [
        (" WH-1000  XM4\t", "WH-1000 XM4"),
        ("AB&amp;C", "AB&C"),
        ("1", "1"),
        ("n/a", None),
        ("N/A", None),
        ("---", None),
        ("", None),
        ("a\nb", None),
        ("x" * 81, None),
        ("x" * 80, "x" * 80),
        ("x" * 2000, None),
    ],
)
def test_tokens(raw: str, result: str | None) -> None:
    """A key is one short line that says something."""
    assert identifier.normalise_token(raw) == result


@pytest.mark.parametrize(
    ("raw", "result"),
    [(" - ", "-"), ("&ndash;", "–"), ("A-1", "A-1"), ("n/a", None), ("---", None)],
)
def test_a_lone_dash_may_be_listed_as_a_shops_key(raw: str, result: str | None) -> None:
    """Other ways to say that there is none are none."""
    assert identifier.normalise_sku(raw) == result
