"""The timetable: plans, the leader, and each run in a process of its own."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from sqlmodel import select

from catalog.errors import LeaseLost, StoreError, UnknownShop
from catalog.models import Delivery, DeliveryKind, Schedule, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store
from scout.delivery.deliveries import add_delivery
from scout.maintenance.shop_removal import remove_shop
from scout.schedule import repetition
from scout.schedule.timetable import (
    Timetable,
    pause_shop,
    schedule_shop,
    scheduled_shops,
    unschedule_shop,
)
from tests.scout.conftest import Scout
from tests.scout.programs import replace_runs


def test_commands(scout: Scout, shop: Shop) -> None:
    """A shop is scheduled, rescheduled, listed with its next time, and unscheduled."""
    assert scout("schedule", "add", "demo", "--cron", "0 5 * * *").code == 0
    assert "first run at" in scout("schedule", "add", "demo", "--cron", "30 6 * * 1").out
    assert "30 6 * * 1" in (listed := scout("schedule", "list").out)
    assert len(listed.splitlines()) == 2
    assert scout("schedule", "remove", "demo").code == 0
    repeated = scout("schedule", "remove", "demo")
    assert (repeated.code, "is not scheduled" in repeated.error) == (2, True)


@pytest.mark.both_databases
def test_scheduling_a_removed_shop(settings: Settings, store: Store, shop: Shop) -> None:
    """A shop that was removed since it was loaded is unknown, in one line; nothing is stored."""
    remove_shop(settings, store, shop)
    with pytest.raises(UnknownShop, match="no shop is called 'demo'"):
        schedule_shop(store, shop, "0 5 * * *")
    assert scheduled_shops(store) == []


def test_paused_plan(scout: Scout, store: Store, shop: Shop) -> None:
    """A paused plan is listed without a next time; a new expression lets it go on."""
    assert scout("schedule", "add", "demo", "--cron", "0 5 * * *").code == 0
    pause_shop(store, shop, paused=True)
    row = json.loads(scout("schedule", "list", "--json").out)
    assert (row["next"], row["paused"]) == (None, True)
    assert scout("schedule", "add", "demo", "--cron", "0 6 * * *").code == 0
    row = json.loads(scout("schedule", "list", "--json").out)
    assert row["next"] is not None
    assert row["paused"] is False


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of the runs that are started; each ends at once with an error."""
    return replace_runs(monkeypatch, "print('error: busy'); raise SystemExit(1)")


def _plan(store: Store, shop: Shop, last: datetime | None, text: str = "0 5 * * *") -> None:
    schedule_shop(store, shop, text)
    with store.write() as session:
        session.exec(select(Schedule)).one().last_started_at = last


@pytest.mark.parametrize(
    ("since_last", "runs"),
    [(timedelta(hours=2), 1), (timedelta(days=3), 1), (timedelta(minutes=1), 0), (None, 0)],
)
def test_missed_run(
    settings: Settings,
    store: Store,
    shop: Shop,
    started: list[list[str]],
    since_last: timedelta | None,
    runs: int,
) -> None:
    """A run that fell due while no timetable was up is made up for once, in its own process."""
    due = (utc_now().astimezone() - timedelta(hours=1)).strftime("%M %H * * *")
    _plan(store, shop, None if since_last is None else utc_now() - since_last, due)
    timetable = Timetable(settings, store, ["--data-dir", "x"])
    timetable.start()
    _wait(lambda: timetable.is_leader and len(started) >= runs)
    time.sleep(0.2)
    timetable.stop()
    assert started == [["--data-dir", "x", "run", "--", "demo"]] * runs


@pytest.mark.parametrize(
    ("lead", "text", "is_skipped"),
    [
        (timedelta(minutes=40), "{minute} {hour} * * *", True),
        (timedelta(minutes=40), "* * * * *", False),
        (timedelta(days=2), "{minute} {hour} * * *", False),
    ],
    ids=["fixed time", "real time", "a clock that was wrong by days"],
)
def test_taking_over_from_a_fast_clock(
    settings: Settings, store: Store, shop: Shop, lead: timedelta, text: str, is_skipped: bool
) -> None:
    """A time of day that another machine's fast clock has begun already is not begun again.

    Runs of shops and deliveries alike.
    """
    soon = utc_now().astimezone() + timedelta(minutes=30)
    cron = text.format(minute=soon.minute, hour=soon.hour)
    _plan(store, shop, utc_now() + lead, cron)
    delivery = add_delivery(store, "team", DeliveryKind.MAIL, "a@b.example", cron)
    with store.write() as session:
        session.get_one(Delivery, delivery.id).last_sent_at = utc_now() + lead
    timetable = Timetable(settings, store, [], send_digest=lambda _delivery: None)
    timetable.start()
    _wait(lambda: timetable._scheduler.get_job("delivery-team") is not None)
    for job in ("shop-1", "delivery-team"):
        planned = timetable._scheduler.get_job(job).next_run_time
        assert (planned > utc_now() + timedelta(hours=20)) is is_skipped, job
    timetable.stop()


