"""A shop of a few routes on loopback: each path answers as its test needs it, and every request is noted."""

import http.server
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Reply = tuple[int, dict[str, str], bytes]
Act = Callable[[socket.socket], None]
Route = Callable[["Visit"], Reply | Act]


@dataclass(frozen=True)
class Visit:
    """One request: its path with the query, how often it came before, its headers, and the server's root."""

    path: str
    before: int
    headers: dict[str, str]
    root: str


@dataclass
class Loopback:
    """A running server.

    `routes` may be changed while it runs; `fallback` answers all other paths.
    """

    url: str = ""
    routes: dict[str, Route] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    fallback: Route = lambda visit: (404, {}, b"<html><title>404</title>not found</html>")
    delay: float = 0.0

    def reply(self, path: str, headers: dict[str, str]) -> Reply | Act:
        visit = Visit(path, self.hits[path], headers, self.url.rstrip("/"))
        self.hits[path] += 1
        self.agents.add(headers.get("user-agent", ""))
        time.sleep(self.delay)
        return self.routes.get(path, self.fallback)(visit)


def page(*links: str, title: str = "A page", head: str = "", text: str = "") -> Route:
    """A route that shows links; `{root}` in them is the server's own address."""
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)

    def show(visit: Visit) -> Reply:
        html = f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><p>{text}</p>{anchors}</body></html>"
        return (
            200,
            {"Content-Type": "text/html; charset=utf-8"},
            html.replace("{root}", visit.root).encode(),
        )

    return show


def raw(body: bytes, kind: str = "text/html", status: int = 200, **headers: str) -> Route:
    """A route with a fixed answer; underscores in header names stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda visit: (
        status,
        {"Content-Type": kind, **named},
        body.replace(b"{root}", visit.root.encode()),
    )


def sends(*pieces: bytes, pause: float = 0.0, then: float = 0.0) -> Route:
    """A route that writes to the bare socket, piece by piece, and hangs up some seconds later."""

    def act(connection: socket.socket) -> None:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            time.sleep(then)
        except OSError:
            return

    return lambda visit: act


@contextmanager
def serve(secure: ssl.SSLContext | None = None) -> Iterator[Loopback]:
    """A server for the time of the context, with a certificate where one is given."""
    shop = Loopback()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            reply = shop.reply(self.path, {k.lower(): v for k, v in self.headers.items()})
            if callable(reply):
                reply(self.connection)
                self.close_connection = True
                return
            status, headers, body = reply
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
    if secure:
        server.socket = secure.wrap_socket(server.socket, server_side=True)
    shop.url = f"http{'s' if secure else ''}://127.0.0.1:{server.server_address[1]}/"
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    ).start()
    try:
        yield shop
    finally:
        server.shutdown()
        server.server_close()
