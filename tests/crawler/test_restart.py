"""A crawl can be killed at any moment and called again; a new run fetches only changed pages."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from filelock import FileLock
from sqlmodel import delete, select

from catalog.errors import Busy
from catalog.models import CrawlEvent, Page, PageState, Run, Shop, utc_now
from catalog.storage.frontier import SAME_AS_CANONICAL, FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store
from crawler import job
from crawler.frontier.revisit import REFUSED_TO_RETRY, reset_for_revisit
from tests.crawler.conftest import Bench
from tests.crawler.server import Reply, Visit, page, raw

PRODUCTS = 120
PARENT = """
import sys
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
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
        status, headers, body = page(
            f"/p/{number + 10}", title=f"Product {number}", text=f"{number},00 &euro;"
        )(visit)
        return status, headers | {"ETag": '"1"'}, body

    def fallback(visit: Visit) -> Reply:
        number = visit.path.removeprefix("/p/")
        return product(visit) if number.isdigit() and int(number) < PRODUCTS else (404, {}, b"gone")

    made.server.fallback = fallback
    made.server.routes["/"] = page(*(f"/p/{number}" for number in range(10)))


def kill_midway(made: Bench, requests: int = 30, bodies: int = 0) -> None:
    """Crawl in another process, and kill that with -9 after some requests, and some stored bodies."""
    words = [sys.executable, "-c", PARENT, str(made.settings.data_dir), str(made.run_id)]
    parent = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    seen = sum(made.server.hits.values())
    folder = Path(made.settings.bodies)
    while (
        sum(made.server.hits.values()) < seen + requests
        or sum(1 for _ in folder.rglob("*.zst")) < bodies
    ):
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
    assert (
        len([path for path, (state, _) in made.states().items() if state == "fetched"]) < PRODUCTS
    )
    crawled = made.crawl()
    assert crawled.pages["fetched"] == PRODUCTS + 1
    twice = [
        path for path, count in made.server.hits.items() if count > 1 and path.startswith("/p/")
    ]
    assert len(twice) <= 16
    assert made.server.hits["/sitemap.xml"] == 1


def fill_with_detours(made: Bench) -> None:
    """A shop whose lists link each product under a detour of its own, and an endless calendar."""

    def calendar(visit: Visit) -> Reply:
        day = int(visit.path.rsplit("/", 1)[1])
        links = [f"/calendar/{day + step}" for step in (1, 2, 3)]
        return page(*links, title="Calendar")(visit)

    def product(visit: Visit) -> Reply:
        number = int(visit.path.rsplit("-", 1)[1])
        canonical = f'<link rel="canonical" href="{{root}}/p/item-{number}">'
        related = [f"/p/item-{number}?variant={number % 7}", f"/sale/p/item-{(number * 3) % 90}"]
        text = f"{number},00 &euro;"
        return page(*related, title=f"Item {number}", head=canonical, text=text)(visit)

    def answer(visit: Visit) -> Reply:
        path = visit.path.partition("?")[0]
        if "/calendar/" in path:
            return calendar(visit)
        if "/p/item-" in path:
            return product(Visit(path, visit.before, visit.headers, visit.root))
        return 404, {}, b"gone"

    made.server.fallback = answer
    lists = []
    for number in range(9):
        folder = ("sale", "new", "all")[number % 3]
        items = [f"/{folder}/p/item-{item}" for item in range(number * 10, number * 10 + 10)]
        made.server.routes[f"/list-{number}"] = page(*items, title=f"List {number}")
        lists.append(f"/list-{number}")
    made.server.routes["/"] = page("/calendar/1", *lists, title="Shop")


def test_killed_crawl_fetches_the_pages_that_it_would_have(
    make_bench: Callable[..., Bench],
) -> None:
    """What a crawl has learnt of detours and traps outlives two kills: it ends with the same pages."""
    made = make_bench()
    fill_with_detours(made)
    made.crawl()
    undisturbed = made.states()
    with made.store.write() as session:
        session.exec(delete(Page))
        run = Run(shop_id=made.shop.id or 0)
        session.add(run)
        session.flush()
        made.run_id = run.id or 0
    made.server.delay = 0.01
    for requests in (12, 40):
        kill_midway(made, requests)
    made.crawl()
    assert made.states() == undisturbed
    assert any(reason == SAME_AS_CANONICAL for _, reason in undisturbed.values())
    with made.store.read() as session:
        assert session.exec(select(CrawlEvent)).all() == []


