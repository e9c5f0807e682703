"""The spider: pages out of the page table, answers into items.

Redirects, retries and storing are no business of Scrapy's here: an item says what became of its page, and the pipeline
settles it in one transaction or not at all. Pages are handed out by `start()`, the asynchronous generator that Scrapy
asks for requests whenever it has room (2.13 and later); the page table is the only frontier.
"""

from collections.abc import AsyncIterator
from itertools import chain
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.errors import ScoutError, StoreError, UnreachableShop
from catalog.links.tracking_params import own_keys
from catalog.models import Page, PageState
from catalog.runtime.worker_process import CompanionLost
from catalog.storage.bodies import Bodies
from catalog.storage.frontier import Frontier, Outcome
from crawler.discovery import seeds
from crawler.discovery.sitemap_crawl import Listing
from crawler.fetch import browser, response_status
from crawler.fetch.circuit_breaker import Patience
from crawler.fetch.middlewares import PublicOnly
from crawler.fetch.probe import HANDLED, probe
from crawler.fetch.response_handler import Reader
from crawler.fetch.response_status import Answer
from crawler.filters.link_filter import Sieve
from crawler.frontier.budget import Budget
from crawler.frontier.crawl_log import Record
from crawler.frontier.dispatcher import MOST, Supply
from crawler.frontier.throttle import Pace
from crawler.job import Opened, open_job
from crawler.store.page_processor import Desk
from crawler.store.pipelines import Listed, Settled
from crawler.store.repair_bodies import mend
from crawler.supervision import log_as_json, tell, told, watch_parent
from crawler.urls.site import Site

SLOW = 0.5
FEW = 2


