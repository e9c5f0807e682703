"""Identifiers: GTINs (EAN, UPC, ISBN) with a valid check digit, and the free keys of manufacturers
and shops.

A GTIN is read strictly, spaces and hyphens aside: text around it is left to the trims of the learnt
rules. Numbers that identify no trade item are refused: all zeros, and those reserved for use within
one company, for weighed goods and for coupons (GS1 General Specifications, prefixes 02, 04, 05,
20-29, 98, 99).
"""

import re
from functools import lru_cache

from stdnum import ean, isbn

from catalog.values import text

# schema.org's names of a GTIN, the commonest first.
GTIN_NAMES = ("gtin13", "gtin12", "gtin", "gtin14", "gtin8")
# Digits of a GTIN; 10 are those of an old ISBN.
GTIN_LENGTHS = (8, 10, 12, 13, 14)
MIN_GTIN_LENGTH = min(GTIN_LENGTHS)
# Characters of a raw GTIN with its spaces and hyphens.
MAX_RAW_GTIN_LENGTH = 40
# Characters of a free key, normalised and raw. Longer ones are no keys.
MAX_TOKEN_LENGTH = 80
MAX_RAW_TOKEN_LENGTH = 1_000
# The placeholder that some shops write for offers without a key.
DASH = "-"
DASHES = frozenset("- -- – —".split())
# Characters of a raw dash with the white space around it.
MAX_RAW_DASH_LENGTH = 20

_GAPS = str.maketrans("", "", " \t\n\r\xa0\u202f-‐‑‒–'")
_RESTRICTED_PREFIX = re.compile(r"0[245]|2|9[89]")


def normalise_gtin(raw: str) -> str | None:
    """Return the digits of a GTIN of 8, 12, 13 or 14 digits; an ISBN of 10 becomes one of 13.

    >>> normalise_gtin(" 4 006381-333931"), normalise_gtin("0-306-40615-2")
    ('4006381333931', '9780306406157')
    >>> normalise_gtin("4006381333932") is None, normalise_gtin("2000000000008") is None
    (True, True)
    """
    if not MIN_GTIN_LENGTH <= len(raw) <= MAX_RAW_GTIN_LENGTH:
        return None
    return _gtin(raw.translate(_GAPS))


@lru_cache(maxsize=65_536)
def _gtin(digits: str) -> str | None:
    # The last character of an ISBN may be an X.
    if not digits.isascii() or not digits[:-1].isdigit() or len(digits) not in GTIN_LENGTHS:
        return None
    if len(digits) == 10:
        if not isbn.is_valid(digits) or not digits.strip("0"):
            return None
        return str(isbn.to_isbn13(digits))
    if not has_check_digit(digits) or _is_restricted(digits):
        return None
    return digits


def has_check_digit(digits: str) -> bool:
    """Return True if the last digit is the check digit of the others."""
    return bool(ean.is_valid(digits))


def gtin_key(value: str) -> str:
    """Comparison key: the GTIN with 14 digits, since shorter kinds are the same numbers without
    leading zeros.
    """
    return value.zfill(14)


def normalise_token(raw: str) -> str | None:
    """Normalise a key of a manufacturer (han) or a shop (sku): one short line with a letter or
    digit.

    >>> normalise_token(" WH-1000  XM4 "), normalise_token("n/a") is None
    ('WH-1000 XM4', True)
    """
    if len(raw) > MAX_RAW_TOKEN_LENGTH:
        return None
    line = raw.strip()
    if not 0 < len(line) <= 3 * MAX_TOKEN_LENGTH or "\n" in line or "\r" in line:
        return None
    token = text.plain(line)
    if len(token) > MAX_TOKEN_LENGTH or text.is_no_value(token):
        return None
    if not any(map(str.isalnum, token)):
        return None
    return token


def normalise_sku(raw: str) -> str | None:
    """Normalise a shop's own key, or a lone dash, which some shops write and their catalog lists.

    A dash identifies nothing: comparisons leave it out, and pages yield one only where known offers
    do.

    >>> normalise_sku(" WH-1000  XM4 "), normalise_sku(" - "), normalise_sku("n/a") is None
    ('WH-1000 XM4', '-', True)
    """
    token = normalise_token(raw)
    if token is None and len(raw) <= MAX_RAW_DASH_LENGTH and is_dash(dash := text.plain(raw)):
        return dash
    return token


def is_dash(value: str | None) -> bool:
    """Return True if a key is only a dash."""
    return value in DASHES


def _is_restricted(digits: str) -> bool:
    if not digits.strip("0"):
        return True
    if len(digits) == 8:
        return digits[0] in "02"
    return _RESTRICTED_PREFIX.match(digits.zfill(14)[1:]) is not None
