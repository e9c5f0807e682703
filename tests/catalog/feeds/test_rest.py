"""A paged REST endpoint and files behind addresses, on a real server on loopback."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from catalog.errors import UnreadableFeed
from catalog.feeds import rest, sources
from catalog.feeds.rows import Row
from catalog.runtime.progress import no_progress

Answer = tuple[int, dict[str, str], bytes]


class Endpoint:
    """A server whose answers a test decides, and which remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Callable[[str, dict[str, str]], Answer] = lambda path, query: (404, {}, b"")
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                endpoint.asked.append(self.path)
                endpoint.headers.append(dict(self.headers))
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                status, headers, body = endpoint.answer(parts.path, query)
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that lives as long as the test."""
    made = Endpoint()
    thread = threading.Thread(
        target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "_RETRIES", rest._RETRIES.new(backoff_factor=0))


def page(value: Any, **headers: str) -> Answer:
    """A page with a JSON value."""
    return 200, headers, json.dumps(value).encode()


def ids(url: str) -> list[str]:
    """The ids of all rows of the endpoint."""
    return [row.texts["id"][0] for row in rest.read(url, no_progress) if isinstance(row, Row)]


@pytest.mark.parametrize(
    "named",
    [
        lambda url, n: {"next": f"{url}/o?cursor={n}"},
        lambda url, n: {"next": f"/o?cursor={n}"},
        lambda url, n: {"links": {"next": f"?cursor={n}"}},
        lambda url, n: {"_links": {"next": {"href": f"{url}/o?cursor={n}"}}},
        lambda url, n: {"paging": {"nextUrl": f"o?cursor={n}"}},
    ],
)
def test_next_in_the_body(endpoint: Endpoint, named: Callable[[str, int], dict[str, Any]]) -> None:
    """The next page is where the body says, until it says null."""

    def answer(path: str, query: dict[str, str]) -> Answer:
        n = int(query.get("cursor", 0))
        return page(
            {"items": [{"id": n}]} | (named(endpoint.url, n + 1) if n < 2 else {"next": None})
        )

    endpoint.answer = answer
    assert ids(f"{endpoint.url}/o") == ["0", "1", "2"]


def test_next_in_the_header(endpoint: Endpoint) -> None:
    """The Link header names the next page of a bare list."""

    def answer(path: str, query: dict[str, str]) -> Answer:
        n = int(query.get("after", 0))
        return page(
            [{"id": n}],
            **({"Link": f'<{endpoint.url}/o?after={n + 1}>; rel="next"'} if n < 2 else {}),
        )

    endpoint.answer = answer
    assert ids(f"{endpoint.url}/o")[:3] == ["0", "1", "2"]


@pytest.mark.parametrize("last", [page([]), page({"offers": []}), (404, {}, b"no such page")])
def test_numbered_pages(endpoint: Endpoint, last: Answer) -> None:
    """Where no next page is named, pages are counted until one is empty or missing; other
    parameters stay.
    """
    endpoint.answer = lambda path, query: (
        page({"offers": [{"id": int(query.get("page", 1))}]})
        if int(query.get("page", 1)) < 4
        else last
    )
    assert ids(f"{endpoint.url}/o?shop=7") == ["1", "2", "3"]
    assert endpoint.asked[1] == "/o?shop=7&page=2"


def test_endpoint_without_pages(endpoint: Endpoint) -> None:
    """An endpoint that gives the same list for every page is read once."""
    endpoint.answer = lambda path, query: page({"data": {"items": [{"id": 1}, {"id": 2}]}})
    assert ids(f"{endpoint.url}/o") == ["1", "2"]
    assert len(endpoint.asked) == 2


def test_next_that_runs_in_a_circle(endpoint: Endpoint) -> None:
    """A page that names itself or an earlier one ends the reading."""
    endpoint.answer = lambda path, query: page(
        {"items": [{"id": query.get("c", "0")}], "next": "/o?c=1"}
    )
    assert ids(f"{endpoint.url}/o") == ["0", "1"]


def test_next_on_another_server(endpoint: Endpoint) -> None:
    """A next page on another server is not followed: the catalog's answer does not choose whom
    Scout talks to.
    """
    endpoint.answer = lambda path, query: page(
        {"items": [{"id": 1}], "next": "http://169.254.169.254/latest"}
    )
    with pytest.raises(
        UnreadableFeed, match=r"names a next page on another server, http://169\.254"
    ):
        ids(f"{endpoint.url}/o")


def test_next_that_is_no_address(endpoint: Endpoint) -> None:
    """It is said, not raised."""
    endpoint.answer = lambda path, query: page({"items": [{"id": 1}], "next": "http://[::1"})
    with pytest.raises(UnreadableFeed, match=r"names a next page that is no URL, http://\[::1"):
        ids(f"{endpoint.url}/o")


def test_a_busy_server_is_asked_again(endpoint: Endpoint) -> None:
    """A passing failure costs a pause, not the import."""
    endpoint.answer = lambda path, query: (
        (503, {}, b"busy")
        if len(endpoint.asked) < 3
        else page({"items": [{"id": 1}], "next": None})
    )
    assert ids(f"{endpoint.url}/o") == ["1"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, {}, b""), "answers 500"),
        ((403, {}, b""), "answers 403 Forbidden: check the address"),
        ((200, {}, b"<html>"), "does not answer with JSON"),
        ((200, {}, b"[" * 200_000), "does not answer with JSON"),
        ((200, {}, b'{"error": "no"}'), "gives JSON without a list of offers"),
    ],
)
def test_failing_endpoints(endpoint: Endpoint, answer: Answer, message: str) -> None:
    """An endpoint's error is reported in one line with its URL."""
    endpoint.answer = lambda path, query: answer
    with pytest.raises(UnreadableFeed, match=rf"127\.0\.0\.1:\d+/o {message}"):
        ids(f"{endpoint.url}/o")


