"""Feeds as shops send them: each row is read or refused with its line, and nothing is dropped."""

import tempfile
from typing import Any

import pytest

import catalog.errors
from catalog.feeds import sources
from catalog.feeds.feed_reader import FeedReader
from catalog.feeds.row_parser import OFFER_COLUMNS
from catalog.runtime.progress import no_progress
from tests.field.field_cases import FieldCase, each_case, limited_time

HOME = "https://shop.example/"
REF = OFFER_COLUMNS.index("ref")


def read(case: FieldCase) -> tuple[FeedReader, dict[str, dict[str, Any]]]:
    """Read a feed; returns its reader and its offers by id."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool, limited_time():
        reader = FeedReader(str(case.path), HOME, {}, spool, no_progress)
        with sources.open_source(str(case.path), "auto", reader.note, no_progress) as rows:
            reader.read_all(rows)
        offers = {
            offer[REF]: dict(zip(OFFER_COLUMNS, offer, strict=True))
            for offer in reader.read_spool()
        }
    return reader, offers


@each_case("feeds")
def test_feed(case: FieldCase) -> None:
    """All rows are read or refused; the values are those that the shop meant."""
    expected = case.expected
    if "error" in expected:
        with pytest.raises(getattr(catalog.errors, expected["error"])):
            read(case)
        return
    reader, offers = read(case)
    assert reader.read == reader.kept + reader.bad
    assert reader.kept == len(offers)
    assert reader.bad == len(reader.bad_rows)
    if "rows" in expected:
        assert reader.read == expected["rows"], reader.reasons
    if "refused" in expected:
        assert [row.line for row in reader.bad_rows] == expected["refused"]
        assert reader.bad or not set(expected.get("offers", offers)) ^ set(offers)
    assert set(expected.get("at_least", ())) <= set(offers)
    if "notes" in expected:
        notes = [note.partition(":")[0] for note in reader.reasons if "price like" in note]
        assert notes == expected["notes"]
    for ref, values in expected.get("offers", {}).items():
        assert {name: offers[ref][name] for name in values} == values, ref
