"""Review decisions as JSON Lines: exported, and imported as one step.

Each line is an object with `url`, `decision` (confirm, reject or ignore), `note`, `reviewer` and
`reviewed_at`; all but the first two may be absent.
"""

import codecs
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from sqlmodel import Session

from catalog.errors import BadUrl, StoreError, UsageError
from catalog.models import ReviewStep, Shop, utc_now
from catalog.storage.decisions.reviews import ReviewEntry, read_reviews
from catalog.storage.store import Store, lock_shop
from scout.inspect.review_decisions import (
    IMPORT_ACTION,
    check_note,
    last_run_id,
    parse_decision,
    record_entries,
    resolve_urls,
    reviewer_name,
)
from scout.inspect.review_lists import action_name
from scout.pipeline import run_records
from url_cleaner.cleaner import clean_url

# Bounds against hostile input: bytes of a line, lines of a file, problems named one by one.
_MAX_LINE_BYTES = 64 * 1024
_MAX_LINES = 2_000_000
_MAX_PROBLEMS = 20
# A later time is in the future, even where the clocks of two machines differ.
_CLOCK_TOLERANCE = timedelta(days=1)


@dataclass
class ImportResult:
    """Counts of an import; `problems` names the first lines that could not be read."""

    imported: int = 0
    unchanged: int = 0
    bad: int = 0
    problems: list[str] = field(default_factory=list)

    def add_problem(self, place: str, reason: str) -> None:
        """Count a line that cannot be read."""
        self.bad += 1
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(f"{place}: {reason}")


def export_rows(store: Store, shop: Shop) -> Iterator[dict[str, Any]]:
    """Yield a shop's decisions as an export has them, by URL."""
    with store.read() as session:
        reviews = read_reviews(session, run_records.shop_key(shop))
    for review in sorted(reviews, key=lambda review: review.url):
        yield {
            "url": review.url,
            "decision": action_name(review.decision),
            "note": review.note,
            "reviewer": review.reviewer,
            "reviewed_at": review.reviewed_at.isoformat(),
        }


def write_decisions(store: Store, shop: Shop, path: Path) -> int:
    """Write a shop's decisions to a file, complete or not at all; returns their number.

    Raises StoreError if it cannot be written.
    """
    number = 0
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for row in export_rows(store, shop):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                number += 1
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return number


def import_decisions(store: Store, shop: Shop, path: Path, reviewer: str | None) -> ImportResult:
    """Import the decisions of a file as one step; the newer of two decisions on an offer stays.

    Raises UsageError if the file cannot be read.
    """
    result = ImportResult()
    entries: dict[str, ReviewEntry] = {}
    for place, line in _read_lines(path):
        try:
            entry = _parse_line(shop, line)
        except (UsageError, BadUrl) as error:
            result.add_problem(place, str(error))
            continue
        known = entries.get(entry.url)
        if known is not None:
            result.unchanged += 1
        if known is None or known.reviewed_at <= entry.reviewed_at:
            entries[entry.url] = entry
    if not entries:
        return result
    run_id = last_run_id(store, shop)
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        imported = _newer_entries(session, shop, run_id, entries)
        result.imported = len(imported)
        result.unchanged += len(entries) - len(imported)
        if imported:
            step = ReviewStep(
                shop_id=run_records.shop_key(shop),
                action=IMPORT_ACTION,
                selection=path.name,
                reviewer=reviewer,
            )
            record_entries(session, shop, run_id, step, imported)
    return result


def _newer_entries(
    session: Session, shop: Shop, run_id: int | None, entries: Mapping[str, ReviewEntry]
) -> dict[str, ReviewEntry]:
    """Return the entries newer than the present decisions, by the URL to store."""
    shop_id = run_records.shop_key(shop)
    keys = resolve_urls(session, shop, run_id, list(entries))
    stored = read_reviews(session, shop_id, [*entries, *keys.values()])
    reviewed_at = {review.url: review.reviewed_at for review in stored}
    newer: dict[str, ReviewEntry] = {}
    for url, entry in entries.items():
        # A decision stored under another URL of the offer is replaced there.
        key = url if url in reviewed_at else keys[url]
        known_at = newer[key].reviewed_at if key in newer else reviewed_at.get(key)
        if known_at is None or known_at < entry.reviewed_at:
            newer[key] = replace(entry, url=key)
    return newer


def _read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file that are not empty, each with its place."""
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
            yield from _lines_of(file, path.name)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _lines_of(file: BinaryIO, name: str) -> Iterator[tuple[str, bytes]]:
    number = 0
    # One byte more than a line may have shows that it has too many.
    while line := file.readline(_MAX_LINE_BYTES + 1):
        number += 1
        if number > _MAX_LINES:
            raise UsageError(f"{name} has more than {_MAX_LINES} lines")
        end = line
        while len(end) > _MAX_LINE_BYTES and not end.endswith(b"\n"):
            end = file.readline(_MAX_LINE_BYTES + 1)
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            yield f"{name}, line {number}", line


def _parse_line(shop: Shop, line: bytes) -> ReviewEntry:
    """Parse a line of an export. Raises UsageError, BadUrl."""
    if len(line) > _MAX_LINE_BYTES:
        raise UsageError(f"the line has more than {_MAX_LINE_BYTES} bytes")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("the line is not JSON") from error
    if not isinstance(row, dict):
        raise UsageError("the line is not a JSON object")
    url, decision = _text(row, "url"), _text(row, "decision")
    if url is None or decision is None:
        raise UsageError("url and decision are required")
    clean_url(url, home=shop.url)
    name = _text(row, "reviewer")
    return ReviewEntry(
        url=url,
        decision=parse_decision(decision),
        reviewed_at=_parse_time(_text(row, "reviewed_at")),
        note=check_note(_text(row, "note")),
        reviewer=None if name is None else reviewer_name(name),
    )


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} is not a text")
    return value


def _parse_time(text: str | None) -> datetime:
    """Parse the time of a decision, by default now; without an offset it is in UTC."""
    now = utc_now()
    if text is None:
        return now
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"reviewed_at {text[:40]!r} is no time") from error
    if moment > now + _CLOCK_TOLERANCE:
        raise UsageError(f"reviewed_at {text[:40]!r} is in the future")
    return moment
