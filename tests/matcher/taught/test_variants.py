"""Variants: records whose markers of a rule differ are kept apart, others are not."""

import numpy as np
import pytest

from catalog.runtime.limits.processor_time import ProcessorTimeLimit
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.deduplication import decide
from matcher.taught.model.explain import explain_pairs
from matcher.taught.variants.markers import RULES, read_last_numerals
from matcher.taught.variants.rules import (
    DIFFERENT,
    MARKED_ONCE,
    SAME,
    VariantFinder,
    editions_are_named,
    learn_rules,
)
from tests.matcher.taught.tables import to_records


@pytest.mark.parametrize(
    ("rule", "left", "right", "is_variant"),
    [
        ("volume", "History of Rome, vol. 1", "History of Rome, Vol. 2", True),
        ("volume", "History of Rome, vol. II", "History of Rome, volume 2", False),
        ("volume", "Geschichte Roms Bd. 1", "Geschichte Roms, Band 3", True),
        ("volume", "History of Rome, volume two", "History of Rome, vol. 1", True),
        ("volume", "History of Rome", "History of Rome, vol. 1", False),
        ("volume", "Histoire de Rome, tome III", "Histoire de Rome, T. 3", False),
        ("volume", "Geschichte Roms, 2. Band", "Geschichte Roms, dritter Band", True),
        ("volume", "History of Rome, volume the second", "History of Rome, 2nd volume", False),
        ("volume", "History of Rome, vol. 1-3", "History of Rome, vol. 1", True),
        ("volume", "History of Rome in 3 volumes", "History of Rome, vol. 1", False),
        ("volume", "History of Rome, vol. 2", "History of Rome, Part 1", True),
        ("volume", "History of Rome, vol. 2", "History of Rome, Teil 2", False),
        ("volume", "On finite groups II", "On finite groups (III)", True),
        ("volume", "On finite groups II. 3rd edition", "On finite groups, part 2", False),
        ("volume", "On finite groups 1968", "On finite groups 2", False),
        ("volume", "Saga vol. 1, part 2", "Saga, part 2", False),
        ("part", "Saga part 1", "Saga, Part III", True),
        ("part", "Sage, 2. Teil", "Sage, Teil II", False),
        ("edition", "Statistics, 2nd edition", "Statistics, third edition", True),
        ("edition", "Statistik, 2. Auflage", "Statistics 2nd ed.", False),
        (
            "edition",
            "Statistik, 2., verb. und erw. Auflage",
            "Statistics, second revised ed.",
            False,
        ),
        ("edition", "Statistics, 2nd revised edition", "Statistics, 3rd revised edition", True),
        ("edition", "Statistique, 2e éd.", "Статистика, 3-е изд., испр. и доп.", True),
        ("edition", "Statistics, ed. 2", "Statistics, 2nd ed. 3 volumes", False),
        ("edition", "Zoom 18-55 ED 3.5-5.6", "Zoom 18-105 ED 4.5", False),
        ("edition", "Kurs fiziki, Izd. 4-e", "Kurs fiziki, 3-e izd., dop.", True),
        ("edition", "Kurs fiziki, 2-e izd.", "Курс физики, Изд. 2-е", False),
        ("volume", "Kurs fiziki, Tom 3", "Kurs fiziki, tom 2", True),
        ("volume", "Geschichte Roms, Bde. 1 bis 3", "Geschichte Roms, Bd. 2", True),
        ("part", "Kurs fiziki, Ch. 1", "Kurs fiziki (Chast' 2)", True),
        ("part", "Histoire de Rome, t. 2, fasc. 2", "Histoire de Rome, 2. Bd., 1. Halbbd.", True),
        ("part", "Histoire de Rome, 1re partie", "Histoire de Rome. 2e partie", True),
        ("part", "Geschichte Roms, Bd. 2,1", "Geschichte Roms, Band II, 2. Teil", True),
        ("part", "Geschichte Roms, Bd. II/2", "Geschichte Roms, Vol. 2, pt. 2", False),
        ("part", "Atlas, vol. 12, no. 3", "Atlas, vol. 12.1999", False),
        ("edition", "Storia di Roma, VI ed.", "Storia di Roma, 6. Auflage", False),
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


@pytest.mark.parametrize(
    "text",
    [
        "1 " + "rev" * 330,
        "2nd " + "rev. " * 190,
        "v. " * 330,
        "vi " * 330,
        "i. rev. " * 120,
        "v 1." * 250,
        " " * 990 + "ed",
        "1," * 500,
        "a (" * 330,
    ],
)
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    """Words of an edition without its name, or names without numbers, cost no more than others."""
    with ProcessorTimeLimit(1):
        for rule in RULES.values():
            assert len(rule.read(text)) < 2
        assert read_last_numerals(to_records([(text,)], ("title",)), [ColumnKind.TEXT])


@pytest.mark.parametrize(
    ("rule", "left", "right", "is_variant"),
    [
        ("volume", "1", "ii", True),
        ("volume", "tome III", "3", False),
        ("volume", "Vol. 12, no. 3", "12", False),
        ("volume", "VI : Letters 1890-1905", "v.6", False),
        ("volume", "Part III", "3", False),
        ("volume", "Index", "3", False),
        ("edition", "Studienausgabe", "2nd ed.", False),
        ("edition", "sixième édition", "6. Aufl.", False),
        ("edition", "2nd", "second edition", False),
        ("size", "42", "43", True),
        ("size", "XL", "xl", False),
        ("size", "500 ml", "0.5 l", False),
    ],
)
def test_a_column_holds_the_marker(rule: str, left: str, right: str, is_variant: bool) -> None:
    """A column that is called like the rule needs no word beside its value."""
    records = to_records([("Rome", left), ("Rome", right)], ("title", rule))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.IDENTIFIER])
    assert finder.find(rule, np.array([[0, 1]])).tolist() == [is_variant]


