"""A new run over a shop that was crawled before: every page is due again, and may say that nothing changed.

What an earlier run refused as part of a trap stays refused, for a page that answers "not modified" teaches nothing of
traps. But the judgement may have been wrong, so each run looks at a few of them, those that waited longest first.
"""

from typing import Any

from sqlalchemy import CursorResult
from sqlmodel import Session, col, select, update

from catalog.models import Page, PageState

LOOK_AGAIN = 20


def reset(session: Session, shop_id: int) -> int:
    """Make all pages of a shop due; gives how many.

    What was stored stays, with its ETag and date: a page that answers 304 keeps its body and is not read again.
    """
    mine = col(Page.shop_id) == shop_id
    trapped = mine & (col(Page.state) == PageState.REFUSED) & col(Page.reason).startswith("trap:")
    looked_at = select(Page.id).where(trapped).order_by(col(Page.run_id), col(Page.id)).limit(LOOK_AGAIN)
    stay = select(Page.id).where(trapped, col(Page.id).not_in(list(session.exec(looked_at))))
    due = update(Page).where(mine, col(Page.state) != PageState.PENDING, col(Page.id).not_in(stay))
    fresh = {"state": PageState.PENDING, "reason": None, "attempts": 0, "not_before": None, "leased_until": None}
    given: CursorResult[Any] = session.exec(due.values(**fresh))
    waiting = update(Page).where(mine, col(Page.state) == PageState.PENDING)
    session.exec(waiting.values(attempts=0, not_before=None))
    return given.rowcount
