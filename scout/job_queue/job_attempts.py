"""Attempts of workers at jobs: worker, time, outcome, and the reason of a failure."""

from collections.abc import Sequence
from datetime import timedelta

from sqlmodel import Session, col, delete, func, select, update

from catalog.models import AttemptOutcome, JobAttempt, utc_now
from catalog.storage.store import Store
from scout.job_queue.job_kinds import JobKind

COUNTED = (AttemptOutcome.FAILED, AttemptOutcome.WORKER_LOST)
"""Outcomes that count until a job is set aside. A worker that dies may have died of the shop."""

RETENTION = timedelta(days=30)
"""Age at which attempts are deleted."""


def begin_attempt(store: Store, job_id: int, shop_id: int, kind: JobKind, worker: str) -> int:
    """Record that a worker begins with a job; return the id of the attempt.

    One worker has a job at a time: an attempt that is still open could not record its end.
    """
    with store.write() as session:
        _end_open_attempts(
            session, job_id, AttemptOutcome.HANDED_BACK, "its worker could not reach the database"
        )
        attempt = JobAttempt(job_id=job_id, shop_id=shop_id, kind=kind, worker=worker)
        session.add(attempt)
        session.flush()
        assert attempt.id is not None
        return attempt.id


def end_attempt(
    store: Store, attempt_id: int, outcome: AttemptOutcome, reason: str | None = None
) -> None:
    """Record how an attempt ended. One of a shop that was removed meanwhile is gone."""
    with store.write() as session:
        attempt = update(JobAttempt).where(col(JobAttempt.id) == attempt_id)
        session.exec(attempt.values(outcome=outcome, reason=reason, ended_at=utc_now()))


def end_lost_attempts(session: Session, job_id: int) -> None:
    """Record that the worker of a job's open attempts has ended, or cannot be reached."""
    reason = "its worker has ended, or cannot be reached"
    _end_open_attempts(session, job_id, AttemptOutcome.WORKER_LOST, reason)


def _end_open_attempts(session: Session, job_id: int, outcome: AttemptOutcome, reason: str) -> None:
    attempts = update(JobAttempt).where(
        col(JobAttempt.job_id) == job_id, col(JobAttempt.outcome).is_(None)
    )
    values = {"outcome": outcome, "reason": reason, "ended_at": utc_now()}
    session.exec(attempts.values(values))


def read_attempts(session: Session, job_id: int) -> Sequence[JobAttempt]:
    """Return the attempts at a job, the first one first."""
    attempts = select(JobAttempt).where(JobAttempt.job_id == job_id)
    return session.exec(attempts.order_by(col(JobAttempt.id))).all()


def count_failures(session: Session, job_id: int) -> int:
    """Count the attempts at a job that failed."""
    failed = select(func.count()).where(
        JobAttempt.job_id == job_id, col(JobAttempt.outcome).in_(COUNTED)
    )
    return session.exec(failed).one()


def delete_old_attempts(session: Session) -> None:
    """Delete the attempts that ended long ago."""
    session.exec(delete(JobAttempt).where(col(JobAttempt.ended_at) < utc_now() - RETENTION))
