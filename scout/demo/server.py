"""The demo shop on loopback, by the standard library's threading server.

A web framework would add nothing. All pages are rendered before the first request, so that a crawl
measures the crawler and not the shop.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite
from scout.demo.site.responses import Response

LAST_MODIFIED = "Thu, 12 Nov 2026 06:00:00 GMT"
"""Last change of every page: the demo shop never changes while it is served."""

POLL_INTERVAL = 0.05
"""Seconds until the server notices that it has to stop."""


class LoggedRequest(NamedTuple):
    """A request that the shop has answered: `path` with its query."""

    method: str
    path: str
    status: int


@dataclass
class ServedShop:
    """A running demo shop: its root URL and the log of its requests."""

    url: str
    log: list[LoggedRequest] = field(default_factory=list)

    @property
    def clicks(self) -> int:
        """Number of requests to the redirector, each of which a merchant would be billed for."""
        return sum(urlsplit(request.path).path == "/out" for request in self.log)


@contextmanager
def serve(shop: DemoShop, port: int = 0) -> Iterator[ServedShop]:
    """Serve the shop in a thread while the context lasts; port 0 takes a free one."""
    site = DemoSite(shop)
    for target in site.targets():
        site.answer(target)
    server = _Server(("127.0.0.1", port), site)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": POLL_INTERVAL}, daemon=True
    )
    thread.start()
    try:
        yield server.served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Connections that may wait: a crawler opens many at once, and a refused one would look like a
    # broken shop.
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], site: DemoSite) -> None:
        super().__init__(address, _Handler)
        self.site = site
        self.served = ServedShop(f"http://127.0.0.1:{self.server_address[1]}/")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless the client has hung up, as a killed crawler does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Birkenhall"
    sys_version = ""
    # With Nagle's algorithm, the body of a response would wait until its headers are acknowledged.
    disable_nagle_algorithm = True
    wbufsize = 65536
    timeout = 60
    server: _Server

    def do_GET(self) -> None:
        response = self.server.site.answer(self.path)
        is_unchanged = response.status == 200 and self._is_unchanged(response)
        status = 304 if is_unchanged else response.status
        self.server.served.log.append(LoggedRequest(self.command, self.path, status))
        body = b"" if is_unchanged else response.body_for(self.server.served.url)
        self.send_response(status)
        for name, value in self._headers(response, status, len(body)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def _is_unchanged(self, response: Response) -> bool:
        # An entity tag takes precedence over a date (RFC 9110, section 13.2.2).
        tags = self.headers.get("If-None-Match")
        if tags:
            return response.etag in tags
        return self.headers.get("If-Modified-Since") == LAST_MODIFIED

    def _headers(self, response: Response, status: int, length: int) -> dict[str, str]:
        headers = dict(response.headers)
        if response.status == 200:
            headers |= {
                "ETag": response.etag,
                "Last-Modified": LAST_MODIFIED,
                "Cache-Control": "max-age=0",
            }
        if status != 304:
            headers |= {"Content-Type": response.content_type, "Content-Length": str(length)}
        return headers

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: requests go to `ServedShop.log`."""
