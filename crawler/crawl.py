"""Crawl of one shop: Scrapy in a process of its own, with progress read from the page table.

Scrapy's reactor can run only once in a process, and a page that crashes a crawler must not crash a
server; so the crawl is a child process (`crawler.crawl_process`). It reports its summary, and logs
to a file.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from catalog import errors
from catalog.errors import BlockedShop, CrawlError, ScoutError, UnreachableShop
from catalog.links.shop_links import load_configured_lists
from catalog.models import PageState, Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.bodies import share_credentials
from catalog.storage.frontier import Frontier
from catalog.storage.store import Store
from crawler.crawler_group import CrawlerKilled, run_crawler, run_crawlers
from crawler.fetch import browser
from crawler.fetch.response_status import UNREACHABLE
from crawler.frontier.budget import OUTSIDE_HOURS
from crawler.frontier.crawl_progress import CrawlProgress
from crawler.job import CrawlJob
from crawler.sources import saved_pages
from crawler.store.js_shells import check_for_shells

TOP_REASONS = 3  # reasons named in the error of a crawl that fetched nothing


@dataclass(frozen=True)
class CrawlResult:
    """Summary of a crawl: pages by state, refused pages and links by reason, and usage.

    `stopped` names the budget that was exhausted.
    """

    pages: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    stopped: str | None = None


def crawl_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    source: str | None = None,
    max_pages: int | None = None,
    anew: bool = False,
    progress: Progress = no_progress,
) -> CrawlResult:
    """Fetch the open pages of a shop and all pages that they lead to; resumes a killed crawl.

    With `anew` the shop sends all pages in full, and links are extracted from all of them again.
    `source` is a folder of saved pages or a WARC file, read instead of the network. It may also be
    a text file of URLs, which are fetched without following their links. Raises UnreachableShop,
    BlockedShop, StorageFull, Busy, CrawlError.
    """
    started = monotonic()
    # Bad settings fail here, with one line, instead of in the child's log.
    load_configured_lists(settings)
    share_credentials(settings.bodies)
    if shop.javascript:
        browser.find_browser(settings)
    frontier = Frontier(store, shop.id or 0, run_id)
    if source and saved_pages.has_saved_pages(Path(source)):
        skipped = saved_pages.read_saved_pages(
            settings, store, shop, run_id, Path(source), progress
        )
        return _result(store, shop, {"refused": skipped}, started)
    unlisted: Counter[str] = Counter()
    if source:
        listed, unlisted = saved_pages.read_url_list(Path(source), shop)
        frontier.add(listed)
    crawl_progress = CrawlProgress(store, shop.id or 0, frontier, progress)
    job = CrawlJob(
        settings,
        shop.name,
        run_id,
        max_pages,
        follow=not source,
        anew=anew,
        uses_browser=shop.javascript,
        fence=store.fence,
    )
    try:
        if shop.crawlers > 1 and not source:
            summary = run_crawlers(job, shop, frontier, crawl_progress)
        else:
            summary = run_crawler(job, shop, crawl_progress)
    except CrawlerKilled:
        # A page may have ended the crawler itself: now it can only end a worker process.
        summary = run_crawler(replace(job, isolated=True), shop, crawl_progress)
    crawl_progress.report(is_last=True)
    summary["refused"] = Counter(summary.get("refused", {})) + unlisted
    result = _result(store, shop, summary, started)
    _raise_for_error(shop, summary.get("error"), result, frontier.count_fetched())
    if not shop.javascript:
        check_for_shells(settings, store, shop)
    return result


def _result(store: Store, shop: Shop, summary: dict[str, Any], started: float) -> CrawlResult:
    frontier = Frontier(store, shop.id or 0)
    reasons = Counter(frontier.reasons())
    reasons.update(summary.get("refused", {}))
    return CrawlResult(
        pages=frontier.counts(),
        reasons=dict(reasons),
        requests=summary.get("requests", 0),
        bytes=summary.get("bytes", 0),
        seconds=monotonic() - started,
        stopped=summary.get("stopped"),
    )


def _raise_for_error(
    shop: Shop, error: tuple[str, str] | None, result: CrawlResult, fetched_in_run: int
) -> None:
    """Raise the error that ended a crawl.

    A shop that blocks after some pages of this run has been crawled in part. Pages of earlier runs
    do not count: they would be compared as if they were of today.
    """
    if error:
        kind, message = error
        if not (kind == "BlockedShop" and fetched_in_run):
            raise _error(kind, message)
    if result.pages.get(PageState.FETCHED, 0):
        return
    if result.stopped == OUTSIDE_HOURS:
        raise CrawlError(
            f"{shop.url} may be asked between {shop.window} only: run the same command then"
        )
    if not result.pages:
        return
    reasons = [reason for reason, _ in Counter(result.reasons).most_common(TOP_REASONS)]
    if reasons and set(reasons) <= UNREACHABLE:
        raise UnreachableShop(f"{shop.url} cannot be reached ({reasons[0]}): check the shop's URL")
    raise BlockedShop(
        f"{shop.url} gave no page to read, only: {', '.join(reasons)}. Nothing can be compared"
    )


def _error(kind: str, message: str) -> ScoutError:
    """Rebuild an error of the crawler process from its class name and message."""
    error_class = getattr(errors, kind, CrawlError)
    if error_class is errors.UnknownShop:
        # Its constructor takes a shop's name, not a message.
        return ScoutError(message)
    error: ScoutError = error_class(message)
    return error