def test_a_page_that_fails_fails_the_import(endpoint: Endpoint) -> None:
    """Half a catalog is none: a failing third page is an error."""
    endpoint.answer = lambda path, query: (
        (500, {}, b"") if query.get("page") == "3" else page([{"id": query.get("page", "1")}])
    )
    with pytest.raises(UnreadableFeed, match="page=3 answers 500"):
        ids(f"{endpoint.url}/o")


def test_huge_pages_are_refused(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page beyond the limit is not read to its end."""
    monkeypatch.setattr(rest, "MAX_PAGE_SIZE", 1024**2)
    endpoint.answer = lambda path, query: (200, {}, b'["' + b"x" * 2_000_000 + b'"]')
    with pytest.raises(UnreadableFeed, match="answers with more than 1 MB"):
        ids(f"{endpoint.url}/o")


def test_nobody_there() -> None:
    """Without a server the error says so."""
    with pytest.raises(
        UnreadableFeed, match=r"http://127\.0\.0\.1:9/o cannot be read: no connection"
    ):
        ids("http://127.0.0.1:9/o")


def test_passwords_are_sent_but_not_shown(endpoint: Endpoint) -> None:
    """Name and password of the address go to the server on each page and into no message."""
    endpoint.answer = lambda path, query: (
        page([{"id": 1}], Link="</o2>; rel=next") if path == "/o" else (403, {}, b"")
    )
    with pytest.raises(UnreadableFeed, match="403") as caught:
        ids(endpoint.url.replace("//", "//me:secret@") + "/o")
    assert "secret" not in str(caught.value)
    assert [headers["Authorization"] for headers in endpoint.headers] == ["Basic bWU6c2VjcmV0"] * 2


def test_files_behind_addresses(endpoint: Endpoint) -> None:
    """An address that ends like a file is fetched and read as one."""
    endpoint.answer = lambda path, query: (
        (200, {}, b"id,title\n1,Lamp\n") if path == "/f.csv" else (404, {}, b"")
    )
    with sources.open_source(f"{endpoint.url}/f.csv?token=1", "auto", print, no_progress) as rows:
        assert [row.texts for row in rows if isinstance(row, Row)] == [
            {"id": ["1"], "title": ["Lamp"]}
        ]
    with (
        pytest.raises(UnreadableFeed, match="answers 404"),
        sources.open_source(f"{endpoint.url}/g.csv", "auto", print, no_progress),
    ):
        pass
