"""A paged REST endpoint and files behind addresses, on a real server on loopback."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import urllib3

from catalog.errors import UnreadableFeed
from catalog.feeds import sources
from catalog.feeds.remote import http_session, rest
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


def test_parameters_that_are_repeated(endpoint: Endpoint) -> None:
    """All of them are sent with each page."""
    endpoint.answer = lambda path, query: page(
        [{"id": query["page"]}] if query["page"] < "3" else []
    )
    assert ids(f"{endpoint.url}/o?brand=a&page=1&brand=b") == ["1", "2"]
    assert endpoint.asked[1:] == ["/o?brand=a&brand=b&page=2", "/o?brand=a&brand=b&page=3"]


def test_the_next_page_stays_encrypted() -> None:
    """Servers behind a proxy name their next page without encryption; passwords are sent there."""
    url, next_url = "https://catalog.example/o", "http://catalog.example/o?page=2"
    assert rest._next_url(url, {"next": next_url}, None) == "https://catalog.example/o?page=2"


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


def test_too_many_pages(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog that is longer than Scout reads is refused, not cut."""
    monkeypatch.setattr(rest, "MAX_PAGES", 3)
    last = 3

    def answer(path: str, query: dict[str, str]) -> Answer:
        number = int(query.get("c", 1))
        following = f"/o?c={number + 1}" if number < last else None
        return page({"items": [{"id": number}], "next": following})

    endpoint.answer = answer
    assert ids(f"{endpoint.url}/o") == ["1", "2", "3"]
    last = 4
    with pytest.raises(UnreadableFeed, match="more than 3 pages"):
        ids(f"{endpoint.url}/o")


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


@pytest.mark.parametrize("named", ["abc", "eyJpZCI6N30=", "/gone", "1.5", "-2", "\u00b2"])
def test_next_that_is_missing(endpoint: Endpoint, named: str) -> None:
    """A next page that is named and missing is an error, not the end: half a catalog is none."""
    endpoint.answer = lambda path, query: (
        page({"items": [{"id": 1}], "next": named}) if path == "/o" else (404, {}, b"")
    )
    with pytest.raises(UnreadableFeed, match="answers 404"):
        ids(f"{endpoint.url}/o")


@pytest.mark.parametrize("named", [2, "2", " 2"])
def test_next_that_is_a_number(endpoint: Endpoint, named: int | str) -> None:
    """A number names a page of that number; behind the last one it may be missing."""
    endpoint.answer = lambda path, query: (
        page({"items": [{"id": 1}], "next_page": named}) if "page" not in query else (404, {}, b"")
    )
    assert ids(f"{endpoint.url}/o") == ["1"]
    assert endpoint.asked == ["/o", "/o?page=2"]


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


ADDRESSES = {
    "public.example": "93.184.216.34",
    "other-public.example": "1.1.1.1",
    "private.example": "10.1.2.3",
    "other-private.example": "192.168.1.9",
    "local.example": "127.0.0.1",
    "metadata.example": "169.254.169.254",
    "v6-local.example": "::1",
    "mapped.example": "::ffff:10.0.0.1",
}


