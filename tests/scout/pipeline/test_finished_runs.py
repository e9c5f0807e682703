"""Finished, failed and moved runs: reasons that stay, reports that are found, figures that are flagged."""

import json
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from lxml import html
from sqlmodel import select

from catalog.errors import BlockedShop
from catalog.models import (
    KnownOffer,
    Match,
    Page,
    PageState,
    Run,
    RunCounts,
    RunState,
    Shop,
    Stage,
    StoredFinding,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.write.report_files import report_shop
from scout.pipeline import run_records
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import FakeStages, Scout, web_client

REASON = "the shop gave no page to read, only: captcha. Nothing can be compared"


def client_of(settings: Settings, store: Store) -> TestClient:
    """Return a client of the web application."""
    return web_client(settings, store)


@pytest.fixture
def finished(store: Store, shop: Shop, scout: Scout) -> int:
    """Fill a finished run and write its report; returns its id."""
    fill = StoreBuilder(store, shop)
    run = fill.run()
    fill.listed(run, "a", price=5)
    fill.finding(run, "b", price=7)
    fill.page("a")
    fill.page("b")
    fill.save()
    assert scout("report", "demo").code == 0
    return run


@pytest.fixture
def failed(store: Store, shop: Shop, finished: int) -> int:
    """Fail a run after the finished one, with pages left; returns its id."""
    with store.write() as session:
        for page in session.exec(select(Page)):
            page.state = PageState.PENDING
        run = Run(shop_id=shop.id, state=RunState.RUNNING)
        session.add(run)
    run_id = run_records.run_key(run)

    def fail(_run_id: int) -> None:
        raise BlockedShop(REASON)

    with pytest.raises(BlockedShop):
        run_records.record_stage(store, run_id, Stage.CRAWL, fail)
    return run_id


def test_reason_of_a_failed_run(
    settings: Settings, store: Store, shop: Shop, scout: Scout, failed: int
) -> None:
    """The report of a failed run says why it failed and what was left, and later stages keep the reason."""
    path = report_shop(settings, store, shop, failed, formats=["html"])["html"]
    text = " ".join(html.fromstring(path.read_text("utf-8")).text_content().split())
    assert REASON in text
    assert "2 discovered pages were not visited before the crawl ended." in text
    assert "none failed" not in text
    for command in (
        ("match", "demo"),
        ("report", "demo", "--run", str(failed)),
        ("report", "demo"),
    ):
        assert scout(*command).code == 0
        with store.read() as session:
            run = session.get_one(Run, failed)
        assert (run.state, run.reason) == (RunState.FAILED, REASON)
    assert REASON in scout("shop", "list").out


def test_what_a_failed_run_left_stays_known(
    settings: Settings, store: Store, shop: Shop, failed: int
) -> None:
    """The pages that a failed run left are those of that run, also after the next crawl has begun."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id, state=RunState.RUNNING))
        for page in session.exec(select(Page)):
            page.state = PageState.FETCHED
    path = report_shop(settings, store, shop, failed, formats=["json"])["json"]
    coverage = json.loads(path.read_text("utf-8"))["coverage"]
    assert (coverage["waiting"], coverage["complete"]) == (2, False)


def test_figures_after_a_failed_run(
    settings: Settings, store: Store, scout: Scout, finished: int, failed: int
) -> None:
    """Lists, pages and metrics show the last finished run, and say that a newer one failed."""
    result = scout("offers", "demo")
    assert "1 offer (missing)" in result.out
    assert f"run {failed} failed" in result.err
    shown = json.loads(scout("shop", "show", "demo", "--json").out)
    assert (shown["state"], shown["missing"], shown["finished_run"]) == ("failed", 1, finished)
    page = client_of(settings, store).get("/shops/demo").text
    assert f"The last run failed: {REASON}" in html.fromstring(page).text_content()


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.FAILED])
def test_no_finished_run(store: Store, shop: Shop, scout: Scout, state: RunState) -> None:
    """Without a finished run there is no figure, rather than a figure of 0."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id, state=state, reason="so it is"))
    result = scout("offers", "demo")
    assert (result.code, "no run of shop 'demo' has finished" in result.error) == (2, True)
    assert json.loads(scout("shop", "show", "demo", "--json").out)["missing"] is None


def test_moved_data_folder(settings: Settings, store: Store, finished: int, tmp_path: Path) -> None:
    """Reports are found and linked after the data folder was moved."""
    store.engine.dispose()
    moved = tmp_path / "elsewhere"
    shutil.move(settings.data_dir, moved)
    new_settings = Settings.load(data_dir=moved)
    new_store = Store.open(new_settings)
    client = client_of(new_settings, new_store)
    assert f"/runs/{finished}/report.html" in client.get("/").text
    for kind in ("html", "csv", "xlsx", "json"):
        assert client.get(f"/runs/{finished}/report.{kind}").status_code == 200
    reports = client.get(f"/api/runs/{finished}").json()["reports"]
    assert all(Path(path).is_file() for path in reports.values())
    with new_store.read() as session:
        stored = session.get_one(Run, finished).figures["report"]
    assert stored["html"] == f"reports/1-demo/{finished}/report.html"


def test_report_elsewhere(
    settings: Settings, store: Store, finished: int, scout: Scout, tmp_path: Path
) -> None:
    """A report that was written outside the data folder is named to its writer and linked nowhere."""
    with store.write() as session:
        run = session.get_one(Run, finished)
        run.figures = {**run.figures, "report": {}}
    out = tmp_path / "out"
    printed = json.loads(scout("report", "demo", "--out", str(out), "--json").out)
    assert Path(printed["html"]) == out / "report.html"
    assert "report.html" not in client_of(settings, store).get("/").text
    inside = settings.data_dir / "mine"
    assert scout("report", "demo", "--out", str(inside), "--format", "html").code == 0
    assert client_of(settings, store).get(f"/runs/{finished}/report.html").status_code == 200


def test_shop_without_an_import(
    settings: Settings, store: Store, shop: Shop, scout: Scout, finished: int
) -> None:
    """Where nothing was imported, lists, pages and reports say that every offer counts as missing."""
    with store.write() as session:
        for offer in session.exec(select(KnownOffer)):
            session.delete(offer)
    assert scout("report", "demo").code == 0
    assert "no offers of this shop were imported" in scout("offers", "demo").out
    shown = json.loads(scout("shop", "show", "demo", "--json").out)
    assert shown["without_import"] is True
    assert "no offers imported" in scout("shop", "list").out
    client = client_of(settings, store)
    assert "nothing imported" in client.get("/").text
    for path in ("/shops/demo", f"/runs/{finished}/report.html"):
        assert "every offer counts as missing" in client.get(path).text


def test_a_run_ends_with_stored_findings(
    store: Store, known_shop: Shop, scout: Scout, fake_stages: FakeStages
) -> None:
    """A run stores its findings once, and matching or reporting again replaces them."""
    assert scout("run", "demo").code == 0
    for command in (("match", "demo"), ("report", "demo"), ("offers", "demo")):
        assert scout(*command).code == 0
    with store.read() as session:
        matches = {match.url: match.id for match in session.exec(select(Match))}
        findings = {row.url: row.match_id for row in session.exec(select(StoredFinding))}
        assert findings == matches
        assert session.exec(select(RunCounts)).one().missing == 1
