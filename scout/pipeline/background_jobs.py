"""Jobs that the web application starts: the run of a shop, learning its rules, or an import.

Each is a process of its own within the machine's budget (`scout.pipeline.run_pool`), or queued for
workers (`scout.job_queue`). A shop has one job at a time; the lease of the shop also holds off runs
that others have started, on this machine or another.
"""

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from catalog.errors import Busy
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from scout.job_queue.job_kinds import COMMANDS, PURPOSES, QUEUED_KINDS, JobKind
from scout.job_queue.queue_schema import require_queue
from scout.pipeline import locks
from scout.pipeline.run_pool import RunPool, RunResult
from scout.pipeline.run_records import shop_key

MAX_JOBS = 100
"""Jobs that wait or run at a time."""


@dataclass(frozen=True)
class JobState:
    """The last job of a shop that this process started; `result` is None until it ends."""

    kind: JobKind
    result: RunResult | None = None

    @property
    def is_open(self) -> bool:
        """Return True if the job waits or runs."""
        return self.result is None

    @property
    def error(self) -> str | None:
        """The reason why the job failed, None where it did not."""
        if self.result is None or self.result.exit_code == 0:
            return None
        return self.result.failure_reason


class BackgroundJobs:
    """Starts and ends jobs until `stop`. `flags` are the global options of `scout`.

    With the setting `use_workers`, jobs that any worker can do are queued instead. Raises
    ConfigError where there can be no queue.
    """

    def __init__(self, settings: Settings, store: Store, flags: Sequence[str]) -> None:
        if settings.use_workers:
            require_queue(store)
        self._settings, self._store = settings, store
        self._pool = RunPool(settings, store, flags)
        self._executor = ThreadPoolExecutor(settings.at_once, "job")
        self._states: dict[int, JobState] = {}
        self._lock = threading.Lock()
        self._is_stopped = False

    def start(
        self,
        shop: Shop,
        kind: JobKind,
        options: Sequence[str] = (),
        arguments: Sequence[str] = (),
        *,
        fresh: bool = False,
    ) -> None:
        """Start a job. Raises Busy while the shop has one, or is run by another process.

        `options` are those of the command, and `arguments` stand behind the name of the shop.
        """
        shop_id = shop_key(shop)
        if fresh:
            options = [*options, "--fresh"]
        with self._lock:
            if self._is_stopped:
                raise Busy("the server is ending: try again when it is back")
            if self.is_busy(shop):
                raise Busy(self._busy_message(shop))
            if self._settings.use_workers and kind in QUEUED_KINDS:
                priority = shop_jobs.REQUESTED_PRIORITY
                shop_jobs.enqueue(self._store, shop, kind, options, priority=priority)
                self._states.pop(shop_id, None)
                return
            if sum(state.is_open for state in self._states.values()) >= MAX_JOBS:
                raise Busy(f"{MAX_JOBS} jobs are waiting already: try again later")
            self._states[shop_id] = JobState(kind)
            command = [*COMMANDS[kind], *options]
            self._executor.submit(self._work, shop_id, shop.name, kind, command, arguments)

    def _work(
        self,
        shop_id: int,
        name: str,
        kind: JobKind,
        command: Sequence[str],
        arguments: Sequence[str],
    ) -> None:
        try:
            # A job that was ended while it waited is not begun.
            if self._states[shop_id].is_open:
                result = self._pool.run(shop_id, name, command, arguments)
                self._states[shop_id] = JobState(kind, result)
        except Exception:
            # Nobody waits for this thread's result: after any error the job must not stay open.
            self._states[shop_id] = JobState(kind, RunResult(1, "the process could not be started"))
            raise

    def state(self, shop: Shop) -> JobState | None:
        """Return the last job of a shop that this process started, else its job in the queue."""
        state = self._states.get(shop_key(shop))
        if state is not None or not self._settings.use_workers:
            return state
        job = shop_jobs.newest_job(self._store, shop)
        return None if job is None else _queued_state(job)

    def forget(self, shop: Shop) -> None:
        """Forget the last job of a shop if it has ended."""
        with self._lock:
            state = self.state(shop)
            if state is not None and not state.is_open:
                self._states.pop(shop_key(shop), None)

    def is_busy(self, shop: Shop) -> bool:
        """Return True if a job of the shop waits, or any process runs it."""
        state = self.state(shop)
        if state is not None and state.is_open:
            return True
        return locks.find_holder(self._settings, self._store, shop_jobs.shop_lock(shop)) is not None

    def _busy_message(self, shop: Shop) -> str:
        """Format the message that a process uses a shop, or that a job waits for it."""
        holder = locks.find_holder(self._settings, self._store, shop_jobs.shop_lock(shop))
        state = self.state(shop)
        purpose = None if state is None else PURPOSES[state.kind]
        return lease_table.busy_message(f"shop {shop.name!r}", holder, purpose)

    def end(self, shop: Shop) -> bool:
        """End the run of a shop, whichever process does it; it can be resumed.

        Return False where none is under way.
        """
        shop_id = shop_key(shop)
        if self._pool.end_run(shop_id):
            return True
        state = self._states.get(shop_id)
        if state is not None and state.is_open:
            self._states[shop_id] = JobState(state.kind, RunResult(1, "ended before it began"))
            return True
        if self._settings.use_workers and shop_jobs.cancel_waiting(self._store, shop):
            return True
        return self._end_holder(shop_jobs.shop_lock(shop))

    def _end_holder(self, name: str) -> bool:
        """Ask the process that holds a lease to end; False where there is none but this one."""
        holder = locks.find_holder(self._settings, self._store, name)
        if holder is None:
            return False
        process_id = locks.local_process(self._settings, holder)
        if process_id == os.getpid():
            return False
        # One on another machine reads the request when it renews its lease.
        is_requested = lease_table.request_end(self._store, name)
        if process_id is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process_id, signal.SIGTERM)
        return is_requested

    def stop(self) -> None:
        """End all jobs: runs resume when they are run again."""
        with self._lock:
            self._is_stopped = True
        self._pool.stop()
        self._executor.shutdown(wait=True, cancel_futures=True)


def _queued_state(job: shop_jobs.QueuedJob) -> JobState:
    """Return the state of a job in the queue; one that was cancelled has ended without error."""
    kind = JobKind(job.kind)
    if job.state in shop_jobs.OPEN_STATES:
        return JobState(kind)
    is_failed = job.state == shop_jobs.JobState.SET_ASIDE
    return JobState(kind, RunResult(int(is_failed), job.reason or ""))
