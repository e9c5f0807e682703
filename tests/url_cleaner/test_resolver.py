"""Requests for redirect targets, to public addresses only."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from url_cleaner.errors import BadUrl
from url_cleaner.resolver import request_redirect, resolve_public_address

LOCATIONS = {"/a": "/b?x=1", "/far": "https://shop.com/p", "/bad": "javascript:alert(1)"}


class _Redirects(BaseHTTPRequestHandler):
    seen: list[str] = []  # noqa: RUF012

    def do_HEAD(self) -> None:
        self.seen.append(self.path)
        location = LOCATIONS.get(self.path)
        self.send_response(302 if location else 404)
        if location:
            self.send_header("Location", location)
        self.end_headers()

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    """A server on loopback that redirects."""
    running = HTTPServer(("127.0.0.1", 0), _Redirects)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.mark.parametrize(
    ("path", "status", "leads_to"),
    [
        ("/a", 302, "{root}/b?x=1"),
        ("/far", 302, "https://shop.com/p"),
        ("/bad", 302, None),
        ("/none", 404, None),
    ],
)
def test_one_hop(server: str, path: str, status: int, leads_to: str | None) -> None:
    """The response names the redirect target, which is not requested."""
    _Redirects.seen.clear()
    hop = request_redirect(server + path, allow_private=True)
    assert (hop.status, hop.url) == (status, leads_to and leads_to.format(root=server))
    assert bool(hop.problem) is (leads_to is None)
    assert _Redirects.seen == [path]


def test_private_addresses_are_not_requested(server: str) -> None:
    """A private address is refused before anything is sent."""
    _Redirects.seen.clear()
    with pytest.raises(BadUrl, match="not on the public internet"):
        request_redirect(server + "/a")
    assert _Redirects.seen == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "169.254.169.254",
        "10.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "224.0.0.1",
        "0.0.0.0",
        "localhost",
    ],
)
def test_disguised_addresses(host: str) -> None:
    """Every spelling of a private address is refused."""
    with pytest.raises(BadUrl):
        resolve_public_address(host, 80)


def test_one_private_address_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a public and a private address is refused; one with public addresses yields the
    first.
    """
    addresses = ["93.184.216.34", "10.0.0.1"]
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *a, **k: [(0, 0, 0, "", (ip, 80)) for ip in addresses]
    )
    with pytest.raises(BadUrl):
        resolve_public_address("shop.com", 80)
    addresses.pop()
    assert resolve_public_address("shop.com", 80) == "93.184.216.34"


def test_a_missing_answer_is_reported() -> None:
    """A refused connection is reported instead of raised."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    hop = request_redirect(f"http://127.0.0.1:{port}/", allow_private=True, timeout=2)
    assert (hop.status, hop.url) == (None, None)
    assert "no answer" in hop.problem
