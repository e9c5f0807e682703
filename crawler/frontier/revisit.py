"""Revisit policy: which pages of a shop are due again in a new run, and which may wait.

A page that never changes is fetched less often: after a tenth of the time for which it has been the
same, at least once a week. Pages that no run has fetched yet come first. Until they are done, pages
fetched within a week wait: a small budget would else be spent on the same pages night after night.
A seventh of the offers is due each day all the same. A shop with endless filter addresses would
else show last week's prices, and hide a redesign.

Pages that an earlier run refused by learnt rules (traps, canonical addresses, dead links) stay
refused: a page that answers "not modified" gives no evidence. But the rules may have been wrong. So
a run that starts some time after the last one tries a few of these pages, longest waiting first.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, CursorResult
from sqlmodel import Session, col, func, or_, select, update

from catalog.models import Page, PageKind, PageState, utc_now
from catalog.storage.frontier import (
    MAX_REVISIT_INTERVAL,
    MIN_REVISIT_INTERVAL,
    due_today,
    skipped_by_policy,
)

REFUSED_TO_RETRY = 20  # refused pages that a run tries again
UNCHANGED_SHARE = 0.1  # of the time for which a page has been the same, until its next visit
MIN_UNCHANGED = 2  # visits without a change before a page may wait
FETCHED_STATES = (PageState.FETCHED, PageState.REDIRECTED, PageState.GONE)


def reset_for_revisit(session: Session, shop_id: int, *, full: bool = False) -> int:
    """Make pages of a shop due again, in a `full` run all that are not refused; returns their
    number.

    Bodies, ETags and dates stay: a page that answers 304 keeps its body and is not read again.
    """
    moment = utc_now()
    of_shop = col(Page.shop_id) == shop_id
    due = [
        of_shop,
        col(Page.state) != PageState.PENDING,
        col(Page.id).not_in(_refused_to_skip(session, of_shop, moment)),
    ]
    if not full:
        due.append(
            or_(
                col(Page.not_before).is_(None),
                col(Page.not_before) <= moment,
                col(Page.source) == "root",
            )
        )
    if not full and _has_unfetched_pages(session, of_shop):
        is_recent = col(Page.state).in_(FETCHED_STATES) & (
            col(Page.fetched_at) > moment - MAX_REVISIT_INTERVAL
        )
        due.append(~is_recent | (col(Page.source) == "root") | (_is_offer() & due_today(moment)))
    columns = {
        "state": PageState.PENDING,
        "reason": None,
        "attempts": 0,
        "not_before": None,
        "leased_until": None,
    }
    reset: CursorResult[Any] = session.exec(update(Page).where(*due).values(**columns))
    # Pages that an earlier run left open start anew, without its reason and attempts.
    pending = update(Page).where(of_shop, col(Page.state) == PageState.PENDING)
    session.exec(pending.values(attempts=0, not_before=None, reason=None))
    return reset.rowcount


def next_visit(page: Page, moment: datetime) -> datetime | None:
    """Compute when a page that was unchanged at `moment` is due again; None if at the next run.

    >>> first, today = datetime(2026, 1, 1), datetime(2026, 1, 31)
    >>> str(next_visit(Page(shop_id=1, url="", changed_at=first, unchanged=5), today))
    '2026-02-03 00:00:00'
    >>> next_visit(Page(shop_id=1, url="", changed_at=first, unchanged=0), today) is None
    True
    """
    if page.changed_at is None or page.unchanged < MIN_UNCHANGED:
        return None
    return moment + min(MAX_REVISIT_INTERVAL, UNCHANGED_SHARE * (moment - page.changed_at))


def _refused_to_skip(session: Session, of_shop: ColumnElement[bool], moment: datetime) -> Any:
    """Select the pages refused by learnt rules, but for the few that are tried again."""
    refused = of_shop & skipped_by_policy()
    last = session.exec(select(func.max(Page.fetched_at)).where(of_shop)).one()
    has_just_run = last and moment - last < MIN_REVISIT_INTERVAL
    limit = 0 if has_just_run else REFUSED_TO_RETRY
    oldest = select(Page.id).where(refused).order_by(col(Page.run_id), col(Page.id)).limit(limit)
    retried = list(session.exec(oldest))
    return select(Page.id).where(refused, col(Page.id).not_in(retried))


def _has_unfetched_pages(session: Session, of_shop: ColumnElement[bool]) -> bool:
    unfetched = select(Page.id).where(
        of_shop, Page.state == PageState.PENDING, col(Page.fetched_at).is_(None)
    )
    return session.exec(unfetched.limit(1)).first() is not None


def _is_offer() -> Any:
    return (col(Page.source) == "known") | (col(Page.kind) == PageKind.OFFER)
