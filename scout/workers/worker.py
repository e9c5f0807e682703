"""A worker: takes jobs of the queue by Procrastinate until a signal stops it.

Procrastinate locks a job for one worker and announces new ones. Runs are processes of their
own, so the loop of the worker is always free for its heartbeat, and a run that crashes harms nobody
else. A worker whose heartbeat stops has its jobs taken over by the others. Its runs end with it,
and the leases of their shops expire, so that a shop is run again within two minutes.

SIGTERM or Ctrl-C stops the worker: runs under way have a grace period to finish, and are handed
back to the queue after it. A second signal ends them at once.
"""

import asyncio
import logging
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException, JobAborted
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.worker import Worker as ProcrastinateWorker
from psycopg import Error as PsycopgError
from psycopg_pool import PoolTimeout
from sqlalchemy.exc import SQLAlchemyError

from catalog.errors import StoreError
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.job_queue.job_kinds import JobKind
from scout.job_queue.queue_schema import require_queue
from scout.workers.job_runner import EndedByRequest, JobRunner, SetAside, TryLater
from scout.workers.owned_jobs import OwnedJobs
from scout.workers.stalled_jobs import handle_stalled_jobs

HEARTBEATS_PER_LEASE = 9
"""Heartbeats in the time that a lease of a shop holds."""

STALLED_SHARE = 1 / 3
"""Share of a lease's time after which a worker without heartbeat counts as lost."""

NEVER = 1e9
"""Seconds between Procrastinate's own heartbeats: its task ends for good at the first lost
connection (3.10), so the worker sends them itself."""

STORE_PAUSE = 2.0
"""Seconds for which a worker rests that could not use the database or its data folder."""

AT_ONCE = datetime.fromtimestamp(0, UTC)
"""Time of a retry without a pause: in the past by any clock, also by one that is wrong."""

RECONNECT_PAUSE = 5.0
"""Seconds between two attempts to reach the database."""

POOL_SIZE = 4
"""Connections of a worker: fetching, heartbeat, notifications, and results."""

DATABASE_ERRORS = (ConnectorException, PsycopgError, PoolTimeout, SQLAlchemyError, StoreError)
"""Errors after which a worker connects again."""

log = logging.getLogger("scout.workers")


@dataclass(frozen=True)
class WorkerOptions:
    """Kinds of jobs to take, jobs at a time, and seconds that runs have to end after a signal.

    With `drains` the worker ends when no job is due.
    """

    kinds: Sequence[JobKind]
    at_once: int = 1
    grace: float = 30.0
    drains: bool = False


