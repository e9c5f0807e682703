"""Shops that cannot be crawled: one clear line each, and a failed run with that reason."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.scout.conftest import CommandResult, Scout

CAPTCHA = b"<!doctype html><title>Just a moment...</title><h1>Are you a robot?</h1><div class='g-recaptcha'></div>"


@contextmanager
def _answering(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404 if self.path.endswith((".txt", ".xml")) else status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    ).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def _run(scout: Scout, folder: Path, url: str) -> CommandResult:
    feed = folder / "feed.csv"
    feed.write_text(
        f"id,title,link,price\n1,Mug,{url}p/1,5.00 EUR\n2,Cup,{url}p/2,6.00 EUR\n", encoding="utf-8"
    )
    assert scout("shop", "add", "sad", "--url", url, "--allow-private").code == 0
    assert scout("catalog", "import", "sad", str(feed)).code == 0
    result = scout("run", "sad")
    assert result.code == 1
    shown = json.loads(scout("shop", "show", "sad", "--json").out)
    assert (shown["state"], shown["reason"]) == ("failed", result.error)
    return result


def test_unreachable(scout: Scout, tmp_path: Path) -> None:
    """An unreachable shop is reported with its host and port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    assert f"{url.split('/')[2]} cannot be reached" in _run(scout, tmp_path, url).error


@pytest.mark.parametrize("status", [403, 200])
def test_captchas(scout: Scout, tmp_path: Path, status: int) -> None:
    """A shop that responds with captchas only is reported as such, with any status code."""
    with _answering(status, CAPTCHA) as url:
        result = _run(scout, tmp_path, url).error
    assert url.split("/")[2] in result
    assert "captcha" in result
