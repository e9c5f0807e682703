"""Values of a column as numbers, dates, or identifiers; None where a text is no such value."""

import re
from datetime import date

from stdnum import isbn

from matcher.taught.columns.months import month_number

# Characters of a value that are read as a number or a date; cap against hostile input.
MAX_CHARACTERS = 40
# Greatest number that is compared; beyond it differences say nothing.
MAX_NUMBER = 1e15
# Digits of the ISBNs that have one of ten digits beside them.
ISBN_DIGITS = 13
# Years that a date may have.
YEARS = range(1000, 2200)
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
_ISO_DATE = re.compile(r"^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?$")
_DAY_FIRST_DATE = re.compile(r"^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$")
_DAY_AND_MONTH = re.compile(
    r"^(?:[^\W\d]+[.,]*\s+)?(\d{1,2})(?:st|nd|rd|th|[.º])?[\s-]+(?:(?:of|de)\s+)?([^\W\d]{3,12})"
    r"[.,]*[\s-]+(?:de\s+)?(\d{4})$",
    re.IGNORECASE,
)
_MONTH_AND_DAY = re.compile(
    r"^(?:[^\W\d]+[.,]*\s+)?([^\W\d]{3,12})[.]?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})$",
    re.IGNORECASE,
)
# Months of a year have two digits, so that `3-2010` is a code and `2010.5` a number.
_MONTH_AND_YEAR = re.compile(r"^(?:(\d{2})[-/.]|([^\W\d]{3,12})[.,]?[-/\s])((?:19|20)\d{2})$")
_YEAR_AND_MONTH = re.compile(r"^((?:19|20)\d{2})[-/](\d{2})$")
_COMPACT_DATE = re.compile(r"^(\d{4})(\d{2})(\d{2})$")
# Years that are told from other numbers of four digits.
YEAR_PATTERN = r"(1[5-9]\d\d|20\d\d)"
_YEAR = re.compile(rf"\D{{0,4}}{YEAR_PATTERN}\D{{0,4}}")
_NO_CODE_CHARACTER = re.compile(r"[\W_]+")


def parse_number(text: str) -> float | None:
    """Parse an amount with currency signs or a unit, thousands separators and a decimal comma or
    point; of sizes and packs the product.

    >>> parse_number("$1,299.90"), parse_number("1.299,90 €"), parse_number("3,5"), parse_number("a4")
    (1299.9, 1299.9, 3.5, None)
    >>> parse_number("98 Stück"), parse_number("81 x 161 x 13mm"), parse_number("1x50")
    (98.0, 169533.0, 50.0)
    >>> parse_number("ca. 45 m2"), parse_number("EUR 12.50"), parse_number("BMW 320")
    (45.0, 12.5, None)
    """
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


def parse_date(text: str) -> date | None:
    """Parse a date: year first, day (or month) first with a year of four digits, or eight digits.

    The month may be a name in a language of `months.LANGUAGES`. A month of a year is its first day.

    >>> parse_date("2021-05-01T10:00"), parse_date("30.11.2020"), parse_date("19801204")
    (datetime.date(2021, 5, 1), datetime.date(2020, 11, 30), datetime.date(1980, 12, 4))
    >>> parse_date("11/30/2020"), parse_date("1.5"), parse_date("20201350")
    (datetime.date(2020, 11, 30), None, None)
    >>> parse_date("17 Apr 1973"), parse_date("May 3rd, 2021"), parse_date("Mi., 5. März 2025")
    (datetime.date(1973, 4, 17), datetime.date(2021, 5, 3), datetime.date(2025, 3, 5))
    >>> parse_date("03/2019"), parse_date("2019-03"), parse_date("Mar. 2019")
    (datetime.date(2019, 3, 1), datetime.date(2019, 3, 1), datetime.date(2019, 3, 1))
    >>> parse_date("5 марта 2025"), parse_date("5 marta 2025")
    (datetime.date(2025, 3, 5), datetime.date(2025, 3, 5))
    """
    start = text[:MAX_CHARACTERS].strip()
    if match := _ISO_DATE.match(start) or _COMPACT_DATE.match(start):
        year, month, day = map(int, match.groups())
    elif match := _DAY_FIRST_DATE.match(start):
        day, month, year = map(int, match.groups())
        if month > 12:
            day, month = month, day
    elif match := _DAY_AND_MONTH.match(start):
        day, month, year = int(match[1]), month_number(match[2]), int(match[3])
    elif match := _MONTH_AND_DAY.match(start):
        day, month, year = int(match[2]), month_number(match[1]), int(match[3])
    elif match := _YEAR_AND_MONTH.match(start):
        day, month, year = 1, int(match[2]), int(match[1])
    elif match := _MONTH_AND_YEAR.match(start):
        month = int(match[1]) if match[1] else month_number(match[2])
        day, year = 1, int(match[3])
    else:
        return None
    if year not in YEARS:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


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
