"""Rate limit of logins: failures are counted in the database, for all processes on it.

Attempts are limited per account and address, per address, and per account, so that neither one
password list on many accounts nor many addresses on one account get far. A correct password is
refused as well while a limit is reached.
"""

from datetime import timedelta

from sqlmodel import Session, col, delete, func, select

from catalog.models import LoginFailure, utc_now
from catalog.storage.store import Store

WINDOW = timedelta(minutes=15)
"""Time for which a failure counts."""

MAX_FAILURES = 5
"""Failures of one account from one address within the window."""

MAX_FAILURES_OF_ADDRESS = 30
"""Failures from one address within the window, on all accounts."""

MAX_FAILURES_OF_ACCOUNT = 50
"""Failures of one account within the window, from all addresses."""


def is_limited(store: Store, name: str, address: str) -> bool:
    """Return True if too many attempts have failed to allow another one."""
    name_key = _key(name)
    with store.read() as session:
        of_name = col(LoginFailure.name_key) == name_key
        of_address = col(LoginFailure.address) == address
        return (
            _count(session, of_name, of_address) >= MAX_FAILURES
            or _count(session, of_address) >= MAX_FAILURES_OF_ADDRESS
            or _count(session, of_name) >= MAX_FAILURES_OF_ACCOUNT
        )


def note_failure(store: Store, name: str, address: str) -> None:
    """Count a failed attempt; those of former windows are deleted."""
    with store.write() as session:
        former = col(LoginFailure.failed_at) < utc_now() - WINDOW
        session.exec(delete(LoginFailure).where(former))
        session.add(LoginFailure(name_key=_key(name), address=address))


def forget_failures(store: Store, name: str, address: str) -> None:
    """Delete the failures of an account from an address, after a successful login."""
    with store.write() as session:
        session.exec(
            delete(LoginFailure).where(
                col(LoginFailure.name_key) == _key(name), col(LoginFailure.address) == address
            )
        )


def _key(name: str) -> str:
    # Whatever is typed as a name is bounded and can be stored.
    return name.strip().casefold()[:100].encode(errors="replace").decode().replace("\x00", "?")


def _count(session: Session, *conditions: object) -> int:
    recent = col(LoginFailure.failed_at) >= utc_now() - WINDOW
    query = select(func.count()).select_from(LoginFailure).where(recent, *conditions)  # type: ignore[arg-type]
    return session.exec(query).one()
