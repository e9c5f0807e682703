"""Scripts: Cyrillic and Greek letters are compared as Latin ones, others stay."""

import pytest

from matcher.taught.columns.scripts import romanise, romanise_records
from matcher.taught.deduplication import decide
from tests.matcher.taught.tables import to_records


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Часть 2", "Chast' 2"),
        ("Σωκράτης", "Sokratis"),
        ("Crème brûlée, 3½", "Crème brûlée, 3½"),
        ("東京 Курс", "東京 Kurs"),
        ("", ""),
    ],
)
def test_letters(text: str, expected: str) -> None:
    """Only the letters of these two scripts change."""
    assert romanise(text) == expected


def test_a_table_in_one_script_stays_the_same_object() -> None:
    """Nothing is copied where nothing changes."""
    records = to_records([("Über Öl", "1"), ("東京", "2")], ("title", "number"))
    assert romanise_records(records) is records


def test_one_book_in_two_scripts() -> None:
    """A table of books in Cyrillic letters and transliterated: each finds its twin."""
    subjects = {
        "геологии": "geologii",
        "физики": "fiziki",
        "истории искусства": "istorii iskusstva",
        "химии": "khimii",
        "философии": "filosofii",
        "металлургии": "metallurgii",
        "педагогики": "pedagogiki",
        "астрономии": "astronomii",
    }
    kinds = {"Курс": "Kurs", "Основы": "Osnovy", "Словарь": "Slovar"}
    rows = list[tuple[str, ...]]()
    for number, (subject, latin_subject) in enumerate(subjects.items()):
        for place, (kind, latin_kind) in enumerate(kinds.items()):
            year = str(1950 + 3 * number + 7 * place)
            rows.append((f"{kind} {subject}", "Мещерский, С. П.", year))
            rows.append((f"{latin_kind} {latin_subject}", "Meshcherskii, Sergei", year))
    decision = decide(to_records(rows, ("title", "author", "year")), None)
    found = set(zip(decision.result.left.tolist(), decision.result.right.tolist(), strict=True))
    twins = {(row, row + 1) for row in range(0, len(rows), 2)}
    assert len(found & twins) >= 0.9 * len(twins)
    assert len(found - twins) <= 0.1 * len(twins)
