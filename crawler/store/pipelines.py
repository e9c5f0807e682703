"""From an answer to the store: a page's state and its new links in one transaction, after its body (`crawler.store.page_processor`).

A body without its row costs some space; a row without its body would be a lost page. Pages that become ready together
share one transaction.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from scrapy.crawler import Crawler

from catalog.errors import StoreError
from catalog.models import SitemapSeen
from catalog.storage.frontier import Link, Outcome

GATHER = 0.05
TOGETHER = 8


@dataclass
class Settled:
    """Scrapy item: what became of one page, whose body is stored, and pages that are due again for it."""

    outcome: Outcome
    also: tuple[Outcome, ...] = ()


@dataclass
class Listed:
    """Scrapy item: a sitemap that was read to its end, the pages it brought, and when it says that they changed."""

    seen: SitemapSeen
    links: list[Link] = field(default_factory=list)
    changed: dict[str, datetime] = field(default_factory=dict)


class Settle:
    """Scrapy item pipeline: settles pages."""

    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        self._spider = spider
        self._waiting: list[Outcome] = []
        self._flush: asyncio.Task[None] | None = None
        self._enough = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy asks for it."""
        return cls(crawler)

    async def process_item(self, item: Settled | Listed) -> Settled | Listed:
        """Store an item; where the store is full or gone, the crawl stops and the page stays open."""
        try:
            if isinstance(item, Listed):
                self._spider.frontier.add(item.links, [item.seen] if item.seen.run_id else [])
                self._spider.frontier.date(item.changed)
            else:
                await self._store(item)
        except StoreError as error:
            self._spider.stop(error)
        finally:
            self._spider.landed(item)
        return item

    async def _store(self, item: Settled) -> None:
        self._waiting += [item.outcome, *item.also]
        if self._flush is None or self._flush.done():
            self._flush = asyncio.ensure_future(self._settle())
        if len(self._waiting) >= TOGETHER:
            self._enough.set()
        await self._flush

    async def _settle(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._enough.wait(), GATHER)
        self._enough.clear()
        outcomes, self._waiting = self._waiting, []
        self._spider.frontier.settle(outcomes)
        self._spider.note()
