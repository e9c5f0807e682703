"""A shop of a few routes on loopback: each path answers as its test needs it, and every request is noted."""

import http.server
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Reply = tuple[int, dict[str, str], bytes]
Route = Callable[["Visit"], Reply]


@dataclass(frozen=True)
class Visit:
    """One request: its path with the query, how often it came before, its headers, and the server's root."""

    path: str
    before: int
    headers: dict[str, str]
    root: str


@dataclass
class Loopback:
    """A running server. `routes` may be changed while it runs; `fallback` answers all other paths."""

    url: str = ""
    routes: dict[str, Route] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    fallback: Route = lambda visit: (404, {}, b"<html><title>404</title>not found</html>")
    delay: float = 0.0

    def reply(self, path: str, headers: dict[str, str]) -> Reply:
        visit = Visit(path, self.hits[path], headers, self.url.rstrip("/"))
        self.hits[path] += 1
        self.agents.add(headers.get("user-agent", ""))
        time.sleep(self.delay)
        return self.routes.get(path, self.fallback)(visit)


def page(*links: str, title: str = "A page", head: str = "", text: str = "") -> Route:
    """A route that shows links; `{root}` in them is the server's own address."""
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)

    def show(visit: Visit) -> Reply:
        html = (
            f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><p>{text}</p>{anchors}</body></html>"
        )
        return 200, {"Content-Type": "text/html; charset=utf-8"}, html.replace("{root}", visit.root).encode()

    return show


def raw(body: bytes, kind: str = "text/html", status: int = 200, **headers: str) -> Route:
    """A route with a fixed answer; underscores in header names stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda visit: (status, {"Content-Type": kind, **named}, body.replace(b"{root}", visit.root.encode()))


@contextmanager
def serve() -> Iterator[Loopback]:
    """A server for the time of the context."""
    shop = Loopback()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = shop.reply(self.path, {k.lower(): v for k, v in self.headers.items()})
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    shop.url = f"http://127.0.0.1:{server.server_address[1]}/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield shop
    finally:
        server.shutdown()
        server.server_close()
