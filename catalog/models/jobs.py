"""Tables of the job queue: leases, and the attempts of workers at jobs."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, String
from sqlmodel import Field, SQLModel

from catalog.models.columns import UtcDateTime, utc_now


class Lease(SQLModel, table=True):
    """The right of one process to do something alone: to run a shop, to lead the timetable.

    `token` grows with each holder (a fencing token): a write of a former holder is refused by it.
    `host` and `process_id` name the holder, and `purpose` what it does, such as "an import", where
    that is known; without a holder, `expires_at` is None. Times are those of the database.
    `lock_file` identifies the file that the holder has locked on its machine: whoever holds that
    lock knows that the holder is dead. `is_end_requested` asks the holder to end.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    token: int = Field(default=0, sa_type=BigInteger)
    host: str | None = None
    process_id: int | None = Field(default=None, sa_type=BigInteger)
    purpose: str | None = None
    lock_file: str | None = None
    acquired_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    renewed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    is_end_requested: bool = False


class AttemptOutcome(StrEnum):
    """Outcome of a worker's attempt at a job."""

    DONE = "done"
    FAILED = "failed"
    HANDED_BACK = "handed back"
    ENDED = "ended by request"
    WORKER_LOST = "worker lost"


class JobAttempt(SQLModel, table=True):
    """One attempt of a worker at a job of the queue; without an outcome it is under way.

    `job_id` is the id of the job in Procrastinate's table. `reason` says why it failed.
    """

    __tablename__ = "job_attempt"

    id: int | None = Field(default=None, primary_key=True)
    job_id: int = Field(sa_type=BigInteger, index=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    kind: str
    worker: str
    started_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: AttemptOutcome | None = Field(default=None, sa_type=String)
    reason: str | None = None


class QueueSchema(SQLModel, table=True):
    """The version of Procrastinate whose tables the database has; one row, or none."""

    __tablename__ = "queue_schema"

    id: int | None = Field(default=None, primary_key=True)
    version: str
