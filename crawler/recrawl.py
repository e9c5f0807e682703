"""A new run over a shop that was crawled before: every page is due again, and may say that nothing changed."""

from typing import Any

from sqlalchemy import CursorResult
from sqlmodel import Session, col, update

from catalog.models import Page, PageState


def reset(session: Session, shop_id: int) -> int:
    """Make all pages of a shop due; gives how many.

    What was stored stays, with its ETag and date: a page that answers 304 keeps its body and is not read again.
    """
    due = update(Page).where(col(Page.shop_id) == shop_id, col(Page.state) != PageState.PENDING)
    fresh = {"state": PageState.PENDING, "reason": None, "attempts": 0, "not_before": None, "leased_until": None}
    given: CursorResult[Any] = session.exec(due.values(**fresh))
    waiting = update(Page).where(col(Page.shop_id) == shop_id, col(Page.state) == PageState.PENDING)
    session.exec(waiting.values(attempts=0, not_before=None))
    return given.rowcount
