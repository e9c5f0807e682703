"""Kinds of columns, detected from values and names: each kind has its own comparison features."""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import chain, islice

from catalog.errors import UsageError
from matcher.taught.columns.dates import parse_date
from matcher.taught.columns.values import parse_number, parse_year, unit_of_number


class ColumnKind(StrEnum):
    """The kind of a column, by the name that `--kind COLUMN=KIND` takes."""

    NAME = "name"
    TEXT = "text"
    LONG_TEXT = "long"
    HTML = "html"
    ADDRESS = "address"
    CATEGORY = "category"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    YEAR = "year"
    DATE = "date"
    IGNORED = "ignore"


# Kinds that are compared by their shingles.
LONG_KINDS = (ColumnKind.LONG_TEXT, ColumnKind.HTML)
# Values of a column that are read to detect its kind.
SAMPLE_SIZE = 2_000
# Shares of the sample that must have a form.
MIN_PARSED_SHARE = 0.9
MIN_TAGGED_SHARE = 0.3
MIN_ADDRESS_SHARE = 0.4
MIN_CODE_SHARE = 0.7
# Share of different values from which on numbers of many digits are identifiers.
MIN_DISTINCT_SHARE = 0.5
# Mean words from which on a text is a long one (Jobs Data compares shingles of six words).
LONG_TEXT_WORDS = 60
# Share of values with a digit below which a column of short texts holds names.
MAX_DIGIT_SHARE = 0.1
# Mean words up to which a text without digits is a name.
NAME_WORDS = 4.5
# Different values, and share of the sample, up to which a column is a category.
MAX_CATEGORIES = 60
MAX_CATEGORY_SHARE = 0.05
# Letters of a unit's symbol, at most; different units in words of one column, at most; and different
# numbers that each of these has, at least.
MAX_SYMBOL_LETTERS = 4
MAX_UNITS = 8
MIN_NUMBERS = 3
# Digits from which on a whole number is an identifier rather than an amount.
IDENTIFIER_DIGITS = 6
# Words of a column's name, in lower case, that decide where the values allow several kinds.
_IDENTIFIER_NAMES = re.compile(
    r"(?:^|[_\W])(?:ids?|zip|post(?:al)?_?code|plz|phone|telephone|tel|fax|mobile|isbn|issn|ean|upc|"
    r"gtin|sku|mpn|modelno|model_?number|part_?number|ssn|soc_sec_id|vat|iban|doi|e?mail|url)(?:$|[_\W])"
)
_DATE_NAMES = re.compile(r"date|dob|birth|created|updated|published|_at$")
_ADDRESS_NAMES = re.compile(r"address|street|strasse|straße|addr\b")
_HTML_TAG = re.compile(r"<(?:/?[a-zA-Z][a-zA-Z0-9]*)(?:\s[^<>]*)?/?>")
_STREET = re.compile(
    r"^\d{1,5}[a-z]?\s+\S+\s+\S+|^\D*(?:str\.|stra(?:ss|ß)e|weg|platz|allee|rue|calle|via)\b\D*\d{1,4}",
    re.IGNORECASE,
)
_CODE = re.compile(r"^(?=.*\d)[\w./+()\s-]{3,24}$")


def detect_kinds(
    names: Sequence[str],
    sides: Sequence[Sequence[Sequence[str]]],
    given: Mapping[str, str] | None = None,
) -> tuple[ColumnKind, ...]:
    """Return the kind of each column; `given` overrides, {column: kind}.

    `sides` holds the columns of one or two tables. Raises UsageError for unknown names in `given`.
    """
    given_kinds = parse_kinds(names, given or {})
    kinds = list[ColumnKind]()
    for number, name in enumerate(names):
        if name in given_kinds:
            kinds.append(given_kinds[name])
            continue
        kinds.append(detect_kind(name, [columns[number] for columns in sides]))
    return tuple(kinds)


def parse_kinds(names: Sequence[str], given: Mapping[str, str]) -> dict[str, ColumnKind]:
    """Return the given kinds by column. Raises UsageError for an unknown column or kind."""
    kinds = dict[str, ColumnKind]()
    for name, kind in given.items():
        if name not in names:
            raise UsageError(
                f"--kind {name}={kind}: no such column is compared; they are {', '.join(names)}"
            )
        try:
            kinds[name] = ColumnKind(kind)
        except ValueError as error:
            raise UsageError(f"--kind {name}={kind}: kinds are {', '.join(ColumnKind)}") from error
    return kinds


