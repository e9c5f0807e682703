"""Shops that cannot be crawled: one clear line each, and nothing hammered."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.errors import BlockedShop, CrawlError, UnreachableShop, UsageError
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw


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
    """A shop that answers with 403 only is blocked, and is left alone soon."""
    made = make_bench()
    made.server.fallback = raw(b"<html>Are you a robot? Solve the recaptcha</html>", status=403)
    with pytest.raises(BlockedShop, match="captcha"):
        made.crawl()
    assert sum(made.server.hits.values()) < 10


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


def test_list_of_urls(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Listed URLs are fetched cleaned, and their links are not followed."""
    made = make_bench()
    made.server.routes |= {"/a": page("/more"), "/b": page("/more")}
    (tmp_path / "urls.txt").write_text(
        f"{made.server.url}a?utm_source=x\n# no\nhttps://elsewhere.example/\n{made.server.url}b\n"
    )
    made.crawl(source=str(tmp_path / "urls.txt"))
    assert set(made.pages()) == {"/a", "/b"}


def test_source_that_is_none(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """A source that cannot be read is named."""
    made = make_bench()
    for name in ("none.txt", "pages.warc.gz"):
        with pytest.raises(UsageError, match=name):
            made.crawl(source=str(tmp_path / name))


def test_log_in_json(make_bench: Callable[..., Bench]) -> None:
    """With log_format json, every line of the crawl's log is one JSON object."""
    made = make_bench()
    made.server.routes["/"] = page("/a")
    made.settings.log_format = "json"
    made.crawl()
    (log,) = (made.settings.data_dir / "logs").iterdir()
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert "Spider closed (finished)" in events
