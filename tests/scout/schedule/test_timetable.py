"""The timetable: when, who leads, and each run in a process of its own."""

import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import select

from catalog.errors import UsageError
from catalog.models import Schedule, Shop, now
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.schedule import cron
from scout.schedule import timetable as schedules
from scout.schedule.timetable import Timetable
from tests.scout.conftest import Scout

MONDAY = datetime.fromisoformat("2026-11-16T00:00").astimezone()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 12 * * 0", ["Sun"]),
        ("0 12 * * 7", ["Sun"]),
        ("0 12 * * 1-5", ["Mon", "Tue", "Wed", "Thu", "Fri"]),
        ("0 12 * * sat,0", ["Sat", "Sun"]),
        ("0 12 * * */3", ["Wed", "Sat", "Sun"]),
        ("0 12 18 * 5", ["Wed", "Fri"]),
        ("@daily", ["Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon"]),
    ],
)
def test_weekdays(text: str, days: list[str]) -> None:
    """Days are counted from Sunday, and day of month and day of week are either-or, as cron has it."""
    found, moment = [], MONDAY
    while (
        moment := cron.next_time(text, moment + timedelta(seconds=1))
    ) and moment <= MONDAY + timedelta(days=7):
        found.append(moment.strftime("%a"))
    assert found == days


@given(st.text(alphabet="0123456789*/-, monsunfri@", max_size=30))
def test_any_text(text: str) -> None:
    """Whatever is given is either a cron expression or a UsageError."""
    with suppress(UsageError):
        assert isinstance(cron.trigger(text), BaseTrigger)


@given(st.sets(st.integers(0, 6), min_size=1))
def test_any_days(days: set[int]) -> None:
    """Any choice of weekdays by number means the same by name."""
    named = cron.weekdays(",".join(map(str, days)))
    assert named == cron.weekdays(named) == ",".join(cron.DAYS[day] for day in sorted(days))
    CronTrigger(day_of_week=named)


def test_commands(scout: Scout, shop: Shop) -> None:
    """A shop is scheduled, scheduled otherwise, listed with its next time, and no longer scheduled."""
    assert scout("schedule", "add", "demo", "--cron", "0 5 * * *").code == 0
    assert "first on" in scout("schedule", "add", "demo", "--cron", "30 6 * * 1").out
    assert "30 6 * * 1" in (listed := scout("schedule", "list").out)
    assert len(listed.splitlines()) == 2
    assert scout("schedule", "remove", "demo").code == 0
    again = scout("schedule", "remove", "demo")
    assert (again.code, "is not scheduled" in again.error) == (2, True)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that are started as processes; each ends at once."""
    commands: list[list[str]] = []
    popen = subprocess.Popen

    def start(command: list[str], **more: object) -> subprocess.Popen[bytes]:
        commands.append(command)
        return popen([sys.executable, "-c", "print('error: busy'); raise SystemExit(1)"], **more)

    monkeypatch.setattr("scout.pipeline.run_pool.subprocess.Popen", start)
    return commands


def _plan(store: Store, shop: Shop, last: datetime | None, text: str = "0 5 * * *") -> None:
    schedules.add(store, shop.id or 0, text)
    with store.write() as session:
        session.exec(select(Schedule)).one().last_started_at = last


@pytest.mark.parametrize(
    ("missed", "runs"),
    [(timedelta(hours=2), 1), (timedelta(days=3), 1), (timedelta(minutes=1), 0), (None, 0)],
)
def test_made_up_for(
    settings: Settings,
    store: Store,
    shop: Shop,
    started: list[list[str]],
    missed: timedelta | None,
    runs: int,
) -> None:
    """What fell due while no timetable was up is run once when one is, in a process of its own."""
    due = (now().astimezone() - timedelta(hours=1)).strftime("%M %H * * *")
    _plan(store, shop, None if missed is None else now() - missed, due)
    timetable = Timetable(settings, store, ["--data-dir", "x"])
    timetable.start()
    _wait(lambda: timetable.leads and len(started) >= runs)
    time.sleep(0.2)
    timetable.stop()
    assert (
        started == [[sys.executable, "-m", "scout", "--data-dir", "x", "run", "--", "demo"]] * runs
    )


def _wait(done: object) -> None:
    until = time.monotonic() + 10
    while not done() and time.monotonic() < until:
        time.sleep(0.02)


def test_one_leader(settings: Settings, store: Store, shop: Shop) -> None:
    """Of two timetables one leads; when it ends, the other does."""
    first, second = Timetable(settings, store, []), Timetable(settings, store, [])
    first.start()
    _wait(lambda: first.leads)
    second.start()
    second.look()
    assert (first.leads, second.leads) == (True, False)
    first.stop()
    second.look()
    _wait(lambda: second.leads)
    assert second.leads
    second.stop()


def test_plan_follows_store(settings: Settings, store: Store, shop: Shop) -> None:
    """What is added, changed or removed in the store is planned so without a restart."""
    timetable = Timetable(settings, store, [])
    timetable.start()
    _wait(lambda: timetable.leads)
    planned = []
    for text in ("0 5 * * *", "0 6 * * *", None):
        if text is None:
            schedules.remove(store, shop)
        else:
            schedules.add(store, shop.id or 0, text)
        timetable.look()
        planned.append(dict(timetable._planned))
    timetable.stop()
    assert planned == [{1: "0 5 * * *"}, {1: "0 6 * * *"}, {}]


def test_failed_run(
    settings: Settings,
    store: Store,
    shop: Shop,
    started: list[list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A run that fails leaves its exit code, its output in a file, and when it was started."""
    _plan(store, shop, None)
    timetable = Timetable(settings, store, [])
    assert timetable.run(shop.id or 0, "demo") == 1
    assert (settings.data_dir / "logs" / "shop-1.log").read_text() == "error: busy\n"
    assert schedules.entries(store)[0][1].last_started_at is not None
