"""Item pipeline: writes a page's state and new links in one transaction, after its body.

A body without its row costs some space; a row without its body would be a lost page. Pages that are
ready at the same time share one transaction.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from scrapy.crawler import Crawler

from catalog.errors import StoreError
from catalog.models import PageState, SitemapSeen
from catalog.storage.crawl_events import NumberedEvent
from catalog.storage.frontier import FetchOutcome, FrontierLink

COMMIT_DELAY = 0.05  # seconds for which a page waits for others to share its transaction
# Exceptions of the database's driver for values that do not fit, such as an integer of 20 digits.
UNSTORABLE = (OverflowError, ValueError)
COMMIT_SIZE = 8  # pages that are committed without waiting longer


@dataclass
class PageItem:
    """Scrapy item: outcome of a page whose body is stored, and of pages that change with it."""

    outcome: FetchOutcome
    related: tuple[FetchOutcome, ...] = ()


@dataclass
class SitemapItem:
    """Scrapy item: a sitemap, its new links, and by URL the last change and versions of pages."""

    seen: SitemapSeen
    links: list[FrontierLink] = field(default_factory=list)
    changed: dict[str, datetime] = field(default_factory=dict)
    alternates: dict[str, dict[str, str]] = field(default_factory=dict)
    event: NumberedEvent | None = None


class FrontierPipeline:
    """Scrapy item pipeline that writes items to the frontier."""

    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        self._spider = spider
        self._waiting: list[FetchOutcome] = []
        self._commit: asyncio.Task[None] | None = None
        self._is_full = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline for a crawler (Scrapy's protocol)."""
        return cls(crawler)

    async def process_item(self, item: PageItem | SitemapItem) -> PageItem | SitemapItem:
        """Store an item; if the store is full or lost, the crawl stops and the page stays open."""
        try:
            if isinstance(item, SitemapItem):
                self._spider.dispatcher.end_turn(item.seen.url)
                seen = [item.seen] if item.seen.run_id else []
                self._spider.frontier.add(item.links, seen, [item.event])
                self._spider.frontier.record_lastmod(item.changed)
                self._spider.frontier.record_alternates(item.alternates)
            else:
                await self._store(item)
        except StoreError as error:
            self._spider.stop(error)
        finally:
            self._spider.release(item)
        return item

    async def _store(self, item: PageItem) -> None:
        self._waiting += [item.outcome, *item.related]
        self._spider.dispatcher.end_turn(item.outcome.page_id)
        if self._commit is None or self._commit.done():
            self._commit = asyncio.ensure_future(self._commit_waiting())
        if len(self._waiting) >= COMMIT_SIZE:
            self._is_full.set()
        await self._commit

    def _store_alone(self, outcome: FetchOutcome) -> None:
        """Store an outcome; if its values cannot be stored, only that the page failed."""
        try:
            self._spider.frontier.record_results([outcome])
        except UNSTORABLE as error:
            reason = f"error: {type(error).__name__}"
            # The crawl has learnt from the page all the same.
            failed = FetchOutcome(
                outcome.page_id, PageState.FAILED, {"reason": reason}, event=outcome.event
            )
            self._spider.frontier.record_results([failed])

    async def _commit_waiting(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_full.wait(), COMMIT_DELAY)
        self._is_full.clear()
        outcomes, self._waiting = self._waiting, []
        try:
            self._spider.frontier.record_results(outcomes)
        except UNSTORABLE:
            # A page never costs those that share its transaction.
            for outcome in outcomes:
                self._store_alone(outcome)
        self._spider.update_log()
