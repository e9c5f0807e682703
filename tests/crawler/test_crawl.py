"""One crawl of one small shop with all kinds of pages, examined by many tests."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import KnownOffer, SitemapSeen
from catalog.storage.bodies import BodyStore
from crawler.crawl import CrawlResult
from tests.crawler.conftest import Bench, bench
from tests.crawler.server import Loopback, Reply, Visit, page, raw, serve

CANONICAL = '<link rel="canonical" href="{root}%s">'


def fill(server: Loopback) -> None:
    """The shop of this module."""

    def flaky(visit: Visit) -> Reply:
        return page(title="At last")(visit) if visit.before else (500, {}, b"broken")

    def busy(visit: Visit) -> Reply:
        return (
            page(title="Not busy")(visit)
            if visit.before
            else (429, {"Retry-After": "1"}, b"slow down")
        )

    def endless(visit: Visit) -> Reply:
        number = int(visit.path.rsplit("/", 1)[1])
        return page(
            f"/calendar/{number + 1}", "/", title=f"Day {number}", text=f"Nothing on {number}"
        )(visit)

    def stuck(visit: Visit) -> Reply:
        import time

        time.sleep(0 if visit.before else 2.5)
        return page(title="Slow")(visit)

    def fallback(visit: Visit) -> Reply:
        if visit.path.startswith("/calendar/"):
            return endless(visit)
        return page("/", title="Sorry", text="We could not find what you asked for")(visit)

    server.fallback = fallback
    server.routes |= {
        "/": page(
            "/list",
            "/old",
            "/away",
            "/forbidden/x",
            "/flaky",
            "/busy",
            "/slow",
            "/huge",
            "/bomb",
            "/picture",
            "/lost",
            "/twin-a",
            "/twin-b",
            "/calendar/1",
            "/p/1?utm_source=news&amp;gclid=abc",
            "/redirect?url=%2Fp%2F2",
            "/out?to=https://elsewhere.example/",
            "https://elsewhere.example/",
            "mailto:a@b.example",
            "/cart/add?id=1",
            "/manual.pdf",
            "/p/3;jsessionid=0123456789ABCDEF",
            "/quirk",
            "/list?sort=price",
            "/list?page=2",
            "/mislabelled",
            "http://169.254.169.254/latest/meta-data/",
            title="Shop",
        ),
        "/robots.txt": raw(
            b"User-agent: *\nDisallow: /forbidden/\nSitemap: {root}/maps/index.xml\n", "text/plain"
        ),
        "/sitemap.xml": raw(
            b"<urlset><url><loc>{root}/only-in-sitemap</loc></url></urlset>", "application/xml"
        ),
        "/maps/index.xml": raw(
            b"<sitemapindex><sitemap><loc>{root}/maps/a.xml.gz</loc></sitemap>"
            b"<sitemap><loc>https://elsewhere.example/b.xml</loc></sitemap></sitemapindex>",
            "application/xml",
        ),
        "/maps/a.xml.gz": lambda visit: (
            200,
            {"Content-Type": "application/gzip"},
            gzip.compress(f"<urlset><url><loc>{visit.root}/zipped</loc></url></urlset>".encode()),
        ),
        "/list": page("/p/1", "/p/4", "/list?page=2", title="List"),
        "/list?sort=price": page("/p/1", "/p/4", title="List", head=CANONICAL % "/list"),
        "/list?page=2": page("/p/5", title="List, page 2"),
        "/old": raw(b"", status=301, Location="/p/6?utm_medium=x"),
        "/away": raw(b"", status=302, Location="https://elsewhere.example/"),
        "/flaky": flaky,
        "/busy": busy,
        "/slow": stuck,
        "/huge": raw(b"<html>" + b"x" * 400_000),
        "/bomb": raw(gzip.compress(b"<html>" + b"a" * 3_000_000), Content_Encoding="gzip"),
        "/picture": raw(b"\x89PNG....", "image/png"),
        "/mislabelled": raw(
            b"<!doctype html><title>T</title><a href=/p/7>7</a>", "application/octet-stream"
        ),
        "/twin-a": raw(b"<html><title>Twin</title>the same bytes</html>"),
        "/twin-b": raw(b"<html><title>Twin</title>the same bytes</html>"),
        "/quirk": page(
            "x/y",
            "?",
            title="Quirk",
            head='<base href="/deep/er/"><link rel=canonical href="{root}/quirk">',
        ),
        "/deep/er/x/y": page(title="By base"),
        "/only-in-sitemap": page(title="Only in the sitemap"),
        "/zipped": page(title="Zipped"),
        "/known": page(title="Known"),
        **{
            f"/p/{number}": page(title=f"Product {number}", text=f"{number},99 &euro;")
            for number in range(1, 8)
        },
    }


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, CrawlResult]]:
    """The shop, crawled once."""
    folder: Path = tmp_path_factory.mktemp("crawl")
    with serve() as server:
        fill(server)
        made = bench(folder, server)
        with made.store.write() as session:
            offer = {"shop_id": made.shop.id, "link": "x"}
            session.add(KnownOffer(ref="1", url=server.url + "known", **offer))
            session.add(KnownOffer(ref="2", url=server.url + "p/1?gclid=tracked", **offer))
            session.add(KnownOffer(ref="3", url=None, opaque=True, **offer))
        yield made, made.crawl()


@pytest.mark.parametrize(
    ("path", "state", "reason"),
    [
        ("/", "fetched", None),
        ("/list", "fetched", None),
        ("/p/5", "fetched", None),
        ("/known", "fetched", None),
        ("/only-in-sitemap", "fetched", None),
        ("/zipped", "fetched", None),
        ("/deep/er/x/y", "fetched", None),
        ("/flaky", "fetched", None),
        ("/busy", "fetched", None),
        ("/slow", "fetched", None),
        ("/mislabelled", "fetched", None),
        ("/p/2", "fetched", None),
        ("/p/3", "fetched", None),
        ("/old", "redirected", "redirect"),
        ("/p/6", "fetched", None),
        ("/away", "refused", "other host"),
        ("/forbidden/x", "refused", "robots.txt"),
        ("/huge", "refused", "too large"),
        ("/bomb", "refused", "too large"),
        ("/picture", "refused", "not html"),
        ("/lost", "gone", "soft 404"),
    ],
)
def test_states(
    crawled: tuple[Bench, CrawlResult], path: str, state: str, reason: str | None
) -> None:
    """Every page ends in a state with a short reason."""
    assert crawled[0].states()[path] == (state, reason)


def test_no_page_left_open(crawled: tuple[Bench, CrawlResult]) -> None:
    """A crawl that ends has settled every page."""
    assert {"pending", "leased"}.isdisjoint(crawled[1].pages)


def test_requests_are_clean(crawled: tuple[Bench, CrawlResult]) -> None:
    """No request carries tracking, goes to a redirector, a cart, a file or a session, or repeats an answered one."""
    hits = crawled[0].server.hits
    words = ("utm_", "gclid", "/redirect", "/out", "/cart", ".pdf", "jsessionid", "meta-data")
    assert not [path for path in hits if any(word in path for word in words)]
    again = {path for path, count in hits.items() if count > 1}
    assert again <= {"/flaky", "/busy", "/slow"}


def test_agent(crawled: tuple[Bench, CrawlResult]) -> None:
    """The user agent names Scout and its contact."""
    (agent,) = crawled[0].server.agents
    assert agent.startswith("Scout/")
    assert agent.endswith("(+mailto:scout@example.org)")


def test_calendar_is_cut(crawled: tuple[Bench, CrawlResult]) -> None:
    """A chain of pages that lead to nothing but the next of their kind is cut, with the reason counted."""
    days = [path for path in crawled[0].server.hits if path.startswith("/calendar/")]
    assert 10 < len(days) < 20
    assert any(reason.startswith("trap: endless /calendar/") for reason in crawled[1].reasons)


def test_reasons_are_counted(crawled: tuple[Bench, CrawlResult]) -> None:
    """Links that never became pages are counted by reason, each once."""
    reasons = crawled[1].reasons
    assert reasons["cart"] == 1
    assert reasons["not a page"] == 1
    assert reasons["redirector"] == 1
    assert reasons["other host"] >= 2
    assert reasons["soft 404"] == 2


def test_canonical(crawled: tuple[Bench, CrawlResult]) -> None:
    """Canonical links and redirect targets are kept with the page.

    Pages of the same bytes name one of them.
    """
    pages, root = crawled[0].pages(), crawled[0].server.url.rstrip("/")
    assert pages["/list?sort=price"].canonical == f"{root}/list"
    assert pages["/old"].canonical == f"{root}/p/6"
    assert {pages["/twin-a"].canonical, pages["/twin-b"].canonical} & {
        f"{root}/twin-a",
        f"{root}/twin-b",
    }


def test_bodies(crawled: tuple[Bench, CrawlResult]) -> None:
    """A fetched page's bytes are in the page store under the name in its row."""
    made = crawled[0]
    row = made.pages()["/known"]
    body = BodyStore(made.settings.bodies).get(row.body or "")
    assert b"<h1>Known</h1>" in body
    assert (row.status, row.size, row.rules_version) == (200, len(body), None)


def test_sitemaps_are_noted(crawled: tuple[Bench, CrawlResult]) -> None:
    """Each sitemap of the shop's own is read once and noted for the run, but for those that only name others."""
    with crawled[0].store.read() as session:
        noted = {
            seen.url.rsplit("/", 1)[1]: seen.urls_found
            for seen in session.exec(select(SitemapSeen))
        }
    assert noted == {"sitemap.xml": 1, "a.xml.gz": 1}


def test_figures(crawled: tuple[Bench, CrawlResult]) -> None:
    """The figures agree with the server's log and the page table."""
    made, figures = crawled
    assert figures.requests == sum(made.server.hits.values())
    assert sum(figures.pages.values()) == len(made.pages())
    assert figures.bytes > 0
