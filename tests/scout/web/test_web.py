"""The web pages and the JSON API: what they show, to whom, and what no stranger's text can do."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from starlette.testclient import TestClient

from catalog.models import Match, Run, RunState, Shop, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.app import make
from tests.scout.conftest import Rooms, Scout

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def client(settings: Settings, store: Store) -> TestClient:
    """A browser on this machine."""
    return TestClient(
        make(settings, store, ["127.0.0.1"]),
        base_url="http://127.0.0.1",
        raise_server_exceptions=False,
    )


@pytest.fixture
def found(scout: Scout, store: Store, known: Shop, rooms: Rooms) -> int:
    """A run of the shop, one of whose missing offers is hostile."""
    assert scout("run", "demo").code == 0
    with store.write() as session:
        offer = {"title": EVIL, "price": "5"}
        url = "javascript:alert(2)"
        session.add(
            Match(
                run_id=1,
                shop_id=known.id,
                url=url,
                urls=[url],
                verdict=Verdict.MISSING,
                offer=offer,
            )
        )
    return 1


def test_start(client: TestClient, found: int) -> None:
    """The first page lists the shops with the newest report."""
    page = client.get("/").text
    assert '<a href="/shops/demo">demo</a>' in page
    assert '<a href="/runs/1/report.html">' in page


def test_empty(client: TestClient) -> None:
    """Without a shop the first page says how to add one."""
    assert "scout shop add" in client.get("/").text


def test_strangers_text(client: TestClient, found: int) -> None:
    """A title is escaped, and only http(s) URLs become links."""
    page = client.get("/shops/demo").text
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r'href="javascript', page)


def test_api(client: TestClient, found: int) -> None:
    """The API gives shops, a shop's offers by verdict, and a run."""
    assert client.get("/api/shops").json()[0]["name"] == "demo"
    offers = client.get("/api/shops/demo/offers?verdict=missing").json()
    assert {row["verdict"] for row in offers} == {"missing"}
    assert len(client.get("/api/shops/demo/offers?verdict=all").json()) == 4
    assert len(client.get("/api/shops/demo/offers?verdict=all&limit=1&offset=3").json()) == 1
    assert client.get("/api/runs/1").json()["state"] == "done"


def test_before_the_first_run(client: TestClient, shop: Shop) -> None:
    """A shop never run has a page and no offers."""
    assert client.get("/shops/demo").status_code == 200
    assert client.get("/api/shops/demo/offers").json() == []


@pytest.mark.parametrize(
    "path",
    [
        "/shops/nobody",
        "/api/shops/nobody/offers",
        "/api/shops/demo/offers?verdict=wrong",
        "/api/shops/demo/offers?limit=-1",
        "/api/runs/99",
        "/api/runs/99999999999999999999999",
        "/shops/demo/inspect",
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
def test_not_there(client: TestClient, found: int, path: str) -> None:
    """What is not there is 404, whatever a path tries."""
    answer = client.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_reading_only(client: TestClient, found: int, method: str) -> None:
    """Nothing can be changed."""
    for path in ("/", "/shops/demo", "/api/shops", "/api/runs/1", "/runs/1/report.html"):
        assert client.request(method, path).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/shops/demo", "/api/shops", "/static/scout.css", "/nowhere", "/runs/1/report.html"],
)
def test_headers(client: TestClient, found: int, path: str) -> None:
    """Every answer, also an error's, forbids foreign scripts, frames and sniffing."""
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_report_is_confined(client: TestClient, found: int) -> None:
    """The report is shown as written, in a sandbox without Scout's origin."""
    answer = client.get("/runs/1/report.html")
    assert "A report" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"]
)
def test_rebinding(client: TestClient, host: str) -> None:
    """A request under another host's name is refused."""
    assert client.get("/api/shops", headers={"host": host}).status_code == 400


def test_store_away(client: TestClient, store: Store, shop: Shop) -> None:
    """A store that cannot be read is 503 with a line, not a traceback."""
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE shop RENAME TO gone")
    answer = client.get("/api/shops")
    assert (answer.status_code, "error" in answer.json()) == (503, True)


def test_unfinished(client: TestClient, store: Store, shop: Shop) -> None:
    """A run that failed shows its reason."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id, state=RunState.FAILED, reason=EVIL))
    assert "&lt;script&gt;" in client.get("/").text


def test_serve(settings: Settings, store: Store, shop: Shop) -> None:
    """`scout serve` answers until it is told to end, and leads the timetable meanwhile."""
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
        assert "api/shops" not in (process.stderr.readline() if process.stderr else "")
        assert b"demo" in _fetched(f"http://127.0.0.1:{port}/api/shops")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()


def _fetched(url: str) -> bytes:
    until = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read()
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