class ShopSpider(Spider):
    """Crawls one shop: `-a shop=NAME`, or a job on standard input."""

    name = "shop"

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened, self.job, self.shop = opened, opened.job, opened.shop
        self.frontier = Frontier(opened.store, opened.shop_id, opened.job.run_id)
        own = own_keys(opened.store, opened.shop_id).tracking
        self.site = Site(
            opened.shop.url, own, [str(file) for file in opened.job.settings.link_lists]
        )
        self.sieve = Sieve(self.site)
        self.record = Record(opened.store, opened.shop_id, opened.job.run_id)
        budget = Budget(
            self.shop, opened.limit - self.frontier.asked(), self.record.used, self.loaded
        )
        self.supply = Supply(self.frontier, budget, MOST)
        self._desk = Desk(self.site, opened.job.settings.bodies)
        self.error: tuple[str, str] | None = None
        self._sitemaps = list(opened.shop.sitemaps)
        self._patience = Patience(urlsplit(opened.shop.url).netloc)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Open the job and take over its settings; what fails is also told to the parent."""
        name = kwargs.get("shop")
        try:
            opened = open_job(name)
            settings = opened.scrapy_settings()
        except ScoutError as error:
            tell(error=told(error))
            raise
        if not name:
            watch_parent()
        if opened.job.settings.log_format == "json":
            log_as_json(opened.log)
        spider = cls(opened)
        spider._set_crawler(crawler)
        for key, value in settings.items():
            crawler.settings.set(key, value, priority="spider")
        crawler.signals.connect(spider.robots_read, signals.robots_parsed)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """All requests of the crawl."""
        store, shop_id, run = self.opened.store, self.opened.shop_id, self.job.run_id
        self.frontier.release()
        mend(store, shop_id, Bodies(self.job.settings.bodies))
        self._pace = Pace(self.crawler, self.shop.delay)
        self._guard_addresses()
        self._reader = Reader(self.sieve, seeds.recall(store, shop_id, self.sieve), self.job.follow)
        self.frontier.settle(seeds.in_doubt(store, shop_id, self.sieve))
        for marks in seeds.plain_marks(store, shop_id, Bodies(self.job.settings.bodies)):
            self.sieve.traps.looks_like_offer(marks)
        self._listing = Listing(self.sieve, run, seeds.sitemaps_read(store, run), self.supply)
        self.supply.over = self.supply.budget.over()
        if self.supply.over:
            return
        try:
            self._reader.missing = await probe(self.crawler, self.site, self._how())
            self._desk.shows(self._reader.missing.shows)
        except UnreachableShop as error:
            self.stop(self._private() or error)
            return
        if self.job.follow:
            self.frontier.add(seeds.first_links(store, shop_id, self.sieve))
            for request in self._listing.ask([*self._sitemaps, self.site.origin + "/sitemap.xml"]):
                yield request
            if self._reader.knows:
                await self.supply.quiet()
        async for page in self.supply.pages(True, self._admit):
            yield self._request(page)

    async def parse(self, response: Response, **kwargs: Any) -> list[Settled]:
        """An answer to a page's request. (A list, no generator: Scrapy reads the source of those, and wraps them.)"""
        page: Page = response.meta["page"]
        answer = response_status.of_response(response, page.attempts, bool(page.body))
        self._heed(answer, response.meta.get("download_latency", 0.0))
        if answer.state == PageState.REDIRECTED:
            settled = self._reader.redirected(page, response)
            self._judge(Answer(settled.outcome.state, settled.outcome.columns["reason"]))
            return [settled]
        if answer.state != PageState.FETCHED:
            return [self._reader.refused(page, response, answer)]
        if response.status == 304:
            return [self._reader.unchanged(page, response)]
        try:
            found = await self._desk.digest(response, judge=page.source != "root")
        except CompanionLost:
            return [
                self._reader.refused(
                    page, response, response_status.again("hostile page", page.attempts)
                )
            ]
        except StoreError as error:
            self.stop(error)
            self.supply.give(page.id or 0)
            return []
        settled = self._reader.fetched(page, response, found)
        self._desk.shows(self._reader.missing.shows)
        return [settled]

    def failed(self, failure: Failure) -> list[Settled]:
        """A page's request without an answer."""
        page: Page = failure.request.meta["page"]  # type: ignore[attr-defined]
        answer = self._private_answer() or response_status.of_error(failure.value, page.attempts)
        self._heed(answer)
        return [Settled(Outcome(page.id or 0, answer.state, answer.columns()))]

    def loaded(self) -> int:
        """How many bytes the crawl has brought so far."""
        return int(self.crawler.stats.get_value("downloader/response_bytes", 0))

    def note(self) -> None:
        """Keep how far the crawl has come."""
        self.record.note(
            int(self.crawler.stats.get_value("downloader/request_count", 0)), self.loaded()
        )

    def ended(self) -> None:
        """Keep why pages are left open, and what the crawl came to."""
        over = "stopped early" if self.error else self.supply.over
        if over:
            self.frontier.leave(over)
        requests = int(self.crawler.stats.get_value("downloader/request_count", 0))
        stopped = self.error[1] if self.error else over
        self.record.end(self.frontier, requests, self.loaded(), self.sieve.refused, stopped=stopped)
        self._desk.close()

    def landed(self, item: Settled | Listed) -> None:
        """An item has been stored, or never will be."""
        self.supply.give(item.outcome.page_id if isinstance(item, Settled) else item.seen.url)

    def give_up(self, request: Request, reason: str) -> None:
        """Settle a page on which our own code failed."""
        if page := request.meta.get("page"):
            self.frontier.settle([Outcome(page.id, PageState.FAILED, {"reason": reason})])
        self.supply.give(page.id if page else request.meta.get("sitemap", ""))

    def stop(self, error: ScoutError) -> None:
        """End the crawl; what is open stays open."""
        self.error = self.error or told(error)
        self.logger.error("crawl stopped: %s", error)
        self.supply.stop()

    def robots_read(self, robotparser: Any) -> None:
        """Keep to what robots.txt asks beyond its rules, and to the sitemaps that it names."""
        self._pace.read_robots(robotparser, "Scout")
        self._sitemaps += robotparser.rp.sitemaps
        self.supply.most = FEW if self._pace.base >= SLOW else MOST

    def _admit(self, pages: list[Page]) -> list[Page]:
        """The pages that are asked for; what was learnt since they were found may speak against the others."""
        outcomes = {page.id: found for page in pages if (found := self.sieve.reconsider(page))}
        if outcomes:
            self.frontier.settle(chain.from_iterable(outcomes.values()))
        for page_id in outcomes:
            self.supply.give(page_id or 0)
        return [page for page in pages if page.id not in outcomes]

    def _request(self, page: Page) -> Request:
        rendered = self._how()
        known = page.body and not rendered
        asked = (
            {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified} if known else {}
        )
        headers = {name: value for name, value in asked.items() if value}
        meta = {**HANDLED, **rendered, "page": page}
        return Request(
            page.url, self.parse, errback=self.failed, headers=headers, meta=meta, dont_filter=True
        )

    def _how(self) -> dict[str, Any]:
        """How pages are asked for: as they come, or by a browser."""
        return browser.request_meta() if self.shop.javascript else {}

    def _heed(self, answer: Answer, latency: float = 0.0) -> None:
        if answer.reason in ("http 429", "http 503"):
            self._pace.slower()
            self.supply.rest(answer.wait)
        elif answer.state == PageState.FETCHED:
            self._pace.answered(latency)
        self.supply.most = FEW if self._pace.delay >= SLOW else MOST
        if answer.state != PageState.REDIRECTED:
            self._judge(answer)

    def _judge(self, answer: Answer) -> None:
        if error := self._patience.after(answer):
            self.stop(error)

    def _guard_addresses(self) -> None:
        from twisted.internet import reactor

        host = urlsplit(self.shop.url).hostname if self.shop.allow_private else None
        self._resolver = PublicOnly(reactor.nameResolver, host)
        reactor.installNameResolver(self._resolver)

    def _private(self) -> UnreachableShop | None:
        if not self._resolver.refused:
            return None
        host = urlsplit(self.shop.url).hostname
        return UnreachableShop(
            f"{host} is a private address: add the shop with --allow-private where that is meant"
        )

    def _private_answer(self) -> Answer | None:
        return Answer(PageState.REFUSED, "private address") if self._resolver.refused else None
