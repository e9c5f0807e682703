"""The table of leases: acquire, renew, release, and list them, each in one transaction.

All times are those of the database, so that the clocks of the machines do not matter.
"""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import CursorResult, Update, text
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, col, select, update

from catalog.errors import Busy, StoreError
from catalog.models import Lease, utc_now
from catalog.storage.bulk.upsert import dialect_insert
from catalog.storage.leases.fence import Fence, describe_holder
from catalog.storage.store import Store

# First part of the names of shops' leases.
SHOP_PREFIX = "shop-"
# Wait for a transaction of the former holder that could not be ended, on PostgreSQL.
_LOCK_TIMEOUT = "5s"


@dataclass(frozen=True)
class Renewal:
    """Result of a renewal: whether the lease is still held, and whether its end was requested."""

    is_held: bool
    is_end_requested: bool = False


def shop_lease(shop_id: int) -> str:
    """Name the lease of a shop: by its id, since its name may hold any character.

    >>> shop_lease(3)
    'shop-3'
    """
    return f"{SHOP_PREFIX}{shop_id}"


def acquire(
    store: Store,
    name: str,
    subject: str,
    seconds: float,
    lock_file: str,
    purpose: str | None = None,
) -> Fence:
    """Acquire a lease for some seconds. `lock_file` identifies a file that the caller has locked.

    `purpose` is named to others that ask for the lease meanwhile.

    A lease that has expired is taken over, and one whose holder had locked the same file: it is
    dead. Raises Busy with the `subject` and the holder while another process has it.
    """
    with store.read() as session:
        former = _read_lease(session, name)
        now = database_now(session)
    if former is not None:
        _check_free(former, now, subject, lock_file)
        if former.expires_at is not None:
            _end_sessions(store, Fence(name, former.token, seconds, subject))
    try:
        with store.write() as session:
            return _take(session, Fence(name, 0, seconds, subject), lock_file, purpose)
    except StoreError as error:
        if "lock timeout" not in str(error):
            raise
        raise Busy(
            f"{subject} is held by a process that cannot be reached: try again in a minute"
        ) from error


def renew(store: Store, fence: Fence) -> Renewal:
    """Extend a lease, unless another process has taken it over."""
    with store.write() as session:
        now = database_now(session)
        session.exec(
            _held(fence).values(renewed_at=now, expires_at=now + timedelta(seconds=fence.seconds))
        )
        lease = _read_lease(session, fence.name)
        if lease is None or lease.token != fence.token:
            return Renewal(False)
        return Renewal(True, lease.is_end_requested)


def release(store: Store, fence: Fence) -> None:
    """Release a lease, unless another process has taken it over."""
    with store.write() as session:
        session.exec(_held(fence).values(expires_at=None))


def release_dead(store: Store, name: str, lock_file: str) -> None:
    """Release the lease of a dead holder; the caller holds the lock of its file."""
    with store.write() as session:
        lease = update(Lease).where(col(Lease.name) == name, col(Lease.lock_file) == lock_file)
        session.exec(lease.values(expires_at=None, token=Lease.token + 1))


def request_end(store: Store, name: str) -> bool:
    """Ask the holder of a lease to end; return False where nobody holds it."""
    with store.write() as session:
        held = update(Lease).where(
            col(Lease.name) == name, col(Lease.expires_at) > database_now(session)
        )
        changed: CursorResult[object] = session.exec(held.values(is_end_requested=True))
        return bool(changed.rowcount)


def read_held(session: Session, prefix: str = "") -> Mapping[str, Lease]:
    """Return the leases that are held now by name, those whose names have the prefix."""
    held = select(Lease).where(
        col(Lease.name).startswith(prefix, autoescape=True),
        col(Lease.expires_at) > database_now(session),
    )
    return {lease.name: lease for lease in session.exec(held.order_by(col(Lease.name)))}


def find_lease(store: Store, name: str) -> Lease | None:
    """Return a lease that is held now, else None."""
    with store.read() as session:
        lease = _read_lease(session, name)
        now = database_now(session)
    return lease if lease is not None and _is_current(lease, now) else None


def was_end_requested(store: Store, name: str) -> bool:
    """Return True if the last holder of a lease was asked to end."""
    with store.read() as session:
        lease = _read_lease(session, name)
    return lease is not None and lease.is_end_requested


def clear_end_request(store: Store, name: str) -> None:
    """Forget that the last holder of a lease was asked to end."""
    with store.write() as session:
        lease = update(Lease).where(col(Lease.name) == name, col(Lease.is_end_requested))
        session.exec(lease.values(is_end_requested=False))


def database_now(session: Session) -> datetime:
    """Return the time of the database; SQLite has that of this machine."""
    if session.get_bind().dialect.name != "postgresql":
        return utc_now()
    now: datetime = session.connection().execute(text("SELECT clock_timestamp()")).scalar_one()
    return now.astimezone(UTC)


def busy_message(subject: str, lease: Lease | None, purpose: str | None = None) -> str:
    """Format the message that another process holds a lease; None where that is not known.

    `purpose` is named where no lease tells it.
    """
    holder = ""
    if lease is not None:
        holder, purpose = f" {describe_holder(lease)}", lease.purpose
    use = f", for {purpose}" if purpose else ""
    return f"{subject} is in use already{holder}{use}: wait for that to end"


def _take(session: Session, fence: Fence, lock_file: str, purpose: str | None) -> Fence:
    """Give a lease that is free to this process."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
    lease = _lock_row(session, fence.name)
    now = database_now(session)
    _check_free(lease, now, fence.subject, lock_file)
    lease.token += 1
    lease.host, lease.process_id = socket.gethostname(), os.getpid()
    lease.lock_file, lease.is_end_requested, lease.purpose = lock_file, False, purpose
    lease.acquired_at = lease.renewed_at = now
    lease.expires_at = now + timedelta(seconds=fence.seconds)
    session.add(lease)
    return replace(fence, token=lease.token)


def _lock_row(session: Session, name: str) -> Lease:
    """Return the row of a lease, made if needed; others that acquire it wait for this one."""
    row = {"name": name, "token": 0, "is_end_requested": False}
    insert = dialect_insert(session.get_bind().dialect, Lease).values(row)
    session.connection().execute(insert.on_conflict_do_nothing(index_elements=["name"]))
    locked = select(Lease).where(Lease.name == name).with_for_update()
    return session.exec(locked.execution_options(populate_existing=True)).one()


def _check_free(lease: Lease, now: datetime, subject: str, lock_file: str) -> None:
    if _is_current(lease, now) and lease.lock_file != lock_file:
        raise Busy(busy_message(subject, lease))


def _is_current(lease: Lease, now: datetime) -> bool:
    return lease.expires_at is not None and lease.expires_at > now


def _end_sessions(store: Store, fence: Fence) -> None:
    """End the database sessions in which a lost holder writes: they would hold its locks."""
    if store.engine.dialect.name != "postgresql":
        return
    sessions = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :label "
        "AND datname = current_database() AND pid <> pg_backend_pid()"
    )
    # A role that may not end them waits for their transactions instead.
    with suppress(StoreError, OperationalError), store.write() as session:
        session.connection().execute(sessions, {"label": fence.label})


def _read_lease(session: Session, name: str) -> Lease | None:
    lease = select(Lease).where(Lease.name == name)
    return session.exec(lease.execution_options(populate_existing=True)).first()


def _held(fence: Fence) -> Update:
    return update(Lease).where(col(Lease.name) == fence.name, col(Lease.token) == fence.token)
