"""Jobs on shops in the queue: add, list and cancel them, and queue failed ones again.

A shop has one job at a time that waits or is under way: Procrastinate's lock and queueing lock are
the name of the shop's lease. A job that failed too often is set aside: it stays, with the reason of
its last attempt, until somebody tries it again or the shop gets a new job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import RowMapping, text
from sqlmodel import Session

from catalog.errors import Busy, UsageError
from catalog.models import Shop
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import job_attempts
from scout.job_queue.job_kinds import JobKind
from scout.job_queue.queue_schema import driver_connection, lock_queue, require_queue

if TYPE_CHECKING:
    from procrastinate.manager import JobManager

SCHEDULED_PRIORITY = 0
"""Priority of jobs of the timetable; those of higher priority are taken first."""

REQUESTED_PRIORITY = 10
"""Priority of jobs that a person waits for."""

MAX_LISTED = 10_000
"""Jobs in one list."""


class JobState(StrEnum):
    """State of a job; the values are those of people, not Procrastinate's."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SET_ASIDE = "set aside"
    CANCELLED = "cancelled"


_STATES = {
    "todo": JobState.WAITING,
    "doing": JobState.RUNNING,
    "succeeded": JobState.DONE,
    "failed": JobState.SET_ASIDE,
    "cancelled": JobState.CANCELLED,
    "aborted": JobState.CANCELLED,
}

OPEN_STATES = (JobState.WAITING, JobState.RUNNING)
"""States of jobs that are not finished; a shop has at most one such job."""


@dataclass(frozen=True)
class QueuedJob:
    """A job of the queue with its last attempt.

    `not_before` is the time of its next attempt, None if it is due. `attempts` counts those begun,
    `worker` did the last one, and `reason` says why that failed.
    """

    id: int
    shop: str | None
    kind: str
    state: JobState
    priority: int
    queued_at: datetime | None
    not_before: datetime | None
    attempts: int
    worker: str | None
    reason: str | None


_LIST = """
SELECT job.id, shop.name AS shop, job.queue_name AS kind, job.status::text AS status, job.priority,
  job.scheduled_at, job.args,
  (SELECT min(at) FROM procrastinate_events WHERE job_id = job.id AND type = 'deferred') AS queued_at,
  (SELECT count(*) FROM job_attempt WHERE job_id = job.id) AS attempts,
  attempt.worker, attempt.reason
FROM procrastinate_jobs job
LEFT JOIN shop ON shop.id = (job.args->>'shop_id')::integer
LEFT JOIN LATERAL (
  SELECT worker, reason FROM job_attempt WHERE job_id = job.id ORDER BY id DESC LIMIT 1
) attempt ON true
WHERE job.lock IS NOT NULL AND {condition}
ORDER BY job.status = 'doing' DESC, job.status = 'todo' DESC, job.priority DESC, job.id
LIMIT :limit
"""


def enqueue(
    store: Store,
    shop: Shop,
    kind: JobKind = JobKind.RUN,
    options: Sequence[str] = (),
    *,
    priority: int = SCHEDULED_PRIORITY,
) -> int:
    """Add a job on a shop to the queue and return its id; `options` are those of the command.

    A job of the shop that was set aside is replaced. Raises Busy while the shop has a job that
    waits or is under way, ConfigError where there can be no queue.
    """
    from procrastinate.jobs import Job

    require_queue(store)
    lock = shop_lock(shop)
    with store.write() as session:
        # Under the lock, nobody else adds a job of the shop between the question and the answer.
        lock_queue(session)
        if (former := _find_open(session, lock)) is not None:
            state = _STATES[former["status"]]
            raise Busy(f"shop {shop.name!r} has job {former['id']} already, which is {state}")
        _delete_set_aside(session, lock)
        job = Job(
            lock=lock,
            queueing_lock=lock,
            task_name=kind.value,
            queue=kind.value,
            priority=priority,
            task_kwargs={"shop_id": shop.id, "options": list(options)},
        )
        added = _manager().defer_job(job, connection=driver_connection(session))
    assert added.id is not None
    return added.id


def list_jobs(store: Store, states: Sequence[JobState] = ()) -> list[QueuedJob]:
    """Return the jobs in these states, or all: those under way first, then in their order."""
    statuses = [name for name, state in _STATES.items() if not states or state in states]
    with store.read() as session:
        return _read_jobs(session, "job.status::text = ANY(:statuses)", {"statuses": statuses})


def newest_job(store: Store, shop: Shop) -> QueuedJob | None:
    """Return the newest job of a shop, or None."""
    newest = "job.id = (SELECT max(id) FROM procrastinate_jobs WHERE lock = :lock)"
    with store.read() as session:
        jobs = _read_jobs(session, newest, {"lock": shop_lock(shop)})
    return jobs[0] if jobs else None


