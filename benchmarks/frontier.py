"""Crawl frontier: pages claimed and settled in batches, with their links, beside the bare driver.

    python -m benchmarks.frontier [--pages 20000] [--batch 100] [--only sqlite|postgresql]

Each page has 40 links to the pages after it, nearly all of them known, as the pages of a shop have. The driver (sqlite3,
psycopg) writes the same rows in transactions of the same size, as its manual shows it: one statement for a claim,
`executemany` for pages and for links. PostgreSQL forces each transaction onto the disk. Both take turns, so that a slow
moment of the machine slows both. The exit code is 1 if Scout is below the limit on a database.
"""

import argparse
import sqlite3
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.engine import make_url

from benchmarks.databases import DATABASES, Clock, NotInstalledError, database_url, make_clock
from catalog.models import PageState, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.frontier import LEASE, FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store

# Pages claimed and settled a second, by one process, that each database has to reach.
MIN_RATE = 1_500.0
LINKS = 40  # links of a page
SEEDS = 2_000  # pages that a sitemap names before the crawl begins
HOME = "https://shop.example/products/number-"
_TIME = datetime(2026, 11, 2, 6, tzinfo=UTC)

# A claimed page: its row id and number.
Claimed = tuple[int, int]


class Contender(Protocol):
    """A frontier that claims pages and settles them."""

    def claim(self, limit: int) -> Sequence[Claimed]:
        """Claim the best pages."""

    def settle(self, pages: Sequence[Claimed], last: int) -> None:
        """Settle pages as fetched, and add their links to pages before number `last`."""


@dataclass
class Measure:
    """Pages of a contender, with their time on the wall and on processors in seconds."""

    pages: int = 0
    wall: float = 0.0
    processor: float = 0.0

    @property
    def rate(self) -> float:
        """Pages a second on the wall."""
        return self.pages / self.wall


def main() -> None:
    """Measure each database that is installed."""
    argument_parser = argparse.ArgumentParser(description=__doc__)
    argument_parser.add_argument("--pages", type=int, default=20_000)
    argument_parser.add_argument("--batch", type=int, default=100)
    argument_parser.add_argument("--only", choices=DATABASES)
    arguments = argument_parser.parse_args()
    is_slow = False
    for database in [arguments.only] if arguments.only else DATABASES:
        try:
            measures = _measure(database, arguments.pages, arguments.batch)
        except NotInstalledError as error:
            print(f"{database} is not measured: {error}")
            continue
        _print_measures(database, arguments.batch, measures)
        is_slow = is_slow or measures["scout"].rate < MIN_RATE
    sys.exit(1 if is_slow else 0)


def _measure(database: str, pages: int, batch: int) -> dict[str, Measure]:
    with tempfile.TemporaryDirectory() as folder, database_url(database, is_durable=True) as url:
        store = Store.open(Settings.load(data_dir=Path(folder), database_url=url))
        contenders: dict[str, Contender] = {"scout": _ScoutFrontier(store)}
        if database == "sqlite":
            contenders["driver"] = _SqliteDriver(store)
        else:
            contenders["driver"] = _PostgresqlDriver(store)
        measures = {name: Measure() for name in contenders}
        # The connections of both contenders are open by now.
        clock = make_clock(store)
        while measures["scout"].pages < pages:
            for name, contender in contenders.items():
                _crawl_batch(contender, batch, pages, measures[name], clock)
        store.engine.dispose()
    return measures


def _crawl_batch(
    contender: Contender, batch: int, last: int, measure: Measure, clock: Clock
) -> None:
    begin, processor = time.perf_counter(), clock()
    claimed = contender.claim(batch)
    contender.settle(claimed, last)
    measure.wall += time.perf_counter() - begin
    measure.processor += clock() - processor
    if not claimed:
        raise RuntimeError("the frontier is empty too early")
    measure.pages += len(claimed)


def _print_measures(database: str, batch: int, measures: dict[str, Measure]) -> None:
    print(f"{database}, {measures['scout'].pages} pages of {LINKS} links, {batch} at a time")
    for name, measure in measures.items():
        microseconds = 1e6 * measure.processor / measure.pages
        print(
            f"  {name:8}{measure.rate:8.0f} pages/s {microseconds:7.0f} us of processor time each"
        )
    ratio = measures["scout"].rate / measures["driver"].rate
    verdict = "" if measures["scout"].rate >= MIN_RATE else f" (below {MIN_RATE:.0f} pages/s)"
    print(f"  scout / driver {ratio:.2f}{verdict}", flush=True)


def _links(number: int, last: int) -> list[str]:
    """Return the links of a page to the pages after it, by number."""
    return [f"{HOME}{linked}" for linked in range(number + 1, min(number + 1 + LINKS, last))]


