"""Runs and schedules in the control room: progress, start and stop, comparison, plans in words."""

import os
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlmodel import select

from catalog.models import Page, PageState, Role, Run, RunState, Schedule, Shop, Stage, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline.background_jobs import JobKind
from scout.pipeline.run_pool import run_log_path
from scout.schedule.timetable import Timetable
from scout.web.app import create_app
from tests.scout.conftest import FakeStages, Scout
from tests.scout.web.browser import signed_in


@pytest.fixture
def app(settings: Settings, store: Store, shop: Shop) -> FastAPI:
    """Return the application on a shop without runs."""
    return create_app(settings, store, ["127.0.0.1"])


@pytest.fixture
def started(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Record the jobs that are started in place of starting them."""
    jobs: list[tuple[Any, ...]] = []

    def start(shop: Shop, kind: JobKind, *arguments: Any, **options: Any) -> None:
        jobs.append((shop.name, str(kind), *arguments, options))

    monkeypatch.setattr(app.state.jobs, "start", start)
    return jobs


def add_run(store: Store, shop: Shop, state: RunState = RunState.RUNNING) -> int:
    """Store a run in its crawl, with a page that failed; returns its id."""
    with store.write() as session:
        run = Run(shop_id=shop.id or 0, state=state, stage=Stage.CRAWL)
        session.add(run)
        session.add(
            Page(
                shop_id=shop.id or 0,
                url=f"{shop.url}x",
                state=PageState.FAILED,
                reason="http 503",
            )
        )
        session.flush()
        assert run.id is not None
        return run.id


def test_a_run_under_way(app: FastAPI, store: Store, shop: Shop) -> None:
    """The page of a run has its stages, and its pages by state and by reason as they are now."""
    run_id = add_run(store, shop)
    page = signed_in(app, Role.EDITOR).get(f"/runs/{run_id}").text
    assert "http 503" in page
    assert "Resume the run" in page
    assert signed_in(app, Role.VIEWER).get("/runs/99").status_code == 404


@pytest.mark.parametrize(
    ("state", "shown"),
    [(RunState.RUNNING, "running"), (RunState.FAILED, "failed"), (RunState.ABANDONED, "due")],
)
def test_the_stage_of_a_run_that_did_not_end(
    app: FastAPI, store: Store, shop: Shop, state: RunState, shown: str
) -> None:
    """The stage at which a run was abandoned is not under way any more."""
    page = signed_in(app, Role.VIEWER).get(f"/runs/{add_run(store, shop, state)}").text
    assert f'<li class="{shown}">crawling' in page


def test_the_log_of_a_run_is_its_own(
    app: FastAPI, store: Store, settings: Settings, shop: Shop
) -> None:
    """The log of the shop's last process is that of the newest run, if it was written during it."""
    older = add_run(store, shop, RunState.DONE)
    with store.write() as session:
        run = Run(shop_id=shop.id or 0, stage=Stage.CRAWL)
        session.add(run)
        session.flush()
        newest = run.id
    log = run_log_path(settings, shop.id or 0)
    log.write_text("what the newest run did")
    (log.parent / f"crawl-{shop.id}-{older}.log").write_text("how the older run crawled")
    browser = signed_in(app, Role.EDITOR)
    assert "what the newest run did" in browser.get(f"/runs/{newest}").text
    page = browser.get(f"/runs/{older}").text
    assert "how the older run crawled" in page
    assert "what the newest run did" not in page
    for hours in (-2, 2):
        written_at = (utc_now() + timedelta(hours=hours)).timestamp()
        os.utime(log, (written_at, written_at))
        with store.write() as session:
            run = session.get_one(Run, newest)
            run.state, run.finished_at = RunState.DONE, utc_now()
        assert "what the newest run did" not in browser.get(f"/runs/{newest}").text


@pytest.mark.parametrize("path", ["/runs/{run}", "/shops/{shop}", "/shops/{shop}/runs"])
@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            "shop.example cannot be reached (timeout): check the shop's URL",
            "<span>shop.example ist nicht erreichbar (keine rechtzeitige Antwort): prüfen Sie",
        ),
        # The message of another program.
        ("the disk is on fire", '<span lang="en">the disk is on fire<'),
    ],
)
def test_the_reason_of_a_run_in_german(
    app: FastAPI, store: Store, shop: Shop, path: str, reason: str, shown: str
) -> None:
    """A stored reason that is a message of Scout is translated; any other is marked as English."""
    run_id = add_run(store, shop, RunState.FAILED)
    with store.write() as session:
        session.get_one(Run, run_id).reason = reason
    address = path.format(run=run_id, shop=shop.name)
    page = signed_in(app, Role.EDITOR).get(address, headers={"Accept-Language": "de"}).text
    assert '<html lang="de"' in page
    assert shown in page


