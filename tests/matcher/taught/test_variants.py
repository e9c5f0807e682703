"""Variants: records whose markers of a rule differ are kept apart, others are not."""

import numpy as np
import pytest

from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.deduplication import decide
from matcher.taught.variants import RULES, VariantFinder, learn_rules
from tests.matcher.taught.tables import to_records


@pytest.mark.parametrize(
    ("rule", "left", "right", "is_variant"),
    [
        ("volume", "History of Rome, vol. 1", "History of Rome, Vol. 2", True),
        ("volume", "History of Rome, vol. II", "History of Rome, volume 2", False),
        ("volume", "Geschichte Roms Bd. 1", "Geschichte Roms, Band 3", True),
        ("volume", "History of Rome, volume two", "History of Rome, vol. 1", True),
        ("volume", "History of Rome", "History of Rome, vol. 1", False),
        ("part", "Saga part 1", "Saga, Part III", True),
        ("edition", "Statistics, 2nd edition", "Statistics, third edition", True),
        ("edition", "Statistik, 2. Auflage", "Statistics 2nd ed.", False),
        ("year", "Atlas 2019", "Atlas 2020", True),
        ("size", "Lotion 250 ml", "Lotion 0.5 l", True),
        ("size", "Lotion 500 ml", "Lotion 0.5 l", False),
        ("model", "Lamp A12", "Lamp A12s", True),
        ("model", "Lamp A12", "Lamp A12 black", False),
    ],
)
def test_rules(rule: str, left: str, right: str, is_variant: bool) -> None:
    """Each rule reads its markers in several forms."""
    finder = VariantFinder(to_records([(left,), (right,)], ("title",)), None, [ColumnKind.TEXT])
    assert finder.find(rule, np.array([[0, 1]])).tolist() == [is_variant]


def test_a_column_holds_the_marker() -> None:
    """A column that is called like the rule needs no word beside its number."""
    records = to_records([("Rome", "1"), ("Rome", "ii")], ("title", "volume"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.IDENTIFIER])
    assert finder.find("volume", np.array([[0, 1]])).all()


def test_rules_are_learnt_and_refuted() -> None:
    """A rule holds if labelled pairs confirm it; one that duplicates refute does not."""
    rows = [(f"Atlas {1900 + row // 2}",) for row in range(120)]
    finder = VariantFinder(to_records(rows, ("title",)), None, [ColumnKind.TEXT])
    pairs = np.array([(row, row + 1) for row in range(119)])
    are_variants = {rule: finder.find(rule, pairs) for rule in RULES}
    labels = np.arange(119) % 2 == 0
    alike, unlike = np.ones(119, np.float32), np.where(labels, 1, 0).astype(np.float32)
    assert learn_rules(are_variants, labels, alike, ()) == ["year"]
    # Pairs that do not look alike teach nothing about variants.
    assert learn_rules(are_variants, labels, unlike, ()) == []
    assert learn_rules(are_variants, ~labels, alike, ("year",)) == []


def test_volumes_are_not_merged() -> None:
    """No two volumes end in one group, however alike the records are."""
    rows = [
        (f"The complete history of {place}, vol. {volume}", "Gibbon, Edward", "London")
        for place in ("Rome", "Athens", "Carthage", "Byzantium")
        for volume in (1, 1, 2, 2)
    ]
    decision = decide(to_records(rows, ("title", "author", "place")), None)
    volumes = [{rows[row][0][-1] for row in group} for group in decision.groups]
    assert volumes
    assert all(len(members) == 1 for members in volumes)


def test_an_edition_beside_a_record_without_one() -> None:
    """An edition that only one record names is another thing if the years differ."""
    rows = [("Statistics", "1990"), ("Statistics, 2nd edition", "1994"), ("Statistics 2nd ed.", "")]
    records = to_records(rows, ("title", "year"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.NUMBER])
    assert finder.find("edition", np.array([[0, 1], [0, 2], [1, 2]])).tolist() == [
        True,
        False,
        False,
    ]
