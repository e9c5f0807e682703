"""Identifiers: GTINs (EAN, UPC, ISBN) with a valid check digit, and the free keys of manufacturers
and shops.

A GTIN is read strictly by `normalise_gtin`, spaces and hyphens aside: text around it is left to the
trims of the learnt rules. In a field that holds nothing but GTINs, `read_gtin` also undoes what
spreadsheets and number types do to them, wherever no digit is lost. Numbers that identify no trade
item are refused: all zeros, and those reserved for use within one company, for weighed goods and
for coupons (GS1 General Specifications, prefixes 02, 04, 05, 20-29, 98, 99).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from stdnum import isbn

from catalog.values import text

# schema.org's names of a GTIN, the commonest first.
GTIN_NAMES = ("gtin13", "gtin12", "gtin", "gtin14", "gtin8")
# Digits of a GTIN; 10 are those of an old ISBN.
GTIN_LENGTHS = (8, 10, 12, 13, 14)
MIN_GTIN_LENGTH = min(GTIN_LENGTHS)
# Digits of a GTIN from which on it is no other number.
MIN_LONG_GTIN_LENGTH = 12
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

# Characters of a field that holds GTINs, and GTINs of it that are tried.
MAX_GTIN_FIELD_LENGTH = 1_000
MAX_GTINS_IN_FIELD = 50
# Zeros at the end of a number that a number type has rounded: `4.00638E+12`.
ROUNDED_ZEROS = 6

_ZERO = ord("0")
_GAPS = str.maketrans("", "", " \t\n\r\xa0\u202f-‐‑‒–'")
_RESTRICTED_PREFIX = re.compile(r"0[245]|2|9[89]")
# Digits of a GTIN that has lost leading zeros, and the lengths that it may have had.
_LENGTHS_WITH_ZEROS = {9: (10, 12), 10: (12,), 11: (12,)}
_GTIN_LABEL = re.compile(
    r"(?:urn:)?(?:global trade item number|european article number|gtin|ean|upc|jan|isbn|barcode)"
    r"(?: ?code)?(?:[ _-]?(?:8|10|12|13|14)(?=[\s:#=]|$)|[ _-]?[aA](?=[\s:#=]))?\s*[:#=]?\s*",
    re.IGNORECASE,
)
# Application identifier of a GTIN (GS1 General Specifications, 3.2).
_APPLICATION_IDENTIFIER = "(01)"
_QUOTES_AND_BRACKETS = " \t\r\n\xa0\"'`‘’“”[]{}()<>=.,;:"
_BETWEEN_GTINS = re.compile(r"[,;|/\\\r\n\t]+")
_DATA_NUMBER = re.compile(r"[0-9]{7,14}(?:\.0{1,6})?")
_WHOLE_NUMBER_WITH_FRACTION = re.compile(r"(\d{7,14})[.,]0{1,6}")
_WITH_EXPONENT = re.compile(r"(\d{1,14})(?:[.,](\d{1,20}))? ?[eE] ?\+?(\d{1,2})")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3}){3,4}|\d{1,3}(?:\.\d{3}){3,4}")


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


@dataclass(frozen=True)
class GtinReading:
    """The GTIN of a field, or the reason why there is none; both are empty where the field says
    that it has none.
    """

    gtin: str | None = None
    reason: str = ""


_LOST = GtinReading(reason="lost digits in a number format")


def read_gtin(raw: str) -> GtinReading:
    """Read the first valid GTIN of a field that holds nothing but GTINs.

    Undoes what spreadsheets and number types do: a fraction, an exponent, grouped digits, lost
    leading zeros (where the check digit is right with them). Labels, quotes and brackets around
    GTINs are removed. A number whose digits are lost is no GTIN.

    >>> [read_gtin(raw).gtin for raw in ("4006381333931.0", "4.006381333931E+12", "36000291452")]
    ['4006381333931', '4006381333931', '036000291452']
    >>> read_gtin("4006381333931, 4006381333948").gtin, read_gtin("4.00638E+12").reason
    ('4006381333931', 'lost digits in a number format')
    """
    if gtin := normalise_gtin(raw):
        return _LOST if _is_rounded(gtin) else GtinReading(gtin)
    if len(raw) > MAX_GTIN_FIELD_LENGTH:
        return GtinReading(reason="is longer than 1,000 characters")
    line = unicodedata.normalize("NFKC", raw)
    first_reason = ""
    for part in _gtin_parts(line):
        reading = _read_single_gtin(part)
        if reading.gtin:
            return reading
        first_reason = first_reason or reading.reason
    return GtinReading(reason=first_reason)


def read_gtin_number(raw: str) -> str | None:
    """Read a GTIN as a number type writes it: without its leading zeros, or with a fraction.

    >>> read_gtin_number("36000291452"), read_gtin_number("4006381333931.0")
    ('036000291452', '4006381333931')
    >>> read_gtin_number("EAN 36000291452") is None
    True
    """
    return read_gtin(raw).gtin if _DATA_NUMBER.fullmatch(raw) else None


def _gtin_parts(line: str) -> Iterator[str]:
    """Yield the pieces of a field that may be a GTIN: all of it, its parts, and the words of these.

    The whole comes first: a comma may be one of decimals or of thousands.
    """
    yield line
    parts = [part for part in _BETWEEN_GTINS.split(line) if part.strip()][:MAX_GTINS_IN_FIELD]
    if len(parts) > 1:
        yield from parts
    for part in parts:
        words = part.split()[:MAX_GTINS_IN_FIELD]
        if len(words) > 1:
            yield from (word for word in words if len(word) >= MIN_GTIN_LENGTH)


def _read_single_gtin(part: str) -> GtinReading:
    bare = part.strip(_QUOTES_AND_BRACKETS) if _APPLICATION_IDENTIFIER not in part else part.strip()
    bare = _GTIN_LABEL.sub("", bare.removeprefix(_APPLICATION_IDENTIFIER), count=1)
    bare = bare.strip(_QUOTES_AND_BRACKETS)
    if not bare.strip("0.,"):
        return GtinReading()
    if match := _WITH_EXPONENT.fullmatch(bare):
        return _read_with_exponent(match[1], match[2] or "", int(match[3]))
    if match := _WHOLE_NUMBER_WITH_FRACTION.fullmatch(bare):
        return _with_zeros(match[1])
    if _GROUPED_NUMBER.fullmatch(bare):
        return _with_zeros(bare.replace(",", "").replace(".", ""))
    return _with_zeros(bare.translate(_GAPS))


def _read_with_exponent(integer_digits: str, fraction: str, exponent: int) -> GtinReading:
    digits = integer_digits + fraction
    missing = exponent - len(fraction)
    # Zeros that are not written may be zeros or lost digits.
    if missing > 0:
        return _LOST
    if missing < 0 and digits[missing:].strip("0"):
        return GtinReading(reason="is no GTIN")
    return _with_zeros(digits[: len(digits) + missing].lstrip("0"))


def _with_zeros(digits: str) -> GtinReading:
    """Read a GTIN of digits, which may have lost leading zeros."""
    if gtin := _gtin(digits):
        return _LOST if _is_rounded(gtin) else GtinReading(gtin)
    if digits.isascii() and digits[:-1].isdigit():
        for length in _LENGTHS_WITH_ZEROS.get(len(digits), ()):
            if gtin := _gtin(digits.zfill(length)):
                return GtinReading(gtin)
    return GtinReading(reason=_gtin_problem(digits))


def _gtin_problem(digits: str) -> str:
    if not digits.isascii() or not digits.isdigit() or len(digits) not in (8, 12, 13, 14):
        return "is no GTIN"
    if _is_rounded(digits):
        return _LOST.reason
    if has_check_digit(digits):
        return "names no article"
    return "with a wrong check digit"


def _is_rounded(digits: str) -> bool:
    return digits.endswith("0" * ROUNDED_ZEROS)


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
    """Return True if the last digit is the check digit of the others.

    GS1 General Specifications, 7.9: digits weigh 1 and 3 in turn, from the last one. stdnum's check
    gives the same, but costs an import more time than any other value.
    """
    if not 8 <= len(digits) <= 14 or not digits.isascii() or not digits.isdigit():
        return False
    numbers = digits.encode()
    # The characters' codes are those of zero more than the digits.
    total = sum(numbers[::-2]) + 3 * sum(numbers[-2::-2])
    zeros = _ZERO * ((len(digits) + 1) // 2 + 3 * (len(digits) // 2))
    return (total - zeros) % 10 == 0


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


def is_long_gtin(number: str) -> bool:
    """Return True for a GTIN of 12 to 14 digits: no manufacturer's number.

    One of eight digits, or an ISBN of ten, may be a manufacturer's number by chance.

    >>> is_long_gtin("4006381333931"), is_long_gtin("12345670")
    (True, False)
    """
    digits = sum(map(str.isdigit, number))
    return digits >= MIN_LONG_GTIN_LENGTH and normalise_gtin(number) is not None


def _is_restricted(digits: str) -> bool:
    if not digits.strip("0"):
        return True
    if len(digits) == 8:
        return digits[0] in "02"
    return _RESTRICTED_PREFIX.match(digits.zfill(14)[1:]) is not None
