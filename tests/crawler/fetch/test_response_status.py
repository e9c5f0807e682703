"""What answers mean, who may be asked, and how fast."""

import asyncio
import gzip
from types import SimpleNamespace
from typing import Any

import pytest
from protego import Protego
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from twisted.internet.address import IPv4Address

from catalog.models import PageState, Shop
from catalog.storage.frontier import Frontier, Link
from catalog.storage.store import Store
from crawler.discovery.sitemaps import MOST_URLS, read_sitemap, unpacked
from crawler.fetch.circuit_breaker import ENOUGH, Patience
from crawler.fetch.middlewares import PublicOnly, RobotsAnswer
from crawler.fetch.response_status import (
    MOST_ATTEMPTS,
    Answer,
    is_html,
    of_error,
    of_response,
    retry_after,
)
from crawler.frontier.budget import Budget
from crawler.frontier.dispatcher import Supply
from crawler.frontier.throttle import Pace


def answer(status: int, body: bytes = b"<html>x", **headers: str) -> Response:
    named = {
        "Content-Type": "text/html",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return HtmlResponse("https://a.example/", status=status, body=body, headers=named)


UNSAID = [
    ("comments before it", b"<!-- a --> <!---->" * 200 + b"<html>x", True),
    ("comments, and no page of HTML", b"<!---->" * 500 + b"<p>x", False),
    ("a dash in a comment", b"<!-- a - b -- c --><!DOCTYPE html>x", True),
]


@pytest.mark.parametrize(("name", "body", "is_page"), UNSAID, ids=[case[0] for case in UNSAID])
def test_a_page_that_is_not_said_to_be_one(name: str, body: bytes, is_page: bool) -> None:
    """It is told by how it begins, in no more time than it is long."""
    assert is_html(Response("https://a.example/", body=body)) is is_page


@pytest.mark.parametrize(
    ("status", "state", "reason"),
    [
        (200, "fetched", None),
        (304, "fetched", None),
        (301, "redirected", "redirect"),
        (403, "failed", "http 403"),
        (404, "gone", "http 404"),
        (410, "gone", "http 410"),
        (500, "pending", "http 500"),
        (503, "pending", "http 503"),
    ],
)
def test_statuses(status: int, state: str, reason: str | None) -> None:
    """Each kind of status has its state and reason."""
    found = of_response(answer(status), attempts=1)
    assert (found.state, found.reason) == (state, reason)


def test_attempts_end() -> None:
    """A page that fails again and again is given up with its reason, after waits that double."""
    waits = [of_response(answer(502), attempt).wait for attempt in range(1, MOST_ATTEMPTS)]
    assert waits == [1.0, 2.0, 4.0]
    assert of_response(answer(502), MOST_ATTEMPTS) == Answer(PageState.FAILED, "http 502")
    assert of_error(DownloadTimeoutError(), MOST_ATTEMPTS) == Answer(PageState.FAILED, "timeout")


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("99999", 300.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after(said: str, seconds: float | None) -> None:
    """Retry-After is heeded as seconds or as a date, up to five minutes."""
    assert retry_after(answer(429, Retry_After=said)) == seconds


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (IgnoreRequest("Forbidden by robots.txt"), "robots.txt"),
        (IgnoreRequest("other host"), "other host"),
        (IgnoreRequest("Ignored response because its body exceeded"), "too large"),
        (
            DownloadFailedError("[<twisted.python.failure.Failure OpenSSL.SSL.Error: []>]"),
            "no secure connection",
        ),
        (DownloadFailedError("lost"), "no connection"),
        (EOFError("bad gzip"), "unreadable answer"),
    ],
)
def test_errors(error: Exception, reason: str) -> None:
    """Requests without an answer have short reasons too."""
    assert of_error(error, 1).reason == reason


def test_captcha() -> None:
    """A short page that asks for a proof of being human is a captcha; a contact form that holds one is not."""
    asks = b"<html><div class=g-recaptcha></div>"
    assert of_response(answer(200, asks), 1).reason == "captcha"
    assert of_response(answer(200, asks + b"<a href=/x>x</a>" * 9), 1).reason is None
    assert of_response(answer(403, asks), 1).reason == "captcha"


