"""A crawl can be killed at any moment and called again; a new run asks only for what changed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from filelock import FileLock

from catalog.errors import Busy
from crawler import job
from crawler.recrawl import reset
from tests.crawler.conftest import Bench
from tests.crawler.server import Reply, Visit, page

PRODUCTS = 120
PARENT = """
import sys
from catalog.settings import Settings
from catalog.store import Store
from crawler.crawl import crawl_shop
settings = Settings.load(data_dir=sys.argv[1])
store = Store.open(settings)
crawl_shop(settings, store, store.shop("bench"), int(sys.argv[2]))
"""


def fill(made: Bench) -> None:
    """A shop of many products, whose pages can say that they have not changed."""

    def product(visit: Visit) -> Reply:
        if visit.headers.get("if-none-match") == '"1"':
            return 304, {"ETag": '"1"'}, b""
        number = int(visit.path.rsplit("/", 1)[1])
        status, headers, body = page(f"/p/{number + 10}", title=f"Product {number}", text=f"{number},00 &euro;")(visit)
        return status, headers | {"ETag": '"1"'}, body

    def fallback(visit: Visit) -> Reply:
        number = visit.path.removeprefix("/p/")
        return product(visit) if number.isdigit() and int(number) < PRODUCTS else (404, {}, b"gone")

    made.server.fallback = fallback
    made.server.routes["/"] = page(*(f"/p/{number}" for number in range(10)))


def kill_midway(made: Bench) -> None:
    """Crawl in another process, and kill that with -9 once a few pages are fetched."""
    words = [sys.executable, "-c", PARENT, str(made.settings.data_dir), str(made.run_id)]
    parent = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    seen = sum(made.server.hits.values())
    while sum(made.server.hits.values()) < seen + 30:
        assert parent.poll() is None
        time.sleep(0.01)
    parent.send_signal(signal.SIGKILL)
    parent.wait()


def test_killed_crawl_goes_on(make_bench: Callable[..., Bench]) -> None:
    """After kill -9 and a second call no page is missing, and only those in flight were fetched again."""
    made = make_bench()
    fill(made)
    made.server.delay = 0.02
    kill_midway(made)
    assert len([path for path, (state, _) in made.states().items() if state == "fetched"]) < PRODUCTS
    crawled = made.crawl()
    assert crawled.pages["fetched"] == PRODUCTS + 1
    twice = [path for path, count in made.server.hits.items() if count > 1 and path.startswith("/p/")]
    assert len(twice) <= 16
    assert made.server.hits["/sitemap.xml"] == 1


def test_new_run_asks_for_changes_only(make_bench: Callable[..., Bench]) -> None:
    """After a reset every page is asked for once more; what answers 304 keeps its body and its reading."""
    made = make_bench()
    fill(made)
    made.crawl()
    before = made.pages()["/p/7"]
    with made.store.write() as session:
        row = session.get(type(before), before.id)
        assert row is not None
        row.rules_version = 3
        reset(session, made.shop.id or 0)
    crawled = made.crawl()
    after = made.pages()["/p/7"]
    assert made.server.hits["/p/7"] == 2
    assert (after.body, after.status, after.rules_version, after.state) == (before.body, 304, 3, "fetched")
    assert crawled.pages["fetched"] == PRODUCTS + 1


def test_page_limit(make_bench: Callable[..., Bench]) -> None:
    """Pages over the limit stay open and are counted; a later call with more room goes on with them."""
    made = make_bench()
    fill(made)
    crawled = made.crawl(max_pages=20)
    assert crawled.pages["fetched"] == 20
    assert crawled.reasons["over the page limit"] == crawled.pages["pending"]
    assert made.crawl(max_pages=30).pages["fetched"] == 30


def test_one_crawl_at_a_time(make_bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """While a crawl holds the shop's lock no other one starts."""
    made = make_bench()
    monkeypatch.setattr(job, "PATIENCE", 0.1)
    folder = made.settings.data_dir / "locks"
    folder.mkdir(parents=True)
    with FileLock(folder / f"crawl-{made.shop.id}.lock"), pytest.raises(Busy, match="another process"):
        job._lock(made.settings, made.shop)
