"""The audit log: who did what, when, to which shop. Entries are only ever added."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlmodel import col, select

from catalog.models import AuditEntry
from catalog.storage.store import Store

_MAX_TEXT = 500  # characters of a stored text: a bound against hostile input


def record_action(
    store: Store,
    actor: str,
    action: str,
    shop: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry. `details` hold no secrets and no values from pages, only short texts."""
    cleaned = {name: _clean(value) for name, value in (details or {}).items()}
    entry = AuditEntry(actor=_clean(actor), action=action, shop=shop, details=cleaned)
    with store.write() as session:
        session.add(entry)


def read_log(
    store: Store,
    *,
    actor: str | None = None,
    shop: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> Sequence[AuditEntry]:
    """Return the newest entries; `before` is the id of the last entry of the page before."""
    query = select(AuditEntry)
    if actor is not None:
        query = query.where(AuditEntry.actor == actor)
    if shop is not None:
        query = query.where(AuditEntry.shop == shop)
    if before is not None:
        query = query.where(col(AuditEntry.id) < before)
    with store.read() as session:
        return session.exec(query.order_by(col(AuditEntry.id).desc()).limit(limit)).all()


def _clean(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value[:_MAX_TEXT].encode(errors="replace").decode()
    return "".join(character if character.isprintable() else " " for character in text)
