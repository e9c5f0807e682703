"""The timetable of `scout serve`: each run is a process of its own (`scout.pipeline.run_pool`), or
a job for the workers.

APScheduler keeps the clock in memory. The plans are stored in the database and read again every
half minute, so `scout schedule add` needs no restart. Two schedulers on one store would run every
plan twice: the process that holds a lease is the leader, the others wait for its end, on whichever
machine. A run that fell due while no scheduler was up is made up for once.
"""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from sqlmodel import col, select

from catalog.errors import Busy, ScoutError, StoreError, UnknownShop, UsageError
from catalog.models import Delivery, Schedule, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.deliveries import get_delivery, list_deliveries
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store, lock_shop
from scout.job_queue import shop_jobs
from scout.job_queue.queue_schema import require_queue
from scout.pipeline import locks
from scout.pipeline.batch_run import MAX_ATTEMPTS
from scout.pipeline.run_pool import RunPool, run_log_path
from scout.pipeline.run_records import shop_key
from scout.schedule.cron import CronExpression, next_time
from scout.schedule.repetition import ClockWatch, Repetition

REFRESH_INTERVAL = 30
"""Seconds between two readings of the stored plans, and two attempts to become the leader."""

ASSESS_INTERVAL = 60
"""Seconds between two assessments of the shops that have changed."""

PRUNE_DELAY = 600
"""Seconds from the start to the first removal of old runs."""

PRUNE_INTERVAL = 86_400
"""Seconds between two removals of old runs."""

MAX_DELAY = timedelta(hours=12)
"""Longest delay of a run that is made up for: the morning after, before the next one is due."""

MAX_CLOCK_LEAD = timedelta(hours=3)
"""Most by which the clock of another machine may be fast: a time within it that was begun there is
not begun again, as Debian's cron does where a clock is set back (cron(8))."""

SHOP_JOB = "shop-"
"""First part of the clock's names of shops' runs."""

DELIVERY_JOB = "delivery-"
"""First part of the clock's names of deliveries."""

log = logging.getLogger("scout.schedule.timetable")


def schedule_shop(store: Store, shop: Shop, expression: str) -> datetime:
    """Store a shop's cron expression in place of an earlier one; return the first time.

    A paused plan goes on. Raises UsageError, and UnknownShop where the shop has been removed.
    """
    first = next_time(expression, utc_now())
    if first is None:
        raise UsageError(f"{expression!r} names no day that exists: it would never run")
    with store.write() as session:
        shop_id = shop_key(shop)
        lock_shop(session, shop_id)
        if session.get(Shop, shop_id) is None:
            raise UnknownShop(shop.name)
        row = session.exec(select(Schedule).where(Schedule.shop_id == shop_id)).first()
        row = row or Schedule(shop_id=shop_id, cron=expression)
        row.cron, row.last_started_at, row.is_paused = expression, None, False
        session.add(row)
    return first


def unschedule_shop(store: Store, shop: Shop) -> None:
    """Delete a shop's plan. Raises UsageError where there is none."""
    with store.write() as session:
        row = session.exec(select(Schedule).where(Schedule.shop_id == shop.id)).first()
        if row is None:
            raise UsageError(
                f"shop {shop.name!r} is not scheduled: 'scout schedule list' shows which are"
            )
        session.delete(row)


def pause_shop(store: Store, shop: Shop, *, paused: bool) -> None:
    """Pause a shop's plan, or let it go on. Raises UsageError where there is none.

    The times that pass meanwhile are not made up for.
    """
    with store.write() as session:
        row = session.exec(select(Schedule).where(Schedule.shop_id == shop.id)).first()
        if row is None:
            raise UsageError(
                f"shop {shop.name!r} is not scheduled: 'scout schedule list' shows which are"
            )
        row.is_paused = paused
        if not paused:
            row.last_started_at = None


def scheduled_shops(store: Store) -> list[tuple[Shop, Schedule]]:
    """Return all scheduled shops with their plans, sorted by name."""
    with store.read() as session:
        rows = select(Shop, Schedule).where(Shop.id == Schedule.shop_id).order_by(col(Shop.name))
        return [(shop, schedule) for shop, schedule in session.exec(rows)]


