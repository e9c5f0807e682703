"""A new run over a shop that was crawled before: which pages are due again, and which may wait.

A page that never changes is asked less often: after a tenth of the time for which it has been the same, and once a week
at least. Pages that an earlier run had no budget left for come first: until they are done, what was fetched within a
week stays as it is, for else a small budget would be spent on the same pages night after night. Only of the offers
another seventh has its turn each day: a shop whose filters make addresses without end would else show last week's
prices, and hide a redesign.

What an earlier run refused by what it had learnt - a trap, another address of a page, a dead kind of link - stays
refused, for a page that answers "not modified" teaches nothing. But the judgement may have been wrong, so a
run that does not follow at the heels of another looks at a few of them, those that waited longest first.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CursorResult
from sqlmodel import Session, col, func, or_, select, update

from catalog.models import Page, PageKind, PageState, now
from catalog.storage.frontier import SOON, WEEK, has_its_turn, passed_over

LOOK_AGAIN = 20
SHARE = 0.1
LOOKS = 2
DONE = (PageState.FETCHED, PageState.REDIRECTED, PageState.GONE)


def reset(session: Session, shop_id: int) -> int:
    """Make pages of a shop due; gives how many.

    What was stored stays, with its ETag and date: a page that answers 304 keeps its body and is not read again.
    """
    moment, mine = now(), col(Page.shop_id) == shop_id
    judged = mine & passed_over()
    last = session.exec(select(func.max(Page.fetched_at)).where(mine)).one()
    few = 0 if last and moment - last < SOON else LOOK_AGAIN
    looked_at = select(Page.id).where(judged).order_by(col(Page.run_id), col(Page.id)).limit(few)
    stay = select(Page.id).where(judged, col(Page.id).not_in(list(session.exec(looked_at))))
    due = [mine, col(Page.state) != PageState.PENDING, col(Page.id).not_in(stay)]
    due.append(
        or_(
            col(Page.not_before).is_(None),
            col(Page.not_before) <= moment,
            col(Page.source) == "root",
        )
    )
    if session.exec(
        select(Page.id).where(mine, Page.state == PageState.PENDING, _never_seen()).limit(1)
    ).first():
        done = col(Page.state).in_(DONE) & (col(Page.fetched_at) > moment - WEEK)
        due.append(~done | (col(Page.source) == "root") | (_is_offer() & has_its_turn(moment)))
    fresh = {
        "state": PageState.PENDING,
        "reason": None,
        "attempts": 0,
        "not_before": None,
        "leased_until": None,
    }
    given: CursorResult[Any] = session.exec(update(Page).where(*due).values(**fresh))
    waiting = update(Page).where(mine, col(Page.state) == PageState.PENDING)
    session.exec(waiting.values(attempts=0, not_before=None, reason=None))
    return given.rowcount


def rests_until(page: Page, moment: datetime) -> datetime | None:
    """Until when a page need not be asked again that was found unchanged at a moment, and how often before.

    >>> first, today = datetime(2026, 1, 1), datetime(2026, 1, 31)
    >>> str(rests_until(Page(shop_id=1, url="", changed_at=first, unchanged=5), today))
    '2026-02-03 00:00:00'
    >>> rests_until(Page(shop_id=1, url="", changed_at=first, unchanged=0), today) is None
    True
    """
    if page.changed_at is None or page.unchanged < LOOKS:
        return None
    return moment + min(WEEK, SHARE * (moment - page.changed_at))


def _is_offer() -> Any:
    return (col(Page.source) == "known") | (col(Page.kind) == PageKind.OFFER)


def _never_seen() -> Any:
    return col(Page.fetched_at).is_(None)
