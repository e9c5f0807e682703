"""The demo shop's server: what it logs, what it answers to conditional requests, and that it stays open."""

import gzip
import http.client
import os
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from lxml import etree

from scout.demo.assortment.demo_shop import Demo
from scout.demo.server import Request, serve


@pytest.fixture(scope="module")
def served(demo):
    """The shop on loopback."""
    with serve(demo) as running:
        yield running


@pytest.fixture
def ask(served):
    """A client with one connection: method, path and headers to the response with its body."""
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=10)

    def ask(method, path, **headers):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read()

    yield ask
    connection.close()


def test_url(served):
    """The address is loopback with a free port, and ends with a slash."""
    assert served.url.startswith("http://127.0.0.1:")
    assert served.url.endswith("/")


def test_log_tells_every_request(served, ask):
    """Every request is logged with method, path with query, and status, in order."""
    start = len(served.log)
    for path in ("/en/?utm_source=x", "/nothing", "/de"):
        ask("GET", path)
    seen = [("GET", "/en/?utm_source=x", 200), ("GET", "/nothing", 404), ("GET", "/de", 301)]
    assert served.log[start:] == [Request(*line) for line in seen]


def test_connection_stays_open(served, ask):
    """Many requests go over one connection, empty answers among them."""
    for path in ("/en/", "/out?to=/en/", "/de", "/nothing", "/en/deals"):
        response, body = ask("GET", path)
        assert response.version == 11
        assert not response.will_close
        assert len(body) == int(response.headers["Content-Length"])


def test_absolute_links_lead_here(served, ask, demo):
    """Canonical links, robots.txt and sitemaps, the packed one too, name the address that was asked."""
    for path in ("/robots.txt", "/sitemap.xml", demo.offers[0].path, "/sitemaps/artikel.xml.gz"):
        _, body = ask("GET", path)
        text = (gzip.decompress(body) if path.endswith(".gz") else body).decode()
        assert served.url in text
        assert "base.invalid" not in text


def test_sitemaps_are_xml(ask):
    """The sitemap is an index, and what it names are sitemaps."""
    _, body = ask("GET", "/sitemap.xml")
    for node in etree.fromstring(body).iter("{*}loc"):
        response, inner = ask("GET", urlsplit(node.text).path)
        inner = (
            gzip.decompress(inner)
            if response.headers["Content-Type"] == "application/gzip"
            else inner
        )
        assert etree.fromstring(inner).tag.endswith("urlset")


def test_unchanged_pages_are_not_sent_again(ask):
    """A known ETag or Last-Modified is answered with 304 and no body; another ETag with the page."""
    response, body = ask("GET", "/en/deals")
    for headers in (
        {"If-None-Match": response.headers["ETag"]},
        {"If-Modified-Since": response.headers["Last-Modified"]},
    ):
        again, nothing = ask("GET", "/en/deals", **headers)
        assert (again.status, nothing) == (304, b"")
    changed, whole = ask("GET", "/en/deals", **{"If-None-Match": '"other"'})
    assert (changed.status, whole) == (200, body)


def test_head_has_no_body(ask):
    """HEAD answers as GET does, without the body."""
    response, body = ask("HEAD", "/en/deals")
    assert (response.status, body) == (200, b"")
    assert int(response.headers["Content-Length"]) > 10_000


def test_redirector_counts_clicks(served, ask):
    """Each use of the redirector is a click, and leads where it says; a line break in its target leads no further."""
    clicks = served.clicks
    response, _ = ask("GET", "/out?to=https%3A%2F%2Fpartner.example%2Fa%3Fb%3Dc&from=feed")
    assert response.status == 302
    assert response.headers["Location"] == "https://partner.example/a?b=c"
    response, _ = ask("GET", "/out?to=%2Fen%2F%0D%0ASet-Cookie%3A%20a%3Db")
    assert "Set-Cookie" not in response.headers
    assert served.clicks == clicks + 2


def test_redesigned_shop_is_served():
    """The redesigned shop is served as the other is."""
    with serve(Demo.make(redesigned=True)) as running:
        connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=10)
        connection.request("GET", Demo.make().offers[0].path)
        assert b'class="figure"' in connection.getresponse().read()
        connection.close()


def test_module_serves_until_interrupted(tmp_path):
    """`python -m scout.demo` prints its address, writes the feed, and ends with Ctrl-C."""
    words = [
        sys.executable,
        "-m",
        "scout.demo",
        "--port",
        "0",
        "--feed",
        str(tmp_path / "feed.xml"),
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert address in (tmp_path / "feed.xml").read_text()
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 0
        assert running.stderr.read() == ""