def count_jobs(store: Store) -> dict[JobState, int]:
    """Count the jobs by state."""
    counted = text("SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY status")
    counts = dict.fromkeys(JobState, 0)
    with store.read() as session:
        for status, number in session.connection().execute(counted):
            if status in _STATES:
                counts[_STATES[status]] += number
    return counts


def count_workers(store: Store, seconds: float) -> int:
    """Count the workers that have reported within some seconds."""
    alive = text(
        "SELECT count(*) FROM procrastinate_workers "
        "WHERE last_heartbeat > now() - make_interval(secs => :seconds)"
    )
    with store.read() as session:
        return int(session.connection().execute(alive, {"seconds": seconds}).scalar_one())


def cancel_waiting(store: Store, shop: Shop) -> bool:
    """Cancel the job of a shop that waits; return False where there is none."""
    with store.write() as session:
        lock_queue(session)
        job = _find_open(session, shop_lock(shop))
        if job is None or _STATES[job["status"]] != JobState.WAITING:
            return False
        return _manager().cancel_job_by_id(job["id"], connection=driver_connection(session))


def cancel_lost(store: Store, shop: Shop, seconds: float) -> bool:
    """Cancel the job of a shop whose worker has not reported for some seconds.

    Other workers would take it over; where none is left, it would stay under way. Return False
    where there is no such job.
    """
    find = text(
        "SELECT job.id FROM procrastinate_jobs job "
        "LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id "
        "WHERE job.lock = :lock AND job.status = 'doing' AND (worker.id IS NULL "
        "OR worker.last_heartbeat < now() - make_interval(secs => :seconds))"
    )
    end = text("SELECT procrastinate_finish_job_v1(:id, 'aborted', false)")
    with store.write() as session:
        lock_queue(session)
        connection = session.connection()
        values = {"lock": shop_lock(shop), "seconds": seconds}
        job = connection.execute(find, values).scalar_one_or_none()
        if job is None:
            return False
        connection.execute(end, {"id": job})
        job_attempts.end_lost_attempts(session, job)
        return True


def retry_set_aside(store: Store, shop: Shop) -> int:
    """Queue a job of a shop again that was set aside, with all its attempts before it.

    Return the id of the new job. Raises UsageError where there is none.
    """
    condition = "job.lock = :lock AND job.status = 'failed'"
    with store.read() as session:
        row = _select(session, condition, {"lock": shop_lock(shop)}).first()
    if row is None:
        raise UsageError(
            f"shop {shop.name!r} has no job that was set aside: 'scout worker jobs' lists all"
        )
    return enqueue(
        store, shop, JobKind(row["kind"]), row["args"]["options"], priority=row["priority"]
    )


def shop_lock(shop: Shop) -> str:
    """Return the name of the lock of a shop's jobs, which is that of its lease."""
    return lease_table.shop_lease(shop.id or 0)


def _manager() -> "JobManager":
    """Return Procrastinate's functions for jobs; each is given the connection of a session."""
    from procrastinate import SyncPsycopgConnector
    from procrastinate.manager import JobManager

    return JobManager(SyncPsycopgConnector())


def _find_open(session: Session, lock: str) -> RowMapping | None:
    query = text(
        "SELECT id, status::text AS status FROM procrastinate_jobs "
        "WHERE lock = :lock AND status IN ('todo', 'doing')"
    )
    return session.connection().execute(query, {"lock": lock}).mappings().first()


def _delete_set_aside(session: Session, lock: str) -> None:
    query = text("DELETE FROM procrastinate_jobs WHERE lock = :lock AND status = 'failed'")
    session.connection().execute(query, {"lock": lock})


def _select(session: Session, condition: str, values: Mapping[str, object]) -> Any:
    # The condition is one of this module's.
    query = text(_LIST.format(condition=condition))
    return session.connection().execute(query, {"limit": MAX_LISTED, **values}).mappings()


def _read_jobs(session: Session, condition: str, values: Mapping[str, object]) -> list[QueuedJob]:
    jobs = []
    for row in _select(session, condition, values):
        state = _STATES[row["status"]]
        is_waiting = state == JobState.WAITING
        jobs.append(
            QueuedJob(
                id=row["id"],
                shop=row["shop"],
                kind=row["kind"],
                state=state,
                priority=row["priority"],
                queued_at=row["queued_at"],
                not_before=row["scheduled_at"] if is_waiting else None,
                attempts=row["attempts"],
                worker=row["worker"],
                reason=row["reason"],
            )
        )
    return jobs
