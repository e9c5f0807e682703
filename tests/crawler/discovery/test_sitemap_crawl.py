"""Sitemaps that redirect, are busy, or cannot be read."""

from collections.abc import Callable

import pytest

from crawler.discovery.sitemap_crawl import UNREAD
from crawler.fetch.response_status import MAX_ATTEMPTS
from tests.crawler.conftest import Bench
from tests.crawler.server import Act, Reply, Route, Visit, page, raw, sends

PAGES = raw(b"<urlset><url><loc>{root}/only-there</loc></url></urlset>", "application/xml")
INDEX = raw(
    b"<sitemapindex><sitemap><loc>{root}/map-1.xml</loc></sitemap></sitemapindex>",
    "application/xml",
)


def once(first: Route, then: Route = PAGES) -> Route:
    """Answers so the first time, and otherwise from then on."""

    def answer(visit: Visit) -> Reply | Act:
        return then(visit) if visit.before else first(visit)

    return answer


def moved(to: str) -> Route:
    return raw(b"", status=301, Location=to)


def shop(make_bench: Callable[..., Bench], **routes: Route) -> Bench:
    """A shop of two pages, one of which only a sitemap names."""
    made = make_bench()
    made.server.routes |= {
        "/": page("/linked"),
        "/linked": page(title="Linked"),
        "/only-there": page(title="There"),
    }
    made.server.routes |= {
        f"/{name.replace('_', '-')}.xml": route for name, route in routes.items()
    }
    return made


@pytest.mark.parametrize(
    "routes",
    [
        {"sitemap": moved("/map-1.xml"), "map_1": PAGES},
        {
            "sitemap": moved("/index.xml"),
            "index": INDEX,
            "map_1": moved("/map-2.xml"),
            "map_2": PAGES,
        },
        {"sitemap": once(raw(b"busy", status=503, Retry_After="1"))},
        {"sitemap": once(raw(b"broken", status=500))},
        {"sitemap": once(sends(b"SSH-2.0-OpenSSH_9.9\r\n"))},
    ],
    ids=["redirect", "redirects on the way", "busy", "broken", "no answer"],
)
def test_sitemaps_are_followed_up(
    make_bench: Callable[..., Bench], routes: dict[str, Route]
) -> None:
    """A sitemap that redirects, or fails at first, is read in the end."""
    made = shop(make_bench, **routes)
    crawled = made.crawl()
    assert made.states()["/only-there"] == ("fetched", None)
    assert UNREAD not in crawled.reasons


@pytest.mark.parametrize(
    ("route", "unread", "requests"),
    [
        (raw(b"", status=404), 0, 1),
        (raw(b"", status=403), 1, 1),
        (moved("https://elsewhere.example/sitemap.xml"), 1, 1),
        (moved("/sitemap.xml"), 0, 1),
        (moved("/login"), 1, 1),
        (raw(b"", status=500), 1, MAX_ATTEMPTS),
    ],
    ids=["missing", "refused", "elsewhere", "circle", "login", "broken for good"],
)
def test_unread_sitemaps_are_counted(
    make_bench: Callable[..., Bench], route: Route, unread: int, requests: int
) -> None:
    """A sitemap that exists and cannot be read is counted and stored; the crawl relies on links."""
    made = shop(make_bench, sitemap=route)
    crawled = made.crawl()
    assert made.states()["/linked"] == ("fetched", None)
    assert crawled.reasons.get(UNREAD, 0) == unread
    assert (made.server.hits["/sitemap.xml"], made.server.hits["/login"]) == (requests, 0)


def test_named_sitemaps_are_read_after_a_kill(make_bench: Callable[..., Bench]) -> None:
    """Sitemaps that were read before a kill are not requested again.

    Those that an index names still are.
    """
    made = shop(make_bench, sitemap=INDEX, map_1=PAGES, map_2=PAGES)
    made.crawl()
    index = b"<sitemapindex>" + b"".join(
        b"<sitemap><loc>{root}/map-%d.xml</loc></sitemap>" % n for n in (1, 2)
    )
    made.server.routes["/sitemap.xml"] = raw(index + b"</sitemapindex>", "application/xml")
    made.crawl()
    assert [made.server.hits[f"/map-{n}.xml"] for n in (1, 2)] == [1, 1]
