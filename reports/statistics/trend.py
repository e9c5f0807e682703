"""Trend: changes in the missing offers since the shop's previous finished run, compared by URL.

An offer that was missing and is not found any more is not resolved: it has left the shop, or this
crawl did not reach it. Such offers are counted apart from the ones that the catalog lists by now.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from catalog.models import Match, Review, ReviewDecision, Run, RunState, Shop, Verdict
from catalog.runtime.batches import batches
from catalog.storage.findings import Change
from catalog.storage.runs import last_finished_run
from reports.statistics.coverage import coverage_of_figures
from reports.statistics.findings_reader import Finding, apply_decision

_MAX_HISTORY = 12  # runs in the history: a quarter of a year of weekly runs
_BATCH_SIZE = 500  # rows fetched, or URLs asked for, at a time


@dataclass(frozen=True)
class HistoryPoint:
    """Offers by verdict in one run of the shop's history."""

    run_id: int
    ended_at: datetime
    listed: int
    missing: int
    unsure: int

    def as_json(self) -> dict[str, Any]:
        """Return the point as report.json has it."""
        return {
            "run": self.run_id,
            "at": self.ended_at.isoformat(timespec="seconds"),
            "listed": self.listed,
            "missing": self.missing,
            "unsure": self.unsure,
        }