@pytest.mark.parametrize("column", ["vintage", "year"])
def test_wines_of_two_vintages(column: str) -> None:
    """Other years are other things by the name of the column, or as each is on two records."""
    rows = [
        (f"{name} {grape}", f"Domaine {name}", year)
        for name in ("Aubrac", "Belmont", "Corvin", "Delphi", "Estrel", "Fontane", "Gironde")
        for grape in ("Riesling", "Syrah")
        for year in ("2015", "2018")
        for _ in range(2)
    ]
    decision = decide(to_records(rows, ("name", "producer", column)), None)
    years = [row[2] for row in rows]
    pairs = zip(decision.result.left.tolist(), decision.result.right.tolist(), strict=True)
    found = [years[left] == years[right] for left, right in pairs]
    assert found.count(True) >= len(rows) / 2
    assert found.count(False) == 0


@pytest.mark.parametrize("year", ["n.d.", "ca", "1-3", "xii", "٣٤", "9" * 400, "c1986", ""])
def test_odd_years(year: str) -> None:
    """A year that cannot be read keeps nothing apart, and breaks nothing."""
    records = to_records(
        [("Statistics, 2nd edition", year), ("Statistics", "1986")], ("title", "year")
    )
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.YEAR])
    for rule in ("edition", "year", "first edition"):
        assert len(finder.find(rule, np.array([[0, 1]]))) == 1


def test_numbers_of_a_part_and_of_its_journal() -> None:
    """A part of an article stands in a volume of a journal; that volume is no part of it."""
    rows = [("On graphs II", "43"), ("On graphs, part 2", ""), ("On graphs III", "43")]
    records = to_records(rows, ("title", "volume"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.NUMBER])
    assert finder.find("volume", np.array([[0, 1], [1, 2]])).tolist() == [False, True]


def test_parts_in_a_column_of_volumes_and_numbers_of_a_series() -> None:
    """`2.1` is a part of volume 2; the number within a series says nothing about the volume."""
    rows = [("Rome", "2.1", "Atlas, no. 7"), ("Rome", "Bd. 2, T. 2", ""), ("Rome", "II, 1", "")]
    records = to_records(rows, ("title", "volume", "series"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT] * 3)
    assert finder.find("part", np.array([[0, 1], [0, 2]])).tolist() == [True, False]
    assert not finder.find("volume", np.array([[0, 1], [0, 2]])).any()


def test_a_column_of_years_is_read_whatever_it_is_called() -> None:
    """A later edition and a record of another year that names none are two editions."""
    rows = [("Statistics, 2nd edition", "1986"), ("Statistics", "1979"), ("Statistics", "1986")]
    records = to_records(rows, ("title", "date"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.YEAR])
    assert finder.find("edition", np.array([[0, 1], [0, 2]])).tolist() == [True, False]


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


@pytest.mark.parametrize("has_two_tables", [False, True])
def test_a_record_that_may_be_of_several_volumes(has_two_tables: bool) -> None:
    """It is kept apart from all of them; one that is like a single volume is not."""
    unnamed = to_records([("Rome",), ("Athens",), ("Gaul II",)], ("title",))
    named = to_records(
        [("Rome, vol. 1",), ("Rome, part 2",), ("Athens, vol. 1",), ("Gaul, vol. 2",)], ("title",)
    )
    pairs = np.array([(0, 0), (0, 1), (1, 2), (2, 3)])
    finder = VariantFinder(unnamed, named, [ColumnKind.TEXT])
    if not has_two_tables:
        titles = [*unnamed.fields[0], *named.fields[0]]
        both = to_records([(title,) for title in titles], ("title",))
        finder = VariantFinder(both, None, [ColumnKind.TEXT])
        pairs = pairs + np.array([0, 3])
    assert finder.find_unnamed_volumes(pairs).tolist() == [True, True, False, False]


