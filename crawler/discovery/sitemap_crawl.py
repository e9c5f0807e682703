"""Sitemap crawl: sitemaps of robots.txt, of the shop's settings, `/sitemap.xml`, and their parts.

Every sitemap that is named and cannot be read is counted, and so is every entry that is left out,
with the reason. `/sitemap.xml` is asked for though nobody names it: that it is missing, or that a
page is shown in its place, says nothing.

A sitemap is stored as read together with its links, so a crawl that resumes after a kill does not
fetch it again. One that only leads to others, by naming them or by a redirect, is not stored: a
kill may come before those are read.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.models import FINAL_SITEMAP_STATUSES, PageState, SitemapSeen
from crawler.discovery.sitemaps import (
    HTML_PAGE,
    MAX_DEPTH,
    MAX_FILES,
    MAX_SIZE,
    SitemapFile,
    absolute_address,
    parse_sitemap_file,
)
from crawler.fetch.crawl_memory import CrawlMemory
from crawler.fetch.probe import PAGE_META
from crawler.fetch.response_status import (
    ROBOTS_TXT,
    TEMPORARY_STATUSES,
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
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.url_rules import NOT_A_PAGE

UNREAD = "sitemap not read"  # reason under which all unreadable sitemaps are counted
DETAIL = "sitemap: "  # begins the reasons of single sitemaps and entries
NESTED_TOO_DEEP = "nested too deep"
TOO_MANY_FILES = f"more than {MAX_FILES} files"
NO_RESPONSE = 0  # stored in place of an HTTP status; also for a response that holds no sitemap
GONE_SITEMAP_STATUSES = frozenset(FINAL_SITEMAP_STATUSES) - {200}

logger = logging.getLogger(__name__)


class SitemapCrawl:
    """Sitemaps of one crawl; each is in flight at the dispatcher until it is settled.

    `done` were read before.
    """

    def __init__(
        self,
        link_filter: LinkFilter,
        memory: CrawlMemory,
        run_id: int | None,
        done: set[str],
        dispatcher: Dispatcher,
    ) -> None:
        self._link_filter = link_filter
        self._memory = memory
        self._run_id = run_id
        self._done = done
        self._dispatcher = dispatcher
        self._requested: set[str] = set()

    def requests(
        self, urls: Iterable[str], level: int = 0, *, is_guess: bool = False
    ) -> Iterator[Request]:
        """Yield requests for the sitemaps among `urls` that are the shop's own and not read yet.

        `is_guess` if nobody names them.
        """
        for url in urls:
            site = self._link_filter.site
            address = site.normalize(absolute_address(url, f"{site.origin}/"))
            if isinstance(address, str):
                self._count_unread(url, address)
                continue
            if address.text in self._requested:
                continue
            if level > MAX_DEPTH or len(self._requested) >= MAX_FILES:
                self._requested.add(address.text)
                self._count_unread(url, NESTED_TOO_DEEP if level > MAX_DEPTH else TOO_MANY_FILES)
                continue
            self._requested.add(address.text)
            if address.text not in self._done:
                self._dispatcher.acquire(address.text)
                yield self._request({"sitemap": address.text, "level": level, "is_guess": is_guess})

    async def parse(self, response: Response, **kwargs: Any) -> list[SitemapItem | Request]:
        """Handle the response to a sitemap's request: its item, and requests for further sitemaps.

        Returns a list: Scrapy reads the source code of generators, and wraps them.
        """
        meta, status = response.meta, response.status
        self._dispatcher.note_arrival(meta["sitemap"])
        if status in TEMPORARY_STATUSES:
            wait = retry(f"http {status}", meta["attempts"], retry_after(response))
            if status in (429, 503):
                self._dispatcher.pause(wait.wait)
            return await self._retry_or_give_up(meta, wait, status)
        if 300 <= status < 400:
            sitemap = self._redirected_sitemap(response)
        else:
            sitemap = _parse_body(response)
        for reason, count in sitemap.skipped.items():
            self._link_filter.refused[DETAIL + reason] += count
        # Further sitemaps get their turns in the order of those that name them.
        await self._dispatcher.wait_turn(meta["sitemap"])
        requests: list[SitemapItem | Request] = []
        is_guess = meta["is_guess"]
        requests += self.requests(sitemap.sitemaps, meta["level"] + 1, is_guess=is_guess)
        if sitemap.sitemaps and not sitemap.pages:
            # Released after its sitemaps are in flight, or the crawl could seem to be over.
            self._dispatcher.release(meta["sitemap"])
            return requests
        links, event = self._memory.admit_seeds(
            [(sitemap.pages, "sitemap"), (sitemap.alternates, "alternate")], "sitemap"
        )
        is_missing = status in GONE_SITEMAP_STATUSES or sitemap.problem == HTML_PAGE
        if sitemap.problem and not (is_missing and meta["is_guess"]):
            self._count_unread(meta["sitemap"], sitemap.problem)
            if status not in GONE_SITEMAP_STATUSES:
                status = status if status >= 300 else NO_RESPONSE
        elif 200 <= status < 300:
            status = 200
        # One that also names other sitemaps is not stored as read: a kill may come before those.
        run_id = None if sitemap.sitemaps else self._run_id
        seen = SitemapSeen(
            run_id=run_id or 0,
            url=meta["sitemap"],
            status=status,
            urls_found=len(sitemap.pages),
        )
        changed = self._change_times(sitemap.changed)
        alternates = self._alternates(sitemap.versions)
        return [*requests, SitemapItem(seen, links, changed, alternates, event)]

    async def handle_error(self, failure: Failure) -> list[SitemapItem | Request]:
        """Handle a sitemap without a response; without it, the crawl relies on links."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        status = classify_error(failure.value, meta["attempts"])
        return await self._retry_or_give_up(meta, status, NO_RESPONSE)

    def _request(self, meta: dict[str, Any], attempts: int = 1) -> Request:
        return Request(
            meta["sitemap"],
            self.parse,
            errback=self.handle_error,
            meta={**PAGE_META, **meta, "attempts": attempts, "download_maxsize": MAX_SIZE},
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
            named = {key: meta[key] for key in ("sitemap", "level", "is_guess")}
            return [self._request(named, meta["attempts"] + 1)]
        if status.state == PageState.FAILED or status.reason != ROBOTS_TXT:
            self._count_unread(url, status.reason or "")
            seen = SitemapSeen(run_id=self._run_id or 0, url=url, status=http_status)
            return [SitemapItem(seen)]
        self._dispatcher.release(url)
        return []

    def _redirected_sitemap(self, response: Response) -> SitemapFile:
        """Treat a redirect as an index of one sitemap.

        Its target must not be a function of the shop.
        """
        target = redirect_target(response)
        checked = self._link_filter.site.check(target)
        # A sitemap has the file ending of a data file, which is no page.
        if isinstance(checked, CrawlUrl) or checked == NOT_A_PAGE:
            return SitemapFile(sitemaps=(target,))
        return SitemapFile(problem=f"redirect to: {checked}")

    def _count_unread(self, url: str, reason: str) -> None:
        """Log and count a sitemap that exists, or is named, and cannot be read."""
        logger.warning("%s: %s (%s)", UNREAD, url, reason)
        self._link_filter.refused[UNREAD] += 1
        self._link_filter.refused[DETAIL + reason] += 1

    def _alternates(
        self, versions: Mapping[str, Iterable[tuple[str, str]]]
    ) -> dict[str, dict[str, str]]:
        """Map the cleaned URLs of the shop's own pages to their versions in other languages."""
        site = self._link_filter.site
        alternates: dict[str, dict[str, str]] = {}
        for url, pairs in versions.items():
            address = site.check(url)
            if isinstance(address, CrawlUrl):
                alternates[address.text] = resolve_alternates(pairs, address.text, site)
        return alternates

    def _change_times(self, changed: Mapping[str, datetime]) -> dict[str, datetime]:
        """Map the cleaned URLs of the shop's own pages to their last change."""
        times: dict[str, datetime] = {}
        for url, moment in changed.items():
            address = self._link_filter.site.check(url)
            if isinstance(address, CrawlUrl):
                times[address.text] = moment
        return times


def _parse_body(response: Response) -> SitemapFile:
    if not 200 <= response.status < 300:
        return SitemapFile(problem=f"http {response.status}")
    return parse_sitemap_file(response.body, response.url)
