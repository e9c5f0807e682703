"""Jobs of workers that have died: queued again, or set aside after too many attempts.

One worker at a time looks for them, so that none takes a job from its second worker.
"""

import asyncio
import logging
import time
from datetime import datetime

from procrastinate import App
from procrastinate.jobs import Job, Status
from sqlalchemy import Connection, text

from catalog.models import AttemptOutcome
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import job_attempts
from scout.job_queue.queue_schema import LOCK_KEY

JOB_RETENTION = 14 * 24
"""Hours after which finished jobs are deleted."""

CLEANING_INTERVAL = 3600.0
"""Seconds between two deletions of old jobs by one worker."""

log = logging.getLogger("scout.workers")
_last_cleaning = -CLEANING_INTERVAL


async def handle_stalled_jobs(app: App, store: Store, seconds: float, max_attempts: int) -> None:
    """Queue the jobs again whose workers have sent no heartbeat for some seconds."""
    connection = await asyncio.to_thread(store.engine.connect)
    try:
        if await asyncio.to_thread(_try_lock, connection):
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=seconds):
                await _requeue(app, store, job, max_attempts)
            await _delete_old_jobs(app, store)
    finally:
        # Closing the connection would return it to the pool with its lock.
        await asyncio.to_thread(_unlock, connection)


async def _requeue(app: App, store: Store, job: Job, max_attempts: int) -> None:
    assert job.id is not None
    is_done, failures, now = await asyncio.to_thread(_end_attempts, store, job.id)
    fields = {"job": job.id, "lock": job.lock, "attempts": failures}
    if is_done:
        await app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=False)
    elif failures >= max_attempts:
        log.error("a job is set aside: its workers die", extra=fields)
        await app.job_manager.finish_job(job, Status.FAILED, delete_job=False)
    else:
        log.warning("a job is taken over from a lost worker", extra=fields)
        await app.job_manager.retry_job(job, retry_at=now)


def _end_attempts(store: Store, job_id: int) -> tuple[bool, int, datetime]:
    """End the open attempts at a job.

    Return True if it is done, the number of its failures, and the time of the database.
    """
    with store.write() as session:
        job_attempts.end_lost_attempts(session, job_id)
        attempts = job_attempts.read_attempts(session, job_id)
        is_done = bool(attempts) and attempts[-1].outcome == AttemptOutcome.DONE
        now = lease_table.database_now(session)
        return is_done, job_attempts.count_failures(session, job_id), now


async def _delete_old_jobs(app: App, store: Store) -> None:
    global _last_cleaning  # noqa: PLW0603 - one worker a process
    if time.monotonic() - _last_cleaning < CLEANING_INTERVAL:
        return
    _last_cleaning = time.monotonic()
    await app.job_manager.delete_old_jobs(
        JOB_RETENTION, include_cancelled=True, include_aborted=True
    )
    await asyncio.to_thread(_delete_old_attempts, store)


def _delete_old_attempts(store: Store) -> None:
    with store.write() as session:
        job_attempts.delete_old_attempts(session)


def _try_lock(connection: Connection) -> bool:
    lock = text("SELECT pg_try_advisory_lock(:key)")
    return bool(connection.execute(lock, {"key": LOCK_KEY + 1}).scalar_one())


def _unlock(connection: Connection) -> None:
    try:
        connection.execute(text("SELECT pg_advisory_unlock_all()"))
    finally:
        connection.close()
