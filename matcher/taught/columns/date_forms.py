"""Dates of a column in one form: it takes a column to tell days from months, and centuries.

Whether a day or a month stands first is told by separator, for each table: `13/5/2020` shows days
first, and `5/13/2020` months. Years of two digits lie near those of four in the column. Times of day
count where most dates have one.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from statistics import median

from matcher.taught.columns.dates import (
    MONTHS,
    USUAL_YEAR,
    DateForms,
    match_day_first,
    parse_day,
    parse_moment,
    split_clock,
)

# Dates of a table that are looked at.
SAMPLE_SIZE = 20_000
# Share of the dates of each table that have a time of day, where it counts.
MIN_TIMED_SHARE = 0.5
# Years of four digits that a column needs to tell those of two.
MIN_YEARS = 10
_FOUR_DIGITS = re.compile(r"\d{4}")


@dataclass
class _Survey:
    """What the dates of one table look like.

    `orders` counts, by separator, the dates whose first number is a month (True) or a day (False);
    `full_years` are the years of four digits, `short_years` counts those of two.
    """

    dates: int = 0
    timed: int = 0
    short_years: int = 0
    full_years: list[int] = field(default_factory=list)
    orders: Counter[tuple[str, bool]] = field(default_factory=Counter)


def date_forms(columns: Sequence[Sequence[str]]) -> list[Callable[[str], str]] | None:
    """Return, for each table, what brings the dates of its column into one form.

    None where all are read rightly one by one.
    """
    surveys = [_look_at(column) for column in columns]
    orders = Counter[tuple[str, bool]]()
    for survey in surveys:
        orders += survey.orders
    years = [*chain.from_iterable(survey.full_years for survey in surveys)]
    has_short_years = any(survey.short_years for survey in surveys)
    has_times = any(survey.timed for survey in surveys)
    has_months_first = any(_month_first(survey.orders) for survey in surveys)
    if not has_short_years and not has_times and not has_months_first:
        return None
    usual_year = round(median(years)) if len(years) >= MIN_YEARS else USUAL_YEAR
    with_clock = all(survey.timed >= MIN_TIMED_SHARE * survey.dates for survey in surveys)
    forms = list[Callable[[str], str]]()
    for survey in surveys:
        # A table that does not show the order has that of the other one.
        shown = {separator for separator, _ in survey.orders}
        month_first = _month_first(survey.orders) | (_month_first(orders) - shown)
        table_forms = DateForms(month_first, usual_year)
        forms.append(partial(unify_date, forms=table_forms, with_clock=with_clock))
    return forms


def unify_date(text: str, forms: DateForms, *, with_clock: bool) -> str:
    """Return a date as year, month and day, with its time of day or without; another text as it is.

    >>> unify_date("11/5/98 2:05 pm", DateForms(frozenset("/")), with_clock=True)
    '1998-11-05T14:05'
    """
    moment = parse_moment(text, forms)
    if moment is None:
        return text
    day, minutes = moment
    if minutes is None or not with_clock:
        return day.isoformat()
    hours, rest = divmod(int(minutes), 60)
    return f"{day.isoformat()}T{hours:02}:{rest:02}"


def _look_at(column: Sequence[str]) -> _Survey:
    survey = _Survey()
    step = max(1, len(column) // SAMPLE_SIZE)
    for row in range(0, len(column), step):
        day, minutes = split_clock(column[row])
        date = parse_day(day)
        if date is None:
            continue
        survey.dates += 1
        survey.timed += minutes is not None
        if _FOUR_DIGITS.search(day):
            survey.full_years.append(date.year)
        else:
            survey.short_years += 1
        if match := match_day_first(day):
            first, separator, second, _ = match
            if max(first, second) > MONTHS:
                survey.orders[separator, second > MONTHS] += 1
    return survey


def _month_first(orders: Counter[tuple[str, bool]]) -> frozenset[str]:
    """Return the separators that mostly stand behind a month."""
    separators = {separator for separator, _ in orders}
    return frozenset(
        separator for separator in separators if orders[separator, True] > orders[separator, False]
    )
