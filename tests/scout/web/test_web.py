"""Web pages and JSON API: their content, the hosts they answer to, and their safety with untrusted texts."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from fastapi.testclient import TestClient

from catalog.models import Match, Run, RunState, Shop, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from tests.scout.conftest import FakeStages, Scout, web_client

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def client(settings: Settings, store: Store) -> TestClient:
    """Return a client on this machine that may read everything."""
    return web_client(settings, store)


@pytest.fixture
def run_id(scout: Scout, store: Store, known_shop: Shop, fake_stages: FakeStages) -> int:
    """Run the shop, and add a missing offer with hostile texts; returns the run's id."""
    assert scout("run", "demo").code == 0
    with store.write() as session:
        offer = {"title": EVIL, "price": "5"}
        url = "javascript:alert(2)"
        session.add(
            Match(
                run_id=1,
                shop_id=known_shop.id,
                url=url,
                urls=[url],
                verdict=Verdict.MISSING,
                offer=offer,
            )
        )
    return 1


def test_start_page(client: TestClient, run_id: int) -> None:
    """The start page lists the shops with their newest reports."""
    page = client.get("/").text
    assert '<a href="/shops/demo">demo</a>' in page
    assert 'href="/runs/1/report.html"' in page


def test_start_page_without_shops(client: TestClient) -> None:
    """Without a shop the start page says how to add one."""
    assert "scout shop add" in client.get("/").text


def test_untrusted_text(client: TestClient, run_id: int) -> None:
    """A title is escaped, and only http(s) URLs become links."""
    page = client.get("/shops/demo/findings").text
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r'href="javascript', page)


def test_api(client: TestClient, run_id: int) -> None:
    """The API returns shops, a shop's offers by verdict, and a run."""
    assert client.get("/api/shops").json()[0]["name"] == "demo"
    offers = client.get("/api/shops/demo/offers?verdict=missing").json()
    assert {row["verdict"] for row in offers} == {"missing"}
    assert len(client.get("/api/shops/demo/offers?verdict=all").json()) == 4
    assert len(client.get("/api/shops/demo/offers?verdict=all&limit=1&offset=3").json()) == 1
    assert client.get("/api/runs/1").json()["state"] == "done"


def test_before_the_first_run(client: TestClient, shop: Shop) -> None:
    """A shop without a run has a page and no offers."""
    assert client.get("/shops/demo").status_code == 200
    assert client.get("/api/shops/demo/offers").json() == []


@pytest.mark.parametrize(
    "path",
    [
        "/shops/nobody",
        "/api/shops/nobody/offers",
        "/api/runs/99",
        "/api/runs/99999999999999999999999",
        "/shops/demo/inspect?url=/etc/passwd",
        "/shops/demo/inspect?url=http://127.0.0.1:8000/p/never",
        "/shops/demo/inspect?url=http://127.0.0.1:8000/p/0",
        "/runs/1/report.pdf",
        "/runs/1/report.csv",
        "/runs/1/report.%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fcli.py",
        "/etc/passwd",
    ],
)
def test_not_found(client: TestClient, run_id: int, path: str) -> None:
    """Unknown shops, pages, runs and reports are 404, and no path leads to a file."""
    response = client.get(path)
    assert response.status_code == 404
    assert "from catalog" not in response.text


@pytest.mark.parametrize("query", ["verdict=wrong", "limit=-1", "price=x", "sort=x", "since=x"])
def test_bad_query(client: TestClient, run_id: int, query: str) -> None:
    """A query that cannot be read is 400."""
    assert client.get(f"/api/shops/demo/offers?{query}").status_code == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_read_only(client: TestClient, run_id: int, method: str) -> None:
    """Methods other than GET are refused."""
    for path in ("/", "/shops/demo", "/api/shops", "/api/runs/1", "/runs/1/report.html"):
        assert client.request(method, path).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/shops/demo", "/api/shops", "/static/scout.css", "/nowhere", "/runs/1/report.html"],
)
def test_headers(client: TestClient, run_id: int, path: str) -> None:
    """Every response, errors included, forbids foreign scripts, frames and sniffing."""
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_report_is_sandboxed(client: TestClient, run_id: int) -> None:
    """The report is sent as written, with a sandbox that denies it the application's origin."""
    response = client.get("/runs/1/report.html")
    assert "A report" in response.text
    assert response.headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in response.headers["content-security-policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"]
)
def test_dns_rebinding(client: TestClient, host: str) -> None:
    """A request with a foreign Host header is refused."""
    assert client.get("/api/shops", headers={"host": host}).status_code == 400


def test_unreadable_store(client: TestClient, store: Store, shop: Shop) -> None:
    """A store that cannot be read is 503 with one line, not a traceback."""
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE shop RENAME TO gone")
    response = client.get("/api/shops")
    assert (response.status_code, "detail" in response.json()) == (503, True)


def test_failed_run(client: TestClient, store: Store, shop: Shop) -> None:
    """A run that failed shows its reason."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id, state=RunState.FAILED, reason=EVIL))
    assert "&lt;script&gt;" in client.get("/").text


def test_serve(settings: Settings, store: Store, shop: Shop) -> None:
    """`scout serve` makes an admin at its first start, answers until SIGTERM, exits with 0."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "scout",
        "--data-dir",
        str(settings.data_dir),
        "serve",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        assert "first start: sign in as 'admin' with the password" in process.stderr.readline()
        assert _fetch(f"http://127.0.0.1:{port}/readyz") == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()


def _fetch(url: str) -> bytes:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return response.read()
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
