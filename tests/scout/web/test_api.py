"""The API: its answers have the figures of the command line, in pages, with the right statuses."""

import json

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from catalog.models import CatalogImport, KnownOffer, Role, Shop, StoredRules
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.rules.model import RuleSet
from scout.job_queue.job_kinds import JobKind
from scout.pipeline.background_jobs import BackgroundJobs, JobState
from scout.pipeline.run_pool import RunResult
from tests.scout.conftest import FakeStages, Scout, web_client

API = "/api/v1"


@pytest.fixture
def finished(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> Shop:
    """A shop with a finished run: one offer listed, one missing, one unsure."""
    assert scout("run", known_shop.name).code == 0
    return known_shop


@pytest.fixture
def viewer(settings: Settings, store: Store) -> TestClient:
    """A client that may read."""
    return web_client(settings, store)


@pytest.fixture
def reviewer(settings: Settings, store: Store) -> TestClient:
    """A client that may decide."""
    return web_client(settings, store, Role.REVIEWER)


@pytest.fixture
def editor(settings: Settings, store: Store) -> TestClient:
    """A client that may change shops and start runs."""
    return web_client(settings, store, Role.EDITOR)


@pytest.fixture
def admin(settings: Settings, store: Store) -> TestClient:
    """A client that may do everything."""
    return web_client(settings, store, Role.ADMIN)


def test_shops(viewer: TestClient, finished: Shop, store: Store) -> None:
    """Shops come in pages, in the asked order, with the figures of the last finished run."""
    with store.write() as session:
        for number in range(5):
            session.add(Shop(name=f"empty {number}", url=f"https://e{number}.example/"))
    first = viewer.get(f"{API}/shops?limit=4").json()
    assert [row["name"] for row in first["items"]] == ["demo", "empty 0", "empty 1", "empty 2"]
    assert (first["total"], first["items"][0]["missing"]) == (6, 1)
    second = viewer.get(f"{API}/shops?limit=4&cursor={first['next']}").json()
    assert [row["name"] for row in second["items"]] == ["empty 3", "empty 4"]
    assert second["next"] is None
    for query, total in (("search=EMPTY", 5), ("state=done", 1), ("state=never run", 5)):
        assert viewer.get(f"{API}/shops?{query}").json()["total"] == total
    assert viewer.get(f"{API}/shops?state=odd").status_code == 400


@pytest.mark.both_databases
@pytest.mark.parametrize("sort", ["name", "missing", "last-run"])
def test_shops_in_small_pages(viewer: TestClient, finished: Shop, store: Store, sort: str) -> None:
    """Page after page, every shop comes once, in every order."""
    with store.write() as session:
        for number in range(4):
            session.add(Shop(name=f"empty {number}", url=f"https://e{number}.example/"))
    names, cursor = [], ""
    while cursor is not None:
        page = viewer.get(f"{API}/shops?sort={sort}&limit=2&cursor={cursor}").json()
        names += [row["name"] for row in page["items"]]
        cursor = page["next"]
    assert names[0] == "demo"
    assert len(names) == len(set(names)) == 5


def test_a_shop_is_added_changed_removed(admin: TestClient, store: Store) -> None:
    """A shop is added with its limits, changed, scheduled, and removed; each is in the audit log."""
    new = {
        "name": "new shop",
        "url": "https://new.example",
        "max_pages": 50,
        "window": "22:00-6:00",
    }
    added = admin.post(f"{API}/shops", json=new)
    assert (added.status_code, added.headers["location"]) == (201, f"{API}/shops/new%20shop")
    assert added.json()["window"] == "22:00-06:00"
    assert admin.post(f"{API}/shops", json=new).status_code == 409
    place = added.headers["location"]
    assert admin.patch(place, json={"delay": 2}).json()["delay"] == 2
    assert admin.patch(place, json={}).status_code == 400
    scheduled = admin.put(f"{place}/schedule", json={"cron": "30 3 * * *"})
    assert len(scheduled.json()["next"]) == 5
    assert admin.get(f"{API}/schedules").json()["total"] == 1
    assert admin.get(place).json()["schedule"] == "30 3 * * *"
    assert admin.delete(f"{place}/schedule").status_code == 204
    assert admin.delete(f"{place}/schedule").status_code == 404
    assert admin.delete(place).status_code == 204
    assert admin.get(place).status_code == 404
    actions = [entry["action"] for entry in admin.get(f"{API}/audit").json()["items"]]
    assert actions == ["shop removed", "unscheduled", "scheduled", "shop changed", "shop added"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"url": "ftp://new.example"}, 422),
        ({"url": "http://10.0.0.1/"}, 422),
        ({"name": "a/b"}, 422),
        ({"name": "a\x00b"}, 422),
        ({"name": "\ud800"}, 422),
        ({"max_pages": 0}, 422),
        ({"max_pages": 10**30}, 422),
        ({"unknown": 1}, 422),
        ({"allow_private": True}, 403),
    ],
)
def test_bad_shops(editor: TestClient, changes: dict[str, object], status: int) -> None:
    """A shop that cannot be crawled is refused; private addresses are for admins to allow."""
    body = json.dumps({"name": "new", "url": "https://new.example"} | changes)
    headers = {"content-type": "application/json"}
    response = editor.post(f"{API}/shops", content=body, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status


@pytest.mark.both_databases
def test_findings(viewer: TestClient, finished: Shop) -> None:
    """Findings come filtered and in pages, with the rows of `scout offers --json`."""
    place = f"{API}/shops/{finished.name}/findings"
    missing = viewer.get(place).json()
    assert (missing["total"], missing["next"], missing["run"]) == (1, None, 1)
    assert missing["items"] == viewer.get("/api/shops/demo/offers").json()
    everything = viewer.get(f"{place}?verdict=all").json()
    assert everything["total"] == 3
    for query in ("verdict=odd", "sort=odd", "price=odd", "since=odd", "cursor=odd"):
        assert viewer.get(f"{place}?{query}").status_code == 400, query
    assert viewer.get(f"{place}?run=99").status_code == 404
    facets = viewer.get(f"{API}/shops/{finished.name}/facets").json()
    assert {row["value"]: row["count"] for row in facets["verdict"]} == {
        "listed": 1,
        "missing": 1,
        "unsure": 1,
    }
    causes = viewer.get(f"{API}/shops/{finished.name}/causes").json()
    assert sum(cause["missing"] for cause in causes["items"]) == 1


@pytest.mark.parametrize(
    "sort", ["value", "-value", "price", "-price", "brand", "cause", "score", "since", "-title"]
)
def test_findings_in_small_pages(viewer: TestClient, finished: Shop, sort: str) -> None:
    """Page after page, every finding comes once, in the order of one large page."""
    place = f"{API}/shops/{finished.name}/findings?verdict=all&sort={sort}"
    whole = [row["url"] for row in viewer.get(place).json()["items"]]
    urls, cursor = [], ""
    while cursor is not None:
        page = viewer.get(f"{place}&limit=1&cursor={cursor}").json()
        urls += [row["url"] for row in page["items"]]
        cursor = page["next"]
    assert urls == whole
    assert len(set(urls)) == 3


@pytest.mark.both_databases
def test_decisions(reviewer: TestClient, finished: Shop) -> None:
    """Decisions are recorded for URLs or a filter under the account's name, and undone."""
    place = f"{API}/shops/{finished.name}"
    url = reviewer.get(f"{place}/findings").json()["items"][0]["url"]
    decision = {"decision": "reject", "urls": [url], "note": "listed as a set"}
    assert reviewer.post(f"{place}/decisions", json=decision).json()["offers"] == 1
    assert reviewer.get(f"{place}/findings").json()["total"] == 0
    row = reviewer.get(f"{place}/decisions").json()["items"][0]
    assert (row["decision"], row["note"], row["reviewer"]) == (
        "reject",
        "listed as a set",
        "test-reviewer-0",
    )
    undone = reviewer.post(f"{place}/decisions/undo", json={}).json()
    assert undone["items"][0]["offers"] == 1
    assert reviewer.get(f"{place}/findings").json()["total"] == 1
    everything = {"decision": "ignore", "filter": {"verdict": "missing", "price": "1-1000"}}
    assert reviewer.post(f"{place}/decisions", json=everything).status_code == 201
    assert reviewer.get(f"{place}/findings?verdict=ignored").json()["total"] == 1
    undo = {"urls": [url]}
    assert reviewer.post(f"{place}/decisions/undo", json=undo).status_code == 200
    assert reviewer.post(f"{place}/decisions/undo", json=undo).status_code == 400
    for bad in (
        {},
        {"urls": [url], "filter": {}},
        {"urls": ["no url"]},
        {"filter": {"cause": "x"}},
    ):
        response = reviewer.post(f"{place}/decisions", json={"decision": "ignore", **bad})
        assert response.status_code == 400, bad


@pytest.mark.both_databases
def test_runs(viewer: TestClient, finished: Shop) -> None:
    """Runs are listed with their figures; the report can be loaded."""
    runs = viewer.get(f"{API}/shops/{finished.name}/runs").json()
    assert (runs["total"], runs["items"][0]["missing"]) == (1, 1)
    assert viewer.get(f"{API}/runs?state=failed").json()["items"] == []
    assert viewer.get(f"{API}/runs/1").json()["offers"] == {"listed": 1, "missing": 1, "unsure": 1}
    assert viewer.get(f"{API}/runs/1/report.html").headers["content-type"].startswith("text/html")
    assert viewer.get(f"{API}/runs/1/report.pdf").status_code == 404


def test_known_offers_and_imports(viewer: TestClient, known_shop: Shop, store: Store) -> None:
    """Known offers and imports come in pages."""
    with store.write() as session:
        for number in range(2, 5):
            session.add(KnownOffer(shop_id=known_shop.id or 0, ref=str(number)))
        session.add(
            CatalogImport(shop_id=known_shop.id or 0, generation=1, source="f.csv", format="csv")
        )
    place = f"{API}/shops/{known_shop.name}"
    first = viewer.get(f"{place}/known-offers?limit=3").json()
    second = viewer.get(f"{place}/known-offers?limit=3&cursor={first['next']}").json()
    assert [row["ref"] for row in first["items"] + second["items"]] == ["1", "2", "3", "4"]
    assert viewer.get(f"{place}/imports").json()["items"][0]["source"] == "f.csv"


def test_a_run_is_started(editor: TestClient, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is started in the background, once at a time; its end can be asked for."""
    calls: list[tuple[str, ...]] = []

    def run(
        self: object, shop_id: int, name: str, command: list[str], arguments: list[str]
    ) -> RunResult:
        calls.append((name, *command))
        return RunResult(1, "error: the shop does not answer")

    monkeypatch.setattr("scout.pipeline.run_pool.RunPool.run", run)
    place = f"{API}/shops/{shop.name}"
    assert editor.get(f"{place}/job").status_code == 404
    started = editor.post(f"{place}/runs", json={"fresh": True})
    assert (started.status_code, started.headers["location"]) == (202, f"{place}/job")
    app = editor.app
    assert isinstance(app, FastAPI)
    app.state.jobs.stop()
    assert calls == [("demo", "run", "--fresh")]
    job = editor.get(f"{place}/job").json()
    assert (job["state"], job["error"]) == ("failed", "the shop does not answer")
    assert editor.post(f"{place}/stop").status_code == 409


def test_a_shop_has_one_job(
    settings: Settings, store: Store, editor: TestClient, shop: Shop
) -> None:
    """While a job of the shop waits or works, another one is refused."""
    app = editor.app
    assert isinstance(app, FastAPI)
    jobs: BackgroundJobs = app.state.jobs
    jobs._states[shop.id or 0] = JobState(JobKind.RUN)
    assert editor.post(f"{API}/shops/demo/runs", json={}).status_code == 409
    assert editor.get(f"{API}/shops/demo").json()["job"] == "run"
    assert editor.post(f"{API}/shops/demo/stop").status_code == 204
    assert editor.get(f"{API}/shops/demo/job").json()["error"] == "ended before it began"


def test_rules_are_learnt_when_absent(
    viewer: TestClient,
    editor: TestClient,
    store: Store,
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An editor's request starts to learn absent rules; later requests get them, or the reason."""
    place = f"{API}/shops/{shop.name}/rules"
    results = [RunResult(1, "error: no page was crawled"), RunResult(0)]

    def learn(
        self: object, shop_id: int, name: str, command: list[str], arguments: list[str]
    ) -> RunResult:
        assert command == ["learn"]
        result = results.pop(0)
        if result.exit_code == 0:
            rules = RuleSet(version=1, templates=()).to_json()
            with store.write() as session:
                session.add(StoredRules(shop_id=shop_id, version=1, rules=rules))
        return result

    monkeypatch.setattr("scout.pipeline.run_pool.RunPool.run", learn)
    assert viewer.get(place).status_code == 404
    app = editor.app
    assert isinstance(app, FastAPI)
    for _ in range(2):
        asked = editor.get(place)
        assert (asked.status_code, asked.headers["retry-after"]) == (202, "5")
        while app.state.jobs.state(shop).is_open:
            pass
        if results:
            failed = editor.get(place)
            assert failed.status_code == 409
            assert "no page was crawled" in failed.json()["detail"]
    assert editor.get(place).json()["version"] == 1
    assert viewer.get(f"{place}?version=9").status_code == 404
