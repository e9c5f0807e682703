"""Causes of missing offers that reviewers have dismissed: known, and left as they are."""

from sqlmodel import Session, col, delete, select

from catalog.models import DismissedCause


def read_dismissed(session: Session, shop_id: int) -> dict[str, DismissedCause]:
    """Read the dismissed causes of a shop by name."""
    query = select(DismissedCause).where(DismissedCause.shop_id == shop_id)
    return {row.cause: row for row in session.exec(query)}


def dismiss_cause(session: Session, shop_id: int, cause: str, reviewer: str) -> None:
    """Dismiss a cause; one that is dismissed already stays as it is."""
    if cause not in read_dismissed(session, shop_id):
        session.add(DismissedCause(shop_id=shop_id, cause=cause, dismissed_by=reviewer))


def restore_cause(session: Session, shop_id: int, cause: str) -> None:
    """Take the dismissal of a cause back."""
    session.exec(
        delete(DismissedCause).where(
            col(DismissedCause.shop_id) == shop_id, col(DismissedCause.cause) == cause
        )
    )
