"""Several crawlers of one shop share its pages and its limits, under one lease."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import Crawl
from catalog.runtime.served_process import ServedProcess
from crawler import crawler_group
from crawler.crawl_process import start_crawl
from crawler.frontier.budget import OVER_PAGES
from crawler.job import CrawlJob
from tests.crawler.conftest import Bench
from tests.crawler.test_restart import PRODUCTS, fill


def test_shared_pages(make_bench: Callable[..., Bench]) -> None:
    """Three crawlers fetch each page once, and together no more pages than the limit allows."""
    made = make_bench(crawlers=3)
    fill(made)
    made.server.delay = 0.02
    crawled = made.crawl(max_pages=100)
    # The last products link to pages that are gone: a request for one counts as well.
    requested = crawled.pages["fetched"] + crawled.pages.get("gone", 0)
    assert (requested, crawled.stopped) == (100, OVER_PAGES)
    assert max(n for path, n in made.server.hits.items() if path.startswith("/p/")) == 1
    # A helper that has used its part up leaves the rest to the others.
    crawled = made.crawl()
    assert (crawled.pages["fetched"], crawled.stopped) == (PRODUCTS + 1, None)
    with made.store.read() as session:
        crawls = session.exec(select(Crawl)).all()
    assert len(crawls) > 3
    assert sum(crawl.requests for crawl in crawls) >= PRODUCTS + 1
    assert made.server.hits["/sitemap.xml"] == 1


def test_killed_crawler(make_bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """If a crawler is killed, one crawler fetches the pages that it had leased, and all others."""
    made = make_bench(crawlers=2)
    fill(made)
    made.server.delay = 0.02
    started: list[CrawlJob] = []

    def start(job: CrawlJob, log: Path) -> ServedProcess:
        started.append(job)
        process = start_crawl(job, log)
        if job.is_helper:
            deadline = time.monotonic() + 20
            while sum(made.server.hits.values()) < 40 and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(crawler_group, "start_crawl", start)
    assert made.crawl().pages["fetched"] == PRODUCTS + 1
    kinds: Sequence[tuple[bool, bool]] = [(job.is_helper, job.isolated) for job in started]
    assert kinds == [(False, False), (True, False), (False, True)]
