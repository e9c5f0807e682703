"""Spider of one shop: requests the pages of the page table, and turns responses into items.

Redirects, retries and storage are not Scrapy's here: an item holds the outcome of its page, and the
pipeline writes it in one transaction or not at all. `start()`, the asynchronous generator of Scrapy
2.13 and later, yields pages whenever Scrapy has free slots; the page table is the only frontier.
"""

from collections.abc import AsyncIterator
from itertools import chain
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.errors import ConfigError, ScoutError, StoreError, UnreachableShop
from catalog.links.tracking_params import learn_shop_keys
from catalog.models import Page, PageState
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.crawl_events import delete_events, read_events
from catalog.storage.frontier import Frontier
from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.discovery import seeds
from crawler.discovery.sitemap_crawl import SitemapCrawl
from crawler.fetch import browser
from crawler.fetch.circuit_breaker import CircuitBreaker
from crawler.fetch.crawl_memory import CrawlMemory
from crawler.fetch.middlewares import PublicAddressResolver
from crawler.fetch.probe import PAGE_META, probe
from crawler.fetch.response_handler import ResponseHandler, is_same_page
from crawler.fetch.response_status import (
    ResponseStatus,
    classify_error,
    classify_response,
)
from crawler.filters.link_filter import LinkFilter
from crawler.frontier.budget import Budget
from crawler.frontier.crawl_log import CrawlLog
from crawler.frontier.dispatcher import LEASE, MAX_IN_FLIGHT, Dispatcher
from crawler.frontier.journal import CrawlJournal, Event
from crawler.frontier.throttle import Throttle
from crawler.job import CrawlJob, OpenedJob, open_job
from crawler.pages.page_digest import PageDigest
from crawler.pages.soft404 import PageFingerprint
from crawler.store.body_repair import repair_bodies
from crawler.store.page_processor import (
    PageError,
    PageProcessor,
    PageSetAside,
    failure_reason,
)
from crawler.store.pipelines import PageItem, SitemapItem
from crawler.supervision import report, serialize_error
from crawler.urls.site import Site

ROBOTS_AGENT = "Scout"  # the name by which robots.txt addresses us


