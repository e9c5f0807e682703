"""The demo shop's server: its log, conditional requests, open connections, command line."""

import gzip
import http.client
import os
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from lxml import etree

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.server import LoggedRequest, serve


@pytest.fixture(scope="module")
def served(demo):
    """The shop on loopback."""
    with serve(demo) as running:
        yield running


@pytest.fixture
def send(served):
    """A client with one connection: method, path and headers to the response with its body."""
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=10)

    def send(method, path, **headers):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read()

    yield send
    connection.close()


def test_url(served):
    """The address is loopback with a free port, and ends with a slash."""
    assert served.url.startswith("http://127.0.0.1:")
    assert served.url.endswith("/")


def test_log_of_every_request(served, send):
    """Every request is logged with method, path with query, and status, in order."""
    start = len(served.log)
    for path in ("/en/?utm_source=x", "/nothing", "/de"):
        send("GET", path)
    seen = [("GET", "/en/?utm_source=x", 200), ("GET", "/nothing", 404), ("GET", "/de", 301)]
    assert served.log[start:] == [LoggedRequest(*line) for line in seen]


def test_connection_stays_open(served, send):
    """Many requests use one connection, also after responses without a body."""
    for path in ("/en/", "/out?to=/en/", "/de", "/nothing", "/en/deals"):
        response, body = send("GET", path)
        assert response.version == 11
        assert not response.will_close
        assert len(body) == int(response.headers["Content-Length"])


def test_absolute_links(served, send, demo):
    """Canonical links, robots.txt and sitemaps have the root URL that was requested."""
    for path in ("/robots.txt", "/sitemap.xml", demo.offers[0].path, "/sitemaps/artikel.xml.gz"):
        _, body = send("GET", path)
        text = (gzip.decompress(body) if path.endswith(".gz") else body).decode()
        assert served.url in text
        assert "base.invalid" not in text


def test_sitemaps_are_xml(send):
    """The sitemap is an index of sitemaps."""
    _, body = send("GET", "/sitemap.xml")
    for node in etree.fromstring(body).iter("{*}loc"):
        response, inner = send("GET", urlsplit(node.text).path)
        inner = (
            gzip.decompress(inner)
            if response.headers["Content-Type"] == "application/gzip"
            else inner
        )
        assert etree.fromstring(inner).tag.endswith("urlset")


def test_unchanged_pages_are_not_sent_again(send):
    """A current ETag or Last-Modified gets 304 without a body; another ETag gets the page."""
    response, body = send("GET", "/en/deals")
    for headers in (
        {"If-None-Match": response.headers["ETag"]},
        {"If-Modified-Since": response.headers["Last-Modified"]},
    ):
        repeated, empty = send("GET", "/en/deals", **headers)
        assert (repeated.status, empty) == (304, b"")
    changed, page = send("GET", "/en/deals", **{"If-None-Match": '"other"'})
    assert (changed.status, page) == (200, body)


def test_head_has_no_body(send):
    """HEAD has the headers of GET, without the body."""
    response, body = send("HEAD", "/en/deals")
    assert (response.status, body) == (200, b"")
    assert int(response.headers["Content-Length"]) > 10_000


def test_redirector_counts_clicks(served, send):
    """Each request to the redirector is a click and redirects to its target.

    A line break in it adds no header.
    """
    clicks = served.clicks
    response, _ = send("GET", "/out?to=https%3A%2F%2Fpartner.example%2Fa%3Fb%3Dc&from=feed")
    assert response.status == 302
    assert response.headers["Location"] == "https://partner.example/a?b=c"
    response, _ = send("GET", "/out?to=%2Fen%2F%0D%0ASet-Cookie%3A%20a%3Db")
    assert "Set-Cookie" not in response.headers
    assert served.clicks == clicks + 2


def test_redesigned_shop_is_served():
    """The redesigned shop is served like the other one."""
    with serve(DemoShop.make(redesigned=True)) as running:
        connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=10)
        connection.request("GET", DemoShop.make().offers[0].path)
        assert b'class="figure"' in connection.getresponse().read()
        connection.close()


def test_module_serves_until_interrupted(tmp_path):
    """`python -m scout.demo` prints its URL, writes the feed, and ends with Ctrl-C."""
    command = [
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
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert address in (tmp_path / "feed.xml").read_text()
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 0
        assert running.stderr.read() == ""