class Worker:
    """Serves the queue until it is stopped. `flags` are the global options of `scout`."""

    def __init__(
        self, settings: Settings, store: Store, flags: Sequence[str], options: WorkerOptions
    ) -> None:
        self._settings, self._store, self._options = settings, store, options
        self._runner = JobRunner(settings, store, flags)
        self._executor = ThreadPoolExecutor(options.at_once, "job")
        self._worker: ProcrastinateWorker | None = None
        self._stop_requested = asyncio.Event()

    def run(self) -> None:
        """Serve the queue. Raises ConfigError where there can be none."""
        require_queue(self._store)
        # A job that failed is logged by the runner, in one line.
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
        asyncio.run(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_log_exception)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._take_signal)
        log.info("the worker is ready", extra={"jobs": ",".join(self._options.kinds)})
        while not self._stop_requested.is_set():
            try:
                await self._serve()
            except DATABASE_ERRORS as error:
                log.warning("the database is not reached", extra={"error": str(error)})
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop_requested.wait(), RECONNECT_PAUSE)
            else:
                return

    async def _serve(self) -> None:
        """Serve the queue until a stop, or the end of the jobs; raises DATABASE_ERRORS."""
        app = self._make_app()
        lease = self._settings.lease_seconds
        async with app.open_async():
            self._worker = ProcrastinateWorker(
                app,
                queues=[kind.value for kind in self._options.kinds],
                concurrency=self._options.at_once,
                wait=not self._options.drains,
                fetch_job_polling_interval=min(5.0, lease / HEARTBEATS_PER_LEASE),
                install_signal_handlers=False,
                update_heartbeat_interval=NEVER,
                stalled_worker_timeout=lease * STALLED_SHARE,
            )
            serving = asyncio.create_task(self._worker.run())  # type: ignore[no-untyped-call]
            if self._stop_requested.is_set():
                self._worker.stop()  # type: ignore[no-untyped-call]
            beating = asyncio.create_task(self._send_heartbeats(app, self._worker))
            try:
                await serving
            finally:
                beating.cancel()
                with suppress(asyncio.CancelledError):
                    await beating

    def _make_app(self) -> App:
        url = self._store.engine.url
        _, arguments = self._store.engine.dialect.create_connect_args(url)
        connector = PsycopgConnector(
            kwargs=arguments, min_size=1, max_size=POOL_SIZE + self._options.at_once
        )
        app = App(connector=connector)
        app.job_manager = OwnedJobs(connector)
        for kind in self._options.kinds:
            app.task(name=kind.value, queue=kind.value, pass_context=True, retry=_RetryLater())(
                self._task(kind)
            )
        return app

    def _task(self, kind: JobKind) -> Any:
        async def run_job(context: JobContext, *, shop_id: int, options: list[str]) -> None:
            assert context.job.id is not None
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(
                    self._executor, self._runner.run, context.job.id, shop_id, kind, options
                )
            except EndedByRequest as error:
                raise JobAborted(str(error)) from error
            except (StoreError, SQLAlchemyError, OSError) as error:
                # The run itself may have ended well: the next attempt then runs the shop once more,
                # at the cost of a run in which nothing has changed. Another worker may take it at
                # once, while this one, whose disk may be full, takes no other job.
                await asyncio.sleep(STORE_PAUSE)
                raise TryLater(str(error), AT_ONCE) from error

        return run_job

    async def _send_heartbeats(self, app: App, worker: ProcrastinateWorker) -> None:
        """Send this worker's heartbeats, and queue the jobs of lost workers again."""
        lease = self._settings.lease_seconds
        while True:
            await asyncio.sleep(lease / HEARTBEATS_PER_LEASE)
            try:
                if worker.worker_id is not None:
                    await app.job_manager.update_heartbeat(worker.worker_id)
                await handle_stalled_jobs(
                    app, self._store, lease * STALLED_SHARE, self._settings.job_attempts
                )
            except DATABASE_ERRORS as error:
                log.warning("the database is not reached", extra={"error": str(error)})

    def _take_signal(self) -> None:
        if self._stop_requested.is_set():
            log.warning("stopped at once")
            self._runner.kill_runs()
            return
        log.warning("stopping", extra={"grace": self._options.grace})
        self._stop_requested.set()
        self._runner.announce_stop()
        if self._worker is not None:
            self._worker.stop()  # type: ignore[no-untyped-call]
        asyncio.get_running_loop().call_later(self._options.grace, self._runner.end_runs)


class _RetryLater(BaseRetryStrategy):
    """Retries jobs that are to be tried later; all others that fail are set aside."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, TryLater):
            return RetryDecision(retry_at=exception.retry_at)
        if isinstance(exception, SetAside):
            return None
        log.error("a job has failed unexpectedly", exc_info=exception, extra={"job": job.id})
        return None


def _log_exception(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error that no task waits for.

    If the end of a job cannot be stored, the job is taken over by another worker.
    """
    error = context.get("exception")
    reasons = []
    while error is not None:
        # Procrastinate's own errors say little; their causes are the database's.
        reasons.append(" ".join(str(error).split()))
        error = error.__cause__
    log.warning(context["message"], extra={"error": ": ".join(reasons)})
