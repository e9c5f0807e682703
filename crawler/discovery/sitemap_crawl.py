"""Sitemap crawl: sitemaps of robots.txt, of the shop's settings, `/sitemap.xml`, and their parts.

A sitemap is stored as read together with its links, so a crawl that resumes after a kill does not
fetch it again. One that only leads to others, by naming them or by a redirect, is not stored: a
kill may come before those are read.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.models import FINAL_SITEMAP_STATUSES, PageState, SitemapSeen
from catalog.storage.frontier import FrontierLink
from crawler.discovery.sitemap_languages import parse_sitemap_alternates
from crawler.discovery.sitemaps import (
    MAX_DEPTH,
    MAX_FILES,
    MAX_SIZE,
    SitemapFile,
    parse_sitemap,
    unzipped_body,
)
from crawler.fetch.probe import PAGE_META
from crawler.fetch.response_status import (
    TEMPORARY_STATUSES,
    TOO_LARGE,
    ResponseStatus,
    classify_error,
    redirect_target,
    retry,
    retry_after,
)
from crawler.filters.link_filter import LinkFilter
from crawler.frontier.dispatcher import Dispatcher
from crawler.pages.languages import resolve_alternates
from crawler.store.pipelines import SitemapItem
from crawler.urls.url_rules import NOT_A_PAGE
from crawler.urls.url_shape import Address

UNREAD = "sitemap not read"  # reason under which unreadable sitemaps are counted
NO_RESPONSE = 0  # stored in place of an HTTP status

logger = logging.getLogger(__name__)


class SitemapCrawl:
    """Sitemaps of one crawl; each is in flight at the dispatcher until it is settled.

    `done` were read before.
    """

    def __init__(
        self, link_filter: LinkFilter, run_id: int | None, done: set[str], dispatcher: Dispatcher
    ) -> None:
        self._link_filter = link_filter
        self._run_id = run_id
        self._done = done
        self._dispatcher = dispatcher
        self._requested: set[str] = set()

    def requests(self, urls: Iterable[str], level: int = 0) -> Iterator[Request]:
        """Yield requests for the sitemaps among `urls` that are the shop's own and not read yet."""
        for url in urls:
            address = self._link_filter.site.normalize(url)
            if isinstance(address, str) or address.url in self._requested:
                continue
            if len(self._requested) >= MAX_FILES:
                return
            self._requested.add(address.url)
            if address.url not in self._done:
                self._dispatcher.acquire(address.url)
                yield self._request(address.url, level)

    async def parse(self, response: Response, **kwargs: Any) -> list[SitemapItem | Request]:
        """Handle the response to a sitemap's request: its item, or requests for further sitemaps.

        Returns a list: Scrapy reads the source code of generators, and wraps them.
        """
        meta, status = response.meta, response.status
        if status in TEMPORARY_STATUSES:
            wait = retry(f"http {status}", meta["attempts"], retry_after(response))
            if status in (429, 503):
                self._dispatcher.pause(wait.wait)
            return await self._retry_or_give_up(meta, wait, status)
        if 300 <= status < 400:
            sitemap = self._redirected_sitemap(response)
        else:
            sitemap = _parse_body(response)
        if sitemap.sitemaps:
            requests: list[SitemapItem | Request] = []
            if meta["level"] < MAX_DEPTH:
                requests += self.requests(sitemap.sitemaps, meta["level"] + 1)
            # Released after its sitemaps are in flight, or the crawl could seem to be over.
            self._dispatcher.release(meta["sitemap"])
            return requests
        links = [
            *self._link_filter.admit_seeds(sitemap.pages, "sitemap"),
            *self._link_filter.admit_seeds(sitemap.alternates, "alternate"),
        ]
        changed = self._change_times(sitemap.changed)
        item = self._item(meta["sitemap"], status, len(sitemap.pages), links, changed)
        item.alternates = self._alternates(response)
        return [item]

    async def handle_error(self, failure: Failure) -> list[SitemapItem | Request]:
        """Handle a sitemap without a response; without it, the crawl relies on links."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        status = classify_error(failure.value, meta["attempts"])
        return await self._retry_or_give_up(meta, status, NO_RESPONSE)

    def _request(self, url: str, level: int, attempts: int = 1) -> Request:
        meta = {"sitemap": url, "level": level, "attempts": attempts, "download_maxsize": MAX_SIZE}
        return Request(
            url,
            self.parse,
            errback=self.handle_error,
            meta={**PAGE_META, **meta},
            dont_filter=True,
        )

    async def _retry_or_give_up(
        self, meta: dict[str, Any], status: ResponseStatus, http_status: int
    ) -> list[SitemapItem | Request]:
        """Request a sitemap again after a while, or give up.

        One that robots.txt forbids is not counted as unread.
        """
        url = meta["sitemap"]
        if status.state == PageState.PENDING and await self._dispatcher.sleep(status.wait):
            return [self._request(url, meta["level"], meta["attempts"] + 1)]
        if status.state == PageState.FAILED or status.reason == TOO_LARGE:
            return [self._item(url, http_status)]
        self._dispatcher.release(url)
        return []

    def _redirected_sitemap(self, response: Response) -> SitemapFile:
        """Treat a redirect as an index of one sitemap.

        Its target must not be a function of the shop.
        """
        target = redirect_target(response)
        checked = self._link_filter.site.check(target)
        # A sitemap has the file ending of a data file, which is no page.
        if isinstance(checked, Address) or checked == NOT_A_PAGE:
            return SitemapFile(sitemaps=(target,))
        return SitemapFile()

    def _item(
        self,
        url: str,
        http_status: int,
        size: int = 0,
        links: Sequence[FrontierLink] = (),
        changed: Mapping[str, datetime] | None = None,
    ) -> SitemapItem:
        """Build the item of a sitemap.

        One that exists and could not be read is logged and counted.
        """
        if http_status not in FINAL_SITEMAP_STATUSES:
            logger.warning("%s: %s (status %d)", UNREAD, url, http_status)
            self._link_filter.refused[UNREAD] += 1
        seen = SitemapSeen(run_id=self._run_id or 0, url=url, status=http_status, urls_found=size)
        return SitemapItem(seen, [*links], dict(changed or {}))

    def _alternates(self, response: Response) -> dict[str, dict[str, str]]:
        """Map the cleaned URLs of the shop's own pages to their versions in other languages."""
        site = self._link_filter.site
        alternates: dict[str, dict[str, str]] = {}
        for url, pairs in parse_sitemap_alternates(_unzipped(response)).items():
            address = site.check(url)
            if isinstance(address, Address):
                alternates[address.url] = resolve_alternates(pairs, address.url, site)
        return alternates

    def _change_times(self, changed: Mapping[str, datetime]) -> dict[str, datetime]:
        """Map the cleaned URLs of the shop's own pages to their last change."""
        times: dict[str, datetime] = {}
        for url, moment in changed.items():
            address = self._link_filter.site.check(url)
            if isinstance(address, Address):
                times[address.url] = moment
        return times


def _unzipped(response: Response) -> bytes:
    """Return a sitemap's body, unzipped; empty if it cannot be unzipped, or there is none."""
    if response.status != 200:
        return b""
    try:
        return unzipped_body(response)
    except (OSError, ValueError, EOFError):
        return b""


def _parse_body(response: Response) -> SitemapFile:
    return parse_sitemap(_unzipped(response))
