"""The frontier: the page table as a queue with leases.

What a fetch leaves behind - the page's new state, its body's name, its new links - is one transaction, so a crawl
killed at any moment goes on where it was. Links that are known already never become requests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from typing import Any

from sqlalchemy import CursorResult, and_, bindparam, func, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel, col, select, update

from catalog.models import Page, PageState, now
from catalog.storage.store import Store

BATCH = 500
SOON = timedelta(hours=12)
WEEK = timedelta(days=7)
OPEN = (PageState.PENDING, PageState.LEASED)
ASKED = (PageState.FETCHED, PageState.REDIRECTED, PageState.FAILED, PageState.GONE)
TRAP = "trap:"
DEAD = "dead link"
WRONG = "not where its canonical would be"
SAME_PAGE = "same page as its canonical"
SESSION = "same page in another session"


@dataclass(frozen=True)
class Link:
    """A cleaned URL to crawl. Higher `priority` is fetched first; `chain` counts barren hops (see `crawler.pages.extract_links`)."""

    url: str
    source: str = "link"
    priority: int = 0
    depth: int = 0
    chain: int = 0


@dataclass(frozen=True)
class Outcome:
    """What became of one page: the columns to set, and the links it brought."""

    page_id: int
    state: PageState
    columns: dict[str, Any] = field(default_factory=dict)
    links: Sequence[Link] = ()


class Frontier:
    """One shop's pages during one run."""

    def __init__(self, store: Store, shop_id: int, run_id: int | None = None) -> None:
        self._store, self._shop, self._run = store, shop_id, run_id

    def add(self, links: Iterable[Link], also: Sequence[SQLModel] = ()) -> int:
        """Insert the links not known yet, and rows that belong to them, in one transaction; gives how many were new."""
        with self._store.write() as session:
            session.add_all(also)
            return self._insert(session, links)

    def claim(self, most: int, lease: timedelta = timedelta(minutes=5)) -> list[Page]:
        """Take up to `most` pages that are due, best priority first, for the time of `lease`."""
        moment = now()
        with self._store.write() as session:
            pages = self._best(session, _waiting(moment), most)
            pages += self._best(session, _lapsed(moment), most - len(pages))
            leased = {"state": PageState.LEASED, "leased_until": moment + lease}
            taken = update(Page).where(col(Page.id).in_([page.id for page in pages]))
            session.connection().execute(taken.values(**leased, attempts=Page.attempts + 1))
            for page in pages:
                session.expunge(page)
                page.state, page.leased_until, page.attempts = (
                    PageState.LEASED,
                    moment + lease,
                    page.attempts + 1,
                )
            return pages

    def _best(self, session: Session, due: Any, most: int) -> list[Page]:
        """Due pages, which the index gives in order, however many are waiting."""
        if most <= 0:
            return []
        mine = select(Page).where(Page.shop_id == self._shop, due)
        best = mine.order_by(col(Page.priority).desc(), col(Page.id)).limit(most)
        return list(session.exec(best.with_for_update(skip_locked=True)))

    def settle(self, outcomes: Iterable[Outcome]) -> int:
        """Write what became of pages, with their new links, in one transaction; gives how many links were new."""
        alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        links: dict[str, Link] = {}
        for outcome in outcomes:
            row = {
                "state": outcome.state,
                "leased_until": None,
                "run_id": self._run,
                **outcome.columns,
            }
            alike.setdefault(tuple(row), []).append(row | {"this": outcome.page_id})
            for link in outcome.links:
                links.setdefault(link.url, link)
        with self._store.write() as session:
            for names, rows in alike.items():
                change = update(Page).where(col(Page.id) == bindparam("this"))
                session.connection().execute(
                    change.values({name: bindparam(name) for name in names}), rows
                )
            return self._insert(session, links.values())

    def date(self, changed: Mapping[str, datetime]) -> int:
        """Note when pages have changed, as sitemaps say; gives how many need not be fetched again, having been since.

        A date alone means any hour of that day, anywhere. What was not looked at for a week is due all the same, and so
        are each day those whose turn it is: a redesign that the sitemap says nothing of soon shows on some.
        """
        rows = [{"this": url, "moment": moment} for url, moment in changed.items()]
        return sum(self._date(rows[start : start + BATCH]) for start in range(0, len(rows), BATCH))

    def _date(self, rows: list[dict[str, Any]]) -> int:
        mine = Page.shop_id == self._shop, col(Page.url).in_([row["this"] for row in rows])
        waiting = (
            Page.state == PageState.PENDING,
            col(Page.body).is_not(None),
            Page.source != "root",
        )
        rested = col(Page.fetched_at) > now() - WEEK, ~has_its_turn(now())
        said = {row["this"]: _latest(row["moment"]) for row in rows}
        with self._store.write() as session:
            noted = update(Page).where(
                col(Page.shop_id) == self._shop, col(Page.url) == bindparam("this")
            )
            session.connection().execute(noted.values(lastmod=bindparam("moment")), rows)
            found = session.exec(
                select(Page.id, Page.url, Page.fetched_at).where(*mine, *waiting, *rested)
            )
            same = [key for key, url, at in found if at and at > said[url]]
            these = update(Page).where(col(Page.id).in_(same))
            session.exec(these.values(state=PageState.FETCHED, reason=None, run_id=self._run))
        return len(same)

    def release(self) -> int:
        """Give all leased pages back: call it where no other crawler of the shop can be alive."""
        with self._store.write() as session:
            given: CursorResult[Any] = session.exec(
                update(Page)
                .where(col(Page.shop_id) == self._shop, col(Page.state) == PageState.LEASED)
                .values(state=PageState.PENDING, leased_until=None)
            )
            return given.rowcount

    def counts(self) -> dict[str, int]:
        """Pages by state."""
        with self._store.read() as session:
            rows = session.exec(
                select(Page.state, func.count())
                .where(Page.shop_id == self._shop)
                .group_by(col(Page.state))
            )
            return {str(state): number for state, number in rows}

    def reasons(self) -> dict[str, int]:
        """Pages by the reason why they were not fetched, or not as they were asked for."""
        with self._store.read() as session:
            told = select(Page.reason, func.count()).where(
                Page.shop_id == self._shop, col(Page.reason).is_not(None)
            )
            rows = session.exec(told.group_by(col(Page.reason)))
            return {str(reason): number for reason, number in rows}

    def leave(self, reason: str) -> int:
        """Note on all open pages that have no reason of their own why they were left; gives how many."""
        with self._store.write() as session:
            left: CursorResult[Any] = session.exec(
                update(Page)
                .where(
                    col(Page.shop_id) == self._shop,
                    col(Page.state).in_(OPEN),
                    col(Page.reason).is_(None),
                )
                .values(reason=reason)
            )
            return left.rowcount

    def asked(self) -> int:
        """How many pages this run has asked for already."""
        with self._store.read() as session:
            mine = Page.shop_id == self._shop, Page.run_id == self._run, col(Page.state).in_(ASKED)
            return session.exec(select(func.count()).where(*mine)).one()

    def next_due(self) -> datetime | None:
        """When the next open page is due; None where none is open. Leased pages count with the end of their lease."""
        with self._store.read() as session:
            due = func.coalesce(Page.leased_until, Page.not_before)
            rows = session.exec(
                select(func.count(), func.min(due), func.count(due)).where(
                    Page.shop_id == self._shop, col(Page.state).in_(OPEN)
                )
            )
            open_pages, first, waiting = rows.one()
        if not open_pages:
            return None
        return first if first is not None and waiting == open_pages else now()

    def _insert(self, session: Session, links: Iterable[Link]) -> int:
        start = {"shop_id": self._shop, "state": PageState.PENDING, "attempts": 0}
        rows = [asdict(link) | start for link in links]
        dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
        insert = dialect.insert(Page).on_conflict_do_nothing(index_elements=["shop_id", "url"])
        return (
            len(session.connection().execute(insert.returning(col(Page.id)), rows).all())
            if rows
            else 0
        )