class Timetable:
    """Runs the scheduled shops between `start` and `stop`, while this process is the leader."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        flags: list[str],
        send_digest: Callable[[Delivery], None] | None = None,
        prune: Callable[[], object] | None = None,
        assess: Callable[[], object] | None = None,
        *,
        uses_workers: bool | None = None,
    ) -> None:
        """Prepare the clock.

        `send_digest` sends a delivery (None: none are sent), `prune` removes old runs (None: none
        are removed), and `assess` looks which shops need attention (None: pages do so alone). With
        `uses_workers`, by default the setting `use_workers`, runs are queued for workers. Raises
        ConfigError where there can be no queue.
        """
        self._uses_workers = settings.use_workers if uses_workers is None else uses_workers
        if self._uses_workers:
            require_queue(store)
        self._send_digest, self._prune, self._assess = send_digest, prune, assess
        self._settings, self._store = settings, store
        self._leadership = ExitStack()
        self._lease: HeldLease | None = None
        self._pool = RunPool(settings, store, flags)
        self._planned: dict[int, str] = {}
        self._planned_deliveries: dict[str, str] = {}
        self._clock = ClockWatch()
        # Each has a thread of its own, so that runs under way cannot delay it.
        self._repetitions = [Repetition("refresh", self.refresh, REFRESH_INTERVAL, 0)]
        if self._prune is not None:
            self._repetitions.append(Repetition("prune", self.prune, PRUNE_INTERVAL, PRUNE_DELAY))
        if self._assess is not None:
            self._repetitions.append(
                Repetition("assess", self.assess, ASSESS_INTERVAL, ASSESS_INTERVAL)
            )
        executors = {
            "default": ThreadPoolExecutor(settings.at_once),
            "deliveries": ThreadPoolExecutor(1),
        }
        defaults = {
            "coalesce": True,
            "max_instances": 1,
            "misfire_grace_time": int(MAX_DELAY.total_seconds()),
        }
        self._scheduler = BackgroundScheduler(
            executors=executors, job_defaults=defaults, timezone=UTC
        )

    def start(self) -> None:
        """Start the clock and read the stored plans at once."""
        self._scheduler.start()
        for repetition in self._repetitions:
            repetition.start()

    def stop(self) -> None:
        """Stop the clock and terminate the runs under way: they resume when they are run again."""
        self._pool.stop()
        for repetition in self._repetitions:
            repetition.stop()
        self._scheduler.shutdown(wait=True)
        self._end_leadership()

    @property
    def is_leader(self) -> bool:
        """Return True while this process runs the plans."""
        return self._lease is not None and not self._lease.is_lost

    def refresh(self) -> None:
        """Become the leader if there is none, then bring the plans up to the store."""
        if not self._lead():
            return
        if changed := self._clock.change():
            # The scheduler waits for times of day that may be hours away now.
            log.warning("the clock was set: all plans are made anew", extra={"seconds": changed})
            self._forget_plans()
        try:
            shops = scheduled_shops(self._store)
        except StoreError as error:
            log.warning("the timetable cannot be read", extra={"error": str(error)})
            return
        scheduled = {}
        for shop, schedule in shops:
            if not schedule.is_paused:
                scheduled[schedule.shop_id] = (shop.name, schedule)
        for shop_id in set(self._planned) - set(scheduled):
            self._unplan(shop_id)
        for shop_id, (name, schedule) in scheduled.items():
            if self._planned.get(shop_id) != schedule.cron:
                self._plan(shop_id, name, schedule)
        if self._send_digest is not None:
            self._refresh_deliveries(self._send_digest)

    def _refresh_deliveries(self, send: Callable[[Delivery], None]) -> None:
        deliveries = {
            delivery.name: delivery
            for delivery in list_deliveries(self._store)
            if not delivery.is_paused
        }
        for name in set(self._planned_deliveries) - set(deliveries):
            del self._planned_deliveries[name]
            self._scheduler.remove_job(_delivery_job_id(name))
        for name, delivery in deliveries.items():
            if self._planned_deliveries.get(name) != delivery.cron:
                self._planned_deliveries[name] = delivery.cron
                expression = CronExpression(delivery.cron)
                start = _planned_from(expression, delivery.last_sent_at)
                self._scheduler.add_job(
                    self.deliver,
                    expression,
                    args=(name, send),
                    id=_delivery_job_id(name),
                    executor="deliveries",
                    replace_existing=True,
                    next_run_time=expression.get_next_fire_time(None, start),
                )

    def deliver(self, name: str, send: Callable[[Delivery], None]) -> None:
        """Send a delivery; a failure is stored with it, and logged.

        Nothing is sent where another process leads meanwhile.
        """
        try:
            if self._lease is not None:
                self._lease.check()
            send(get_delivery(self._store, name))
        except ScoutError as error:
            log.warning("a digest was not delivered", extra={"delivery": name, "error": str(error)})

    def prune(self) -> None:
        """Remove old runs if this process leads; a failure is logged."""
        self._maintain(self._prune, "old runs were not removed")

    def assess(self) -> None:
        """Assess the shops that have changed if this process leads; a failure is logged."""
        self._maintain(self._assess, "shops were not assessed")

    def _maintain(self, work: Callable[[], object] | None, failure: str) -> None:
        if work is None or not self.is_leader:
            return
        try:
            work()
        except ScoutError as error:
            log.warning(failure, extra={"error": str(error)})

    def _lead(self) -> bool:
        if self.is_leader:
            return True
        if self._lease is not None:
            self._end_leadership()
        try:
            lease = locks.hold_lease(self._settings, self._store, "schedule", "the timetable")
            self._lease = self._leadership.enter_context(lease)
        except Busy:
            return False
        except StoreError as error:
            log.warning("the timetable has no leader", extra={"error": str(error)})
            return False
        log.info("leading the timetable")
        return True

    def _end_leadership(self) -> None:
        """Release the lease; where another process has taken it over, its plans are forgotten."""
        self._leadership.close()
        self._lease = None
        self._forget_plans()

    def _forget_plans(self) -> None:
        self._planned.clear()
        self._planned_deliveries.clear()
        if self._scheduler.running:
            for job in self._scheduler.get_jobs():
                if job.id.startswith((SHOP_JOB, DELIVERY_JOB)):
                    job.remove()

    def _unplan(self, shop_id: int) -> None:
        self._planned.pop(shop_id, None)
        # A plan with an unusable expression has no job.
        if self._scheduler.get_job(_job_id(shop_id)) is not None:
            self._scheduler.remove_job(_job_id(shop_id))

    def _plan(self, shop_id: int, name: str, schedule: Schedule) -> None:
        self._unplan(shop_id)
        # Noted first: an expression that cannot be used is reported once, not at every refresh.
        self._planned[shop_id] = schedule.cron
        try:
            expression = CronExpression(schedule.cron)
        except UsageError as error:
            log.warning("a scheduled shop is not run", extra={"shop": name, "error": str(error)})
            return
        first = expression.get_next_fire_time(
            None, _planned_from(expression, schedule.last_started_at)
        )
        if _is_overdue(expression, schedule):
            first = utc_now()
        self._scheduler.add_job(
            self.run, expression, args=(shop_id, name), id=_job_id(shop_id), next_run_time=first
        )

    def run(self, shop_id: int, name: str) -> int:
        """Run a shop in a process of its own and wait for its end; return the exit code.

        With workers, its run is queued instead. Nothing is begun where another process leads
        meanwhile, as after this one was stopped for a while, or where the plan was removed or
        paused since it was last read.
        """
        try:
            if self._lease is not None:
                self._lease.check()
            with self._store.write() as session:
                row = session.exec(select(Schedule).where(Schedule.shop_id == shop_id)).first()
                if row is None or row.is_paused:
                    return 0
                row.last_started_at = utc_now()
            if self._uses_workers:
                shop_jobs.enqueue(self._store, self._store.shop(name))
                return 0
        except ScoutError as error:
            log.warning("a scheduled shop is not run", extra={"shop": name, "error": str(error)})
            return 1
        for _ in range(MAX_ATTEMPTS):
            result = self._pool.run(shop_id, name)
            if not result.over_memory:
                break
        if result.exit_code:
            log.warning(
                "a scheduled run has failed",
                extra={
                    "shop": name,
                    "code": result.exit_code,
                    "last_line": result.last_line,
                    "log": str(run_log_path(self._settings, shop_id)),
                },
            )
        return result.exit_code


def _planned_from(expression: CronExpression, started: datetime | None) -> datetime:
    """Return the moment after which a plan runs next: now, or its last start by a fast clock.

    A plan that follows real time runs by the present clock.
    """
    now = utc_now()
    if started is None or not expression.has_fixed_time or started > now + MAX_CLOCK_LEAD:
        return now
    return max(started, now)


def _is_overdue(expression: CronExpression, schedule: Schedule) -> bool:
    """Return True if a run fell due since the last one, within `MAX_DELAY`.

    A new plan is never overdue.
    """
    if schedule.last_started_at is None:
        return False
    due = expression.next_time(max(schedule.last_started_at, utc_now() - MAX_DELAY))
    return due is not None and due.astimezone(UTC) <= utc_now()


def _delivery_job_id(name: str) -> str:
    return f"{DELIVERY_JOB}{name}"


def _job_id(shop_id: int) -> str:
    return f"{SHOP_JOB}{shop_id}"
