"""Trend: what has become of the missing offers since the shop's previous finished run, by URL.

An offer that was missing and is not found any more has not been resolved: it has left the shop, or this crawl did not
reach it. The two are told apart from those that the catalog lists by now.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from catalog.models import Match, PersonsWord, Run, RunState, Shop, Verdict, Word
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, after

_RUNS = 12
_BATCH = 500


@dataclass(frozen=True)
class Point:
    """One run in the shop's history."""

    run: int
    at: datetime
    listed: int
    missing: int
    unsure: int


@dataclass(frozen=True)
class Trend:
    """Since the run before (`since`, None where there is none): new, still missing, resolved, and no longer seen."""

    since: int | None = None
    since_at: datetime | None = None
    since_page_share: float | None = None
    new: int = 0
    still: int = 0
    resolved: int = 0
    unseen: int = 0
    undecided: int = 0
    history: tuple[Point, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As report.json has it."""
        return {
            "since_run": self.since,
            "since": self.since_at and self.since_at.isoformat(timespec="seconds"),
            "new": self.new,
            "still": self.still,
            "resolved": self.resolved,
            "no_longer_seen": self.unseen,
            "undecided_now": self.undecided,
            "history": [
                {"run": one.run, "at": one.at.isoformat(timespec="seconds"), "listed": one.listed}
                | {"missing": one.missing, "unsure": one.unsure}
                for one in self.history
            ],
        }


@dataclass
class Earlier:
    """The previous finished run: what it saw, which of that was missing, and all URLs by which it knew each offer."""

    run: Run | None = None
    seen: dict[str, bool] = field(default_factory=dict)
    known_as: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> datetime | None:
        """When that was."""
        return (self.run.finished_at or self.run.started_at) if self.run else None

    def saw(self, url: str) -> bool:
        """Whether the run had an offer of this URL."""
        return url in self.known_as

    def missed(self, urls: Iterable[str]) -> list[str]:
        """The URLs by which the run named what it missed of these."""
        named = dict.fromkeys(self.known_as[url] for url in urls if url in self.known_as)
        return [url for url in named if self.seen[url]]


def earlier(session: Session, shop: Shop, run: Run) -> Earlier:
    """The shop's last finished run before this one."""
    query = select(col(Run.id)).where(col(Run.shop_id) == shop.id, col(Run.state) == RunState.DONE)
    before = (
        session.connection()
        .execute(query.where(col(Run.id) < run.id).order_by(col(Run.id).desc()))
        .scalar()
    )
    found = session.get(Run, before) if before is not None else None
    if found is None:
        return Earlier()
    words = _words(session, shop, run)
    seen: dict[str, bool] = {}
    known_as: dict[str, str] = {}
    for url, urls, verdict in _matches(session, found.id, col(Match.verdict)):
        seen[url] = _missing(Verdict(verdict), _word_of((url, *(urls or ())), words))
        known_as |= dict.fromkeys(urls or (), url)
    return Earlier(found, seen, known_as | {url: url for url in seen})


def _matches(session: Session, run_id: int | None, *more: Any) -> Iterable[Any]:
    """The URLs of a run's offers, and what else is asked of each, a batch at a time."""
    columns: list[Any] = [col(Match.url), col(Match.urls), *more]
    query = select(*columns).where(col(Match.run_id) == run_id).order_by(col(Match.id))
    return session.connection().execute(query.execution_options(yield_per=_BATCH))


def _words(session: Session, shop: Shop, run: Run) -> dict[str, str]:
    """What persons have said, under every URL by which this run knows the offer: pages move, and words move along."""
    query = select(col(PersonsWord.url), col(PersonsWord.word)).where(
        col(PersonsWord.shop_id) == shop.id
    )
    words: dict[str, str] = {row[0]: row[1] for row in session.connection().execute(query)}
    told = dict(words)
    for url, urls in _matches(session, run.id) if words else ():
        every = (url, *(urls or ()))
        word = _word_of(every, words)
        if word is not None:
            told |= {one: word for one in every if one not in words}
    return told


def _word_of(urls: Iterable[str], words: Mapping[str, str]) -> str | None:
    """What was said of an offer under the first of its URLs under which anything was."""
    return next((words[url] for url in urls if url in words), None)


def _missing(verdict: Verdict, word: str | None) -> bool:
    return word != Word.IGNORE and after(verdict, Word(word) if word else None) is Verdict.MISSING


@dataclass
class Since:
    """Follows the findings of a run and keeps what became of those missing before."""

    before: Earlier
    met: dict[str, Verdict] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Take note of one finding; a missing one is told whether it is new."""
        if self.before.run is None:
            return
        urls = self.before.missed((finding.url, *finding.urls))
        for url in urls:
            self.met[url] = Verdict.LISTED if finding.ignored else finding.verdict
        if finding.verdict is Verdict.MISSING and not finding.ignored:
            finding.since = "still" if urls else "new"

    def done(self, findings: Sequence[Finding], history: tuple[Point, ...]) -> Trend:
        """The trend."""
        run = self.before.run
        if run is None:
            return Trend(history=history)
        missing = [
            finding
            for finding in findings
            if finding.verdict is Verdict.MISSING and not finding.ignored
        ]
        verdicts = list(self.met.values())
        kept = (run.figures or {}).get("coverage")
        return Trend(
            since=run.id,
            since_at=self.before.at,
            since_page_share=Coverage.from_json(kept).page_share
            if isinstance(kept, dict)
            else None,
            new=sum(finding.since == "new" for finding in missing),
            still=sum(finding.since == "still" for finding in missing),
            resolved=verdicts.count(Verdict.LISTED),
            undecided=verdicts.count(Verdict.UNSURE),
            unseen=sum(self.before.seen.values()) - len(self.met),
            history=history,
        )


def history(session: Session, shop: Shop, run: Run) -> tuple[Point, ...]:
    """The shop's last finished runs up to this one, oldest first, by what persons have said since."""
    columns: list[Any] = [col(Run.id), func.coalesce(col(Run.finished_at), col(Run.started_at))]
    runs = (
        select(*columns)
        .where(col(Run.shop_id) == shop.id, col(Run.id) <= run.id)
        .where((col(Run.state) == RunState.DONE) | (col(Run.id) == run.id))
        .order_by(col(Run.id).desc())
        .limit(_RUNS)
    )
    dates = {row[0]: row[1] for row in session.connection().execute(runs)}
    counted: dict[int, Counter[str]] = {run_id: Counter() for run_id in dates}
    what: list[Any] = [col(Match.run_id), col(Match.verdict)]
    counts = select(*what, func.count()).where(col(Match.run_id).in_(dates)).group_by(*what)
    rows: Iterable[Any] = session.connection().execute(counts)
    for run_id, verdict, number in rows:
        counted[run_id][verdict] += number
    words = _words(session, shop, run)
    urls = list(words)
    for start in range(0, len(urls), _BATCH):
        these = col(Match.url).in_(urls[start : start + _BATCH])
        rows = session.connection().execute(
            select(*what, col(Match.url)).where(col(Match.run_id).in_(dates), these)
        )
        for run_id, verdict, url in rows:
            counted[run_id][verdict] -= 1
            if words[url] != Word.IGNORE:
                counted[run_id][after(Verdict(verdict), Word(words[url]))] += 1
    return tuple(
        Point(one, dates[one], *(counted[one][verdict] for verdict in Verdict))
        for one in sorted(dates)
    )