def _columns(number: int) -> dict[str, Any]:
    """Return the columns that a fetched page gets."""
    return {
        "reason": None,
        "not_before": None,
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "size": 50_000,
        "body": f"{number:040x}",
        "canonical": None,
        "language": "en",
        "etag": f'"{number:x}"',
        "fetched_at": _TIME,
        "changed_at": _TIME,
        "unchanged": 0,
        "digest_key": "0" * 16,
    }


def _add_shop(store: Store, name: str) -> tuple[int, int]:
    """Add a shop with its seeds and a run; returns both ids."""
    with store.write() as session:
        shop = Shop(name=name, url="https://shop.example/")
        session.add(shop)
        session.flush()
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    frontier = Frontier(store, shop.id or 0, run.id)
    frontier.add(FrontierLink(f"{HOME}{number}") for number in range(SEEDS))
    return shop.id or 0, run.id or 0


class _ScoutFrontier:
    def __init__(self, store: Store) -> None:
        self._frontier = Frontier(store, *_add_shop(store, "scout"))

    def claim(self, limit: int) -> Sequence[Claimed]:
        pages = self._frontier.claim(limit)
        return [(page.id or 0, int(page.url.removeprefix(HOME))) for page in pages]

    def settle(self, pages: Sequence[Claimed], last: int) -> None:
        outcomes = []
        for page_id, number in pages:
            links = [FrontierLink(url, depth=1) for url in _links(number, last)]
            outcomes.append(FetchOutcome(page_id, PageState.FETCHED, _columns(number), links))
        self._frontier.record_results(outcomes)


_CLAIM = """
UPDATE page SET state = 'leased', leased_until = {time}, attempts = attempts + 1 WHERE id IN (
    SELECT id FROM page WHERE shop_id = {shop} AND state = 'pending'
    ORDER BY priority DESC, id LIMIT {limit} {lock})
RETURNING id, url
"""
_LINK = """
INSERT INTO page (shop_id, url, state, source, priority, depth, chain, attempts, unchanged)
VALUES ({shop}, {url}, 'pending', 'link', 0, 1, 0, 0, 0) ON CONFLICT (shop_id, url) DO NOTHING
"""


class _Driver(ABC):
    """The statements of a frontier, for a driver whose parameters are named in its style."""

    parameter = ""
    lock = ""

    def __init__(self, store: Store) -> None:
        self._shop_id, self._run_id = _add_shop(store, "driver")
        self._connection: Any = self.connect(store)
        names = ("shop", "time", "limit", "url")
        styled = {name: self.parameter.format(name) for name in names}
        self._claim = _CLAIM.format(**styled, lock=self.lock)
        self._insert = _LINK.format(**styled)
        settled = ", ".join(f"{name} = {self.parameter.format(name)}" for name in _columns(0))
        self._update = (
            f"UPDATE page SET state = 'fetched', leased_until = NULL, "
            f"run_id = {self.parameter.format('run')}, {settled} "
            f"WHERE id = {self.parameter.format('id')}"
        )

    @abstractmethod
    def connect(self, store: Store) -> Any:
        """Connect to the store's database."""

    def claim(self, limit: int) -> Sequence[Claimed]:
        values = {"shop": self._shop_id, "time": self.time(_TIME + LEASE), "limit": limit}
        with self.transaction():
            rows = self._connection.execute(self._claim, values).fetchall()
        return sorted((row[0], int(row[1].removeprefix(HOME))) for row in rows)

    def settle(self, pages: Sequence[Claimed], last: int) -> None:
        settled, urls = [], []
        for page_id, number in pages:
            columns = _columns(number)
            times = {name: self.time(columns[name]) for name in ("fetched_at", "changed_at")}
            settled.append(columns | times | {"id": page_id, "run": self._run_id})
            urls += _links(number, last)
        links = [{"shop": self._shop_id, "url": url} for url in urls]
        with self.transaction():
            cursor = self._connection.cursor()
            cursor.executemany(self._update, settled)
            cursor.executemany(self._insert, links)

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """Begin a transaction, which the end of the block commits."""

    def time(self, time: datetime) -> Any:
        return time.replace(tzinfo=None)


class _SqliteDriver(_Driver):
    parameter = ":{}"

    def connect(self, store: Store) -> Any:
        connection = sqlite3.connect(store.engine.url.database or "")
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def transaction(self) -> AbstractContextManager[Any]:
        connection: AbstractContextManager[Any] = self._connection
        return connection

    def time(self, time: datetime) -> Any:
        return time.replace(tzinfo=None).isoformat(" ")


class _PostgresqlDriver(_Driver):
    parameter = "%({})s"
    lock = "FOR UPDATE SKIP LOCKED"

    def connect(self, store: Store) -> Any:
        import psycopg

        url = make_url(str(store.engine.url)).set(drivername="postgresql")
        return psycopg.connect(url.render_as_string(hide_password=False))

    def transaction(self) -> AbstractContextManager[Any]:
        transaction: AbstractContextManager[Any] = self._connection.transaction()
        return transaction


if __name__ == "__main__":
    main()
