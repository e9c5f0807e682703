"""Crawl budgets: an exhausted crawl ends with a reason, and the next run continues with the open pages."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlmodel import select

from catalog.errors import BlockedShop, CrawlError, UsageError
from catalog.models import Crawl, Run
from crawler.config import DEFAULT_CONFIG
from crawler.fetch.response_status import CAPTCHA, LOGIN
from crawler.frontier.budget import (
    OUTSIDE_HOURS,
    OVER_BYTES,
    OVER_MINUTES,
    OVER_PAGES,
    Budget,
    Usage,
    Window,
)
from crawler.frontier.crawl_log import CrawlLog
from crawler.frontier.revisit import reset_for_revisit
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw

PRODUCTS = 60


def fill(made: Bench) -> None:
    """A root that links to all products, each of some thousand bytes."""
    made.server.routes["/"] = page(*(f"/p/{number}" for number in range(PRODUCTS)))
    made.server.routes |= {
        f"/p/{n}": page(title=f"Product {n}", text="x" * 4_000) for n in range(PRODUCTS)
    }


def next_run(made: Bench) -> None:
    with made.store.write() as session:
        reset_for_revisit(session, made.shop.id or 0)
        run = Run(shop_id=made.shop.id or 0)
        session.add(run)
        session.flush()
        made.run_id = run.id or 0


def crawls(made: Bench) -> list[Crawl]:
    with made.store.read() as session:
        return list(session.exec(select(Crawl).order_by(Crawl.id)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "reason"), [({"max_pages": 35}, OVER_PAGES), ({"max_bytes": 140_000}, OVER_BYTES)]
)
def test_the_next_run_goes_on(
    make_bench: Callable[..., Bench], limits: dict[str, Any], reason: str
) -> None:
    """Pages that a budget leaves open keep the reason, and the next runs fetch them instead of the same pages again."""
    made = make_bench(**limits)
    fill(made)
    first = made.crawl()
    assert first.stopped == reason
    assert first.reasons[reason] == first.pages["pending"] > 0
    next_run(made)
    last = made.crawl()
    assert last.pages == {"fetched": PRODUCTS + 1}
    assert max(made.server.hits[f"/p/{number}"] for number in range(PRODUCTS)) <= 2
    assert next(row.stopped for row in crawls(made)) == reason


def test_minutes(make_bench: Callable[..., Bench]) -> None:
    """A crawl that has used up its minutes ends; those of a killed crawl of the same run count."""
    made = make_bench(max_minutes=10.0)
    fill(made)
    # The pages take longer than the two seconds that are left, the first one does not.
    made.server.delay = 0.4
    with made.store.write() as session:
        session.add(Crawl(shop_id=made.shop.id or 0, run_id=made.run_id, seconds=598.0))
    assert made.crawl().stopped == OVER_MINUTES


def test_minutes_of_crawlers_that_ran_at_once(make_bench: Callable[..., Bench]) -> None:
    """The crawlers of one shop use its minutes up together, not each its own; their bytes add up."""
    made = make_bench()
    shop_id = made.shop.id or 0
    begin = datetime.now(UTC) - timedelta(hours=1)
    with made.store.write() as session:
        for late in (0, 5, 10, 2000):
            started_at = begin + timedelta(seconds=late)
            session.add(
                Crawl(
                    shop_id=shop_id,
                    run_id=made.run_id,
                    started_at=started_at,
                    seconds=300.0,
                    bytes=7,
                )
            )
    assert CrawlLog(made.store, shop_id, made.run_id).used == Usage(28, 610.0)


def test_hours(make_bench: Callable[..., Bench]) -> None:
    """Outside its hours a shop gets no request, not even for its robots.txt."""
    later = datetime.now(UTC).astimezone() + timedelta(hours=6)
    made = make_bench(window=f"{later:%H:%M}-{later + timedelta(hours=1):%H:%M}")
    with pytest.raises(CrawlError, match=r"between .* only"):
        made.crawl()
    assert not made.server.hits
    assert crawls(made)[0].stopped == OUTSIDE_HOURS


@pytest.mark.parametrize(
    "text", ["", "22", "22:00", "25:00-26:00", "22:60-23:00", "6-7", "24:30-01:00"]
)
def test_no_hours(text: str) -> None:
    """A text that names no hours is refused."""
    with pytest.raises(UsageError, match="names no hours"):
        Window.parse(text)


def test_budget_of_nothing_set(make_bench: Callable[..., Bench]) -> None:
    """Without limits only the pages count."""
    budget = Budget(make_bench().shop, 1, Usage(10**12, 10.0**9), lambda: 10**12)
    assert budget.exhausted_reason() is None
    budget.pages = 0
    assert budget.exhausted_reason() == OVER_PAGES


WALLS = {
    CAPTCHA: raw(b"<html><title>Hm</title>Are you a robot? <div class=g-recaptcha></div></html>"),
    LOGIN: raw(b"", status=302, Location="/account/login?to=x"),
    "a form": raw(
        b"<html><form>Your account: <input name=a><input name=b type='password'></form></html>"
    ),
}


@pytest.mark.parametrize("wall", [CAPTCHA, LOGIN])
def test_walls(make_bench: Callable[..., Bench], wall: str) -> None:
    """A captcha or a login wall stops the crawl after a few pages.

    The others stay open with the reason.
    """
    made = make_bench()
    fill(made)
    made.server.routes |= {f"/p/{number}": WALLS[wall] for number in range(PRODUCTS)}
    crawled = made.crawl()
    reason = CAPTCHA if wall == CAPTCHA else LOGIN
    limit = DEFAULT_CONFIG.captchas_to_stop
    if reason == LOGIN:
        limit = DEFAULT_CONFIG.login_walls_to_stop
    requests = sum(made.server.hits[f"/p/{number}"] for number in range(PRODUCTS))
    assert limit <= requests <= limit + 16
    assert crawled.reasons[reason] + crawled.reasons["stopped early"] == PRODUCTS
    assert ("captcha" if wall == CAPTCHA else "login") in str(crawls(made)[0].stopped)


def test_wall_from_the_first_page(make_bench: Callable[..., Bench]) -> None:
    """A shop that shows a login instead of its first page is blocked, and the error names the login."""
    made = make_bench()
    made.server.fallback = WALLS["a form"]
    with pytest.raises(BlockedShop, match="login"):
        made.crawl()


def test_summary_of_a_crawl(make_bench: Callable[..., Bench]) -> None:
    """A crawl's summary is stored: requests, bytes, seconds, pages by state, reasons."""
    made = make_bench()
    fill(made)
    made.server.routes["/"] = page("/p/1", "/p/2", "/gone", "https://other.example/")
    crawled, (row,) = made.crawl(), crawls(made)
    assert (row.requests, row.bytes) == (crawled.requests, crawled.bytes)
    assert row.pages == crawled.pages == {"fetched": 3, "gone": 1}
    assert row.reasons == crawled.reasons == {"http 404": 1, "other host": 1}
    assert row.finished_at is not None
    assert row.stopped is None
