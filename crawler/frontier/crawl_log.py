"""Crawl log: the row of one crawl, with its usage and, once it has ended, its summary."""

from time import monotonic
from typing import Any

from sqlmodel import col, func, select

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
            earlier = select(func.sum(Crawl.bytes), func.sum(Crawl.seconds)).where(
                col(Crawl.run_id) == run_id
            )
            used_bytes, used_seconds = session.exec(earlier).one()
            session.add(crawl)
        self._id = crawl.id
        self.used = Usage(int(used_bytes or 0), float(used_seconds or 0.0))

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