@pytest.fixture
def named_hosts(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Hosts of all kinds, all served by the endpoint; gives the address of a path on a host."""
    port = endpoint.server.server_port
    resolve = socket.getaddrinfo
    connect = urllib3.util.connection.create_connection

    def named(host: Any, *rest_of_call: Any, **options: Any) -> Any:
        return resolve(ADDRESSES.get(host, host), *rest_of_call, **options)

    def to_endpoint(address: Any, *rest_of_call: Any, **options: Any) -> Any:
        return connect(("127.0.0.1", port), *rest_of_call, **options)

    monkeypatch.setattr(socket, "getaddrinfo", named)
    monkeypatch.setattr(urllib3.util.connection, "create_connection", to_endpoint)
    return lambda host: f"http://{host}:{port}"


@pytest.mark.parametrize(
    ("first", "second", "is_followed"),
    [
        ("public.example", "public.example", True),
        ("public.example", "other-public.example", True),
        ("public.example", "private.example", False),
        ("public.example", "local.example", False),
        ("public.example", "metadata.example", False),
        ("public.example", "v6-local.example", False),
        ("public.example", "mapped.example", False),
        ("public.example", "127.0.0.1", False),
        ("public.example", "[::ffff:127.0.0.1]", False),
        ("public.example", "2130706433", False),
        ("private.example", "public.example", True),
        ("private.example", "other-private.example", True),
        ("private.example", "local.example", False),
        ("private.example", "metadata.example", False),
        ("local.example", "private.example", True),
        ("local.example", "public.example", True),
        ("local.example", "metadata.example", False),
    ],
)
def test_redirects_stay_in_reach(
    endpoint: Endpoint,
    named_hosts: Callable[[str], str],
    first: str,
    second: str,
    is_followed: bool,
) -> None:
    """A redirect leads only where the first address could have gone."""
    endpoint.answer = lambda path, query: (
        (302, {"Location": f"{named_hosts(second)}/two"}, b"")
        if path == "/one"
        else page({"items": [{"id": 7}], "next": None})
    )
    if is_followed:
        assert ids(f"{named_hosts(first)}/one") == ["7"]
        return
    with pytest.raises(UnreadableFeed, match=r"redirects from a [a-z]+ to a [a-z-]+ address"):
        ids(f"{named_hosts(first)}/one")
    assert endpoint.asked == ["/one"]


def test_redirects_in_a_row(endpoint: Endpoint, named_hosts: Callable[[str], str]) -> None:
    """The first address counts, not the one before; a circle ends."""
    steps = {"/one": "other-public.example", "/two": "private.example"}
    endpoint.answer = lambda path, query: (
        302,
        {"Location": f"{named_hosts(steps[path])}/two"},
        b"",
    )
    with pytest.raises(UnreadableFeed, match="redirects from a public to a private address"):
        ids(f"{named_hosts('public.example')}/one")
    endpoint.answer = lambda path, query: (302, {"Location": "/one"}, b"")
    with pytest.raises(UnreadableFeed, match="cannot be read"):
        ids(f"{endpoint.url}/one")


def test_redirects_of_a_proxy(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy, too, a redirect leads from no public address to a private one."""
    monkeypatch.setenv("http_proxy", endpoint.url)
    monkeypatch.delenv("no_proxy", raising=False)
    endpoint.answer = lambda path, query: (302, {"Location": "http://10.0.0.1/two"}, b"")
    with pytest.raises(UnreadableFeed, match="redirects from a public to a private address"):
        ids("http://unknown.invalid/one")


def test_redirected_names_cannot_change_their_address(
    endpoint: Endpoint, named_hosts: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is public when it is checked and private when it is connected to is refused."""
    answers = {"other-public.example": ["1.1.1.1", "127.0.0.1"]}
    resolve = socket.getaddrinfo

    def rebinding(host: Any, *rest_of_call: Any, **options: Any) -> Any:
        names = answers.get(host)
        return resolve(names.pop(0) if names else host, *rest_of_call, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    endpoint.answer = lambda path, query: (
        302,
        {"Location": f"{named_hosts('other-public.example')}/two"},
        b"",
    )
    with pytest.raises(UnreadableFeed, match="cannot be read"):
        ids(f"{named_hosts('public.example')}/one")
    assert endpoint.asked == ["/one"]


def test_passwords_do_not_follow_a_redirect(
    endpoint: Endpoint, named_hosts: Callable[[str], str]
) -> None:
    """Name and password go to the user's own server only."""
    endpoint.answer = lambda path, query: (
        (302, {"Location": f"{named_hosts('other-public.example')}/two"}, b"")
        if path == "/one"
        else page({"items": [{"id": 7}], "next": None})
    )
    first = named_hosts("public.example").replace("//", "//me:secret@")
    assert ids(f"{first}/one") == ["7"]
    assert ["Authorization" in headers for headers in endpoint.headers] == [True, False]


@pytest.mark.parametrize("value", ["soon", "-1", "1e9", "²", "", "Wed, 99 Foo 2026"])
def test_retry_after_that_is_no_number(endpoint: Endpoint, value: str) -> None:
    """A pause that cannot be read is the usual one."""
    endpoint.answer = lambda path, query: (
        (503, {"Retry-After": value.encode().decode("latin-1")}, b"")
        if len(endpoint.asked) < 2
        else page({"items": [{"id": 1}], "next": None})
    )
    assert ids(f"{endpoint.url}/o") == ["1"]


def test_long_pauses_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server cannot make the import wait for days."""
    response = urllib3.HTTPResponse(headers={"Retry-After": "999999999"})
    assert rest._RETRIES.get_retry_after(response) == http_session.MAX_RETRY_AFTER


@pytest.mark.parametrize("number", ["²", "٣", "1" * 50, "-1", "next"])
def test_page_numbers_that_are_none(endpoint: Endpoint, number: str) -> None:
    """A page's number that is none begins the count anew."""
    endpoint.answer = lambda path, query: (
        page([{"id": 1}]) if query.get("page") == number else page([])
    )
    assert ids(f"{endpoint.url}/o?page={quote(number)}") == ["1"]
