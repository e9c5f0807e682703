"""`crawl_shop`: one shop's crawl in a process of its own, watched through the page table.

Scrapy's reactor can run once in a process, and a page that brings a crawler down must not bring down a server; so the
crawl is a child. It gets its job on standard input, says what it came to on standard output, and logs to a file.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any

from catalog import errors
from catalog.errors import BlockedShop, CrawlError, ScoutError, UnreachableShop
from catalog.links.shop_links import lists_of
from catalog.models import PageState, Shop
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.frontier import Frontier
from catalog.storage.store import Store
from crawler.fetch import browser
from crawler.fetch.response_status import UNREACHABLE
from crawler.frontier.budget import HOURS
from crawler.frontier.crawl_progress import Live
from crawler.job import Job, log_file
from crawler.sources import saved_pages
from crawler.store.js_shells import refuse_shells

LOOK = 0.25
OPEN = (PageState.PENDING, PageState.LEASED)


@dataclass(frozen=True)
class Crawled:
    """What a crawl came to: the shop's pages by state, why pages or links were not visited, and what it cost.

    `stopped` names the budget that it ran out of.
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
    progress: Progress = silent,
) -> Crawled:
    """Fetch the open pages of a shop and all that they lead to; goes on where a killed crawl stopped.

    `source` is a folder of saved pages or a WARC file, read instead of the network, or a text file of URLs, fetched
    without following their links. Raises UnreachableShop, BlockedShop, StorageFull, Busy, CrawlError.
    """
    begin = monotonic()
    lists_of(settings)
    if shop.javascript:
        browser.require(settings)
    frontier = Frontier(store, shop.id or 0, run_id)
    if source and saved_pages.is_saved(Path(source)):
        saved_pages.read_saved(settings, store, shop, run_id, Path(source), progress)
        return _crawled(store, shop, {}, begin)
    if source:
        frontier.add(saved_pages.listed_links(Path(source), shop))
    live = Live(store, shop.id or 0, frontier, progress)
    said = _run(Job(settings, shop.name, run_id, max_pages, follow=not source), shop, live)
    live.tell(last=True)
    crawled = _crawled(store, shop, said, begin)
    _complain(shop, said.get("error"), crawled)
    if not shop.javascript:
        refuse_shells(settings, store, shop)
    return crawled


def _run(job: Job, shop: Shop, live: Live) -> dict[str, Any]:
    """Start the crawling process, and see it to its end; gives its last word."""
    log = log_file(job.settings, shop.id, job.run_id)
    level = "DEBUG" if job.settings.log_level == "debug" else "INFO"
    ways = (
        ["LOG_ENABLED=0"]
        if job.settings.log_format == "json"
        else [f"LOG_FILE={log}", f"LOG_LEVEL={level}"]
    )
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "crawl",
        "shop",
        *(word for way in ways for word in ("-s", way)),
    ]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    with log.open("ab") as stderr:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
            text=True,
        )
    with child:
        try:
            _hand_over(child.stdin, job)
            _watch(child, live)
        finally:
            if child.poll() is None:
                child.kill()
        return _last_word(child.stdout.read() if child.stdout else "", log, child.returncode)


def _hand_over(pipe: IO[str] | None, job: Job) -> None:
    if pipe is None:
        return
    try:
        pipe.write(job.write() + "\n")
        pipe.flush()
    except BrokenPipeError:
        return


def _watch(child: "subprocess.Popen[str]", live: Live) -> None:
    while child.poll() is None:
        live.tell()
        try:
            child.wait(LOOK)
        except subprocess.TimeoutExpired:
            continue


def _last_word(said: str, log: Path, code: int | None) -> dict[str, Any]:
    for line in reversed(said.splitlines()):
        try:
            words: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        return words
    raise CrawlError(
        f"the crawler ended unexpectedly (exit code {code}): see {log}, then run the same command again"
    )


def _crawled(store: Store, shop: Shop, said: dict[str, Any], begin: float) -> Crawled:
    frontier = Frontier(store, shop.id or 0)
    reasons = Counter(frontier.reasons())
    reasons.update(said.get("refused", {}))
    spent = said.get("requests", 0), said.get("bytes", 0), monotonic() - begin
    return Crawled(frontier.counts(), dict(reasons), *spent, stopped=said.get("over"))


def _complain(shop: Shop, error: Sequence[str] | None, crawled: Crawled) -> None:
    """Raise what the crawl died of; a shop that let us in at first and then no more has been crawled in part."""
    fetched = crawled.pages.get(PageState.FETCHED, 0)
    if error and not (error[0] == "BlockedShop" and fetched):
        kind = getattr(errors, error[0], CrawlError)
        raise kind(error[1]) if kind is not errors.UnknownShop else ScoutError(error[1])
    if fetched:
        return
    if crawled.stopped == HOURS:
        raise CrawlError(
            f"{shop.url} may be asked between {shop.window} only: run the same command then"
        )
    if not crawled.pages:
        return
    reasons = [reason for reason, _ in Counter(crawled.reasons).most_common(3)]
    if reasons and set(reasons) <= UNREACHABLE:
        raise UnreachableShop(f"{shop.url} cannot be reached ({reasons[0]}): check the shop's URL")
    raise BlockedShop(
        f"{shop.url} gave no page to read, only: {', '.join(reasons)}. Nothing can be compared"
    )