def test_resolver_withholds_private_addresses() -> None:
    """A name that resolves to a private address resolves to nothing, unless it is the shop that may."""

    class Resolver:
        def resolveHostName(self, receiver: Any, name: str) -> None:  # noqa: N802
            for host in ("10.0.0.1", "93.184.216.34"):
                receiver.addressResolved(IPv4Address("TCP", host, 80))

    def resolved(name: str) -> list[str]:
        found: list[str] = []
        receiver = SimpleNamespace(addressResolved=lambda address: found.append(address.host))
        PublicOnly(Resolver(), "intern.example").resolveHostName(receiver, name)
        return found

    assert resolved("shop.example") == ["93.184.216.34"]
    assert resolved("intern.example") == ["10.0.0.1", "93.184.216.34"]


@pytest.mark.parametrize(
    ("status", "body"), [(503, b"User-agent: *\nDisallow: /\n"), (404, b""), (200, b"as it is")]
)
def test_robots_that_cannot_be_served(status: int, body: bytes) -> None:
    """An error answer to robots.txt forbids all where the server is at fault, and allows all where no file is there."""
    request = Request("https://a.example/robots.txt", meta={"dont_obey_robotstxt": True})
    response = Response(request.url, status=status, body=b"as it is")
    assert RobotsAnswer().process_response(request, response).body == body


def test_pace() -> None:
    """Crawl-delay and Request-rate are kept; a shop that asks for mercy is asked more slowly, until it answers well."""
    slot = SimpleNamespace(delay=0.0)
    crawler: Any = SimpleNamespace(
        engine=SimpleNamespace(downloader=SimpleNamespace(slots={"a": slot}))
    )
    pace = Pace(crawler, 0.0)
    pace.slower()
    pace.slower()
    assert slot.delay == 0.5
    for _ in range(20):
        pace.answered()
    assert slot.delay == 0.0
    pace.answered(2.0)
    pace.answered(2.0)
    assert 0.3 < slot.delay < 0.5
    rules = Protego.parse("User-agent: Scout\nCrawl-delay: 2\nRequest-rate: 1/3s\n")
    pace.read_robots(SimpleNamespace(rp=rules, crawl_delay=rules.crawl_delay), "Scout")
    assert slot.delay == 3.0
    pace.answered()
    assert slot.delay == 3.0


def test_patience() -> None:
    """So many refusals in a row are enough; one page between them starts the count anew."""
    patience, no, yes = (
        Patience("a.example"),
        Answer(PageState.FAILED, "http 403"),
        Answer(PageState.FETCHED),
    )
    for _ in range(ENOUGH - 1):
        assert patience.after(no) is None
    assert patience.after(yes) is None
    said = [patience.after(no) for _ in range(ENOUGH)]
    assert [type(error).__name__ for error in said if error] == ["BlockedShop"]


def test_sitemaps_are_bounded() -> None:
    """A sitemap's entities are not resolved, its length is capped, and a bomb is refused."""
    bomb = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url></urlset>'
    assert read_sitemap(bomb).pages == ()
    many = (
        b"<urlset>" + b"<url><loc>https://a.example/x</loc></url>" * (MOST_URLS + 10) + b"</urlset>"
    )
    assert len(read_sitemap(many).pages) == MOST_URLS
    with pytest.raises(ValueError, match="exceeded"):
        unpacked(Response("https://a.example/x.gz", body=gzip.compress(b"a" * 60_000_000)))


def test_supply_hands_out_few_at_a_time(store: Store, shop: Shop) -> None:
    """No more than so many pages are out at once, the first alone, and the end is reached when all are back."""
    frontier = Frontier(store, shop.id or 0)
    frontier.add(Link(f"{shop.url}{number}") for number in range(50))
    supply = Supply(frontier, Budget(shop, 40, (0, 0.0), int), most=8)
    out: list[int] = []
    most = 0

    async def crawl() -> int:
        nonlocal most
        done = 0
        async for page in supply.pages(True, lambda pages: pages):
            out.append(page.id or 0)
            most, done = max(most, len(out)), done + 1
            if done == 1 or len(out) >= 8:
                asyncio.get_running_loop().call_later(
                    0.01, lambda: [supply.give(out.pop()) for _ in list(out)]
                )
        return done

    async def finish() -> int:
        task = asyncio.ensure_future(crawl())
        while not task.done():
            await asyncio.sleep(0.05)
            while out:
                supply.give(out.pop())
        return task.result()

    assert asyncio.run(finish()) == 40
    assert most <= 8
