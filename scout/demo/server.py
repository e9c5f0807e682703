"""The demo shop on loopback: the standard library's threading server, with keep-alive and conditional requests.

A framework would add nothing here; the pages are made ahead, so a crawl is never the slower for the shop.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from scout.demo.assortment.demo_shop import Demo
from scout.demo.site.demo_site import Site
from scout.demo.site.responses import Answer

CHANGED = "Thu, 12 Nov 2026 06:00:00 GMT"


class Request(NamedTuple):
    """A request that the shop has seen: `path` with its query."""

    method: str
    path: str
    status: int


@dataclass
class Served:
    """A running demo shop."""

    url: str
    log: list[Request] = field(default_factory=list)

    @property
    def clicks(self) -> int:
        """How often the redirector was used: what a merchant would be billed for."""
        return sum(urlsplit(request.path).path == "/out" for request in self.log)


@contextmanager
def serve(demo: Demo, port: int = 0) -> Iterator[Served]:
    """Serve the shop in a thread while the context lasts; port 0 takes a free one."""
    site = Site(demo)
    for target in site.targets():
        site.answer(target)
    server = _Server(("127.0.0.1", port), site)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
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
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], site: Site) -> None:
        super().__init__(address, _Handler)
        self.site = site
        self.served = Served(f"http://127.0.0.1:{self.server_address[1]}/")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, as a killed crawler does, is nothing to write about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Birkenhall"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = 65536
    timeout = 60
    server: _Server

    def do_GET(self) -> None:
        answer = self.server.site.answer(self.path)
        unchanged = answer.status == 200 and self._unchanged(answer)
        status = 304 if unchanged else answer.status
        self.server.served.log.append(Request(self.command, self.path, status))
        body = b"" if unchanged else answer.at(self.server.served.url)
        self.send_response(status)
        for name, value in self._headers(answer, status, len(body)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def _unchanged(self, answer: Answer) -> bool:
        named = self.headers.get("If-None-Match")
        return answer.etag in named if named else self.headers.get("If-Modified-Since") == CHANGED

    def _headers(self, answer: Answer, status: int, length: int) -> dict[str, str]:
        headers = dict(answer.headers)
        if answer.status == 200:
            headers |= {"ETag": answer.etag, "Last-Modified": CHANGED, "Cache-Control": "max-age=0"}
        if status != 304:
            headers |= {"Content-Type": answer.kind, "Content-Length": str(length)}
        return headers

    def log_message(self, format: str, *args: object) -> None:
        """Requests go to `Served.log`, not to the terminal."""
