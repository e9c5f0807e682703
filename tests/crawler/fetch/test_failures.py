"""Shops that cannot be crawled: one clear line each, and nothing hammered."""

import asyncio
import gzip
import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from catalog.errors import BlockedShop, CrawlError, UnreachableShop, UsageError
from catalog.models import PageState, Run
from catalog.storage.frontier import FetchOutcome, Frontier, FrontierLink
from crawler.store.pipelines import FrontierPipeline, PageItem
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw, sends


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_nobody_there(make_bench: Callable[..., Bench]) -> None:
    """A shop that refuses the connection is unreachable."""
    made = make_bench(url=f"http://127.0.0.1:{free_port()}/")
    with pytest.raises(UnreachableShop, match="connection refused"):
        made.crawl()


def test_private_address(make_bench: Callable[..., Bench]) -> None:
    """A private address is not visited, however it is spelt, unless the shop allows it."""
    made = make_bench(allow_private=False)
    made.server.routes["/"] = page("/a")
    with pytest.raises(UnreachableShop, match="--allow-private"):
        made.crawl()
    assert not made.server.hits


def test_refused_everywhere(make_bench: Callable[..., Bench]) -> None:
    """A shop that answers with 403 only is blocked, whatever earlier runs fetched, and is left alone soon."""
    made = make_bench()
    frontier = Frontier(made.store, made.shop.id or 0, made.run_id)
    frontier.add(FrontierLink(f"{made.server.url}p/{number}") for number in range(40))
    fetched_before = frontier.claim(1)[0]
    frontier.record_results([FetchOutcome(fetched_before.id or 0, PageState.FETCHED)])
    with made.store.write() as session:
        run = Run(shop_id=made.shop.id or 0)
        session.add(run)
        session.flush()
        made.run_id = run.id or 0
    made.server.fallback = raw(b"<html>Are you a robot? Solve the recaptcha</html>", status=403)
    with pytest.raises(BlockedShop, match="captcha"):
        made.crawl()
    assert sum(made.server.hits.values()) < 30


def test_forbidden_by_robots(make_bench: Callable[..., Bench]) -> None:
    """A shop whose robots.txt cannot be served is not crawled."""
    made = make_bench()
    made.server.fallback = page("/a", "/b")
    made.server.routes["/robots.txt"] = raw(b"", status=503)
    with pytest.raises(BlockedShop, match=r"robots\.txt"):
        made.crawl()
    assert set(made.server.hits) == {"/robots.txt"}


def test_other_host(make_bench: Callable[..., Bench]) -> None:
    """A root that leads to another host is reported, not followed."""
    made = make_bench()
    made.server.fallback = raw(b"", status=302, Location="https://elsewhere.example/")
    with pytest.raises(CrawlError, match="other host"):
        made.crawl()


ABSURD = b"HTTP/1.1 %b x\r\nContent-Type: text/html\r\nConnection: close\r\n%b\r\n<html>x</html>"
ODD_RESPONSES = {
    "zero": ABSURD % (b"0", b""),
    "two-digits": ABSURD % (b"99", b""),
    "too-large": ABSURD % (b"99999999999999999999", b""),
    "negative": ABSURD % (b"-1", b""),
}


def test_absurd_statuses(make_bench: Callable[..., Bench]) -> None:
    """A page with an absurd status is refused with its reason, and costs no other page."""
    made = make_bench()
    paths = [f"/{name}" for name in ODD_RESPONSES]
    made.server.routes |= {"/": page(*paths, "/good", "/odd"), "/good": page(title="Good")}
    made.server.routes |= {f"/{name}": sends(data) for name, data in ODD_RESPONSES.items()}
    headers = b"ETag: \xff\x07\r\nLast-Modified: never\r\nAge: old\r\nExpires: -1\r\nContent-Encoding: x\r\n"
    made.server.routes["/odd"] = sends(ABSURD % (b"200", headers))
    made.crawl()
    states = made.states()
    assert {states[path] for path in paths} == {("refused", "absurd status code")}
    assert states["/good"] == states["/odd"] == ("fetched", None)