def test_plan_that_was_removed_or_paused_meanwhile(
    settings: Settings, store: Store, shop: Shop, started: list[list[str]]
) -> None:
    """It is not run, though the timetable reads the plans again only every half minute."""
    timetable = Timetable(settings, store, [])
    assert timetable.run(shop.id or 0, "demo") == 0
    schedule_shop(store, shop, "0 5 * * *")
    pause_shop(store, shop, paused=True)
    assert timetable.run(shop.id or 0, "demo") == 0
    assert started == []


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_one_leader(settings: Settings, store: Store, shop: Shop) -> None:
    """Of two timetables one is the leader; when it ends, the other becomes it."""
    first, second = Timetable(settings, store, []), Timetable(settings, store, [])
    first.start()
    _wait(lambda: first.is_leader)
    second.start()
    second.refresh()
    assert (first.is_leader, second.is_leader) == (True, False)
    first.stop()
    second.refresh()
    _wait(lambda: second.is_leader)
    assert second.is_leader
    second.stop()


def test_the_leader_maintains_the_store(settings: Settings, store: Store) -> None:
    """It alone removes old runs and assesses shops; an error is logged and stops nothing."""
    calls: list[str] = []

    def prune() -> None:
        calls.append("prune")
        raise StoreError("no database")

    def assess() -> None:
        calls.append("assess")
        raise StoreError("no database")

    first, second = (Timetable(settings, store, [], None, prune, assess) for _ in range(2))
    first.start()
    _wait(lambda: first.is_leader)
    for timetable in (first, second):
        timetable.prune()
        timetable.assess()
    first.stop()
    assert calls == ["prune", "assess"]


def test_a_former_leader_sends_nothing(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped beyond the time of a digest leaves it to the one that leads now."""
    sent: list[Delivery] = []
    add_delivery(store, "daily", DeliveryKind.WEBHOOK, "https://a.example/", "@daily")
    timetable = Timetable(settings, store, [], sent.append)
    timetable.start()
    _wait(lambda: timetable.is_leader)
    timetable.deliver("daily", sent.append)

    def check(_: HeldLease) -> None:
        raise LeaseLost("taken over")

    monkeypatch.setattr(HeldLease, "check", check)
    timetable.deliver("daily", sent.append)
    timetable.stop()
    assert len(sent) == 1


def test_plans_follow_the_store(settings: Settings, store: Store, shop: Shop) -> None:
    """Plans that are added, changed or removed in the store take effect without a restart."""
    timetable = Timetable(settings, store, [])
    timetable.start()
    _wait(lambda: timetable.is_leader)
    planned = []
    for text in ("0 5 * * *", "0 6 * * *", None):
        if text is None:
            unschedule_shop(store, shop)
        else:
            schedule_shop(store, shop, text)
        timetable.refresh()
        planned.append(dict(timetable._planned))
    timetable.stop()
    assert planned == [{1: "0 5 * * *"}, {1: "0 6 * * *"}, {}]


def test_plans_are_made_anew_when_the_clock_is_set(
    settings: Settings, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run planned for a time that is hours away since the clock was set back is planned again."""
    schedule_shop(store, shop, "* * * * *")
    timetable = Timetable(settings, store, [])
    timetable.start()
    _wait(lambda: len(timetable._planned) == 1)
    planned = timetable._scheduler.get_job("shop-1")
    planned.modify(next_run_time=utc_now() + timedelta(hours=2))
    timetable.refresh()
    unchanged = timetable._scheduler.get_job("shop-1").next_run_time
    offset = repetition._clock_offset()
    monkeypatch.setattr(repetition, "_clock_offset", lambda: offset - 7_200)
    timetable.refresh()
    planned_anew = timetable._scheduler.get_job("shop-1").next_run_time
    timetable.stop()
    assert unchanged - utc_now() > timedelta(hours=1)
    assert planned_anew - utc_now() <= timedelta(minutes=1)


def test_unusable_stored_plan(settings: Settings, store: Store, shop: Shop, scout: Scout) -> None:
    """A stored expression that is no longer accepted is listed, and does not stop the others."""
    with store.write() as session:
        other = Shop(name="other", url="https://other.example/")
        session.add(other)
        session.flush()
        session.add(Schedule(shop_id=shop.id, cron="0 5 * * fri-mon"))
        session.add(Schedule(shop_id=other.id, cron="0 5 * * *"))
    timetable = Timetable(settings, store, [])
    timetable.start()
    _wait(lambda: len(timetable._planned) == 2)
    timetable.refresh()
    jobs = [job.id for job in timetable._scheduler.get_jobs() if job.id.startswith("shop-")]
    timetable.stop()
    assert jobs == ["shop-2"]
    assert "0 5 * * fri-mon" in scout("schedule", "list").out


def test_failed_run(settings: Settings, store: Store, shop: Shop, started: list[list[str]]) -> None:
    """A failed run leaves its exit code, its output in a file, and the time of its start."""
    _plan(store, shop, None)
    timetable = Timetable(settings, store, [])
    assert timetable.run(shop.id or 0, "demo") == 1
    assert (settings.data_dir / "logs" / "shop-1.log").read_text() == "error: busy\n"
    assert scheduled_shops(store)[0][1].last_started_at is not None


@pytest.mark.sqlite_only
def test_command_without_web_pages(
    scout: Scout, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`scout schedule run` runs the timetable until a signal; with workers it needs PostgreSQL.

    It removes old runs where the settings limit them.
    """
    limits: list[int] = []
    monkeypatch.setattr(
        "scout.maintenance.prune.daily_pruning",
        lambda settings, _: limits.append(settings.keep_days),
    )
    monkeypatch.setenv("SCOUT_KEEP_DAYS", "90")
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    try:
        result = scout("schedule", "run")
    finally:
        timer.join()
        for number, handler in former.items():
            signal.signal(number, handler)
    assert (result.code, "the timetable runs" in result.err) == (0, True)
    assert limits == [90]
    assert "workers need a PostgreSQL database" in scout("schedule", "run", "--workers").error
