"""Classification of responses, guards of addresses, and the speed of the crawl."""

import asyncio
import gzip
from types import SimpleNamespace
from typing import Any, cast

import pytest
from protego import Protego
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from twisted.internet.address import IPv4Address

from catalog.models import Page, PageState, Shop
from catalog.storage.frontier import Frontier, FrontierLink
from catalog.storage.store import Store
from crawler.config import DEFAULT_CONFIG
from crawler.discovery.sitemaps import (
    MAX_URLS,
    TOO_LONG,
    parse_sitemap,
    parse_sitemap_file,
)
from crawler.fetch.circuit_breaker import CircuitBreaker
from crawler.fetch.middlewares import PublicAddressResolver, RobotsStatusMiddleware
from crawler.fetch.response_status import (
    MAX_ATTEMPTS,
    ROBOTS_TXT,
    ResponseStatus,
    classify_error,
    classify_response,
    is_html,
    retry_after,
)
from crawler.frontier.budget import Budget, Usage
from crawler.frontier.dispatcher import Dispatcher
from crawler.frontier.throttle import Throttle
from crawler.spider import ShopSpider


def answer(status: int, body: bytes = b"<html>x", **headers: str) -> Response:
    named = {
        "Content-Type": "text/html",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return HtmlResponse("https://a.example/", status=status, body=body, headers=named)


WITHOUT_TYPE = [
    ("comments before it", b"<!-- a --> <!---->" * 200 + b"<html>x", True),
    ("comments, and no page of HTML", b"<!---->" * 500 + b"<p>x", False),
    ("a dash in a comment", b"<!-- a - b -- c --><!DOCTYPE html>x", True),
]


@pytest.mark.parametrize(
    ("name", "body", "is_page"), WITHOUT_TYPE, ids=[case[0] for case in WITHOUT_TYPE]
)
def test_html_without_content_type(name: str, body: bytes, is_page: bool) -> None:
    """HTML without a content type is recognised by its first tag, in linear time."""
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
    result = classify_response(answer(status), attempts=1)
    assert (result.state, result.reason) == (state, reason)


def test_attempts_end() -> None:
    """A page that fails again and again is given up with its reason, after waits that double."""
    waits = [classify_response(answer(502), attempt).wait for attempt in range(1, MAX_ATTEMPTS)]
    assert waits == [1.0, 2.0, 4.0]
    assert classify_response(answer(502), MAX_ATTEMPTS) == ResponseStatus(
        PageState.FAILED, "http 502"
    )
    assert classify_error(DownloadTimeoutError(), MAX_ATTEMPTS) == ResponseStatus(
        PageState.FAILED, "timeout"
    )


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("99999", 300.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2065 07:28:00 GMT", 300.0),
        ("Wed, 21 Oct 2065 07:28:00 -0000", 300.0),
        ("Wed, 21 Oct 2065 07:28:00", 300.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("9" * 90, 300.0),
        ("9" * 5_000, None),
        ("-5", None),
        ("-1.5", None),
        ("1,5", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("\u00b2", None),
        ("\u00b9\u00b2", None),
        ("\u0663", None),
        ("0x10", None),
        ("120 seconds", None),
        ("Wed, 99 Foo 99999 99:99:99 GMT", None),
        ("Wed, 21 Oct 2065 07:28:00 +999999999", None),
        ("2065-10-21T07:28:00Z", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    """Retry-After is heeded as seconds or as a date, up to five minutes; else it is ignored."""
    assert retry_after(answer(429, Retry_After=value)) == seconds


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
    """Requests without a response get short reasons too."""
    assert classify_error(error, 1).reason == reason


def test_captcha() -> None:
    """A short page that asks for a proof of being human is a captcha.

    A contact form that holds one is not.
    """
    asks = b"<html><div class=g-recaptcha></div>"
    assert classify_response(answer(200, asks), 1).reason == "captcha"
    assert classify_response(answer(200, asks + b"<a href=/x>x</a>" * 9), 1).reason is None
    assert classify_response(answer(403, asks), 1).reason == "captcha"


class Resolver:
    """Resolves every name to the same addresses."""

    def __init__(self, *hosts: str) -> None:
        self.hosts = hosts

    def resolveHostName(self, receiver: Any, name: str) -> None:  # noqa: N802
        """Pass all addresses to a receiver."""
        for host in self.hosts:
            receiver.addressResolved(IPv4Address("TCP", host, 80))
        receiver.resolutionComplete()


def resolved(resolver: PublicAddressResolver, name: str) -> list[str]:
    """Return the addresses of a name that a resolver passes on."""
    hosts: list[str] = []
    receiver = SimpleNamespace(
        addressResolved=lambda address: hosts.append(address.host), resolutionComplete=lambda: None
    )
    resolver.resolveHostName(receiver, name)
    return hosts


def test_resolver_withholds_private_addresses() -> None:
    """A name that resolves to a private address resolves to nothing, unless it is the shop that may."""
    resolver = PublicAddressResolver(Resolver("10.0.0.1", "93.184.216.34"), "intern.example")
    assert resolved(resolver, "shop.example") == ["93.184.216.34"]
    assert resolved(resolver, "intern.example") == ["10.0.0.1", "93.184.216.34"]


@pytest.mark.parametrize(
    ("host", "state"), [("www.a.example", PageState.REFUSED), ("a.example", PageState.PENDING)]
)
def test_private_address_of_another_host(host: str, state: PageState) -> None:
    """A page is refused for the private address of its own host; a silence of any other is tried again."""

    async def wait_turn(page_id: int) -> None:
        """Let every response be handled at once."""

    spider: Any = SimpleNamespace(
        dispatcher=SimpleNamespace(note_arrival=lambda page_id: None, wait_turn=wait_turn),
        _resolver=SimpleNamespace(refused={"www.a.example"}),
        _adapt_speed=lambda status: None,
        _count_failure=lambda status: None,
        _handler=SimpleNamespace(handle_failure=lambda page, status: status),
    )
    page = Page(id=1, shop_id=1, url=f"https://{host}/p", attempts=1)
    request = Request(page.url, meta={"page": page})
    failure: Any = SimpleNamespace(request=request, value=DownloadTimeoutError())
    (status,) = asyncio.run(ShopSpider.handle_error(spider, failure))
    assert cast(Any, status).state == state


def test_resolver_refuses_names_without_a_public_address() -> None:
    """A private address beside a public one is no reason to refuse a shop's pages, and neither is
    one of an earlier answer.
    """
    names = Resolver("10.0.0.1", "93.184.216.34")
    resolver = PublicAddressResolver(names, None)
    resolved(resolver, "Shop.example")
    assert resolver.refused == set()
    names.hosts = ("10.0.0.1",)
    resolved(resolver, "Shop.example")
    assert resolver.refused == {"shop.example"}
    names.hosts = ("93.184.216.34",)
    resolved(resolver, "Shop.example")
    assert resolver.refused == set()


@pytest.mark.parametrize(
    ("status", "body"), [(503, b"User-agent: *\nDisallow: /\n"), (404, b""), (200, b"as it is")]
)
def test_robots_that_cannot_be_served(status: int, body: bytes) -> None:
    """An error answer to robots.txt forbids all where the server is at fault, and allows all where no file is there."""
    request = Request("https://a.example/robots.txt", meta={"dont_obey_robotstxt": True})
    response = Response(request.url, status=status, body=b"as it is")
    assert RobotsStatusMiddleware().process_response(request, response).body == body


def test_throttle() -> None:
    """Crawl-delay and Request-rate are obeyed.

    429 and 503 slow the crawl down until the shop answers well.
    """
    slot = SimpleNamespace(delay=0.0)
    crawler: Any = SimpleNamespace(
        engine=SimpleNamespace(downloader=SimpleNamespace(slots={"a": slot}))
    )
    throttle = Throttle(crawler, 0.0)
    throttle.back_off()
    throttle.back_off()
    assert slot.delay == 0.5
    for _ in range(20):
        throttle.record_latency()
    assert slot.delay == 0.0
    throttle.record_latency(2.0)
    throttle.record_latency(2.0)
    assert 0.3 < slot.delay < 0.5
    rules = Protego.parse("User-agent: Scout\nCrawl-delay: 2\nRequest-rate: 1/3s\n")
    throttle.apply_robots(SimpleNamespace(rp=rules, crawl_delay=rules.crawl_delay), "Scout")
    assert slot.delay == 3.0
    throttle.record_latency()
    assert slot.delay == 3.0


ODD_DELAYS = [
    "Crawl-delay: nan",
    "Crawl-delay: inf",
    "Crawl-delay: -5",
    "Crawl-delay: soon",
    "Crawl-delay: 1,5",
    "Request-rate: 1/0",
    "Request-rate: a/b",
    "Request-rate: 0/5s",
    "Request-rate: 5",
]


@pytest.mark.parametrize("line", ODD_DELAYS)
def test_delays_that_are_no_numbers(line: str) -> None:
    """A delay of robots.txt that is no number is ignored."""
    assert _delay_of(line) == 0.0


@pytest.mark.parametrize("line", ["Request-rate: 1/" + "9" * 400 + "d", "Crawl-delay: 99999"])
def test_absurd_delays(line: str) -> None:
    """A delay is a minute at most."""
    assert _delay_of(line) == DEFAULT_CONFIG.max_crawl_delay


def _delay_of(line: str) -> float:
    crawler: Any = SimpleNamespace(
        engine=SimpleNamespace(downloader=SimpleNamespace(slots={"a": SimpleNamespace(delay=0.0)}))
    )
    throttle = Throttle(crawler, 0.0)
    rules = Protego.parse(f"User-agent: Scout\n{line}\n")
    throttle.apply_robots(SimpleNamespace(rp=rules, crawl_delay=rules.crawl_delay), "Scout")
    return throttle.min_delay


@pytest.mark.parametrize(
    ("failure", "between", "errors"),
    [
        (("failed", "http 403"), ("fetched", None), []),
        (("failed", "http 403"), ("redirected", "redirect"), ["BlockedShop"]),
        (("failed", "http 403"), ("gone", "soft 404"), ["BlockedShop"]),
        (("failed", "http 403"), ("gone", "http 404"), ["BlockedShop"]),
        (("failed", "http 403"), ("refused", ROBOTS_TXT), ["BlockedShop"]),
        (("pending", "timeout"), ("fetched", None), []),
        (("pending", "timeout"), ("redirected", "redirect"), []),
        (("pending", "timeout"), ("refused", ROBOTS_TXT), ["UnreachableShop"]),
    ],
)
def test_circuit_breaker(
    failure: tuple[str, str], between: tuple[str, str | None], errors: list[str]
) -> None:
    """A crawl stops after 30 refusals or silences in a row.

    A page between them restarts both counts, any response that of the silences.
    """
    breaker = CircuitBreaker("a.example")
    failed = [ResponseStatus(PageState(failure[0]), failure[1])] * (
        DEFAULT_CONFIG.failures_to_stop - 1
    )
    responses = [*failed, ResponseStatus(PageState(between[0]), between[1]), failed[0]]
    raised = [breaker.record(response) for response in responses]
    assert [type(error).__name__ for error in raised if error] == errors


def test_sitemaps_are_bounded() -> None:
    """A sitemap's entities are not resolved, its length is capped, and a bomb is refused."""
    bomb = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url></urlset>'
    assert parse_sitemap(bomb).pages == ()
    entry = b"<url><loc>https://a.example/%d</loc></url>"
    many = b"<urlset>" + b"".join(entry % n for n in range(MAX_URLS + 10)) + b"</urlset>"
    assert len(parse_sitemap(many).pages) == MAX_URLS
    zipped = gzip.compress(b"<urlset>" + b" " * 60_000_000)
    assert parse_sitemap_file(zipped, "https://a.example/x.gz").skipped[TOO_LONG] == 1


def test_dispatcher_hands_out_few_at_a_time(store: Store, shop: Shop) -> None:
    """At most eight pages are in flight, the first one alone, and the crawl ends when all are settled."""
    frontier = Frontier(store, shop.id or 0)
    frontier.add(FrontierLink(f"{shop.url}{number}") for number in range(50))
    dispatcher = Dispatcher(frontier, Budget(shop, 40, Usage(), int), max_in_flight=8)
    in_flight: list[int] = []
    peak = 0

    async def crawl() -> int:
        nonlocal peak
        done = 0
        async for page in dispatcher.pages(True, lambda pages: pages):
            in_flight.append(page.id or 0)
            peak, done = max(peak, len(in_flight)), done + 1
            if done == 1 or len(in_flight) >= 8:
                asyncio.get_running_loop().call_later(
                    0.01, lambda: [dispatcher.release(in_flight.pop()) for _ in list(in_flight)]
                )
        return done

    async def finish() -> int:
        task = asyncio.ensure_future(crawl())
        while not task.done():
            await asyncio.sleep(0.05)
            while in_flight:
                dispatcher.release(in_flight.pop())
        return task.result()

    assert asyncio.run(finish()) == 40
    assert peak <= 8
