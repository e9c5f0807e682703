"""Identifiers: GTINs (EAN, UPC, ISBN) with a right check digit, and the free keys of manufacturers and shops.

A GTIN is read strictly, spaces and hyphens aside: what stands around it is the business of the learner's cuts. Numbers
that name nothing in trade are refused: all zeros, and those reserved for use within one company, for weighed goods
and for coupons (GS1 General Specifications, prefixes 02, 04, 05, 20-29, 98, 99). `GTIN_NAMES` is what schema.org
calls one, by its length or whatever that is, the commonest first.
"""

import re
from functools import lru_cache

from stdnum import ean, isbn

from catalog.values import text

GTIN_NAMES = ("gtin13", "gtin12", "gtin", "gtin14", "gtin8")
LONGEST_TOKEN = 80
DASH = "-"
DASHES = frozenset("- -- – —".split())
LONGEST_DASH = 20
_LONGEST_GTIN = 40
_GAPS = str.maketrans("", "", " \t\n\r\xa0\u202f-‐‑‒–'")
_RESTRICTED = re.compile(r"0[245]|2|9[89]")


def gtin(raw: str) -> str | None:
    """The digits of a GTIN of 8, 12, 13 or 14 digits; an ISBN of 10 as one of 13.

    >>> gtin(" 4 006381-333931"), gtin("0-306-40615-2")
    ('4006381333931', '9780306406157')
    >>> gtin("4006381333932") is None, gtin("2000000000008") is None
    (True, True)
    """
    if not 8 <= len(raw) <= _LONGEST_GTIN:
        return None
    return _gtin(raw.translate(_GAPS))


@lru_cache(maxsize=65_536)
def _gtin(digits: str) -> str | None:
    if not digits.isascii() or not digits[:-1].isdigit() or len(digits) not in (8, 10, 12, 13, 14):
        return None
    if len(digits) == 10:
        return str(isbn.to_isbn13(digits)) if isbn.is_valid(digits) and digits.strip("0") else None
    return digits if has_check_digit(digits) and not _is_restricted(digits) else None


def has_check_digit(digits: str) -> bool:
    """Whether the last digit is the right one."""
    return bool(ean.is_valid(digits))


def _is_restricted(digits: str) -> bool:
    if not digits.strip("0"):
        return True
    if len(digits) == 8:
        return digits[0] in "02"
    return _RESTRICTED.match(digits.zfill(14)[1:]) is not None


def gtin_key(value: str) -> str:
    """The GTIN as one of 14 digits: the shorter kinds are the same numbers without leading zeros."""
    return value.zfill(14)


def token(raw: str) -> str | None:
    """A key of a manufacturer (han) or a shop (sku): one short line with a letter or digit in it.

    >>> token(" WH-1000  XM4 "), token("n/a") is None
    ('WH-1000 XM4', True)
    """
    if len(raw) > 1000:
        return None
    line = raw.strip()
    if not 0 < len(line) <= 3 * LONGEST_TOKEN or "\n" in line or "\r" in line:
        return None
    found = text.plain(line)
    if len(found) > LONGEST_TOKEN or text.is_nothing(found) or not any(map(str.isalnum, found)):
        return None
    return found


def sku(raw: str) -> str | None:
    """A shop's own key; or a lone dash, as some shops write one for offers that have none and their catalog lists it.

    It names nothing: whoever compares offers leaves it out, and pages are read so only where known offers say so.

    >>> sku(" WH-1000  XM4 "), sku(" - "), sku("n/a") is None
    ('WH-1000 XM4', '-', True)
    """
    found = token(raw)
    if found is None and len(raw) <= LONGEST_DASH and is_dash(dash := text.plain(raw)):
        return dash
    return found


def is_dash(value: str | None) -> bool:
    """Whether a key is only a dash."""
    return value in DASHES
