"""Dates and times of day as values; None where a text is neither.

`11/05/2020` and `5/1/98` have two readings each. One value does not tell which, but its column does
(`DateForms`): days are above 12 in one of two places, and other dates have years of four digits.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from datetime import date

from matcher.taught.columns.months import month_number

# Characters of a value that are read as a number or a date; cap against hostile input.
MAX_CHARACTERS = 40
# Years that a date may have.
YEARS = range(1000, 2200)
# Year to which years of two digits are near by default: they lie in 1968 to 2067. POSIX has 1969 to 2068.
USUAL_YEAR = 2018
MONTHS = 12
MINUTES_PER_HOUR = 60
HOURS_PER_DAY = 24
_NOON = 12

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
# Days or months of one digit before a year of two are told from version numbers by slashes.
_DAY_FIRST = re.compile(
    r"(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4})|(\d{2})([.-])(\d{2})\6(\d{2})|(\d{1,2})(/)(\d{1,2})/(\d{2})"
)
_WEEKDAY = r"(?:[^\W\d]+[.,]*\s+)?"
_YEAR = r"(\d{4}|\d{2})"
_DAY_AND_MONTH = re.compile(
    rf"{_WEEKDAY}(\d{{1,2}})(?:st|nd|rd|th|[.º])?[\s-]+(?:(?:of|de)\s+)?([^\W\d]{{3,12}})"
    rf"[.,]*[\s-]+(?:de\s+)?{_YEAR}",
    re.IGNORECASE,
)
_MONTH_AND_DAY = re.compile(
    rf"{_WEEKDAY}([^\W\d]{{3,12}})[.]?[\s-]+(\d{{1,2}})(?:st|nd|rd|th)?,?[\s-]+(\d{{4}})",
    re.IGNORECASE,
)
# Months of a year have two digits, so that `3-2010` is a code and `2010.5` a number.
_MONTH_AND_YEAR = re.compile(r"(?:(\d{2})[-/.]|([^\W\d]{3,12})[.,]?[-/\s])((?:19|20)\d{2})")
_YEAR_AND_MONTH = re.compile(r"((?:19|20)\d{2})[-/](\d{2})")
_CLOCK = (
    r"(?P<hours>\d{1,2})(?:[:h](?P<minutes>\d{2})(?::(?P<seconds>\d{2})(?:[.,]\d{1,9})?)?"
    r"|\.(?P<minutes_before_word>\d{2})(?=\s?uhr$)|(?=\s?(?:[ap]\.?m\.?|uhr)$))"
    r"\s?(?:(?P<half>[ap])\.?m\.?|uhr|h|z|utc|gmt|[+-]\d{2}:?\d{2})?$"
)
_ONLY_CLOCK = re.compile(_CLOCK, re.IGNORECASE)
_CLOCK_BEHIND_DATE = re.compile(
    rf"(?:(?<=\d)T|,?\s+(?:(?:at|um|à|om|kl\.?)\s+)?){_CLOCK}", re.IGNORECASE
)
# The rest of a value that begins with a date, year first.
_REST = re.compile(r"(?<=\d)[T ].*")


@dataclass(frozen=True)
class DateForms:
    """How a column writes the dates that have two readings.

    `month_first` has the separators that stand behind a month, as in `11/30/2020`; `usual_year` is
    the year to which those of two digits are near.
    """

    month_first: Set[str] = frozenset()
    usual_year: int = USUAL_YEAR


DEFAULT_FORMS = DateForms()


def parse_date(text: str, forms: DateForms = DEFAULT_FORMS) -> date | None:
    """Parse a date: year first, day (or month) first, with the name of a month, or eight digits.

    The month may be a name in a language of `months.LANGUAGES`. A month of a year is its first day.
    A time of day behind it is passed over.

    >>> parse_date("2021-05-01T10:00"), parse_date("30.11.2020"), parse_date("19801204")
    (datetime.date(2021, 5, 1), datetime.date(2020, 11, 30), datetime.date(1980, 12, 4))
    >>> parse_date("11/30/2020 2:05 PM"), parse_date("1.5"), parse_date("20201350")
    (datetime.date(2020, 11, 30), None, None)
    >>> parse_date("17 Apr 1973"), parse_date("May 3rd, 2021"), parse_date("Mi., 5. März 2025")
    (datetime.date(1973, 4, 17), datetime.date(2021, 5, 3), datetime.date(2025, 3, 5))
    >>> parse_date("03/2019"), parse_date("2019-03"), parse_date("Mar. 2019")
    (datetime.date(2019, 3, 1), datetime.date(2019, 3, 1), datetime.date(2019, 3, 1))
    >>> parse_date("5 марта 2025"), parse_date("01-MAY-98"), parse_date("1.2.10")
    (datetime.date(2025, 3, 5), datetime.date(1998, 5, 1), None)
    >>> parse_date("11/05/25", DateForms(frozenset("/"), usual_year=1960))
    datetime.date(1925, 11, 5)
    """
    day, _ = split_clock(text)
    return parse_day(day, forms)


def parse_moment(text: str, forms: DateForms = DEFAULT_FORMS) -> tuple[date, float | None] | None:
    """Parse a date and the time of day behind it, in minutes (`split_clock`).

    >>> parse_moment("30.11.2020 14:30"), parse_moment("30.11.2020"), parse_moment("14:30")
    ((datetime.date(2020, 11, 30), 870.0), (datetime.date(2020, 11, 30), None), None)
    """
    written, minutes = split_clock(text)
    day = parse_day(written, forms)
    return None if day is None else (day, minutes)


def parse_day(day: str, forms: DateForms = DEFAULT_FORMS) -> date | None:
    """Parse a date without a time of day, as `parse_date` does."""
    parts = _numeric_parts(day, forms) or _named_parts(day, forms)
    if parts is None or parts[0] not in YEARS:
        return None
    try:
        return date(*parts)
    except ValueError:
        return None


def parse_clock(text: str) -> float | None:
    """Parse a time of day, or a duration of that form, as minutes.

    >>> parse_clock("14:30"), parse_clock("2:30:30 p.m."), parse_clock("14.30 Uhr"), parse_clock("9 am")
    (870.0, 870.5, 870.0, 540.0)
    >>> parse_clock("14.30"), parse_clock("75:30"), parse_clock("16:9")
    (None, None, None)
    """
    return _minutes(_ONLY_CLOCK.match(text[:MAX_CHARACTERS].strip()))


def split_clock(text: str) -> tuple[str, float | None]:
    """Split a date from the time of day behind it, in minutes.

    None where there is none, or midnight, as programs add it to dates without one.

    >>> split_clock("30.11.2020 um 14:30 Uhr"), split_clock("2020-11-30T08:00:00Z")
    (('30.11.2020', 870.0), ('2020-11-30', 480.0))
    >>> split_clock("2020-11-30 00:00:00"), split_clock("May 3rd, 2021")
    (('2020-11-30', None), ('May 3rd, 2021', None))
    """
    start = text[:MAX_CHARACTERS].strip()
    # Most dates have none: a look for its mark costs less than a search.
    match = _CLOCK_BEHIND_DATE.search(start) if " " in start or "T" in start else None
    return (start[: match.start()], _minutes(match) or None) if match else (start, None)


def match_day_first(text: str) -> tuple[int, str, int, str] | None:
    """Return the numbers of a date whose year comes last: first, separator, second, year.

    >>> match_day_first("30.11.2020"), match_day_first("5/1/98"), match_day_first("1.5.98")
    ((30, '.', 11, '2020'), (5, '/', 1, '98'), None)
    """
    match = _DAY_FIRST.fullmatch(text)
    if match is None:
        return None
    first, separator, second, year = filter(None, match.groups())
    return int(first), separator, int(second), year


def _numeric_parts(day: str, forms: DateForms) -> tuple[int, int, int] | None:
    """Return year, month and day of a date in digits."""
    if match := _YEAR_FIRST.fullmatch(_REST.sub("", day)) or _COMPACT.fullmatch(day):
        return int(match[1]), int(match[2]), int(match[3])
    if day_first := match_day_first(day):
        first, separator, second, digits = day_first
        year = _full_year(digits, forms)
        if second > MONTHS or (first <= MONTHS and separator in forms.month_first):
            return year, first, second
        return year, second, first
    if match := _YEAR_AND_MONTH.fullmatch(day):
        return int(match[1]), int(match[2]), 1
    return None


def _named_parts(day: str, forms: DateForms) -> tuple[int, int, int] | None:
    """Return year, month and day of a date with the name of a month, or of a month and year."""
    if match := _DAY_AND_MONTH.fullmatch(day):
        return _full_year(match[3], forms), month_number(match[2]), int(match[1])
    if match := _MONTH_AND_DAY.fullmatch(day):
        return int(match[3]), month_number(match[1]), int(match[2])
    if match := _MONTH_AND_YEAR.fullmatch(day):
        return int(match[3]), int(match[1] or 0) or month_number(match[2] or ""), 1
    return None


def _full_year(year: str, forms: DateForms) -> int:
    """Return a year; one of two digits becomes the one that is nearest to the usual year."""
    if len(year) == len("2020"):
        return int(year)
    return forms.usual_year + (int(year) - forms.usual_year + 50) % 100 - 50


def _minutes(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    hours = int(match["hours"])
    minutes = int(match["minutes"] or match["minutes_before_word"] or 0)
    seconds = int(match["seconds"] or 0)
    if match["half"]:
        if not 0 < hours <= _NOON:
            return None
        hours = hours % _NOON + (_NOON if match["half"] in "pP" else 0)
    if hours >= HOURS_PER_DAY or max(minutes, seconds) >= MINUTES_PER_HOUR:
        return None
    return hours * MINUTES_PER_HOUR + minutes + seconds / 60