def detect_kind(name: str, sides: Sequence[Sequence[str]]) -> ColumnKind:
    """Detect the kind of a column from its name and its values in one or two tables.

    >>> detect_kind("price", [["9.90", "$12", "1,300.00"]]).value
    'number'
    >>> detect_kind("published", [["2021-05-01", "2020-11-30"]]).value
    'date'
    >>> detect_kind("published", [["c1968", "1972", "[1980]"]]).value
    'year'
    >>> detect_kind("phone", [["773 555 0100", "773-555-0199"]]).value
    'identifier'
    """
    sample = [*chain.from_iterable(_sample(values) for values in sides)]
    lowered = name.lower()
    if not sample:
        return ColumnKind.IGNORED
    if _share(sample, _HTML_TAG.search) >= MIN_TAGGED_SHARE:
        return ColumnKind.HTML
    mean_words = sum(len(value.split()) for value in sample) / len(sample)
    if mean_words >= LONG_TEXT_WORDS:
        return ColumnKind.LONG_TEXT
    return _kind_of_short_values(lowered, sample, mean_words)


def _kind_of_short_values(lowered: str, sample: Sequence[str], mean_words: float) -> ColumnKind:
    """Return the kind of a column of short values; `lowered` is its name in lower case."""
    distinct = len(set(sample))
    if _IDENTIFIER_NAMES.search(lowered):
        return ColumnKind.IDENTIFIER
    if _share(sample, parse_date) >= MIN_PARSED_SHARE and (
        _DATE_NAMES.search(lowered) or _share(sample, str.isdecimal) < MIN_PARSED_SHARE
    ):
        return ColumnKind.DATE
    if _share(sample, parse_year) >= MIN_PARSED_SHARE:
        return ColumnKind.YEAR
    parse_amount = partial(_parse_amount, units=_units_in_words(sample))
    if _share(sample, parse_amount) >= MIN_PARSED_SHARE and not _ADDRESS_NAMES.search(lowered):
        return _kind_of_numbers(sample, distinct)
    if distinct <= min(MAX_CATEGORIES, MAX_CATEGORY_SHARE * len(sample)):
        return ColumnKind.CATEGORY
    return _kind_of_words(lowered, sample, mean_words)


def _kind_of_words(lowered: str, sample: Sequence[str], mean_words: float) -> ColumnKind:
    if _ADDRESS_NAMES.search(lowered) or _share(sample, _STREET.search) >= MIN_ADDRESS_SHARE:
        return ColumnKind.ADDRESS
    if mean_words < 2 and _share(sample, _CODE.search) >= MIN_CODE_SHARE:
        return ColumnKind.IDENTIFIER
    if mean_words <= NAME_WORDS and _share(sample, _contains_digit) < MAX_DIGIT_SHARE:
        return ColumnKind.NAME
    return ColumnKind.TEXT


def _kind_of_numbers(sample: Sequence[str], distinct: int) -> ColumnKind:
    """Tell identifiers of digits from amounts."""
    mean_digits = sum(map(len, sample)) / len(sample)
    are_whole = _share(sample, str.isdecimal) >= MIN_PARSED_SHARE
    is_varied = distinct >= MIN_DISTINCT_SHARE * len(sample)
    if are_whole and mean_digits >= IDENTIFIER_DIGITS and is_varied:
        return ColumnKind.IDENTIFIER
    return ColumnKind.NUMBER


def _parse_amount(value: str, units: Container[str]) -> float | None:
    """Parse the number of a value, unless the words behind it are a part of the value."""
    unit = unit_of_number(value)
    is_amount = len(unit) <= MAX_SYMBOL_LETTERS or unit in units
    return parse_number(value) if is_amount else None


def _units_in_words(sample: Sequence[str]) -> set[str]:
    """Return the units in words: few for many numbers, as in `98 tablets`.

    In `12 Main Street`, `911 Turbo` and `2nd edition` the words are a part of the value.
    """
    numbers = defaultdict[str, set[float | None]](set)
    for value in sample:
        unit = unit_of_number(value)
        if len(unit) > MAX_SYMBOL_LETTERS:
            numbers[unit].add(parse_number(value))
    if len(numbers) > MAX_UNITS:
        return set()
    return {unit for unit, counted in numbers.items() if len(counted) >= MIN_NUMBERS}


def _sample(values: Sequence[str]) -> list[str]:
    """Return values that are not empty, evenly spread over the column."""
    step = max(1, len(values) // SAMPLE_SIZE)
    stripped = (value.strip() for value in values[::step])
    return [*islice(filter(None, stripped), SAMPLE_SIZE)]


def _share(sample: Sequence[str], read: Callable[[str], object]) -> float:
    """Return the share of values that are read as something: neither None nor False."""
    results = map(read, sample)
    # Compared by identity, because the number 0 equals False.
    return sum(result is not None and result is not False for result in results) / len(sample)


def _contains_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)