class ShopSpider(Spider):
    """Crawls one shop by a job; by Scrapy's own commands with `-a shop=NAME`."""

    name = "shop"

    def __init__(self, opened: OpenedJob, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        super().__init__()
        self.opened = opened
        self.job = opened.job
        self.shop = opened.shop
        self.config = config
        self.error: tuple[str, str] | None = None
        settings = opened.job.settings
        self.frontier = Frontier(opened.store, opened.shop_id, opened.job.run_id)
        self.site = Site(
            opened.shop.url,
            learn_shop_keys(opened.store, opened.shop_id).tracking,
            [str(file) for file in settings.link_lists],
        )
        self.link_filter = LinkFilter(self.site, config)
        self.crawl_log = CrawlLog(opened.store, opened.shop_id, opened.job.run_id)
        pages_left = opened.job.pages_left
        if pages_left is None:
            pages_left = opened.job.page_limit(self.shop) - self.frontier.count_requested()
        budget = Budget(
            self.shop,
            pages_left,
            self.crawl_log.used,
            self.downloaded_bytes,
            opened.job.crawlers,
        )
        self.dispatcher = Dispatcher(self.frontier, budget, MAX_IN_FLIGHT)
        self._processor = PageProcessor(self.site, settings.bodies, opened.job.isolated)
        self._circuit_breaker = CircuitBreaker(urlsplit(opened.shop.url).netloc, config)
        self._sitemap_urls = list(opened.shop.sitemaps)
        self._journal = CrawlJournal(is_kept=False)
        # Pages in flight that an interrupted crawl has admitted already.
        self._admitted_before: set[int | None] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Open the job and apply its settings; an error is reported to the parent as well."""
        try:
            opened = open_job(kwargs.get("job") or CrawlJob(Settings.load(), kwargs["shop"]))
            settings = opened.scrapy_settings()
        except ScoutError as error:
            report(error=serialize_error(error))
            raise
        if opened.job.settings.log_format == "json":
            from crawler.json_log import log_as_json

            log_as_json(opened.log)
        spider = cls(opened)
        spider._set_crawler(crawler)
        for key, value in settings.items():
            crawler.settings.set(key, value, priority="spider")
        crawler.signals.connect(spider.apply_robots, signals.robots_parsed)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield all requests of the crawl."""
        self._resume()
        # A crawl without a budget makes no request, not even the probe's.
        self.dispatcher.stopped_reason = self.dispatcher.budget.exhausted_reason()
        if self.dispatcher.stopped_reason:
            return
        try:
            self._memory.missing_page = await probe(
                self.crawler, self.site, self._page_meta(), self._fingerprint
            )
            # The probe may have moved the site to another origin.
            self._handler.digest_key = self.site.digest_key()
        except UnreachableShop as error:
            self.stop(self._private_address_error() or error)
            return
        except ConfigError as error:
            self.stop(error)
            return
        # Only now: what addresses mean depends on the site's origin.
        self._learn_again()
        self._processor.set_missing_page(self._memory.missing_page.fingerprint)
        if self.job.follow and not self.job.is_helper:
            self._add_seeds()
            for request in self._sitemap_crawl.requests(self._sitemap_urls):
                yield request
            for request in self._sitemap_crawl.requests(["/sitemap.xml"], is_guess=True):
                yield request
            # Which of a link and a sitemap finds a page first must not depend on timing. In a new
            # crawl of a known shop, dates of sitemaps may settle pages without a request.
            await self.dispatcher.drain()
        is_first_alone = not (self.job.is_helper or self._memory.has_responses)
        async for page in self.dispatcher.pages(is_first_alone, self._admit):
            yield self._request(page)

    async def parse(self, response: Response, **kwargs: Any) -> list[PageItem]:
        """Turn the response to a page's request into its item.

        Returns a list: Scrapy reads the source code of generators, and wraps them.
        """
        page: Page = response.meta["page"]
        self.dispatcher.note_arrival(page.id or 0)
        status = classify_response(response, page.attempts, bool(page.body))
        self._adapt_speed(status, response.meta.get("download_latency", 0.0))
        digest: PageDigest | None = None
        is_unchanged = response.status == 304 or self._is_unchanged(page, response)
        if status.state == PageState.FETCHED and not is_unchanged:
            try:
                digest = await self._processor.process(response, page.source != "root")
            except (PageSetAside, PageError) as error:
                status = ResponseStatus(PageState.FAILED, failure_reason(error))
            except StoreError as error:
                self.stop(error)
                self.dispatcher.release(page.id or 0)
                return []
        # All that the crawl learns from a page, it learns in the order of dispatch.
        await self.dispatcher.wait_turn(page.id or 0)
        if digest is not None:
            item = self._handler.handle_page(page, response, digest)
            self._processor.set_missing_page(self._memory.missing_page.fingerprint)
            # Only now it is known whether the page is a soft 404.
            self._count_failure(_final_status(item))
            return [item]
        if status.state == PageState.REDIRECTED:
            item = self._handler.handle_redirect(page, response)
            # Only now it is known whether the redirect leads to a login.
            self._count_failure(_final_status(item))
            return [item]
        self._count_failure(status)
        if status.state != PageState.FETCHED:
            return [self._handler.handle_failure(page, status, response)]
        return [self._handler.handle_unchanged(page, response)]

    async def handle_error(self, failure: Failure) -> list[PageItem]:
        """Turn a page's request without a response into its item."""
        page: Page = failure.request.meta["page"]  # type: ignore[attr-defined]
        self.dispatcher.note_arrival(page.id or 0)
        host = urlsplit(failure.request.url).hostname  # type: ignore[attr-defined]
        if host in self._resolver.refused:
            status = ResponseStatus(PageState.REFUSED, "private address")
        else:
            status = classify_error(failure.value, page.attempts)
        self._adapt_speed(status)
        await self.dispatcher.wait_turn(page.id or 0)
        self._count_failure(status)
        return [self._handler.handle_failure(page, status)]

    def downloaded_bytes(self) -> int:
        """Return the bytes that the crawl has downloaded so far."""
        return int(self.crawler.stats.get_value("downloader/response_bytes", 0))

    def update_log(self) -> None:
        """Store the crawl's usage so far."""
        self.crawl_log.update(self._request_count(), self.downloaded_bytes())

    def finish(self) -> None:
        """Store why pages are left open, and the summary of the crawl."""
        reason = "stopped early" if self.error else self.dispatcher.stopped_reason
        if reason:
            self.frontier.explain_open(reason)
        self.crawl_log.finish(
            self.frontier,
            self._request_count(),
            self.downloaded_bytes(),
            self.link_filter.refused,
            stopped=self.error[1] if self.error else reason,
        )
        if not reason and self._journal.is_kept:
            delete_events(self.opened.store, self.opened.shop_id)
        self._processor.close()

    def release(self, item: PageItem | SitemapItem) -> None:
        """Release the page or sitemap of an item that has been stored, or never will be."""
        if isinstance(item, PageItem):
            self.dispatcher.release(item.outcome.page_id)
        else:
            self.dispatcher.release(item.seen.url)

    def fail_request(self, request: Request, reason: str) -> None:
        """Fail the page of a request on which our own code failed; a trial of its URL is closed."""
        page: Page | None = request.meta.get("page")
        if page is None:
            self.dispatcher.release(request.meta.get("sitemap", ""))
            return
        item = self._handler.handle_failure(page, ResponseStatus(PageState.FAILED, reason))
        self.frontier.record_results([item.outcome, *item.related])
        self.dispatcher.release(page.id or 0)

    def stop(self, error: ScoutError) -> None:
        """End the crawl; open pages stay open."""
        self.error = self.error or serialize_error(error)
        self.logger.error("crawl stopped: %s", error)
        self.dispatcher.stop()

    def apply_robots(self, robotparser: Any) -> None:
        """Apply the delay that robots.txt asks for, and take over the sitemaps that it names."""
        self._throttle.apply_robots(robotparser, ROBOTS_AGENT)
        self._sitemap_urls += robotparser.rp.sitemaps
        self._limit_in_flight(self._throttle.min_delay)

    def _resume(self) -> None:
        """Rebuild the state of the crawl from the page table, as it was when the crawl began."""
        store, shop_id, run_id = self.opened.store, self.opened.shop_id, self.job.run_id
        bodies = BodyStore(self.job.settings.bodies)
        crawlers = self.job.crawlers
        self._throttle = Throttle(self.crawler, self.shop.delay, self.config, crawlers)
        self._limit_in_flight(self._throttle.min_delay)
        self._guard_addresses()
        is_kept = run_id is not None and crawlers == 1 and not self.job.is_helper
        self._journal = CrawlJournal(is_kept=is_kept)
        self._events = self._journal.decode(read_events(store, shop_id, run_id or 0))
        # The first event holds what else a crawl knows at its beginning.
        start = next(self._events, None) if is_kept else None
        if not self.job.is_helper:
            # Leases of a helper's siblings are those of living crawlers.
            if start is None:
                self.frontier.release()
                delete_events(store, shop_id)
            repair_bodies(store, shop_id, bodies)
        _, last_page_id, replacements, signals = start or self._begin(bodies)
        is_resumed = start is not None
        known_bodies = seeds.restore_pages(
            store, shop_id, self.link_filter, run_id if is_resumed else None, last_page_id
        )
        self._memory = CrawlMemory(self.link_filter, known_bodies, self._journal)
        self._handler = ResponseHandler(self._memory, self.job.follow)
        replacements = [seeds.EarlierReplacement(*values) for values in replacements]
        outcomes = seeds.restore_replacements(replacements, self.link_filter)
        for signals_of_page in signals:
            self.link_filter.traps.looks_like_offer(signals_of_page)
        if start is None:
            begin = self._journal.make_event("start", last_page_id, replacements, signals)
            self.frontier.record_results(outcomes, [begin])
        done = seeds.sitemaps_read(store, run_id)
        self._sitemap_crawl = SitemapCrawl(
            self.link_filter, self._memory, run_id, done, self.dispatcher
        )

    def _begin(self, bodies: BodyStore) -> Event:
        """Return what a crawl that begins knows beside the pages of the table."""
        store, shop_id = self.opened.store, self.opened.shop_id
        replacements = seeds.find_replacements(store, shop_id)
        signals = list(seeds.baseline_signals(store, shop_id, bodies))
        return ["start", self.frontier.newest_page_id(), replacements, signals]

    def _learn_again(self) -> None:
        """Learn from the events of an interrupted crawl, and dispatch its pages in flight first."""
        for event in self._events:
            self._memory.replay(event)
        if not self._memory.admitted.batches:
            return
        leased = self.frontier.renew_leases(LEASE)
        batches, claimed = self._memory.admitted.group(leased)
        self._admitted_before = {page.id for batch in batches for page in batch}
        self.dispatcher.resume([*batches, claimed] if claimed else batches)

    def _add_seeds(self) -> None:
        if self._memory.has_seeds:
            return
        urls = seeds.seed_urls(self.opened.store, self.opened.shop_id, self.site.home)
        links, event = self._memory.admit_seeds(urls, "seeds")
        self.frontier.add(links, events=[event])

    def _admit(self, pages: list[Page]) -> list[Page]:
        """Return the pages to request.

        Settles those that rules learnt since then refuse or replace.
        """
        to_consider = [page for page in pages if page.id not in self._admitted_before]
        self._admitted_before.difference_update(page.id for page in pages)
        if not to_consider:
            return pages
        outcomes, event = self._memory.admit_pages(to_consider)
        if outcomes or event:
            self.frontier.record_results(chain.from_iterable(outcomes.values()), [event])
        for page_id in outcomes:
            self.dispatcher.release(page_id)
        return [page for page in pages if page.id not in outcomes]

    async def _fingerprint(self, response: Response) -> PageFingerprint | None:
        """Compute the fingerprint of the shop's soft 404s; a page that fails is counted."""
        try:
            return await self._processor.fingerprint(response)
        except (PageSetAside, PageError) as error:
            self.link_filter.refused[f"page of the probe: {failure_reason(error)}"] += 1
            return None

    def _request(self, page: Page) -> Request:
        page_meta = self._page_meta()
        headers: dict[str, str] = {}
        # A browser shows a page only if the shop sends it in full.
        if page.body and not page_meta and not self.job.anew:
            if page.etag:
                headers["If-None-Match"] = page.etag
            if page.last_modified:
                headers["If-Modified-Since"] = page.last_modified
        return Request(
            page.url,
            self.parse,
            errback=self.handle_error,
            headers=headers,
            meta={**PAGE_META, **page_meta, "page": page},
            dont_filter=True,
        )

    def _is_unchanged(self, page: Page, response: Response) -> bool:
        """Return True if a page that was sent in full is the one whose links are known.

        The root is always digested: it shows whether the shop has soft 404s.
        """
        if self.job.anew or page.source == "root":
            return False
        return page.digest_key == self._handler.digest_key and is_same_page(page, response)

    def _page_meta(self) -> dict[str, Any]:
        """Return the request meta for pages of this shop: for the browser if it needs one."""
        return browser.request_meta() if self.shop.javascript else {}

    def _request_count(self) -> int:
        return int(self.crawler.stats.get_value("downloader/request_count", 0))

    def _adapt_speed(self, status: ResponseStatus, latency: float = 0.0) -> None:
        """Adapt the speed of the crawl to a response."""
        if status.reason in ("http 429", "http 503"):
            self._throttle.back_off()
            self.dispatcher.pause(status.wait)
        elif status.state == PageState.FETCHED:
            self._throttle.record_latency(latency)
        self.dispatcher.delay = self._throttle.delay

    def _limit_in_flight(self, delay: float) -> None:
        """Lease few pages if the shop asks for a long delay.

        The shop's latency has no part in it: which pages are fetched must not depend on timing.
        """
        self.dispatcher.delay = delay
        is_slow = delay >= self.config.slow_delay
        self.dispatcher.max_in_flight = self.config.slow_in_flight if is_slow else MAX_IN_FLIGHT

    def _count_failure(self, status: ResponseStatus) -> None:
        if error := self._circuit_breaker.record(status):
            self.stop(error)

    def _guard_addresses(self) -> None:
        from twisted.internet import reactor

        host = urlsplit(self.shop.url).hostname if self.shop.allow_private else None
        self._resolver = PublicAddressResolver(reactor.nameResolver, host)
        reactor.installNameResolver(self._resolver)

    def _private_address_error(self) -> UnreachableShop | None:
        host = next(iter(self._resolver.refused), None)
        if host is None:
            return None
        return UnreachableShop(
            f"{host} is a private address: add the shop with --allow-private where that is meant"
        )


def _final_status(item: PageItem) -> ResponseStatus:
    """Return the status of a page after its content or its redirect was handled."""
    return ResponseStatus(item.outcome.state, item.outcome.columns["reason"])