@pytest.mark.both_databases
def test_values_that_cannot_be_stored(make_bench: Callable[..., Bench]) -> None:
    """A page whose values do not fit the database fails alone, not the others of its transaction."""
    made = make_bench()
    frontier = Frontier(made.store, made.shop.id or 0, made.run_id)
    frontier.add(FrontierLink(f"{made.server.url}{name}") for name in "abc")
    pages = frontier.claim(3)
    spider: Any = SimpleNamespace(
        frontier=frontier,
        dispatcher=SimpleNamespace(end_turn=lambda page_id: None),
        update_log=lambda: None,
        release=lambda item: None,
    )
    pipeline = FrontierPipeline(cast(Any, SimpleNamespace(spider=spider)))
    statuses = [200, 10**20, 200]
    items = [
        PageItem(FetchOutcome(row.id or 0, PageState.FETCHED, {"status": status, "reason": ""}))
        for row, status in zip(pages, statuses, strict=True)
    ]

    async def store() -> None:
        await asyncio.gather(*map(pipeline.process_item, items))

    asyncio.run(store())
    assert sorted(made.states().values()) == [
        ("failed", "error: OverflowError"),
        ("fetched", ""),
        ("fetched", ""),
    ]


def test_folder_of_pages(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Saved pages stand for the shop's, without a request."""
    made = make_bench()
    saved = tmp_path / "saved" / "shop"
    saved.mkdir(parents=True)
    (saved / "a b.html").write_text('<link rel=canonical href="/ab"><title>A</title>')
    (saved / "index.html").write_text("<title>Root</title>")
    crawled = made.crawl(source=str(tmp_path / "saved"))
    assert crawled.pages == {"fetched": 2}
    assert set(made.pages()) == {"/shop/", "/shop/a%20b.html"}
    assert made.pages()["/shop/a%20b.html"].canonical == made.server.url + "ab"
    assert not made.server.hits


def test_files_beside_saved_pages(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """In the folder of a mirror, the archive beside the host's folder counts, and a packed sitemap is no archive.

    A page keeps the characters of its address, and only `index.html` stands for its folder.
    """
    made = make_bench()
    host = tmp_path / "saved" / "127.0.0.1"
    host.mkdir(parents=True)
    (host / "lamp(1),red.html").write_text("<title>A</title>")
    (host / "lamp-index.html").write_text("<title>B</title>")
    (host / "sitemap.xml.gz").write_bytes(gzip.compress(b"<urlset>"))
    record = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {made.server.url}c?d=1\r\nContent-Length: 25"
    http = "HTTP/1.1 200 OK\r\n\r\n<html>"
    (tmp_path / "saved" / "PAGES.ARCHIVE.GZ").write_bytes(
        gzip.compress(f"{record}\r\n\r\n{http}\r\n\r\n".encode())
    )
    made.crawl(source=str(tmp_path / "saved"))
    assert set(made.pages()) == {"/lamp(1),red.html", "/lamp-index.html", "/c?d=1"}


def test_list_of_urls(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Listed URLs are fetched cleaned, and their links are not followed; lines left out are counted."""
    made = make_bench()
    made.server.routes |= {"/a": page("/more"), "/b": page("/more")}
    (tmp_path / "urls.txt").write_text(
        f"\ufeff{made.server.url}a?utm_source=x\n# no\nhttps://elsewhere.example/\n{made.server.url}b\nnone\n"
    )
    crawled = made.crawl(source=str(tmp_path / "urls.txt"))
    assert (crawled.reasons["other host"], crawled.reasons["not a link"]) == (1, 1)
    assert set(made.pages()) == {"/a", "/b"}


def test_source_that_is_none(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """A source that cannot be read is named."""
    made = make_bench()
    for name in ("none.txt", "pages.warc.gz"):
        with pytest.raises(UsageError, match=name):
            made.crawl(source=str(tmp_path / name))


def test_log_in_json(make_bench: Callable[..., Bench]) -> None:
    """With log_format json, every line of the crawl's log is one JSON object, of level info or above."""
    made = make_bench()
    made.server.routes["/"] = page("/a")
    made.settings.log_format = "json"
    made.crawl()
    (log,) = (made.settings.data_dir / "logs").iterdir()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert "Spider closed (finished)" in {line["event"] for line in lines}
    assert "debug" not in {line["level"] for line in lines}
