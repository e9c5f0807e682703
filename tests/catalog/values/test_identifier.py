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


# Fields that hold GTINs: how they came to be written so, the text, and the GTIN read.
GTIN_FIELDS = [
    ("plain", "5901234123457", "5901234123457"),
    ("fraction", "5901234123457.0", "5901234123457"),
    ("fraction", "5901234123457.00", "5901234123457"),
    ("fraction", "5901234123457,0", "5901234123457"),
    ("fraction", "5901234123457.", "5901234123457"),
    ("lost zero", "12345678905", "012345678905"),
    ("lost zero", "12345678905.0", "012345678905"),
    ("lost zero", "1234567890128", "1234567890128"),
    ("lost zeros", "1234567895", "001234567895"),
    ("lost zero of an ISBN", "140449132", "9780140449136"),
    ("exponent", "5.901234123457E+12", "5901234123457"),
    ("exponent", "5,901234123457e12", "5901234123457"),
    ("exponent", "5901.234123457E9", "5901234123457"),
    ("exponent", "5.9012341234570E+12", "5901234123457"),
    ("exponent", "5901234123457E0", "5901234123457"),
    ("exponent", "1.2345678905E+10", "012345678905"),
    ("grouped", "5,901,234,123,457", "5901234123457"),
    ("grouped", "5.901.234.123.457", "5901234123457"),
    ("several", "5901234123457,4012345678901", "5901234123457"),
    ("several", "5901234123457; 4012345678901", "5901234123457"),
    ("several", "5901234123457|4012345678901", "5901234123457"),
    ("several", "5901234123457 / 4012345678901", "5901234123457"),
    ("several", "5901234123457\n4012345678901", "5901234123457"),
    ("several", "5901234123457 4012345678901", "5901234123457"),
    ("several", "5901234123450, 4012345678901", "4012345678901"),
    ("several", "5 901234 123457, 4 012345 678901", "5901234123457"),
    ("list", "['5901234123457', '4012345678901']", "5901234123457"),
    ("list", '["5901234123457"]', "5901234123457"),
    ("spreadsheet", "'5901234123457", "5901234123457"),
    ("spreadsheet", '="5901234123457"', "5901234123457"),
    ("label", "EAN 5901234123457", "5901234123457"),
    ("label", "EAN-13: 5901234123457", "5901234123457"),
    ("label", "ean13 5901234123457", "5901234123457"),
    ("label", "gtin:5901234123457", "5901234123457"),
    ("label", "UPC-A 012345678905", "012345678905"),
    ("label", "GTIN 14 15901234123454", "15901234123454"),
    ("label", "(01)05901234123457", "05901234123457"),
    ("ISBN", "0-14-044913-2", "9780140449136"),
    ("ISBN", "ISBN 978-0-14-044913-6", "9780140449136"),
    ("ISBN", "ISBN-10: 080442957x", "9780804429573"),
    ("ISBN", "urn:isbn:9780140449136", "9780140449136"),
    ("other digits", "５９０１２３４１２３４５７", "5901234123457"),
]
NO_GTIN_FIELDS = [
    ("5.90123E+12", "lost digits in a number format"),
    ("5,90123E+12", "lost digits in a number format"),
    ("5901230000000", "lost digits in a number format"),
    ("5901230000000.0", "lost digits in a number format"),
    ("5.90123412345E+12", "lost digits in a number format"),
    ("5901234123450", "with a wrong check digit"),
    ("5901234123450.0", "with a wrong check digit"),
    ("2000000000008", "names no article"),
    ("5901234123457.5", "is no GTIN"),
    ("12345678901", "is no GTIN"),
    ("1234567", "is no GTIN"),
    ("see box", "is no GTIN"),
    ("59012341234579999", "is no GTIN"),
    ("1" * 2_000, "is longer than 1,000 characters"),
    ("0", ""),
    ("0.0", ""),
    ("0000000000000", ""),
    ("", ""),
]


@pytest.mark.parametrize(("kind", "raw", "gtin"), GTIN_FIELDS)
def test_fields_of_gtins(kind: str, raw: str, gtin: str) -> None:
    """A field's first GTIN is read through what spreadsheets and number types do to it."""
    assert identifier.read_gtin(raw) == identifier.GtinReading(gtin)


@pytest.mark.parametrize(("raw", "reason"), NO_GTIN_FIELDS)
def test_fields_without_gtins(raw: str, reason: str) -> None:
    """A number that lost digits, or has none to be read, gives a reason; zeros give none."""
    assert identifier.read_gtin(raw) == identifier.GtinReading(None, reason)


@given(st.text(alphabet="0123456789.,eE+ X-/[]'", max_size=60))
def test_read_gtins_are_normalised(raw: str) -> None:
    """Whatever is read is a normalised GTIN."""
    gtin = identifier.read_gtin(raw).gtin
    assert gtin is None or identifier.normalise_gtin(gtin) == gtin


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
