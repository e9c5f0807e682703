"""Values of a column as numbers, years, or identifiers; None where a text is no such value."""

import re

from stdnum import isbn

from matcher.taught.columns.dates import MAX_CHARACTERS, parse_clock

# Greatest number that is compared; beyond it differences say nothing.
MAX_NUMBER = 1e15
# Digits of the ISBNs that have one of ten digits beside them.
ISBN_DIGITS = 13
_DIGITS = r"\d[\d.,' \u00a0\u202f]*"
# Words before an amount: about, from; and codes of currencies, in capitals.
_AMOUNT_WORDS = "ca circa approx about around etwa ungefähr rund environ ab from dès desde da vanaf"
_CURRENCIES = (
    "EUR USD GBP CHF JPY CNY SEK NOK DKK PLN CZK HUF RON BGN TRY UAH INR BRL CAD AUD NZD MXN ZAR"
)
_WORD_BEFORE = re.compile(
    rf"(?:(?i:{'|'.join(_AMOUNT_WORDS.split())})\.?|{'|'.join(_CURRENCIES.split())})(?=\s)"
    rf"|(?i:ca|approx)\.(?=\d)"
)
# Signs of a currency, one number or several that are multiplied, and a unit.
_NUMBER = re.compile(
    rf"^[^\d\w-]{{0,4}}(?P<factors>-?{_DIGITS}(?:[x×*]\s*{_DIGITS}){{0,3}})"
    rf"(?P<unit>[^\d_]{{0,13}}m[23]|[^\d_]{{0,16}})$",
    re.IGNORECASE,
)
_TIMES = re.compile("[x×*]", re.IGNORECASE)
# A text that may be a time of day.
_MAY_BE_CLOCK = re.compile(r"\d[:h]\d|uhr$|[ap]\.?m\.?$", re.IGNORECASE)
# Years that are told from other numbers of four digits.
YEAR_PATTERN = r"(1[5-9]\d\d|20\d\d)"
_YEAR = re.compile(rf"\D{{0,4}}{YEAR_PATTERN}\D{{0,4}}")
_NO_CODE_CHARACTER = re.compile(r"[\W_]+")


def parse_number(text: str) -> float | None:
    """Parse an amount with currency signs or a unit, thousands separators and a decimal comma or
    point; of sizes and packs the product, of times the minutes.

    >>> parse_number("$1,299.90"), parse_number("1.299,90 €"), parse_number("3,5"), parse_number("a4")
    (1299.9, 1299.9, 3.5, None)
    >>> parse_number("98 Stück"), parse_number("81 x 161 x 13mm"), parse_number("1x50")
    (98.0, 169533.0, 50.0)
    >>> parse_number("ca. 45 m2"), parse_number("EUR 12.50"), parse_number("BMW 320")
    (45.0, 12.5, None)
    >>> parse_number("2:30 pm"), parse_number("14h30"), parse_number("3:45")
    (870.0, 870.0, 225.0)
    """
    if _MAY_BE_CLOCK.search(text, 0, MAX_CHARACTERS):
        minutes = parse_clock(text)
        if minutes is not None:
            return minutes
    match = _match_number(text)
    if match is None:
        return None
    product = 1.0
    for factor in _TIMES.split(match["factors"]):
        number = _parse_factor(factor)
        if number is None:
            return None
        product *= number
    return product if abs(product) <= MAX_NUMBER else None


def _match_number(text: str) -> re.Match[str] | None:
    """Match an amount, without a word before it."""
    start = text[:MAX_CHARACTERS].strip()
    if start[:1].isalpha() and (word := _WORD_BEFORE.match(start)):
        start = start[word.end() :]
    return _NUMBER.match(start)


def count_factors(text: str) -> int:
    """Return how many numbers an amount multiplies; 1 where a text is no amount.

    >>> count_factors("81 x 161 x 13mm"), count_factors("3.5")
    (3, 1)
    """
    match = _match_number(text)
    return len(_TIMES.split(match["factors"])) if match else 1


def unit_of_number(text: str) -> str:
    """Return the letters behind an amount, in lower case; "" where a text is no amount.

    >>> unit_of_number("98 Stück"), unit_of_number("81x13mm"), unit_of_number("3.50 €")
    ('stück', 'mm', '')
    """
    match = _match_number(text)
    return "".join(filter(str.isalpha, match["unit"].lower())) if match else ""


def _parse_factor(text: str) -> float | None:
    digits = re.sub(r"[' \u00a0\u202f]", "", text)
    point, comma = digits.rfind("."), digits.rfind(",")
    if comma > point:
        # A comma before exactly three digits separates thousands unless a point came before it.
        is_thousands = len(digits) - comma == 4 and point < 0
        digits = digits.replace(".", "").replace(",", "" if is_thousands else ".")
    else:
        digits = digits.replace(",", "")
    try:
        return float(digits)
    except ValueError:
        return None


def parse_year(text: str) -> int | None:
    """Parse a year from 1500 to 2099 that stands alone.

    >>> parse_year("c1968"), parse_year("[1979]"), parse_year("1968-70"), parse_year("1300")
    (1968, 1979, None, None)
    """
    match = _YEAR.fullmatch(text[:MAX_CHARACTERS].strip())
    return int(match[1]) if match else None


def normalise_code(folded: str) -> str:
    """Return an identifier without separators, and without leading zeros.

    An ISBN of 13 digits becomes one of 10, as many books have been given both.

    >>> normalise_code("0 773-555-0199"), normalise_code("ab/12"), normalise_code("978-0-19-853453-2")
    ('7735550199', 'ab12', '198534531')
    """
    code = _NO_CODE_CHARACTER.sub("", folded)
    if len(code) == ISBN_DIGITS and code.startswith("978") and isbn.is_valid(code):
        code = isbn.to_isbn10(code).lower()
    return code.lstrip("0") or code
