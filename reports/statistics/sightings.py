"""Sightings: when an offer was first and last seen, and since when it has its present verdict.

They come from the stored findings of the shop's earlier finished runs. An offer is recognised by
any of its URLs. The time of a sighting is that of the fetch of the offer's page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select

from catalog.models import Run, RunState, StoredFinding, Verdict
from catalog.runtime.batches import batches
from reports.statistics.findings_reader import Finding, decimal_text, time_text
from reports.statistics.trend import PreviousRun

_BATCH_SIZE = 500  # URLs asked for at a time


@dataclass(frozen=True, slots=True)
class _Sighting:
    """An offer in an earlier run."""

    verdict: str
    is_ignored: bool
    first_seen_at: datetime
    first_seen_run_id: int
    since_at: datetime
    since_run_id: int
    was_missing: bool


@dataclass(frozen=True, slots=True)
class VanishedOffer:
    """An offer that was missing in the previous run and was not seen in this one."""

    url: str
    title: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None

    def as_row(self) -> dict[str, Any]:
        """Return the offer as report.json has it."""
        return {
            "url": self.url,
            "title": self.title,
            "price": decimal_text(self.price),
            "currency": self.currency,
            "first_seen": time_text(self.first_seen_at),
            "last_seen": time_text(self.last_seen_at),
        }


def fill_sightings(
    session: Session, run: Run, previous: PreviousRun, findings: Iterable[Finding]
) -> None:
    """Fill in the sightings of a run's findings."""
    previous_sightings = _sightings_of(session, previous)
    without_sighting = []
    for finding in findings:
        sighting = None
        for url in finding.all_urls():
            sighting = sighting or previous_sightings.get(previous.main_urls.get(url, url))
        _fill(finding, run, sighting)
        if sighting is None:
            without_sighting.append(finding)
    if previous.run is not None:
        _fill_from_earlier_runs(session, previous.run, without_sighting)


def _sightings_of(session: Session, previous: PreviousRun) -> dict[str, _Sighting]:
    """Return the sightings of the previous run by URL."""
    if previous.run is None:
        return {}
    columns: list[Any] = [
        col(StoredFinding.url),
        col(StoredFinding.verdict),
        col(StoredFinding.is_ignored),
        col(StoredFinding.first_seen_at),
        col(StoredFinding.first_seen_run_id),
        col(StoredFinding.since_at),
        col(StoredFinding.since_run_id),
        col(StoredFinding.was_missing),
    ]
    query = select(*columns).where(StoredFinding.run_id == previous.run.id)
    rows = session.connection().execute(query.execution_options(yield_per=_BATCH_SIZE))
    return {url: _Sighting(*fields) for url, *fields in rows}


def _fill(finding: Finding, run: Run, before: _Sighting | None) -> None:
    seen_at = _seen_at(finding, run)
    finding.last_seen_at = seen_at
    finding.first_seen_at, finding.first_seen_run_id = seen_at, run.id
    finding.since_at, finding.since_run_id = seen_at, run.id
    if before is None:
        return
    finding.first_seen_at = before.first_seen_at
    finding.first_seen_run_id = before.first_seen_run_id
    finding.was_missing = before.was_missing
    if (before.verdict, before.is_ignored) == (finding.verdict, finding.is_ignored):
        finding.since_at, finding.since_run_id = before.since_at, before.since_run_id


def _seen_at(finding: Finding, run: Run) -> datetime:
    """Return the fetch time of the offer's page, or the run's start if a later run fetched it."""
    if finding.fetched_at is None:
        return run.started_at
    if run.finished_at is not None and finding.fetched_at > run.finished_at:
        return run.started_at
    return finding.fetched_at


def _fill_from_earlier_runs(session: Session, previous: Run, findings: Sequence[Finding]) -> None:
    """Fill in the first sightings of offers that the previous run has not seen."""
    by_url: dict[str, list[Finding]] = {}
    for finding in findings:
        for url in dict.fromkeys(finding.all_urls()):
            by_url.setdefault(url, []).append(finding)
    urls = list(by_url)
    columns: list[Any] = [
        col(StoredFinding.url),
        col(StoredFinding.first_seen_at),
        col(StoredFinding.first_seen_run_id),
        col(StoredFinding.was_missing),
    ]
    finished = select(Run.id).where(
        Run.shop_id == previous.shop_id, Run.state == RunState.DONE, col(Run.id) < previous.id
    )
    earlier = select(*columns).where(col(StoredFinding.run_id).in_(finished))
    # Newest first, so that of equal times the earliest run counts.
    earlier = earlier.order_by(col(StoredFinding.run_id).desc())
    for batch in batches(urls, _BATCH_SIZE):
        query = earlier.where(col(StoredFinding.url).in_(batch))
        rows = session.connection().execute(query)
        for url, first_seen_at, first_seen_run_id, was_missing in rows:
            for finding in by_url[url]:
                finding.was_missing = finding.was_missing or was_missing
                # A page that was not fetched again has the same time in both runs.
                if finding.first_seen_at is None or first_seen_at <= finding.first_seen_at:
                    finding.first_seen_at = first_seen_at
                    finding.first_seen_run_id = first_seen_run_id


def read_vanished_offers(
    session: Session, previous: Run, urls: Sequence[str]
) -> list[VanishedOffer]:
    """Read the previous run's missing offers at these URLs, the most valuable first."""
    stored: dict[str, StoredFinding] = {}
    for batch in batches(urls, _BATCH_SIZE):
        query = select(StoredFinding).where(
            StoredFinding.run_id == previous.id,
            col(StoredFinding.url).in_(batch),
            StoredFinding.verdict == Verdict.MISSING,
        )
        stored |= {finding.url: finding for finding in session.exec(query)}
    lost = []
    for finding in sorted(stored.values(), key=lambda finding: finding.rank):
        lost.append(
            VanishedOffer(
                url=finding.url,
                title=finding.title,
                price=finding.price,
                currency=finding.currency,
                first_seen_at=finding.first_seen_at,
                last_seen_at=finding.last_seen_at,
            )
        )
    # Runs of earlier versions of Scout may have no stored findings.
    lost += [VanishedOffer(url) for url in urls if url not in stored]
    return lost