def passed_over() -> Any:
    """Whether a page is refused by what a crawl has learnt: nothing that the shop offers is lost with it."""
    learnt = or_(
        col(Page.reason).startswith(TRAP), col(Page.reason).in_((DEAD, WRONG, SAME_PAGE, SESSION))
    )
    return and_(col(Page.state) == PageState.REFUSED, learnt)


def has_its_turn(moment: datetime) -> Any:
    """Whether a page is of the seventh that is looked at that day, whatever lets it rest, and was not just now."""
    today = col(Page.id) % WEEK.days == moment.toordinal() % WEEK.days
    return today & (col(Page.fetched_at) < moment - SOON)


def _latest(said: datetime) -> datetime:
    """The last moment that a sitemap's date can mean.

    >>> from datetime import UTC
    >>> str(_latest(datetime(2026, 5, 1, tzinfo=UTC))), str(_latest(datetime(2026, 5, 1, 8, tzinfo=UTC)))
    ('2026-05-02 12:00:00+00:00', '2026-05-01 08:00:00+00:00')
    """
    return said if said.time() != time() else said + timedelta(hours=36)


def _waiting(moment: datetime) -> Any:
    due = or_(col(Page.not_before).is_(None), col(Page.not_before) <= moment)
    return (col(Page.state) == PageState.PENDING) & due


def _lapsed(moment: datetime) -> Any:
    return (col(Page.state) == PageState.LEASED) & (col(Page.leased_until) <= moment)
