"""Crawls against a real server: each costs a process of a second or two, so one crawl serves many tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from catalog.models import Page, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from crawler.crawl import CrawlResult, crawl_shop
from tests.catalog.storage import postgresql
from tests.crawler.server import Loopback, serve
from tests.empty_store import open_empty_store


@dataclass
class Bench:
    """A server, a store and a shop, with shorthands for tests."""

    server: Loopback
    settings: Settings
    store: Store
    shop: Shop
    run_id: int

    def crawl(self, **options: Any) -> CrawlResult:
        return crawl_shop(self.settings, self.store, self.shop, self.run_id, **options)

    def pages(self) -> dict[str, Page]:
        """The page table by path."""
        with self.store.read() as session:
            pages = session.exec(select(Page).where(Page.shop_id == self.shop.id))
            return {page.url.removeprefix(self.server.url.rstrip("/")): page for page in pages}

    def states(self) -> dict[str, tuple[str, str | None]]:
        return {path: (str(page.state), page.reason) for path, page in self.pages().items()}


def bench(
    folder: Path,
    server: Loopback,
    verify_certificates: bool | None = None,
    database_url: str | None = None,
    **shop: Any,
) -> Bench:
    """A shop of the server's in a store of its own, which is in SQLite or has no rows yet."""
    options: dict[str, Any] = {
        "timeout": 1.5,
        "max_body": 300_000,
        "contact": "mailto:scout@example.org",
    }
    settings = Settings.load(
        data_dir=folder / "var",
        verify_certificates=verify_certificates,
        database_url=database_url,
        **options,
    )
    store = Store.open(settings) if database_url else open_empty_store(settings)
    with store.write() as session:
        made = Shop(**{"name": "bench", "url": server.url, "allow_private": True, **shop})
        session.add(made)
        session.flush()
        run = Run(shop_id=made.id or 0)
        session.add(run)
    return Bench(server, settings, store, made, run.id or 0)


@pytest.fixture
def make_bench(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Bench]]:
    """A maker of benches, each with a server of its own test."""
    with ExitStack() as stack:
        server = stack.enter_context(serve())

        def make(**shop: Any) -> Bench:
            if database == "sqlite":
                return bench(tmp_path, server, **shop)
            url = stack.enter_context(postgresql.fresh_database())
            # For processes that the test starts.
            monkeypatch.setenv("SCOUT_DATABASE_URL", url)
            made = bench(tmp_path, server, database_url=url, **shop)
            stack.callback(made.store.engine.dispose)
            return made

        yield make