def test_events_end_with_the_run(app: FastAPI, store: Store, shop: Shop) -> None:
    """The stream of a run that nobody works on sends its state once, and ends."""
    run_id = add_run(store, shop)
    answer = signed_in(app, Role.VIEWER).get(f"/runs/{run_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [line for line in answer.text.splitlines() if line.startswith("event:")] == [
        "event: live",
        "event: ended",
    ]


def test_start_and_resume(app: FastAPI, started: list[tuple[Any, ...]]) -> None:
    """An editor starts a run or begins a new one; a reviewer may not."""
    browser = signed_in(app, Role.EDITOR)
    assert browser.submit("/shops/demo/runs").status_code == 303
    assert browser.submit("/shops/demo/runs", fresh="true").status_code == 303
    assert started == [
        ("demo", "run", {"fresh": False}),
        ("demo", "run", {"fresh": True}),
    ]
    assert signed_in(app, Role.REVIEWER).submit("/shops/demo/runs").status_code == 403


def test_stop_without_a_run(app: FastAPI) -> None:
    """Where no process runs the shop, stopping says so."""
    answer = signed_in(app, Role.EDITOR).submit("/shops/demo/runs/stop")
    assert answer.status_code == 409
    assert "is not being run" in answer.text


def test_compare_runs(
    scout: Scout, app: FastAPI, known_shop: Shop, fake_stages: FakeStages, store: Store
) -> None:
    """Two finished runs stand side by side; runs of different shops cannot."""
    assert scout("run", "demo").code == 0
    assert scout("run", "demo", "--fresh").code == 0
    browser = signed_in(app, Role.VIEWER)
    assert "Comparison of runs" in browser.get("/runs/2/compare/1").text
    with store.write() as session:
        other = Shop(name="other", url="https://other.example/")
        session.add(other)
        session.flush()
        session.add(Run(shop_id=other.id or 0))
    assert browser.get("/runs/2/compare/3").status_code == 404


def test_lists_of_runs(app: FastAPI, store: Store, shop: Shop) -> None:
    """Runs are listed for all shops and for one, by state."""
    run_id = add_run(store, shop, RunState.FAILED)
    browser = signed_in(app, Role.VIEWER)
    for path in ("/runs", "/shops/demo/runs", "/runs?state=failed"):
        assert f'href="/runs/{run_id}"' in browser.get(path).text
    assert f'href="/runs/{run_id}"' not in browser.get("/runs?state=done").text
    assert browser.get("/runs?state=lost").status_code == 400


def test_a_schedule_in_words(app: FastAPI, store: Store) -> None:
    """A plan is saved, shown in words with its next times, paused, continued and removed."""
    browser = signed_in(app, Role.EDITOR)
    assert "At 05:30, Monday through Friday" in browser.get("/schedules?cron=30+5+*+*+1-5").text
    assert browser.submit("/schedules", shop="demo", cron="30 5 * * 1-5").status_code == 303
    assert "05:30" in browser.get("/schedules").text
    browser.submit("/schedules/pause", shop="demo")
    with store.read() as session:
        assert session.exec(select(Schedule)).one().is_paused
    for path in ("/schedules", "/shops/demo"):
        assert "paused" in browser.get(path).text
    (plan,) = browser.get("/api/v1/schedules").json()["items"]
    assert (plan["paused"], plan["next"]) == (True, [])
    browser.submit("/schedules/continue", shop="demo")
    with store.read() as session:
        assert not session.exec(select(Schedule)).one().is_paused
    browser.submit("/schedules/remove", shop="demo")
    with store.read() as session:
        assert session.exec(select(Schedule)).first() is None


def test_german_words(app: FastAPI) -> None:
    """Plans are described in the reader's language, days included."""
    browser = signed_in(app, Role.EDITOR)
    page = browser.get("/schedules?cron=0+6+*+*+1", headers={"accept-language": "de"}).text
    assert "Montag" in page


WRONG_PLANS = [("demo", "99 * * * *"), ("demo", "0 0 30 2 *"), ("demo", ""), ("nobody", "@daily")]


@pytest.mark.parametrize(("shop_name", "cron"), WRONG_PLANS)
def test_a_wrong_plan(app: FastAPI, shop_name: str, cron: str) -> None:
    """A plan that cannot be used is refused with its reason, and nothing is stored."""
    answer = signed_in(app, Role.EDITOR).submit("/schedules", shop=shop_name, cron=cron)
    assert answer.status_code in (400, 404, 422)


def test_a_paused_plan_starts_nothing(settings: Settings, app: FastAPI, store: Store) -> None:
    """The timetable leaves paused plans out, and takes them in again."""
    browser = signed_in(app, Role.EDITOR)
    browser.submit("/schedules", shop="demo", cron="@daily")
    timetable = Timetable(settings, store, [])
    try:
        timetable.refresh()
        assert len(timetable._planned) == 1
        browser.submit("/schedules/pause", shop="demo")
        timetable.refresh()
        assert timetable._planned == {}
    finally:
        timetable._leadership.close()
