"""Notes when a session or token was used last, behind the request.

A run may hold the database's write lock for many seconds while it stores findings: no page waits
for that only to note a time.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from sqlmodel import col, update

from catalog.errors import StoreError
from catalog.models import ApiToken, WebSession, utc_now
from catalog.storage.store import Store

INTERVAL = timedelta(minutes=1)
"""Time between two notes of a session or token."""

_writer = ThreadPoolExecutor(1, "last-use")
_lock = threading.Lock()
_noted_at: WeakKeyDictionary[Store, dict[tuple[str, int], datetime]] = WeakKeyDictionary()


def note_use(
    store: Store, table: type[WebSession | ApiToken], row_id: int, last: datetime | None
) -> None:
    """Note that a row is used now, if the last note is older than the interval."""
    now = utc_now()
    if last is not None and last > now - INTERVAL:
        return
    # The note of another request may wait for the database still.
    key = (table.__name__, row_id)
    with _lock:
        notes = _noted_at.setdefault(store, {})
        noted_at = notes.get(key)
        if noted_at is not None and noted_at > now - INTERVAL:
            return
        notes[key] = now
    _writer.submit(_write, store, table, row_id, now)


def wait_for_notes() -> None:
    """Wait until all notes so far are written; for tests."""
    _writer.submit(lambda: None).result()


def _write(store: Store, table: type[WebSession | ApiToken], row_id: int, now: datetime) -> None:
    column = "seen_at" if table is WebSession else "last_used_at"
    # The next request notes a time again.
    with suppress(StoreError), store.write() as session:
        session.exec(update(table).where(col(table.id) == row_id).values({column: now}))
