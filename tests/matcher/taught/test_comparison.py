"""Comparison of candidate pairs, of a whole table or in parts."""

import numpy as np
import pytest

from matcher.array_types import Pairs
from matcher.dedupe.base.records import Records
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features import comparison as comparison_module
from matcher.taught.features.comparison import Comparison
from matcher.taught.features.feature import NEVER_LOWERS, Feature
from matcher.taught.features.scalars import DIGITS_AGREE
from matcher.taught.features.swapped_values import SWAPPED_VALUES
from tests.matcher.taught.tables import make_goods, to_records

COLUMNS = ("title", "maker", "price", "code", "text", "note", "seller", "buyer")
KINDS = [
    ColumnKind.TEXT,
    ColumnKind.CATEGORY,
    ColumnKind.NUMBER,
    ColumnKind.IDENTIFIER,
    ColumnKind.LONG_TEXT,
    ColumnKind.IGNORED,
    ColumnKind.NAME,
    ColumnKind.NAME,
]


def _goods() -> Records:
    """Return goods with a column of each sort, some of them empty."""
    titles, makers, prices = make_goods()[0].fields
    rows: list[tuple[str, ...]] = []
    for row, (title, maker, price) in enumerate(zip(titles, makers, prices, strict=True)):
        code = f"C{100 + row // 2}" if row % 3 else ""
        text = f"The {title} by {maker} is sold with a case and two spare parts."
        people = ("Ann Lee", "Bo Ash") if row % 2 else ("Bo Ash", "Ann Lee")
        rows.append((f"{title}, volume {row % 4}", maker, price, code, text, "ignored", *people))
    return to_records(rows, COLUMNS)


def _pairs(left_count: int, right_count: int, is_self_join: bool) -> Pairs:
    """Return some pairs of few of the records."""
    drawn = np.random.default_rng(0).integers(0, (left_count // 3, right_count // 3), (60, 2))
    if is_self_join:
        drawn = np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1)
    return np.unique(drawn, axis=0).astype(np.int64)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("0310/123-4567", "+49 310 1234567", 1),
        ("R-2024-00042", "RE 2024 00042", 1),
        ("#0815", "No. 815", 1),
        ("B 771119", "229102", 0),
        # One digit apart: an error, or the next number.
        ("R-2024-00042", "R-2024-00043", np.nan),
        # A short number stands in many a longer one by chance.
        ("1234", "5123477", 0),
        ("0310/123-4567", "", np.nan),
        ("0310/123-4567", "unknown", np.nan),
    ],
)
def test_digits_agree_however_they_are_written(left: str, right: str, expected: float) -> None:
    """Sources leave out prefixes, and separate digits in ways of their own."""
    rows = [(left,), (right,), *((f"N-{number}",) for number in range(1_000, 1_020))]
    compared = Comparison(to_records(rows, ("number",)), None, [ColumnKind.IDENTIFIER], 3)
    place = compared.features.index(Feature("number", DIGITS_AGREE, NEVER_LOWERS))
    agree = compared.table(np.array([[0, 1]]))[0, place]
    np.testing.assert_equal(float(agree), float(expected))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("Frahn", "Lauren"), ("Lauren", "Frahn"), 1),
        # Each with an error of its own.
        (("Desllva", "Jaspe"), ("Jasper", "Desilva"), 1),
        (("Frahn", "Lauren"), ("Frahn", "Lauren"), 0),
        (("Frahn", "Lauren"), ("Frahn", "Frahn"), 0),
        (("Frahn", "Lauren"), ("Lauren", "Miller"), 0),
        (("Frahn", "Lauren"), ("Lauren", ""), np.nan),
    ],
)
def test_values_in_each_others_column(
    left: tuple[str, str], right: tuple[str, str], expected: float
) -> None:
    """A first name that was entered as the last name, and the last name as the first."""
    records = to_records([left, right], ("first", "last"))
    compared = Comparison(records, None, [ColumnKind.NAME, ColumnKind.NAME], 3)
    place = compared.features.index(SWAPPED_VALUES)
    np.testing.assert_equal(float(compared.table(np.array([[0, 1]]))[0, place]), float(expected))


@pytest.mark.parametrize("is_self_join", [True, False])
def test_parts_compare_as_the_whole_table(
    is_self_join: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features, and variants, are the same to the last bit if few records are vectorised."""
    monkeypatch.setattr(comparison_module, "PAIRS_PER_CHUNK", 7)
    goods = _goods()
    left = goods if is_self_join else goods.select(range(50))
    right = None if is_self_join else goods.select(range(50, len(goods)))
    pairs = _pairs(len(left), len(left if right is None else right), is_self_join)
    whole = Comparison(left, right, KINDS, 3)
    parts = Comparison(left, right, KINDS, 3, in_parts=True)
    table = whole.table(pairs)
    assert len(pairs) > 20
    assert table.shape == (len(pairs), len(whole.features))
    np.testing.assert_array_equal(table, parts.table(pairs))
    variants = whole.find_variants(["volume", "size"], pairs)
    assert variants["volume"].any()
    np.testing.assert_equal(parts.find_variants(["volume", "size"], pairs), variants)
