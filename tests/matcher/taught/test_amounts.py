"""Amounts with one separator before three digits: the column tells whether these are thousands."""

import pytest

from matcher.taught.columns.amounts import unify_amount, unify_amounts
from matcher.taught.columns.kinds import ColumnKind
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
    read, other = unify_amounts([left, right], [ColumnKind.NAME, ColumnKind.NUMBER])
    assert [*read.fields[1]] == [unified, ""]
    assert read.texts[0] == f"car {unified}"
    assert [*other.fields[1]] == [*right.fields[1]]
