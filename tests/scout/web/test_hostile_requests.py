"""No path, query, id, body or header makes the application fail: it answers below 500."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import ASGITransport, AsyncClient

from catalog.models import Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline.run_pool import RunResult
from scout.web.api.cursors import encode_cursor
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import web_client
from tests.scout.web.browser import PASSWORD, Browser, form_token, signed_in
from tests.scout.web.test_guard import ROUTES

DIGITS = "9" * 5000
# Values for parts of paths and for parameters of queries: as they are sent.
VALUES = (
    DIGITS,
    "-1",
    "0",
    "1e400",
    "9223372036854775808",
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%FF%FE",
    "%F0%9F%98%80",
    "..%2F..%2Fetc%2Fpasswd",
    "%27%22%3E%3Cscript%3E",
    "%25",
    "%5C",
    "x" * 3000,
    "NaN",
    "%0d%0aset-cookie:%20a=b",
)
PARAMETERS = (
    "verdict sort limit offset page price category brand cause change since run cursor search state "
    "version url next before actor shop q"
).split()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client that may do everything, for all tests of this module; no job is really started."""
    settings = Settings.load(data_dir=tmp_path_factory.mktemp("hostile"))
    store = Store.open(settings)
    with store.write() as session:
        session.add(Shop(name="demo", url="http://127.0.0.1:8000/", allow_private=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scout.pipeline.run_pool.RunPool.run", lambda *_: RunResult(1, "not run"))
        # Within its block a client answers all requests in one event loop.
        with web_client(settings, store, Role.ADMIN) as client:
            yield client


def _statuses(client: TestClient, requests: Sequence[dict[str, Any]]) -> list[int]:
    """Send requests one after another, and return the statuses of their answers.

    They are sent within the loop of the application: `TestClient` changes the thread ten times for
    each. An error that the application does not catch is an answer of status 500.
    """

    async def send() -> list[int]:
        transport = ASGITransport(client.app, raise_app_exceptions=False)
        async with AsyncClient(
            transport=transport, base_url=client.base_url, headers=client.headers
        ) as sender:
            return [(await sender.request(**request)).status_code for request in requests]

    assert client.portal is not None
    return client.portal.call(send)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_paths_and_queries(client: TestClient, value: str) -> None:
    """Every route answers each hostile part of its path, and each parameter of its query."""
    # Clients send URLs of up to 64 KB.
    names = PARAMETERS if len(value) < 1000 else PARAMETERS[:2]
    query = "&".join(f"{name}={value}" for name in names)
    addresses: list[str] = []
    refused: set[str] = set()
    for method, path, _ in ROUTES:
        if method != "GET":
            continue
        parts = path.split("/")
        hostile = "/".join(value if part.startswith("{") else part for part in parts)
        hostile = hostile.replace("{kind}", value)
        known = path.replace("{name}", "demo").replace("{shop}", "demo").replace("{run_id}", "1")
        known = known.replace("{kind}", "html")
        addresses += [hostile, f"{known}?{query}"]
        if "{" in path:
            refused.add(hostile)
    statuses = _statuses(client, [{"method": "GET", "url": address} for address in addresses])
    for address, status in zip(addresses, statuses, strict=True):
        assert status < 500, address[:200]
        assert address not in refused or status in (303, 400, 404, 422), address[:200]


@pytest.mark.both_databases
def test_numbers_and_times_beyond_those_of_a_column(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """Nothing has them, on either database, whose integers may be of four bytes."""
    fill = StoreBuilder(store, shop)
    fill.finding(fill.run(), "a")
    fill.save()
    client = web_client(settings, store, Role.ADMIN)
    large = 10**17
    late = "9999-12-31T23:59:59-14:00"
    findings = "/api/v1/shops/demo/findings"
    paths = [
        *(f"{path}/{large}" for path in ("/runs", "/api/v1/runs", "/snapshots")),
        *(f"{path}?before={large}" for path in ("/runs", "/imports", "/audit")),
        *(f"/api/v1/{path}?cursor={encode_cursor(large)}" for path in ("runs", "audit")),
        *(f"{findings}?{name}={large}" for name in ("run", "since")),
        f"{findings}?cursor={encode_cursor('value', 1, large)}",
        f"{findings}?since={late}",
        f"{findings}?sort=first-seen&cursor={encode_cursor('first-seen', late, 1)}",
        f"/?cursor={encode_cursor('name', 'x', large)}",
    ]
    requests = [{"method": "GET", "url": path} for path in paths]
    requests.append({"method": "POST", "url": f"/notices/{large}/dismiss"})
    requests.append({"method": "POST", "url": f"/shops/demo/findings/undo?step={large}"})
    for request in requests:
        assert client.request(**request).status_code < 500, request


@pytest.mark.parametrize("name", PARAMETERS)
def test_one_parameter(client: TestClient, name: str) -> None:
    """A single hostile parameter is refused or ignored."""
    # Parameters are checked in turn: among all of them, the first bad one hides the others.
    addresses = [
        f"{path}?{name}={value}"
        for path in ("/shops/demo", "/api/v1/shops/demo/findings")
        for value in VALUES[:8]
    ]
    statuses = _statuses(client, [{"method": "GET", "url": address} for address in addresses])
    for address, status in zip(addresses, statuses, strict=True):
        assert status < 500, address[:80]


FORM = "application/x-www-form-urlencoded"
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"name": "\\ud800", "url": "\\u0000"}',
    b'{"urls": ["\\ud800"], "decision": "ignore"}',
    b'{"urls": ["http://[::1"], "decision": "ignore"}',
    b'{"filter": {"brand": "\\u0000"}, "decision": "ignore"}',
    b'{"filter": {"since": "%s"}, "decision": "ignore"}' % DIGITS.encode(),
    b'{"cron": "%s * * * *"}' % DIGITS[:400].encode(),
    b'{"cron": "\\u0000"}',
    b'{"steps": %s}' % DIGITS.encode(),
    b'{"max_pages": %s, "delay": 1e999}' % DIGITS.encode(),
    b'{"max_minutes": NaN}',
    b'{"max_bytes": "%sgb"}' % DIGITS[:400].encode(),
)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_bodies(client: TestClient, body: bytes) -> None:
    """Every route that takes a body refuses or understands each of these."""
    requests = []
    for method, path, role in ROUTES:
        if method in ("GET", "HEAD") or role is None or path.endswith(("/runs", "/logout")):
            continue
        address = path.replace("{name}", "demo").replace("{shop}", "demo").replace("{run_id}", "1")
        # The shop stays for the other routes.
        address = address if method != "DELETE" else address.replace("demo", "nobody")
        # Pages take forms, the API takes JSON.
        for kind in ("application/json" if path.startswith("/api") else FORM, "text/plain"):
            headers = {"content-type": kind}
            requests.append({"method": method, "url": address, "content": body, "headers": headers})
    for request, status in zip(requests, _statuses(client, requests), strict=True):
        assert status < 500, request


def test_large_bodies(client: TestClient) -> None:
    """A body of more than a megabyte is refused, whatever its header says."""
    body = json.dumps({"name": "x" * 2_000_000}).encode()
    assert client.post("/api/v1/shops", content=body).status_code == 413
    pieces = (body[start : start + 100_000] for start in range(0, len(body), 100_000))
    headers = {"content-type": "application/json"}
    assert client.post("/api/v1/shops", content=pieces, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer " + DIGITS},
        {"authorization": "Bearer \xff"},
        {"authorization": "Basic YTpi"},
        {"authorization": "bearer"},
        {"authorization": "", "cookie": "scout_session=" + DIGITS},
        {"authorization": "", "cookie": "scout_session=\xff; scout_guest=\xff"},
        {"authorization": "", "cookie": "=;;=\x01"},
        {"accept-language": "\xff," * 500},
        {"content-type": "multipart/form-data; boundary=" + "x" * 500},
        {"content-type": "multipart/form-data"},
        {"hx-request": "true", "x-csrf-token": "\xff"},
    ],
    ids=range(11),
)
def test_headers(client: TestClient, headers: dict[str, str]) -> None:
    """No header makes a request fail."""
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    for method, path in (
        ("GET", "/"),
        ("POST", "/login"),
        ("POST", "/api/v1/shops"),
        ("GET", "/x"),
    ):
        response = client.request(method, path, headers=raw, content=b"x", follow_redirects=False)  # type: ignore[arg-type]
        assert response.status_code < 500, (method, path)


@pytest.mark.parametrize("name", ["a\x00b", "", "x" * 4001, "é" * 100, "' OR 1=1 --"])
def test_login_names(client: TestClient, name: str) -> None:
    """No name makes the login fail otherwise than a wrong password does."""
    browser = Browser(client.app)  # type: ignore[arg-type]
    token = form_token(browser.get("/login").text)
    fields = {"csrf_token": token, "name": name, "password": PASSWORD}
    assert browser.post("/login", data=fields).status_code in (401, 422)


def test_redirects_stay_here(client: TestClient) -> None:
    """The login and the language lead back to pages of this application only."""
    browser = signed_in(client.app, Role.VIEWER)  # type: ignore[arg-type]
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "x"):
        response = browser.get("/login", params={"next": target})
        assert response.headers["location"] == "/"
        response = browser.submit("/language", language="de", next=target)
        assert response.headers["location"] == "/"
    assert browser.get("/login?next=/audit").headers["location"] == "/audit"
