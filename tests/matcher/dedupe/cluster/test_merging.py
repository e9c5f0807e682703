"""Merged records: one value of a simple field, all values of a compound one, each with its sources."""

import pytest

from catalog.feeds.rows import Row
from matcher.dedupe.cluster.merging import Preference, merge_rows


def _numbered(texts: list[dict[str, list[str]]]) -> list[Row]:
    return [Row(line, row) for line, row in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([{"ean": ["1"]}, {"ean": []}], {"ean": ["1"]}),
        ([{"title": ["old"]}, {"title": ["new"]}], {"title": ["old"]}),
        ([{"title": ["old"]}, {"title": ["new"]}, {"title": ["new"]}], {"title": ["new"]}),
        ([{"title": ["Old"]}, {"title": ["a mug"]}, {"title": ["A  Mug"]}], {"title": ["a mug"]}),
        ([{"tag": ["a", "b"]}, {"tag": ["c"]}, {"tag": ["A"]}, {}], {"tag": ["a", "b", "c"]}),
        ([{"a": ["1"]}, {"b": ["2"]}], {"a": ["1"], "b": ["2"]}),
    ],
)
def test_values(rows: list[dict[str, list[str]]], merged: dict[str, list[str]]) -> None:
    """Compound fields are united; a simple one takes the most frequent value, then the oldest."""
    assert merge_rows(_numbered(rows)).texts == merged


def test_sources() -> None:
    """Each value has as sources the records that have it, in any spelling."""
    rows = [
        {"title": ["old"], "tag": ["x"]},
        {"title": ["New"]},
        {"title": ["new"], "tag": ["x", "y"]},
    ]
    merged = merge_rows(_numbered(rows))
    assert merged.texts["title"] == ["New"]
    assert merged.sources == {"title": [1, 2], "tag": [0, 2]}


@pytest.mark.parametrize(
    ("preference", "title"),
    [("confirmed", "mug"), ("complete", "red mug, 300 ml"), ("oldest", "red cup")],
)
def test_preferences(preference: Preference, title: str) -> None:
    """A simple field takes the most frequent, the longest, or the oldest record's value."""
    rows = _numbered([{"title": [text]} for text in ("red cup", "mug", "red mug, 300 ml", "Mug")])
    assert merge_rows(rows, preference).texts == {"title": [title]}
