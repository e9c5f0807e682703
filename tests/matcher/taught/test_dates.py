"""Dates and times of day: forms of single values, and what only a column tells."""

from datetime import date

import numpy as np
import pytest

from matcher.taught.columns.dates import parse_clock, parse_date
from matcher.taught.columns.kinds import ColumnKind, detect_kind
from matcher.taught.columns.unified import unify_values
from matcher.taught.columns.values import parse_number
from matcher.taught.features.scalars import build_scalar_sides, compare_scalars
from tests.matcher.taught.tables import to_records

DATES = [
    ("day first with a time", "30.11.2020 14:30", date(2020, 11, 30)),
    ("month first with a time", "11/30/2020 2:05 PM", date(2020, 11, 30)),
    ("German time", "30.11.2020 um 14.30 Uhr", date(2020, 11, 30)),
    ("name of a month with a time", "May 3rd, 2021 at 9 am", date(2021, 5, 3)),
    ("time zone", "2021-05-01T10:00:00+02:00", date(2021, 5, 1)),
    ("two digits, this century", "01/05/24", date(2024, 5, 1)),
    ("two digits, last century", "01.05.98", date(1998, 5, 1)),
    ("exported by a database", "01-MAY-98", date(1998, 5, 1)),
    ("version", "1.2.10", None),
    ("number of a part", "12-34-56", None),
    ("time alone", "14:30", None),
    ("no month", "12 Main 98", None),
]


@pytest.mark.parametrize(("name", "text", "expected"), DATES, ids=[case[0] for case in DATES])
def test_parse_date(name: str, text: str, expected: date | None) -> None:
    """A time behind a date is passed over; years of two digits lie in 1968 to 2067."""
    assert parse_date(text) == expected


CLOCKS = [
    ("14:30", 870),
    ("14:30:30", 870.5),
    ("2:30 pm", 870),
    ("12:10 a.m.", 10),
    ("14h30", 870),
    ("14.30 Uhr", 870),
    ("24:00", None),
    ("13:00 pm", None),
    ("12:60", None),
    ("1:2", None),
]


@pytest.mark.parametrize(("text", "minutes"), CLOCKS)
def test_times_of_day_are_minutes(text: str, minutes: float | None) -> None:
    """Other texts with colons are no times."""
    assert parse_clock(text) == minutes


def test_kinds_of_columns_with_dates_and_times() -> None:
    """Dates with times are dates, times and durations are numbers."""
    assert detect_kind("at", [["01/05/2024 14:30", "13/05/2024 09:00"]]) is ColumnKind.DATE
    assert detect_kind("begins", [["14:30", "9:15", "18:00"]]) is ColumnKind.NUMBER
    assert parse_number("14:30") == parse_number("14.30 Uhr")


# Name, dates of the left and of the right table, and those of both in one form.
COLUMNS = [
    (
        "months first on the left",
        ["11/05/2020", "11/30/2020"],
        ["05/11/2020", "30/11/2020"],
        ["2020-11-05", "2020-11-30"],
        ["2020-11-05", "2020-11-30"],
    ),
    (
        "the other table shows the order",
        ["11/05/2020", "n/a"],
        ["11/30/2020", ""],
        ["2020-11-05", "n/a"],
        ["2020-11-30", ""],
    ),
    (
        "each separator has its order",
        ["11/30/2020", "05.11.2020"],
        ["2020-11-05", ""],
        ["2020-11-30", "2020-11-05"],
        ["2020-11-05", ""],
    ),
    (
        "years of two digits near the others",
        ["05.11.25", "05.11.58"],
        [f"19{year}-11-05" for year in range(40, 52)],
        ["1925-11-05", "1958-11-05"],
        [f"19{year}-11-05" for year in range(40, 52)],
    ),
    (
        "times of most dates",
        ["5.11.2020 14:30", "6.11.2020"],
        ["2020-11-05T14:30:00Z", "2020-11-06 00:00"],
        ["2020-11-05T14:30", "2020-11-06"],
        ["2020-11-05T14:30", "2020-11-06"],
    ),
    (
        "times of one table",
        ["5.11.2020", "6.11.2020"],
        ["2020-11-05 14:30", "2020-11-06 12:00"],
        ["2020-11-05", "2020-11-06"],
        ["2020-11-05", "2020-11-06"],
    ),
    (
        "read rightly one by one",
        ["05.11.2020", "30.11.2020"],
        ["2020-11-05", "Nov. 2020"],
        ["05.11.2020", "30.11.2020"],
        ["2020-11-05", "Nov. 2020"],
    ),
]


@pytest.mark.parametrize(
    ("name", "left", "right", "unified_left", "unified_right"),
    COLUMNS,
    ids=[case[0] for case in COLUMNS],
)
def test_dates_of_two_tables_in_one_form(
    name: str,
    left: list[str],
    right: list[str],
    unified_left: list[str],
    unified_right: list[str],
) -> None:
    """The column tells days from months and centuries, and whether times count."""
    sides = [to_records([("x", day) for day in days], ("name", "day")) for days in (left, right)]
    unified = unify_values(sides, [ColumnKind.NAME, ColumnKind.DATE])
    assert [[*side.fields[1]] for side in unified] == [unified_left, unified_right]


def test_times_of_one_day_are_compared() -> None:
    """Two times of one day are not equal, and less than a day apart."""
    days = ["2024-05-01T09:00", "2024-05-01T15:00", "2024-05-01T09:00"]
    sides = build_scalar_sides(ColumnKind.DATE, days, None)
    other, same = compare_scalars(ColumnKind.DATE, sides, np.array([0, 0]), np.array([1, 2]))
    assert other[0] == 0
    assert same[0] == 1
    assert 0 < other[3] < same[0]
    assert same[3] == 0