def test_a_waterfall_counts_markers() -> None:
    """Without labels, that both records name one volume or edition is evidence, and is shown."""
    decision = decide(to_records(_books(is_always_named=True), ("title", "author", "year")), None)
    rows = range(len(decision.odds))
    waterfall = explain_pairs(decision.model, decision.comparison, decision.scored, rows)
    assert waterfall.total() == pytest.approx(decision.model.log_odds(decision.scored), abs=0.05)
    assert np.abs(waterfall.weights[:, waterfall.groups.index("variants")]).max() > 0


def test_an_edition_beside_a_record_without_one() -> None:
    """An edition that only one record names is another thing if the years differ."""
    rows = [
        ("Statistics", "1990"),
        ("Statistics, 2nd edition", "1994"),
        ("Statistics 2nd ed.", ""),
        ("Statistics", "c1993"),
        ("Statistics, first edition", "1960"),
    ]
    records = to_records(rows, ("title", "year"))
    finder = VariantFinder(records, None, [ColumnKind.TEXT, ColumnKind.YEAR])
    pairs = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [1, 4], [0, 4]])
    # A year may be wrong by one, and that it is the first edition is rarely said.
    expected = [True, False, False, False, True, False]
    assert finder.find("edition", pairs).tolist() == expected


def test_one_wrong_label_refutes_no_rule() -> None:
    """Labels are wrong at times, and so are volumes: the rule stays until two pairs speak against it."""
    alike, labels = np.ones(20, np.float32), np.arange(20) < 2
    flagged = np.zeros(20, bool)
    flagged[0] = True
    assert learn_rules({"volume": flagged}, labels, alike, ("volume",)) == ["volume"]
    flagged[1] = True
    assert learn_rules({"volume": flagged}, labels, alike, ("volume",)) == []


@pytest.mark.parametrize("named_once", [1, 30])
def test_editions_that_are_named_once(named_once: int) -> None:
    """A pair without years is of two editions if most pairs with an edition in one record are."""
    edition = np.full(120, MARKED_ONCE, np.float32)
    year = np.full(120, DIFFERENT, np.float32)
    year[:named_once] = SAME
    assert editions_are_named(edition, year, np.ones(120, bool)) == (named_once == 1)


def _books(is_always_named: bool) -> list[tuple[str, str, str]]:
    """Return books in two editions: two records of each, and one of the first without its year."""
    rows = list[tuple[str, str, str]]()
    for number, place in enumerate(
        ("Rome", "Athens", "Carthage", "Byzantium", "Persia", "Gaul") * 2
    ):
        title = f"The {('complete', 'short')[number // 6]} history of {place}"
        later = title if number % 2 and not is_always_named else f"{title}, 2nd edition"
        rows += [(title, "Gibbon, Edward", str(1800 + number)), (title, "Gibbon, E.", "")]
        rows += [(f"{title}, second ed.", "Gibbon, E.", str(1850 + number))]
        rows += [(later, "Gibbon, Edward", str(1850 + number))]
    return rows


@pytest.mark.parametrize("is_always_named", [True, False])
def test_a_first_edition_without_a_year(is_always_named: bool) -> None:
    """Where all later editions are named, a record without edition and year is no later one."""
    rows = _books(is_always_named)
    decision = decide(to_records(rows, ("title", "author", "year")), None)
    assert ("first edition" in decision.model.summary["variants"]) == is_always_named
    if is_always_named:
        for group in decision.groups:
            assert len({"ed" in rows[row][0].split(",")[-1] for row in group}) == 1


@pytest.mark.parametrize(
    ("left", "right", "is_variant"),
    [
        (("Statistics", ""), ("Statistics, 2nd ed.", "1994"), True),
        (("Statistics", "1994"), ("Statistics, 2nd ed.", "1994"), False),
        (("Statistics", ""), ("Statistics, 1st ed.", "1990"), False),
        (("Statistics", ""), ("Statistics", "1990"), False),
    ],
)
def test_first_editions(left: tuple[str, str], right: tuple[str, str], is_variant: bool) -> None:
    """A record without an edition is another thing than a later edition of another year."""
    finder = VariantFinder(
        to_records([left, right], ("title", "year")), None, [ColumnKind.TEXT, ColumnKind.NUMBER]
    )
    assert finder.find("first edition", np.array([[0, 1]])).tolist() == [is_variant]