def test_new_run_asks_for_changes_only(make_bench: Callable[..., Bench]) -> None:
    """After a reset every page is requested once more; a 304 keeps its body and its reading."""
    made = make_bench()
    fill(made)
    made.crawl()
    before = made.pages()["/p/7"]
    with made.store.write() as session:
        row = session.get(type(before), before.id)
        assert row is not None
        row.rules_version = 3
        reset_for_revisit(session, made.shop.id or 0)
    crawled = made.crawl()
    after = made.pages()["/p/7"]
    assert made.server.hits["/p/7"] == 2
    assert (after.body, after.status, after.rules_version, after.state) == (
        before.body,
        304,
        3,
        "fetched",
    )
    assert crawled.pages["fetched"] == PRODUCTS + 1


def test_page_limit(make_bench: Callable[..., Bench]) -> None:
    """Pages over the limit stay open and are counted.

    A later call with more room goes on with them.
    """
    made = make_bench()
    fill(made)
    crawled = made.crawl(max_pages=20)
    assert crawled.pages["fetched"] == 20
    assert crawled.reasons["over the page limit"] == crawled.pages["pending"]
    assert made.crawl(max_pages=30).pages["fetched"] == 30


def test_one_crawl_at_a_time(
    make_bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a crawl holds the shop's lock no other one starts."""
    made = make_bench()
    monkeypatch.setattr(job, "LOCK_TIMEOUT", 0.1)
    folder = made.settings.data_dir / "locks"
    folder.mkdir(parents=True)
    with (
        FileLock(folder / f"crawl-{made.shop.id}.lock"),
        pytest.raises(Busy, match="another process"),
    ):
        job._lock(made.settings, made.shop)


def test_gone_after_a_second_look(make_bench: Callable[..., Bench]) -> None:
    """A known page is requested twice before it is gone; one that came back is not gone."""
    made = make_bench()
    made.server.routes |= {"/": page("/p/1", "/p/2", "/p/3")}
    made.server.routes |= {
        f"/p/{number}": page(title=f"Product {number}") for number in range(1, 4)
    }
    made.crawl()
    with made.store.write() as session:
        reset_for_revisit(session, made.shop.id or 0)

    def hiccup(visit: Visit) -> Reply:
        return page(title="Product 2")(visit) if visit.before > 1 else (404, {}, b"")

    del made.server.routes["/p/1"]
    made.server.routes["/p/2"] = hiccup
    made.crawl()
    states = made.states()
    assert (states["/p/1"], states["/p/2"]) == (("gone", "http 404"), ("fetched", None))
    assert [made.server.hits[f"/p/{number}"] for number in (1, 2, 3)] == [3, 3, 2]


def test_traps_stay_refused(store: Store, shop: Shop) -> None:
    """A new run tries a few of the pages that an earlier one refused as traps, the next run others."""
    frontier = Frontier(store, shop.id or 0)
    frontier.add(FrontierLink(f"{shop.url}cal/{number}") for number in range(50))
    refused = {"reason": "trap: endless /cal/"}
    looked_at: list[set[str]] = []
    for _ in range(3):
        pages = frontier.claim(50)
        looked_at.append({row.url for row in pages})
        with store.write() as session:
            run = Run(shop_id=shop.id or 0)
            session.add(run)
        settled = Frontier(store, shop.id or 0, run.id)
        settled.record_results(
            FetchOutcome(row.id or 0, PageState.REFUSED, refused) for row in pages
        )
        with store.write() as session:
            reset_for_revisit(session, shop.id or 0)
    assert [len(urls) for urls in looked_at] == [50, REFUSED_TO_RETRY, REFUSED_TO_RETRY]
    assert not looked_at[1] & looked_at[2]


def test_sitemap_dates(make_bench: Callable[..., Bench]) -> None:
    """A page that has not changed since its fetch, by the sitemap's date, is not requested.

    A changed one is.
    """
    made = make_bench()
    made.server.routes |= {f"/p/{n}": page(title=f"Product {n}") for n in range(4)}
    made.server.routes["/"] = page("/p/3")
    dates = {0: "2020-01-01", 1: "2020-01-01T10:00:00+02:00", 2: "2099-01-01"}
    entries = "".join(
        f"<url><loc>{{root}}/p/{n}</loc><lastmod>{date}</lastmod></url>"
        for n, date in dates.items()
    )
    made.server.routes["/sitemap.xml"] = raw(
        f"<urlset>{entries}</urlset>".encode(), "application/xml"
    )
    made.crawl()
    with made.store.write() as session:
        reset_for_revisit(session, made.shop.id or 0)
        run = Run(shop_id=made.shop.id or 0)
        session.add(run)
        session.flush()
        made.run_id = run.id or 0
    assert made.crawl().pages == {"fetched": 5}
    assert [made.server.hits[f"/p/{n}"] for n in range(4)] == [1, 1, 2, 2]


def test_unchanged_pages_are_fetched_less_often(store: Store, shop: Shop) -> None:
    """A page unchanged for a month rests for three days; one that changes is always due."""
    frontier = Frontier(store, shop.id or 0)
    frontier.add(FrontierLink(f"{shop.url}{name}") for name in ("steady", "lively", "rested"))
    steady, lively, rested = frontier.claim(3)
    month, soon, past = (
        utc_now() - timedelta(days=30),
        utc_now() + timedelta(days=3),
        utc_now() - timedelta(minutes=1),
    )
    seen = {"fetched_at": utc_now(), "changed_at": month}
    frontier.record_results(
        [
            FetchOutcome(
                steady.id or 0, PageState.FETCHED, seen | {"unchanged": 5, "not_before": soon}
            ),
            FetchOutcome(
                lively.id or 0, PageState.FETCHED, seen | {"unchanged": 0, "not_before": None}
            ),
            FetchOutcome(
                rested.id or 0, PageState.FETCHED, seen | {"unchanged": 5, "not_before": past}
            ),
        ]
    )
    with store.write() as session:
        assert reset_for_revisit(session, shop.id or 0) == 2
    assert {row.url for row in frontier.claim(3)} == {lively.url, rested.url}


def test_offers_are_revisited_before_a_shop_is_done(store: Store, shop: Shop) -> None:
    """While pages are unfetched, those fetched within a week wait, but for a seventh of the offers."""
    frontier = Frontier(store, shop.id or 0)
    frontier.add(FrontierLink(f"{shop.url}p/{n}", source="known") for n in range(14))
    frontier.add(FrontierLink(f"{shop.url}c/{n}") for n in range(14))
    seen = {"fetched_at": utc_now() - timedelta(days=2)}
    frontier.record_results(
        FetchOutcome(row.id or 0, PageState.FETCHED, seen) for row in frontier.claim(28)
    )
    frontier.add([FrontierLink(f"{shop.url}c/filter")])
    with store.write() as session:
        assert reset_for_revisit(session, shop.id or 0) == 2
    assert Counter(row.url.rsplit("/", 2)[1] for row in frontier.claim(29)) == {"p": 2, "c": 1}


def test_a_second_run_loses_nothing(make_bench: Callable[..., Bench]) -> None:
    """Known pages are fetched again, however many links of their pattern are dead.

    Detours are not.
    """
    made = make_bench()
    fill(made)
    dead = [f"/p/none-{number}" for number in range(40)]
    made.server.routes["/"] = page(*(f"/p/{number}" for number in range(10)), *dead)
    first = made.crawl().pages
    with made.store.write() as session:
        reset_for_revisit(session, made.shop.id or 0)
        run = Run(shop_id=made.shop.id or 0)
        session.add(run)
        session.flush()
        made.run_id = run.id or 0
    second = made.crawl()
    assert second.pages["fetched"] == first["fetched"] == PRODUCTS + 1
    assert second.bytes < 60_000
