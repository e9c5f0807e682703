"""Sitemaps that redirect, are busy, or cannot be read."""

import gzip
from collections.abc import Callable

import pytest

from crawler.discovery.sitemap_crawl import DETAIL, UNREAD
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
        (page("/linked"), 0, 1),
        (raw(b"\x1f\x8b\x08broken", "application/x-gzip"), 1, 1),
        (raw(b"{}", "application/json"), 1, 1),
    ],
    ids=[
        "missing",
        "refused",
        "elsewhere",
        "circle",
        "login",
        "a page",
        "broken gzip",
        "json",
    ],
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


def test_sitemaps_that_are_broken_for_good_are_counted(make_bench: Callable[..., Bench]) -> None:
    """A sitemap that fails each time, or is not gzipped as its header says, counts as unread."""
    made = shop(
        make_bench,
        sitemap=raw(b"", status=500),
        map_1=raw(b"x", "application/xml", Content_Encoding="gzip"),
    )
    names = b"Sitemap: {root}/sitemap.xml\nSitemap: {root}/map-1.xml\n"
    made.server.routes["/robots.txt"] = raw(names, "text/plain")
    crawled = made.crawl()
    assert made.states()["/linked"] == ("fetched", None)
    assert crawled.reasons[UNREAD] == 2
    assert made.server.hits["/sitemap.xml"] == made.server.hits["/map-1.xml"] == MAX_ATTEMPTS


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


NAMED = [
    ("relative in robots.txt", b"sitemap:/named", PAGES, {}),
    ("in brackets", b"Sitemap: <{root}/named>", PAGES, {}),
    (
        "relative page",
        b"Sitemap: named",
        raw(b"<urlset><url><loc>/only-there</loc></url></urlset>"),
        {},
    ),
    (
        "feed",
        b"Sitemap: /named",
        raw(b"<rss><item><link>/only-there</link></item></rss>", "text/html"),
        {},
    ),
    ("text", b"Sitemap: /named", raw(b"{root}/only-there", "application/octet-stream"), {}),
    ("zipped", b"Sitemap: /named", raw(gzip.compress(b"/only-there"), "text/plain"), {}),
    ("missing", b"Sitemap: /missing", PAGES, {"http 404": 1}),
    ("a page", b"Sitemap: /linked", PAGES, {"html page": 1}),
    ("elsewhere", b"Sitemap: https://elsewhere.example/named", PAGES, {"other host": 1}),
    (
        "partly read",
        b"Sitemap: /named",
        raw(b"<urlset><url><loc>/only-there</loc></url><url/><url/><url><loc>/on"),
        {"entry without an address": 2, "cut off": 1},
    ),
]


@pytest.mark.parametrize(
    ("name", "line", "route", "details"), NAMED, ids=[case[0] for case in NAMED]
)
def test_named_sitemaps(
    make_bench: Callable[..., Bench], name: str, line: bytes, route: Route, details: dict[str, int]
) -> None:
    """Sitemaps that robots.txt names are read, or counted with the reason, as are entries."""
    made = shop(make_bench)
    made.server.routes |= {"/robots.txt": raw(line + b"\n", "text/plain"), "/named": route}
    crawled = made.crawl()
    counted = {
        reason.removeprefix(DETAIL): count
        for reason, count in crawled.reasons.items()
        if reason.startswith(DETAIL)
    }
    assert counted == details
    is_unread = bool(details) and name != "partly read"
    assert crawled.reasons.get(UNREAD, 0) == is_unread
    assert ("/only-there" in made.pages()) is not is_unread


def test_indexes_that_nest_and_loop(make_bench: Callable[..., Bench]) -> None:
    """Each sitemap is requested once, also of indexes that name each other; deep ones are counted."""

    def index(*paths: str) -> Route:
        inner = "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in paths)
        return raw(f"<sitemapindex>{inner}</sitemapindex>".encode(), "application/xml")

    made = shop(
        make_bench,
        sitemap=index("/sitemap.xml", "/a.xml", "/b.xml", "/a.xml"),
        a=index("/b.xml", "/sitemap.xml", "/c.xml"),
        b=index("/a.xml"),
        c=index("/d.xml"),
        d=index("/e.xml", "/only.xml"),
    )
    crawled = made.crawl()
    requests = {path: hits for path, hits in made.server.hits.items() if path.endswith(".xml")}
    assert requests == {f"/{name}.xml": 1 for name in ("sitemap", "a", "b", "c", "d")}
    assert crawled.reasons[f"{DETAIL}nested too deep"] == 2


def test_pages_beside_sitemaps(make_bench: Callable[..., Bench]) -> None:
    """A file that names pages and sitemaps is read for both."""
    mixed = (
        b"<urlset><url><loc>/only-there</loc></url><sitemap><loc>/m.xml</loc></sitemap></urlset>"
    )
    made = shop(
        make_bench, sitemap=raw(mixed), m=raw(b"<urlset><url><loc>/linked</loc></url></urlset>")
    )
    made.crawl()
    assert made.states()["/only-there"] == ("fetched", None)
    assert made.server.hits["/m.xml"] == 1
