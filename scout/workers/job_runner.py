"""One attempt at a job: the command of `scout` in a process of its own, and its consequences.

A shop that another process runs is no failure: the job waits. A failed job is tried again after a
pause that grows, and set aside after a number of attempts.
"""

import logging
import random
import signal
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from catalog.errors import ScoutError
from catalog.models import AttemptOutcome, Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import job_attempts
from scout.job_queue.job_kinds import COMMANDS, JobKind
from scout.job_queue.shop_jobs import shop_lock
from scout.pipeline import locks
from scout.pipeline.run_pool import RunPool, RunResult

FIRST_PAUSE = 60.0
"""Seconds until a job that failed is tried again."""

PAUSE_GROWTH = 4
"""Factor from one pause to the next: 1, 4 and 16 minutes."""

PAUSE_SPREAD = 0.2
"""Share by which pauses differ: the shops of one outage do not all come back at once."""

WRONG_USAGE = 2
"""Exit code of `scout` for a command that cannot succeed."""

EXPIRY_MARGIN = 1 / 90
"""Share of a lease's time between its end and the next attempt: 1 of 90 seconds by default."""

END_WAIT = 1.0
"""Seconds for this worker's own SIGTERM to arrive where a supervisor sends it to all processes."""

log = logging.getLogger("scout.workers")


class TryLater(ScoutError):
    """The job goes back to the queue until `retry_at`, by the clock of the database."""

    def __init__(self, reason: str, retry_at: datetime) -> None:
        super().__init__(reason)
        self.retry_at = retry_at


class SetAside(ScoutError):
    """The job has failed for good; the message is the reason."""


class EndedByRequest(ScoutError):
    """Somebody asked for the end of the run."""


class JobRunner:
    """Runs the jobs of one worker. `flags` are the global options of `scout`."""

    def __init__(self, settings: Settings, store: Store, flags: Sequence[str]) -> None:
        self._settings, self._store = settings, store
        self._pool = RunPool(settings, store, flags, shares_slots=False)
        self._label = locks.process_label()
        self._stopping = threading.Event()

    def announce_stop(self) -> None:
        """Note that the worker ends: runs that end from now on are handed back."""
        self._stopping.set()

    def end_runs(self) -> None:
        """Ask the runs under way to end."""
        self._pool.stop()

    def kill_runs(self) -> None:
        """Kill the runs under way."""
        self._pool.kill()

    def run(self, job_id: int, shop_id: int, kind: JobKind, options: Sequence[str]) -> None:
        """Do a job. Raises TryLater, SetAside, EndedByRequest."""
        with self._store.read() as session:
            shop = session.get(Shop, shop_id)
            earlier = job_attempts.read_attempts(session, job_id)
        if shop is None:
            # It was removed since the job was queued.
            return
        if self._stopping.is_set():
            raise self._later("its worker was stopped", 0)
        self._require_free(shop)
        lease_table.clear_end_request(self._store, shop_lock(shop))
        attempt_id = job_attempts.begin_attempt(self._store, job_id, shop_id, kind, self._label)
        fields = {"shop": shop.name, "job": job_id, "kind": kind.value, "attempt": len(earlier) + 1}
        log.info("a job is begun", extra=fields)
        # A second attempt resumes the first one, also where that was to begin from scratch.
        command = [*COMMANDS[kind], *([] if earlier else options)]
        try:
            result = self._pool.run(shop_id, shop.name, command)
        except OSError as error:
            # This machine's fault, for example a disk that is full or read-only: not the shop's.
            reason = f"the run could not be started: {error}"
            outcome = AttemptOutcome.HANDED_BACK
            job_attempts.end_attempt(self._store, attempt_id, outcome, reason)
            raise self._later(reason, FIRST_PAUSE) from error
        if result.exit_code < 0:
            locks.release_dead(self._settings, self._store, shop_lock(shop))
        outcome, reason = self._judge(shop, result)
        job_attempts.end_attempt(self._store, attempt_id, outcome, reason)
        log.info(
            "an attempt has ended", extra={**fields, "outcome": outcome.value, "reason": reason}
        )
        if outcome == AttemptOutcome.DONE:
            return
        if outcome == AttemptOutcome.ENDED:
            raise EndedByRequest(reason)
        if outcome == AttemptOutcome.HANDED_BACK:
            raise self._later(reason, 0)
        self._fail(job_id, shop, result, reason)

    def _require_free(self, shop: Shop) -> None:
        """Raise TryLater while another process runs a shop."""
        holder = locks.find_holder(self._settings, self._store, shop_lock(shop))
        if holder is None:
            return
        # The lease expires then, unless it is renewed.
        assert holder.expires_at is not None
        margin = timedelta(seconds=self._settings.lease_seconds * EXPIRY_MARGIN)
        message = lease_table.busy_message(f"shop {shop.name!r}", holder)
        raise TryLater(message, holder.expires_at + margin)

    def _judge(self, shop: Shop, result: RunResult) -> tuple[AttemptOutcome, str]:
        """Return the outcome of an attempt and its reason."""
        if result.exit_code == 0:
            return AttemptOutcome.DONE, ""
        if result.over_memory:
            return AttemptOutcome.FAILED, result.last_line
        if lease_table.was_end_requested(self._store, shop_lock(shop)):
            return AttemptOutcome.ENDED, "ended by request"
        is_signalled = result.exit_code in (128 + signal.SIGTERM, -signal.SIGTERM)
        if self._stopping.wait(END_WAIT if is_signalled else 0) or is_signalled:
            return AttemptOutcome.HANDED_BACK, "its worker was stopped"
        holder = locks.find_holder(self._settings, self._store, shop_lock(shop))
        if holder is not None:
            # The next attempt waits for it.
            return AttemptOutcome.HANDED_BACK, lease_table.busy_message(shop.name, holder)
        return AttemptOutcome.FAILED, result.failure_reason

    def _fail(self, job_id: int, shop: Shop, result: RunResult, reason: str) -> None:
        with self._store.read() as session:
            failures = job_attempts.count_failures(session, job_id)
        fields = {"shop": shop.name, "job": job_id, "attempts": failures, "reason": reason}
        if result.exit_code == WRONG_USAGE or failures >= self._settings.job_attempts:
            log.error("a job is set aside", extra=fields)
            raise SetAside(reason)
        seconds = retry_pause(failures)
        log.warning("a job has failed", extra={**fields, "again_in": round(seconds)})
        raise self._later(reason, seconds)

    def _later(self, reason: str, seconds: float) -> TryLater:
        with self._store.read() as session:
            now = lease_table.database_now(session)
        return TryLater(reason, now + timedelta(seconds=seconds))


def retry_pause(failures: int) -> float:
    """Return the seconds until a job that has failed so often is tried again."""
    spread = random.uniform(1 - PAUSE_SPREAD, 1 + PAUSE_SPREAD)  # noqa: S311 - no secret
    return FIRST_PAUSE * float(PAUSE_GROWTH ** (failures - 1)) * spread
