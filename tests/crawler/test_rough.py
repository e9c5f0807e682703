"""Broken, endless, huge and mislabelled responses: each page ends with its reason, and none is lost."""

import gzip
import socket
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest
from sqlmodel import col, update

from catalog.models import Page
from catalog.storage.frontier import Frontier, FrontierLink
from crawler.fetch.response_status import MAX_ATTEMPTS
from tests.crawler.conftest import Bench, bench
from tests.crawler.server import Act, Loopback, Reply, Route, Visit, page, raw, sends, serve

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PIECE = b"<p>" + b"x" * 65_533


def shut(connection: socket.socket) -> None:
    """Says that nothing will come, and stays."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(3)
    try:
        connection.recv(1)
    except OSError:
        return


def once(broken: Route) -> Route:
    """Broken the first time, whole from then on."""
    whole = page(title="Whole again")

    def answer(visit: Visit) -> Reply | Act:
        return whole(visit) if visit.before else broken(visit)

    return answer


def chunks(*pieces: bytes) -> list[bytes]:
    return [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]


BROKEN: dict[str, tuple[Route, str, str]] = {
    "mute": (sends(then=2.5), "failed", "timeout"),
    "slow-head": (sends(OK, *repeat(b"X-A: b\r\n", 12), pause=0.2), "failed", "timeout"),
    "slow-body": (sends(OK + b"\r\n<html>", *repeat(b"a", 12), pause=0.2), "failed", "timeout"),
    "hangs-up": (sends(), "failed", "no connection"),
    "half-closed": (lambda visit: shut, "failed", "no connection"),
    "half-a-head": (sends(OK + b"Content-Len"), "failed", "no connection"),
    "half-a-body": (sends(OK + b"Content-Length: 999\r\n\r\n<html>half"), "failed", "cut off"),
    "half-a-chunk": (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"ff\r\n<html>half"),
        "failed",
        "cut off",
    ),
    "another-protocol": (sends(b"SSH-2.0-OpenSSH_9.9\r\n"), "failed", "unreadable answer"),
    "no-gzip": (
        raw(b"\x1f\x8bno gzip at all", Content_Encoding="gzip"),
        "failed",
        "unreadable answer",
    ),
    "endless": (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\n", *chunks(*repeat(PIECE, 160))),
        "refused",
        "too large",
    ),
    "ten-megabytes": (raw(b"<html>" + PIECE * 160), "refused", "too large"),
    "bomb": (
        raw(gzip.compress(b"<html>" + PIECE * 800, 1), Content_Encoding="gzip"),
        "refused",
        "too large",
    ),
    "deep": (raw(b"<html>" + b"<div>" * 20_000), "refused", "hostile page"),
    "attributes": (
        raw(b"<html><p " + b" ".join(b"a%d=1" % n for n in range(20_000)) + b">"),
        "refused",
        "hostile page",
    ),
    "picture": (raw(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "text/html"), "refused", "not html"),
    "manual": (raw(b"%PDF-1.7\n%\xe2\xe3", "text/html; charset=utf-8"), "refused", "not html"),
    "file": (raw(b"", status=302, Location="file:///etc/passwd"), "refused", "not a link"),
    "nowhere": (raw(b"", status=302, Location="http://["), "refused", "not a link"),
    "no-target": (raw(b"", status=302), "failed", "redirect loop"),
}
LIES: dict[str, Route] = {
    "charset-unknown": raw(b"<html><a href=/found-1>x</a>", "text/html; charset=klingon"),
    "charset-wrong": raw(
        "<html>Größe <a href=/found-2>x</a>".encode("latin-1"), "text/html; charset=utf-8"
    ),
    "charset-two": raw(
        '<html><meta charset="utf-8"><a href=/found-3>x</a>'.encode("utf-16"), "text/html"
    ),
    "type-wrong": raw(b"<!doctype html><html><a href=/found-4>x</a>", "image/png"),
    "type-none": sends(b"HTTP/1.0 200 OK\r\n\r\n<!doctype html><html><a href=/found-5>x</a>"),
    "nul-bytes": raw(b"<html>\x00<a\x00 href=/none>x</a><a href=/found-6>x</a>"),
}
MOVED = {"utf-8": "/gr%C3%B6%C3%9Fe", "latin-1": "/gr%F6%DFe"}
MUTE_LINES = (
    "hangs-up",
    "half-closed",
    "half-a-head",
)  # the pool asks again where it was a line used before
FIRST_TIME = ("mute", "hangs-up", "half-a-body", "another-protocol")


def fill(server: Loopback) -> None:
    server.routes |= {f"/{name}": route for name, (route, _, _) in BROKEN.items()}
    server.routes |= {f"/once-{name}": once(BROKEN[name][0]) for name in FIRST_TIME}
    server.routes |= {f"/{name}": route for name, route in LIES.items()}
    server.routes |= {f"/found-{number}": page(title=f"Found {number}") for number in range(1, 7)}
    for charset, path in MOVED.items():
        head = "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: /größe\r\n\r\n"
        server.routes |= {
            f"/moved-{charset}": sends(head.encode(charset)),
            path: page(title=f"Moved in {charset}"),
        }
    moved = [f"/moved-{charset}" for charset in MOVED]
    server.routes["/"] = page(
        *moved, *(f"/once-{name}" for name in FIRST_TIME), *(f"/{name}" for name in LIES)
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """All of it in one crawl; for pages that stay broken it is the last of four attempts."""
    folder: Path = tmp_path_factory.mktemp("rough")
    with serve() as server:
        fill(server)
        made = bench(folder, server)
        Frontier(made.store, made.shop.id or 0).add(
            FrontierLink(f"{server.url}{name}") for name in BROKEN
        )
        with made.store.write() as session:
            session.exec(update(Page).where(col(Page.id) > 0).values(attempts=MAX_ATTEMPTS - 1))
        made.crawl()
        yield made


@pytest.mark.parametrize("name", BROKEN)
def test_broken(crawled: Bench, name: str) -> None:
    """A page whose response stays broken ends with the reason, after its last attempt."""
    assert crawled.states()[f"/{name}"] == BROKEN[name][1:]
    assert crawled.server.hits[f"/{name}"] <= (2 if name in MUTE_LINES else 1)


@pytest.mark.parametrize("name", FIRST_TIME)
def test_broken_once(crawled: Bench, name: str) -> None:
    """A page whose response was broken once is fetched again."""
    assert crawled.states()[f"/once-{name}"] == ("fetched", None)
    assert crawled.server.hits[f"/once-{name}"] == 2


@pytest.mark.parametrize(("name", "number"), [*zip(LIES, range(1, 7), strict=True)])
def test_lies(crawled: Bench, name: str, number: int) -> None:
    """A page with a wrong charset or type is read as by a browser, and its links are found."""
    states = crawled.states()
    assert states[f"/{name}"] == states[f"/found-{number}"] == ("fetched", None)


@pytest.mark.parametrize("charset", MOVED)
def test_redirects_in_raw_letters(crawled: Bench, charset: str) -> None:
    """A redirect whose target is not encoded leads to the bytes of its target."""
    states = crawled.states()
    assert (states[f"/moved-{charset}"], states[MOVED[charset]]) == (
        ("redirected", "redirect"),
        ("fetched", None),
    )


def test_nothing_open(crawled: Bench) -> None:
    """Every page is settled in the end, however its responses are broken."""
    assert not [
        path for path, (state, _) in crawled.states().items() if state in ("pending", "leased")
    ]
