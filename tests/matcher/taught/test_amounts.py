"""Amounts of a column in one form: it tells thousands from decimals, and which unit is usual."""

import pytest

from matcher.taught.columns.amounts import unify_amount
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.unified import unify_values
from tests.matcher.taught.tables import to_records

CASES = [
    ("price with a point", "€ 17.787", 20_000.0, "€ 17787"),
    ("price with a comma", "17,787", 20_000.0, "17787"),
    ("weight with a point", "1.046 kg", 9.0, "1.046 kg"),
    ("weight with a comma", "6,852", 9.0, "6.852"),
    ("two digits", "17.78", 20_000.0, "17.78"),
    ("several separators", "1.299,90 €", 900.0, "1.299,90 €"),
    ("begins with zero", "0.125", 900.0, "0.125"),
    ("no number", "n/a", 900.0, "n/a"),
]


@pytest.mark.parametrize(
    ("name", "text", "usual", "unified"), CASES, ids=[case[0] for case in CASES]
)
def test_unify_amount(name: str, text: str, usual: float, unified: str) -> None:
    """The reading is taken that is nearer to the usual amount; other texts stay as they are."""
    assert unify_amount(text, usual) == unified


@pytest.mark.parametrize(("plain", "unified"), [(12, "17787"), (3, "17.787")])
def test_a_column_needs_amounts_of_one_reading(plain: int, unified: str) -> None:
    """Both sides are read by the amounts of both; where these are few, nothing is changed."""
    left = to_records([("car", "17.787"), ("car", "")], ("name", "price"))
    right = to_records([("car", f"{16_000 + row}") for row in range(plain)], ("name", "price"))
    read, other = unify_values([left, right], [ColumnKind.NAME, ColumnKind.NUMBER])
    assert [*read.fields[1]] == [unified, ""]
    assert read.texts[0] == f"car {unified}"
    assert [*other.fields[1]] == [*right.fields[1]]


UNITS = [
    ("grams among kilograms", "10170 g", "10170"),
    ("kilograms", "10.17 kg", "10170"),
    ("a comma that is a decimal one", "7,076 kg", "7076"),
    ("without a unit", "3.62", "3620"),
    ("milligrams", "500 mg", "0.5"),
    ("a unit of another kind", "3 l", "3"),
    ("an unknown unit", "3 Stk", "3"),
    ("a word before", "about 3 kg", "3000"),
    ("no number", "box of 3 kg", "box of 3 kg"),
    ("nothing", "", ""),
]


@pytest.mark.parametrize(("name", "text", "unified"), UNITS, ids=[case[0] for case in UNITS])
def test_a_column_that_mixes_units(name: str, text: str, unified: str) -> None:
    """Its amounts are numbers in the base unit; one without a unit has the usual one."""
    assert _unify_among_kilograms(text) == unified


def test_sizes_are_converted_by_each_length() -> None:
    """8 x 16 x 1 cm are 80 x 160 x 10 mm, and two packs of 3 kg are 6 kg."""
    sizes = [
        "8.1 x 16 x 1.3 cm",
        "81x160x13 mm",
        *(f"{row}x9x4 mm" for row in range(11, 30)),
        *(f"{row}x9x4 cm" for row in range(11, 22)),
    ]
    records = to_records([("part", size) for size in sizes], ("name", "size"))
    [read] = unify_values([records], [ColumnKind.NAME, ColumnKind.NUMBER])
    assert [*read.fields[1]][:2] == ["168480", "168480"]
    assert _unify_among_kilograms("2 x 3 kg") == "6000"


def _unify_among_kilograms(text: str) -> str:
    """Return an amount as it is in a column of kilograms and grams."""
    weights = [
        text,
        *(f"{row}.25 kg" for row in range(5, 25)),
        *(f"{row}00 g" for row in range(20, 31)),
    ]
    records = to_records([("box", weight) for weight in weights], ("name", "weight"))
    [read] = unify_values([records], [ColumnKind.NAME, ColumnKind.NUMBER])
    unified, other, *_ = read.fields[1]
    assert other == "5250"
    return unified


def test_a_column_with_one_unit_stays() -> None:
    """Amounts in one unit, or with a few in another one, are left as they are."""
    for grams in (0, 5):
        weights = [f"{row} kg" for row in range(1, 30)] + ["500 g"] * grams
        records = to_records([("box", weight) for weight in weights], ("name", "weight"))
        [read] = unify_values([records], [ColumnKind.NAME, ColumnKind.NUMBER])
        assert [*read.fields[1]] == weights
