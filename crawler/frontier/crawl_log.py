"""Crawl log: the row of one crawl, with its usage and, once it has ended, its summary."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from sqlmodel import col, select

from catalog.models import Crawl, utc_now
from catalog.storage.frontier import Frontier
from catalog.storage.store import Store
from crawler.frontier.budget import Usage

UPDATE_INTERVAL = 5.0  # seconds; a killed crawl's figures are at most this old


class CrawlLog:
    """Writes the row of one crawl. `used` is the usage of the run's earlier crawls."""

    def __init__(self, store: Store, shop_id: int, run_id: int | None) -> None:
        self._store = store
        self._started = self._updated = monotonic()
        crawl = Crawl(shop_id=shop_id, run_id=run_id)
        with store.write() as session:
            columns = select(Crawl.started_at, Crawl.seconds, Crawl.bytes)
            earlier = list(session.exec(columns.where(col(Crawl.run_id) == run_id)))
            session.add(crawl)
        self._id = crawl.id
        seconds = _elapsed((started_at, seconds) for started_at, seconds, _ in earlier)
        self.used = Usage(sum(size for _, _, size in earlier), seconds)

    def update(self, requests: int, size: int) -> None:
        """Store requests and bytes so far, unless they were stored a moment ago."""
        if monotonic() - self._updated > UPDATE_INTERVAL:
            self._updated = monotonic()
            self._store_columns(requests=requests, bytes=size)

    def finish(
        self, frontier: Frontier, requests: int, size: int, refused: dict[str, int], **columns: Any
    ) -> None:
        """Store the summary of the crawl.

        `refused` counts the links that never became pages, by reason.
        """
        pages = frontier.counts()
        reasons = frontier.reasons()
        for reason, number in refused.items():
            reasons[reason] = reasons.get(reason, 0) + number
        self._store_columns(
            requests=requests,
            bytes=size,
            finished_at=utc_now(),
            pages=pages,
            reasons=reasons,
            **columns,
        )

    def _store_columns(self, **columns: Any) -> None:
        with self._store.write() as session:
            row = session.get_one(Crawl, self._id)
            row.seconds = monotonic() - self._started
            for name, value in columns.items():
                setattr(row, name, value)


def _elapsed(crawls: Iterable[tuple[datetime, float]]) -> float:
    """Return the seconds during which crawls ran, given by start and seconds each.

    The crawlers of one shop run at the same time.

    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> _elapsed([(start, 60), (start + timedelta(seconds=30), 50), (start + timedelta(hours=1), 5)])
    85.0
    """
    elapsed, end = timedelta(), datetime.min.replace(tzinfo=UTC)
    for started_at, seconds in sorted(crawls):
        begin, finish = max(started_at, end), started_at + timedelta(seconds=seconds)
        if finish > begin:
            elapsed += finish - begin
            end = finish
    return elapsed.total_seconds()
