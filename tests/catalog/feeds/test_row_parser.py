"""A long feed is parsed by a second process, with the result of one process alone."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from catalog.errors import FeedError
from catalog.feeds import feed_reader, sources
from catalog.feeds.feed_reader import FeedReader
from catalog.links.plain_links import UrlCleaner
from catalog.runtime import process_server
from catalog.runtime.progress import no_progress
from url_cleaner.cleaner import CleanedUrl, clean_url

HOME = "https://shop.example/"


def lines() -> list[str]:
    """JSON Lines with slips, the same id again, and columns and price formats that come late."""
    rows: list[str] = []
    for number in range(900):
        offer: dict[str, Any] = {
            "id": number if number % 97 else 5,
            "title": f"Tin mug {number}",
            "link": f"https://shop.example/p/{number}?utm_source=x",
            "price": f"{number % 90 + 10}.990 EUR",
            "gtin": f"40063813339{number % 100:02}",
        }
        if number > 400:
            offer["sale_price"] = f"{number % 9 + 1}.50 EUR"
        if number > 600:
            offer |= {"brand": "Lumo", f"attribute {number}": "x"}
        rows.append(json.dumps(offer) if number % 61 else "{broken")
    return rows


def read(path: Path, cleaner: UrlCleaner | None = None) -> tuple[Any, ...]:
    """Read a feed; returns its offers, refused rows and counts."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        reader = FeedReader(str(path), HOME, {}, spool, no_progress, cleaner)
        with sources.open_source(str(path), "auto", reader.note, no_progress) as rows:
            reader.read_all(rows)
        return list(reader.read_spool()), reader.bad_rows, reader.summary(), reader.field_columns


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A feed of 900 rows."""
    path = tmp_path / "feed.jsonl"
    path.write_text("\n".join(lines()) + "\n")
    return path


@pytest.fixture
def short_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process from the thirtieth row on."""
    monkeypatch.setattr(feed_reader, "SAMPLE_SIZE", 10)
    monkeypatch.setattr(feed_reader, "ROWS_ALONE", 20)


def test_same_result(feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offers, refused rows and counts do not depend on the number of processes."""
    monkeypatch.setattr(feed_reader, "SAMPLE_SIZE", 10)
    alone = read(feed)
    monkeypatch.setattr(feed_reader, "ROWS_ALONE", 20)
    assert read(feed) == alone
    _, bad_rows, summary, _ = alone
    assert summary.read == 900 == summary.kept + summary.bad
    assert summary.bad == len(bad_rows)


@pytest.mark.usefixtures("short_start")
def test_a_cleaner_that_cannot_be_sent(feed: Path) -> None:
    """Compiled filter lists stay in their process, which parses all rows itself."""

    def clean(link: str) -> CleanedUrl:
        return clean_url(link, home=HOME)

    assert read(feed, clean) == read(feed)


def end_process(link: str) -> CleanedUrl:
    """Clean a link, and end the process if it is the second one."""
    if process_server.request_socket is not None:
        os._exit(1)
    return clean_url(link, home=HOME)


@pytest.mark.usefixtures("short_start")
def test_the_process_ends(feed: Path) -> None:
    """The import fails with one line."""
    with pytest.raises(FeedError, match="process that parses the feed's rows has ended"):
        read(feed, end_process)
