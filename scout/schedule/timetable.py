"""The timetable of `scout serve`: shops run by the clock, each run in a process of its own (`scout.pipeline.run_pool`).

APScheduler keeps the clock, in memory; what is to be run when stands in the store and is read again every half minute,
so `scout schedule add` needs no restart. Two schedulers on one store would run everything twice: the one that holds the
lock is the leader, the others wait for its end. A run that fell due while none was up is made up for.
"""

from contextlib import ExitStack
from datetime import datetime, timedelta

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from sqlmodel import col, select

from catalog.errors import Busy, StoreError, UsageError
from catalog.models import Schedule, Shop, now
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks
from scout.pipeline.run_all import TRIES
from scout.pipeline.run_pool import Fleet, log_of
from scout.schedule import cron

LOOK_AGAIN = 30
LATEST = timedelta(hours=12)

log = structlog.get_logger("scout.schedule.timetable")


def add(store: Store, shop_id: int, text: str) -> datetime:
    """Run that shop by a cron expression from now on, in place of an earlier one; gives the first time. UsageError."""
    first = cron.next_time(text, now().astimezone())
    if first is None:
        raise UsageError(f"{text!r} names no day that exists: it would never run")
    with store.write() as session:
        row = session.exec(select(Schedule).where(Schedule.shop_id == shop_id)).first()
        row = row or Schedule(shop_id=shop_id, cron=text)
        row.cron, row.last_started_at = text, None
        session.add(row)
    return first


def remove(store: Store, shop: Shop) -> None:
    """Run that shop by hand only. Raises UsageError where it was not scheduled."""
    with store.write() as session:
        row = session.exec(select(Schedule).where(Schedule.shop_id == shop.id)).first()
        if row is None:
            raise UsageError(
                f"shop {shop.name!r} is not scheduled: 'scout schedule list' shows which are"
            )
        session.delete(row)


def entries(store: Store) -> list[tuple[Shop, Schedule]]:
    """All scheduled shops, by name."""
    with store.read() as session:
        both = select(Shop, Schedule).where(Shop.id == Schedule.shop_id)
        return [(shop, row) for shop, row in session.exec(both.order_by(col(Shop.name)))]


class Timetable:
    """Runs the scheduled shops while it is started, as far as it is the leader."""

    def __init__(self, settings: Settings, store: Store, flags: list[str]) -> None:
        self._settings, self._store = settings, store
        self._leading = ExitStack()
        self.leads = False
        self._fleet = Fleet(settings, store, flags)
        self._planned: dict[int, str] = {}
        executors = {
            "default": ThreadPoolExecutor(settings.at_once),
            "watch": ThreadPoolExecutor(1),
        }
        defaults = {
            "coalesce": True,
            "max_instances": 1,
            "misfire_grace_time": int(LATEST.total_seconds()),
        }
        self._clock = BackgroundScheduler(executors=executors, job_defaults=defaults)

    def start(self) -> None:
        """Begin, and look at the store at once."""
        self._clock.add_job(
            self.look, "interval", seconds=LOOK_AGAIN, executor="watch", next_run_time=now()
        )
        self._clock.start()

    def stop(self) -> None:
        """End, and have the runs under way end: they go on when they are run again."""
        self._fleet.stop()
        self._clock.shutdown(wait=True)
        self._leading.close()
        self.leads = False

    def look(self) -> None:
        """Become the leader if there is none; then plan what the store says now."""
        if not self._lead():
            return
        try:
            scheduled = {row.shop_id: (shop.name, row) for shop, row in entries(self._store)}
        except StoreError as error:
            log.warning("the timetable cannot be read", error=str(error))
            return
        for shop_id in set(self._planned) - set(scheduled):
            self._clock.remove_job(_job(shop_id))
            del self._planned[shop_id]
        for shop_id, (name, row) in scheduled.items():
            if self._planned.get(shop_id) != row.cron:
                self._plan(shop_id, name, row)

    def _lead(self) -> bool:
        if not self.leads:
            try:
                self._leading.enter_context(
                    locks.held(self._settings, "schedule", "another scout serve leads")
                )
            except Busy:
                return False
            self.leads = True
            log.info("leading the timetable")
        return True

    def _plan(self, shop_id: int, name: str, row: Schedule) -> None:
        due = now() if _overdue(row) else cron.next_time(row.cron, now().astimezone())
        trigger, key = cron.trigger(row.cron), _job(shop_id)
        self._clock.add_job(
            self.run,
            trigger,
            args=(shop_id, name),
            id=key,
            replace_existing=True,
            next_run_time=due,
        )
        self._planned[shop_id] = row.cron

    def run(self, shop_id: int, name: str) -> int:
        """Run a shop in its own process, and wait for its end; gives its exit code."""
        with self._store.write() as session:
            row = session.exec(select(Schedule).where(Schedule.shop_id == shop_id)).first()
            if row is not None:
                row.last_started_at = now()
        for _ in range(TRIES):
            ended = self._fleet.run(shop_id, name)
            if not ended.over_memory:
                break
        if ended.code:
            said, file = ended.said, str(log_of(self._settings, shop_id))
            log.warning(
                "a scheduled run has failed", shop=name, code=ended.code, said=said, log=file
            )
        return ended.code


def _overdue(row: Schedule) -> bool:
    if row.last_started_at is None:
        return False
    since = max(row.last_started_at, now() - LATEST)
    due = cron.next_time(row.cron, since.astimezone())
    return due is not None and due <= now()


def _job(shop_id: int) -> str:
    return f"shop-{shop_id}"
