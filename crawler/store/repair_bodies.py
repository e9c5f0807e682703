"""After a power cut: pages whose body is not what the page table says are fetched again.

A body is written before its row, but neither is forced onto the disk page by page. What a machine that went down had
written in its last minute may be missing, empty or full of zeros, while the row that names it survived. So a crawl
begins with a look at the bodies of its shop: whether they are there, and, of those that no crawl has since left behind
in peace, whether they are what their name says.
"""

from datetime import datetime, timedelta

from sqlmodel import Session, col, func, select, update

from catalog.models import Crawl, Page, PageState
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store

SETTLES = timedelta(minutes=2)
LOST = {
    "body": None, "etag": None, "last_modified": None, "rules_version": None, "kind": None, "read_reason": None,
    "attempts": 0, "not_before": None,
}  # fmt: skip
BATCH = 500


def mend(store: Store, shop_id: int, bodies: Bodies) -> int:
    """Make the pages due whose body is lost or damaged; gives how many."""
    with store.read() as session:
        since = _in_doubt_since(session, shop_id)
        pages = select(Page.id, Page.body, Page.fetched_at).where(
            Page.shop_id == shop_id, col(Page.body).is_not(None)
        )
        rows = list(session.exec(pages))
    lost = [
        key
        for key, body, at in rows
        if not bodies.holds(body or "", closely=since is None or at is None or at >= since)
    ]
    for start in range(0, len(lost), BATCH):
        these = col(Page.id).in_(lost[start : start + BATCH])
        with store.write() as session:
            session.exec(update(Page).where(these).values(**LOST))
            due = update(Page).where(these, col(Page.state) == PageState.FETCHED)
            session.exec(due.values(state=PageState.PENDING, reason=None))
    return len(lost)


def _in_doubt_since(session: Session, shop_id: int) -> datetime | None:
    """What was fetched before is on the disk for sure, for a crawl has ended in peace some time after."""
    ended = select(func.max(Crawl.finished_at)).where(Crawl.shop_id == shop_id)
    last = session.exec(ended).one()
    return last - SETTLES if last else None