@dataclass(frozen=True)
class Trend:
    """Missing offers compared with the previous finished run.

    `previous_run_id` is None if there is none.
    """

    previous_run_id: int | None = None
    previous_run_at: datetime | None = None
    previous_page_share: float | None = None
    new: int = 0
    still_missing: int = 0
    reappeared: int = 0
    resolved: int = 0
    no_longer_seen: int = 0
    now_unsure: int = 0
    history: tuple[HistoryPoint, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the trend as report.json has it."""
        previous_run_at = self.previous_run_at
        return {
            "since_run": self.previous_run_id,
            "since": previous_run_at and previous_run_at.isoformat(timespec="seconds"),
            "new": self.new,
            "still": self.still_missing,
            "reappeared": self.reappeared,
            "resolved": self.resolved,
            "no_longer_seen": self.no_longer_seen,
            "undecided_now": self.now_unsure,
            "history": [point.as_json() for point in self.history],
        }


@dataclass
class PreviousRun:
    """Previous finished run: its missing offers, and the URLs under which it knew each offer.

    `is_missing` maps the URL of each offer; `main_urls` maps every URL of an offer to that one.
    """

    run: Run | None = None
    is_missing: dict[str, bool] = field(default_factory=dict)
    main_urls: dict[str, str] = field(default_factory=dict)

    @property
    def ended_at(self) -> datetime | None:
        """Time at which the run ended."""
        if self.run is None:
            return None
        return self.run.finished_at or self.run.started_at

    def has_seen(self, url: str) -> bool:
        """Return True if the run found an offer under this URL."""
        return url in self.main_urls

    def missing_urls(self, urls: Iterable[str]) -> list[str]:
        """Return the main URLs of those offers that the run reported as missing."""
        main_urls = dict.fromkeys(self.main_urls[url] for url in urls if url in self.main_urls)
        return [url for url in main_urls if self.is_missing[url]]


def load_previous_run(session: Session, shop: Shop, run: Run) -> PreviousRun:
    """Load the shop's last finished run before this one; empty if there is none."""
    previous = last_finished_run(session, run.shop_id, before=run.id)
    if previous is None:
        return PreviousRun()
    decisions = _read_decisions(session, shop, run)
    is_missing: dict[str, bool] = {}
    main_urls: dict[str, str] = {}
    for url, urls, verdict in _read_matches(session, previous.id, col(Match.verdict)):
        decision = _decision_of((url, *(urls or ())), decisions)
        is_missing[url] = _counts_as_missing(Verdict(verdict), decision)
        main_urls |= dict.fromkeys(urls or (), url)
    # An offer's own URL wins over one that another offer lists as a further URL.
    main_urls |= {url: url for url in is_missing}
    return PreviousRun(previous, is_missing, main_urls)


def _read_matches(session: Session, run_id: int | None, *columns: Any) -> Iterable[Any]:
    """Return URL, further URLs and the given columns of a run's offers, in batches."""
    selected: list[Any] = [col(Match.url), col(Match.urls), *columns]
    query = select(*selected).where(col(Match.run_id) == run_id).order_by(col(Match.id))
    return session.connection().execute(query.execution_options(yield_per=_BATCH_SIZE))


def _read_decisions(session: Session, shop: Shop, run: Run) -> dict[str, str]:
    """Return review decisions by every URL that this run knows of the offer: pages move."""
    query = select(col(Review.url), col(Review.decision)).where(col(Review.shop_id) == shop.id)
    reviewed: dict[str, str] = {row[0]: row[1] for row in session.connection().execute(query)}
    if not reviewed:
        return {}
    decisions = dict(reviewed)
    for url, urls in _read_matches(session, run.id):
        offer_urls = (url, *(urls or ()))
        decision = _decision_of(offer_urls, reviewed)
        if decision is not None:
            unreviewed = [url for url in offer_urls if url not in reviewed]
            decisions |= dict.fromkeys(unreviewed, decision)
    return decisions


def _decision_of(urls: Iterable[str], decisions: Mapping[str, str]) -> str | None:
    """Return the decision under the first of an offer's URLs that has one."""
    for url in urls:
        if url in decisions:
            return decisions[url]
    return None


def _counts_as_missing(verdict: Verdict, decision: str | None) -> bool:
    if decision is None:
        return verdict is Verdict.MISSING
    if decision == ReviewDecision.IGNORE:
        return False
    return apply_decision(verdict, ReviewDecision(decision)) is Verdict.MISSING


@dataclass
class TrendBuilder:
    """Comparison of a run with the previous one, finding by finding.

    `verdicts` has the present verdict of each offer that was missing before and has been found
    again.
    """

    previous: PreviousRun
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    changes: Counter[Change] = field(default_factory=Counter)

    def add(self, finding: Finding) -> None:
        """Compare one finding with the previous run, and fill in its change."""
        if self.previous.run is None:
            return
        urls = self.previous.missing_urls(finding.all_urls())
        for url in urls:
            self.verdicts[url] = finding.verdict
            # A reviewer took the offer out of the missing ones.
            if finding.is_ignored:
                self.verdicts[url] = Verdict.LISTED
        finding.since = _change(finding, bool(urls))
        if finding.since is not None:
            self.changes[finding.since] += 1

    def mark_reappeared(self, findings: Iterable[Finding]) -> None:
        """Mark the new missing offers that were missing in an earlier run than the previous."""
        for finding in findings:
            if finding.since is Change.NEW and finding.was_missing:
                finding.since = Change.REAPPEARED
                self.changes[Change.NEW] -= 1
                self.changes[Change.REAPPEARED] += 1

    def vanished_urls(self) -> list[str]:
        """Return the previous run's URLs of the missing offers that were not seen again."""
        is_missing = self.previous.is_missing
        return [url for url in is_missing if is_missing[url] and url not in self.verdicts]

    def build(self, history: tuple[HistoryPoint, ...]) -> Trend:
        """Return the trend."""
        run = self.previous.run
        if run is None:
            return Trend(history=history)
        page_share = None
        coverage = coverage_of_figures(run)
        if coverage is not None:
            page_share = coverage.page_share
        return Trend(
            previous_run_id=run.id,
            previous_run_at=self.previous.ended_at,
            previous_page_share=page_share,
            new=self.changes[Change.NEW],
            still_missing=self.changes[Change.STILL],
            reappeared=self.changes[Change.REAPPEARED],
            resolved=self.changes[Change.RESOLVED],
            now_unsure=self.changes[Change.UNSURE],
            no_longer_seen=len(self.vanished_urls()),
            history=history,
        )


def _change(finding: Finding, was_missing: bool) -> Change | None:
    """Return the change of an offer that was missing in the previous run, or was not."""
    if finding.is_ignored:
        return None
    if finding.is_missing:
        return Change.STILL if was_missing else Change.NEW
    if not was_missing:
        return None
    if finding.verdict is Verdict.LISTED:
        return Change.RESOLVED
    return Change.UNSURE


def load_history(session: Session, shop: Shop, run: Run) -> tuple[HistoryPoint, ...]:
    """Load the last finished runs up to this one, oldest first, with present decisions."""
    dates = _run_dates(session, shop, run)
    verdicts = _count_verdicts(session, dates)
    _apply_decisions(session, verdicts, _read_decisions(session, shop, run))
    return tuple(
        HistoryPoint(
            run_id,
            dates[run_id],
            listed=verdicts[run_id][Verdict.LISTED],
            missing=verdicts[run_id][Verdict.MISSING],
            unsure=verdicts[run_id][Verdict.UNSURE],
        )
        for run_id in sorted(dates)
    )


def _run_dates(session: Session, shop: Shop, run: Run) -> dict[int, datetime]:
    columns: list[Any] = [col(Run.id), func.coalesce(col(Run.finished_at), col(Run.started_at))]
    query = (
        select(*columns)
        .where(col(Run.shop_id) == shop.id, col(Run.id) <= run.id)
        .where((col(Run.state) == RunState.DONE) | (col(Run.id) == run.id))
        .order_by(col(Run.id).desc())
        .limit(_MAX_HISTORY)
    )
    return {row[0]: row[1] for row in session.connection().execute(query)}


def _count_verdicts(session: Session, run_ids: Iterable[int]) -> dict[int, Counter[str]]:
    verdicts: dict[int, Counter[str]] = {run_id: Counter() for run_id in run_ids}
    columns: list[Any] = [col(Match.run_id), col(Match.verdict)]
    query = select(*columns, func.count()).where(col(Match.run_id).in_(verdicts)).group_by(*columns)
    rows: Iterable[Any] = session.connection().execute(query)
    for run_id, verdict, count in rows:
        verdicts[run_id][verdict] += count
    return verdicts


def _apply_decisions(
    session: Session, verdicts: Mapping[int, Counter[str]], decisions: Mapping[str, str]
) -> None:
    """Move the reviewed offers of each run from their stored verdict to the decided one."""
    urls = list(decisions)
    columns: list[Any] = [col(Match.run_id), col(Match.verdict), col(Match.url)]
    for batch in batches(urls, _BATCH_SIZE):
        query = select(*columns).where(col(Match.run_id).in_(verdicts), col(Match.url).in_(batch))
        rows: Iterable[Any] = session.connection().execute(query)
        for run_id, verdict, url in rows:
            verdicts[run_id][verdict] -= 1
            decision = ReviewDecision(decisions[url])
            if decision is not ReviewDecision.IGNORE:
                verdicts[run_id][apply_decision(Verdict(verdict), decision)] += 1
