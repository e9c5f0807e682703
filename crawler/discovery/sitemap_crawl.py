"""Reading a shop's sitemaps: those of its robots.txt, `/sitemap.xml`, those set by hand, and those that they name.

A sitemap is noted when its links are in the table, so a crawl that goes on after a kill does not ask for it again. One
that only leads to others, by naming them or by a redirect, is not: a kill may come before those are read.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.models import SITEMAP_TOLD, PageState, SitemapSeen
from catalog.storage.frontier import Link
from crawler.discovery.sitemaps import (
    DEEPEST,
    LARGEST,
    MOST_FILES,
    SitemapFile,
    read_sitemap,
    unpacked,
)
from crawler.fetch.probe import HANDLED
from crawler.fetch.response_status import TRY_AGAIN, Answer, again, location, of_error, retry_after
from crawler.filters.link_filter import Sieve
from crawler.frontier.dispatcher import Supply
from crawler.store.pipelines import Listed
from crawler.urls.url_rules import NO_PAGE
from crawler.urls.url_shape import Address

UNREAD = "sitemap not read"
SILENT = 0

logger = logging.getLogger(__name__)


class Listing:
    """The sitemaps of one crawl; the supply is told what is under way. `done` are those read before a kill."""

    def __init__(self, sieve: Sieve, run_id: int | None, done: set[str], supply: Supply) -> None:
        self._sieve, self._run, self._done, self._supply = sieve, run_id, done, supply
        self._asked: set[str] = set()

    def ask(self, urls: Iterable[str], level: int = 0) -> Iterator[Request]:
        """Requests for the sitemaps among `urls` that are the shop's own and not read yet."""
        for url in urls:
            found = self._sieve.site.locate(url)
            if isinstance(found, str) or found.url in self._asked or len(self._asked) >= MOST_FILES:
                continue
            self._asked.add(found.url)
            if found.url not in self._done:
                self._supply.take(found.url)
                yield self._request(found.url, level)

    async def read(self, response: Response, **kwargs: Any) -> list[Listed | Request]:
        """What an answered sitemap brings. (A list, no generator, as the spider's `parse` gives.)"""
        meta, status = response.meta, response.status
        if status in TRY_AGAIN:
            answer = again(f"http {status}", meta["attempts"], retry_after(response))
            if status in (429, 503):
                self._supply.rest(answer.wait)
            return await self._again(meta, answer, status)
        found = self._moved(response) if 300 <= status < 400 else _contents(response)
        if found.sitemaps:
            onward = self.ask(found.sitemaps, meta["level"] + 1) if meta["level"] < DEEPEST else ()
            named: list[Listed | Request] = [*onward]
            self._supply.give(meta["sitemap"])
            return named
        links = [
            *self._sieve.seed(found.pages, "sitemap"),
            *self._sieve.seed(found.alternates, "alternate"),
        ]
        return [
            self._noted(
                meta["sitemap"], status, len(found.pages), links, self._dated(found.changed)
            )
        ]

    async def failed(self, failure: Failure) -> list[Listed | Request]:
        """A sitemap without an answer: where it stays so, the crawl goes by links."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        return await self._again(meta, of_error(failure.value, meta["attempts"]), SILENT)

    def _request(self, url: str, level: int, attempts: int = 1) -> Request:
        meta = {"sitemap": url, "level": level, "attempts": attempts, "download_maxsize": LARGEST}
        return Request(
            url, self.read, errback=self.failed, meta={**HANDLED, **meta}, dont_filter=True
        )

    async def _again(
        self, meta: dict[str, Any], answer: Answer, status: int
    ) -> list[Listed | Request]:
        """Ask once more after a while, or give up; what robots.txt forbids is not missed."""
        url = meta["sitemap"]
        if answer.state == PageState.PENDING and await self._supply.pause(answer.wait):
            return [self._request(url, meta["level"], meta["attempts"] + 1)]
        if answer.state == PageState.FAILED or answer.reason == "too large":
            return [self._noted(url, status)]
        self._supply.give(url)
        return []

    def _moved(self, response: Response) -> SitemapFile:
        """Where a redirect leads, as the one sitemap that it names; a function of the shop's is none."""
        target = location(response)
        found = self._sieve.site.read(target)
        return SitemapFile(
            sitemaps=(target,) if isinstance(found, Address) or found == NO_PAGE else ()
        )

    def _noted(
        self,
        url: str,
        status: int,
        size: int = 0,
        links: Sequence[Link] = (),
        changed: Mapping[str, datetime] | None = None,
    ) -> Listed:
        """The item for a sitemap; one that is there and could not be read is named and counted."""
        if status not in SITEMAP_TOLD:
            logger.warning("%s: %s (status %d)", UNREAD, url, status)
            self._sieve.refused[UNREAD] += 1
        seen = SitemapSeen(run_id=self._run or 0, url=url, status=status, urls_found=size)
        return Listed(seen, [*links], dict(changed or {}))

    def _dated(self, changed: Mapping[str, datetime]) -> dict[str, datetime]:
        """When the shop's own pages last changed, by their cleaned addresses."""
        read = {self._sieve.site.read(url): moment for url, moment in changed.items()}
        return {found.url: moment for found, moment in read.items() if isinstance(found, Address)}


def _contents(response: Response) -> SitemapFile:
    try:
        return read_sitemap(unpacked(response) if response.status == 200 else b"")
    except (OSError, ValueError, EOFError):
        return SitemapFile()
