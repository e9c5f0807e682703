"""Sessions of browsers: a random cookie, its digest in the database, two expiry times."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlmodel import col, delete, or_, select

from catalog.models import Account, WebSession, utc_now
from catalog.storage.store import Store
from scout.web.access.last_use import note_use
from scout.web.access.secret_values import digest, new_secret

IDLE_EXPIRY = timedelta(hours=12)
"""A session ends this long after its last request (OWASP ASVS 5.0, 7.3.1)."""

ABSOLUTE_EXPIRY = timedelta(days=14)
"""A session ends this long after the login (OWASP ASVS 5.0, 7.3.2)."""


@dataclass(frozen=True)
class SignedIn:
    """A valid session with its account."""

    session_id: int
    account: Account
    has_messages: bool = False


def start_session(store: Store, account_id: int) -> str:
    """Start a session; return the value of its cookie. Expired sessions are deleted."""
    cookie = new_secret()
    now = utc_now()
    is_expired = or_(
        col(WebSession.seen_at) < now - IDLE_EXPIRY,
        col(WebSession.created_at) < now - ABSOLUTE_EXPIRY,
    )
    with store.write() as session:
        session.exec(delete(WebSession).where(is_expired))
        session.add(WebSession(account_id=account_id, digest=digest(cookie)))
    return cookie


def find_session(store: Store, cookie: str) -> SignedIn | None:
    """Return the session of a cookie if it is valid, and note its request."""
    now = utc_now()
    query = (
        select(WebSession, Account)
        .join(Account, col(Account.id) == col(WebSession.account_id))
        .where(
            WebSession.digest == digest(cookie),
            col(WebSession.seen_at) >= now - IDLE_EXPIRY,
            col(WebSession.created_at) >= now - ABSOLUTE_EXPIRY,
        )
    )
    with store.read() as session:
        row = session.exec(query).first()
    if row is None:
        return None
    web_session, account = row
    assert web_session.id is not None
    note_use(store, WebSession, web_session.id, web_session.seen_at)
    return SignedIn(web_session.id, account, bool(web_session.messages))


def end_session(store: Store, session_id: int) -> None:
    """End one session."""
    with store.write() as session:
        session.exec(delete(WebSession).where(col(WebSession.id) == session_id))


def end_sessions(store: Store, account_id: int, keep_session: int | None = None) -> int:
    """End the sessions of an account, all but `keep_session`; return their number."""
    ended = delete(WebSession).where(col(WebSession.account_id) == account_id)
    if keep_session is not None:
        ended = ended.where(col(WebSession.id) != keep_session)
    with store.write() as session:
        return session.exec(ended).rowcount


def list_sessions(store: Store, account_id: int) -> list[WebSession]:
    """Return the sessions of an account, the most recently used first."""
    query = select(WebSession).where(WebSession.account_id == account_id)
    with store.read() as session:
        return list(session.exec(query.order_by(col(WebSession.seen_at).desc())))


def add_message(store: Store, session_id: int, message: dict[str, Any]) -> None:
    """Keep a message for the next page of a session."""
    with store.write() as session:
        stored = session.get(WebSession, session_id, with_for_update=True)
        if stored is not None:
            stored.messages = [*stored.messages, message]


def take_messages(store: Store, session_id: int) -> list[dict[str, Any]]:
    """Return the messages of a session and delete them."""
    with store.write() as session:
        stored = session.get(WebSession, session_id, with_for_update=True)
        if stored is None:
            return []
        messages, stored.messages = stored.messages, []
        return messages
