"""Crawl frontier: the page table as a priority queue with leases.

The result of a fetch - the page's new state, the name of its body, its new links - is one
transaction, so a crawl that is killed at any moment resumes where it was. Links that are known
already never become requests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Any

from sqlalchemy import JSON, CursorResult, and_, bindparam, case, func, or_
from sqlmodel import Session, SQLModel, col, select, update

from catalog.models import Page, PageState, utc_now
from catalog.runtime.batches import batches
from catalog.storage.bulk.page_batches import (
    insert_pages,
    prepare_claim,
    prepare_settlement,
    update_pages,
)
from catalog.storage.crawl_events import NumberedEvent, insert_events
from catalog.storage.store import Store

# Pages per statement: well below SQLite's limit of 32,766 parameters.
BATCH_SIZE = 500
# How long a claimed page belongs to its crawler.
LEASE = timedelta(minutes=5)
# A page fetched within this time is not fetched again by its day of the week alone.
MIN_REVISIT_INTERVAL = timedelta(hours=12)
# Each page is fetched again at least once in this time, whatever its sitemap says.
MAX_REVISIT_INTERVAL = timedelta(days=7)
# The latest time that a date without time of day can mean: its end in the westernmost timezone.
_DAY_ANYWHERE = timedelta(hours=36)

OPEN_STATES = (PageState.PENDING, PageState.LEASED)
REQUESTED_STATES = (
    PageState.FETCHED,
    PageState.REDIRECTED,
    PageState.FAILED,
    PageState.GONE,
)

# Reasons of pages that a crawl has learnt to skip; stored in the database.
TRAP_PREFIX = "trap:"
DEAD_LINK = "dead link"
WRONG_CANONICAL = "not where its canonical would be"
SAME_AS_CANONICAL = "same page as its canonical"
SAME_IN_OTHER_SESSION = "same page in another session"


@dataclass(frozen=True)
class FrontierLink:
    """A cleaned URL to crawl.

    Links of higher `priority` are fetched first. `depth` counts links from the start page, `chain`
    those since a page that led to an offer (see `crawler.pages.extract_links`).
    """

    url: str
    source: str = "link"
    priority: int = 0
    depth: int = 0
    chain: int = 0


@dataclass(frozen=True)
class FetchOutcome:
    """Result of one page's fetch: its new state, further columns to set, and the links found on it.

    `event` records the lessons that the crawl drew from it.
    """

    page_id: int
    state: PageState
    columns: dict[str, Any] = field(default_factory=dict)
    links: Sequence[FrontierLink] = ()
    event: NumberedEvent | None = None


class Frontier:
    """Crawl frontier of one shop during one run."""

    def __init__(self, store: Store, shop_id: int, run_id: int | None = None) -> None:
        self._store = store
        self._shop = shop_id
        self._run = run_id

    def add(
        self,
        links: Iterable[FrontierLink],
        also: Sequence[SQLModel] = (),
        events: Iterable[NumberedEvent | None] = (),
    ) -> int:
        """Insert the links that are new, the rows `also` and events, in one transaction.

        Returns the number of new links.
        """
        with self._store.write() as session:
            session.add_all(also)
            insert_events(session.connection(), self._shop, self._run or 0, events)
            return self._insert(session, links)

    def claim(self, limit: int, lease: timedelta = LEASE) -> list[Page]:
        """Lease up to `limit` due pages, best priority first."""
        now = utc_now()
        with self._store.write() as session:
            prepare_claim(session.connection())
            pages = self._lease_best(session, _is_waiting(now), limit, now + lease)
            pages += self._lease_best(session, _is_lapsed(now), limit - len(pages), now + lease)
            session.expunge_all()
            return pages

    def record_results(
        self, outcomes: Iterable[FetchOutcome], events: Iterable[NumberedEvent | None] = ()
    ) -> int:
        """Write the outcomes of fetches, their new links and events, and further events.

        All is one transaction. Returns the number of new links.
        """
        changes: dict[int, dict[str, Any]] = {}
        links: dict[str, FrontierLink] = {}
        all_events = list(events)
        for outcome in outcomes:
            row = {"state": outcome.state, "leased_until": None, "run_id": self._run}
            changes.setdefault(outcome.page_id, {}).update(row | outcome.columns)
            all_events.append(outcome.event)
            for link in outcome.links:
                links.setdefault(link.url, link)
        with self._store.write() as session:
            connection = session.connection()
            prepare_settlement(connection, self._shop)
            update_pages(connection, changes)
            insert_events(connection, self._shop, self._run or 0, all_events)
            return self._insert(session, links.values())

    def record_lastmod(self, changed: Mapping[str, datetime]) -> int:
        """Record the dates of sitemaps; returns the number of pages that need no fetch, being
        unchanged since theirs.

        A page not fetched for a week is due all the same, and so is the seventh of the pages whose
        day it is: a redesign that the sitemap does not mention shows on some of them soon.
        """
        rows = [{"row_url": url, "changed": moment} for url, moment in changed.items()]
        unchanged = 0
        for batch in batches(rows, BATCH_SIZE):
            unchanged += self._record_lastmod(batch)
        return unchanged

    def record_alternates(self, alternates: Mapping[str, Mapping[str, str]]) -> None:
        """Record the versions of pages in other languages that sitemaps name.

        `alternates` maps URLs of pages to {language code: URL}; those of unknown pages are dropped.
        """
        rows = [{"row_url": url, "versions": dict(named)} for url, named in alternates.items()]
        for batch in batches(rows, BATCH_SIZE):
            named_pages = update(Page).where(
                col(Page.shop_id) == self._shop, col(Page.url) == bindparam("row_url")
            )
            change = named_pages.values(sitemap_alternates=bindparam("versions", type_=JSON))
            with self._store.write() as session:
                session.connection().execute(change, batch)

    def _record_lastmod(self, rows: Sequence[dict[str, Any]]) -> int:
        now = utc_now()
        changed_before = {row["row_url"]: _latest_meaning(row["changed"]) for row in rows}
        with self._store.write() as session:
            dated = update(Page).where(
                col(Page.shop_id) == self._shop, col(Page.url) == bindparam("row_url")
            )
            session.connection().execute(dated.values(lastmod=bindparam("changed")), rows)
            skippable = session.exec(
                select(Page.id, Page.url, Page.fetched_at).where(
                    Page.shop_id == self._shop,
                    col(Page.url).in_(list(changed_before)),
                    Page.state == PageState.PENDING,
                    col(Page.body).is_not(None),
                    Page.source != "root",
                    col(Page.fetched_at) > now - MAX_REVISIT_INTERVAL,
                    ~due_today(now),
                )
            )
            unchanged = []
            for page_id, url, fetched_at in skippable:
                if fetched_at and fetched_at > changed_before[url]:
                    unchanged.append(page_id)
            skipped = update(Page).where(col(Page.id).in_(unchanged))
            session.exec(skipped.values(state=PageState.FETCHED, reason=None, run_id=self._run))
        return len(unchanged)

    def release(self) -> int:
        """End all leases; returns their number. The attempts that they began do not count.

        Only where no other crawler of the shop can be alive.
        """
        with self._store.write() as session:
            released: CursorResult[Any] = session.exec(
                update(Page)
                .where(col(Page.shop_id) == self._shop, col(Page.state) == PageState.LEASED)
                .values(
                    state=PageState.PENDING,
                    leased_until=None,
                    attempts=case((col(Page.attempts) > 0, Page.attempts - 1), else_=0),
                )
            )
            return released.rowcount

    def renew_leases(self, lease: timedelta = LEASE) -> list[Page]:
        """Lease the pages anew that an interrupted crawl has leased, in the order of their claim.

        Only where no other crawler of the shop can be alive.
        """
        with self._store.write() as session:
            leased = update(Page).where(
                col(Page.shop_id) == self._shop, col(Page.state) == PageState.LEASED
            )
            renewed = leased.values(leased_until=utc_now() + lease).returning(Page)
            pages = list(session.scalars(renewed, execution_options={"synchronize_session": False}))
            session.expunge_all()
        return sorted(pages, key=_claim_order)

    def newest_page_id(self) -> int:
        """Return the highest row id of the shop's pages; 0 if it has none."""
        with self._store.read() as session:
            newest = select(func.max(Page.id)).where(Page.shop_id == self._shop)
            return session.exec(newest).one() or 0

    def counts(self) -> dict[str, int]:
        """Count pages by state."""
        with self._store.read() as session:
            rows = session.exec(
                select(Page.state, func.count())
                .where(Page.shop_id == self._shop)
                .group_by(col(Page.state))
            )
            return {str(state): number for state, number in rows}

    def reasons(self) -> dict[str, int]:
        """Count pages by the reason why they were not fetched, or not as requested."""
        with self._store.read() as session:
            explained = select(Page.reason, func.count()).where(
                Page.shop_id == self._shop, col(Page.reason).is_not(None)
            )
            rows = session.exec(explained.group_by(col(Page.reason)))
            return {str(reason): number for reason, number in rows}

    def explain_open(self, reason: str) -> int:
        """Set the reason of all open pages that have none; returns their number."""
        with self._store.write() as session:
            explained: CursorResult[Any] = session.exec(
                update(Page)
                .where(
                    col(Page.shop_id) == self._shop,
                    col(Page.state).in_(OPEN_STATES),
                    col(Page.reason).is_(None),
                )
                .values(reason=reason)
            )
            return explained.rowcount

    def count_requested(self) -> int:
        """Count the pages that this run has requested."""
        with self._store.read() as session:
            requested = select(func.count()).where(
                Page.shop_id == self._shop,
                Page.run_id == self._run,
                col(Page.state).in_(REQUESTED_STATES),
            )
            return session.exec(requested).one()

    def count_fetched(self) -> int:
        """Count the pages that this run has fetched or found unchanged."""
        with self._store.read() as session:
            fetched = select(func.count()).where(
                Page.shop_id == self._shop,
                Page.run_id == self._run,
                Page.state == PageState.FETCHED,
            )
            return session.exec(fetched).one()

    def next_due(self) -> datetime | None:
        """Return the time when the next open page is due; None where no page is open.

        Leased pages are due when their lease ends.
        """
        with self._store.read() as session:
            due = func.coalesce(Page.leased_until, Page.not_before)
            rows = session.exec(
                select(func.count(), func.min(due), func.count(due)).where(
                    Page.shop_id == self._shop, col(Page.state).in_(OPEN_STATES)
                )
            )
            open_pages, first_due, waiting = rows.one()
        if not open_pages:
            return None
        # A page without a time is due now.
        if first_due is None or waiting < open_pages:
            return utc_now()
        return first_due

    def _lease_best(
        self, session: Session, is_due: Any, limit: int, leased_until: datetime
    ) -> list[Page]:
        """Lease due pages by priority; the index gives them in order, however many are waiting."""
        if limit <= 0:
            return []
        due = select(Page.id).where(Page.shop_id == self._shop, is_due)
        best = due.order_by(col(Page.priority).desc(), col(Page.id)).limit(limit)
        # Other crawlers of the shop take the next ones instead of waiting.
        chosen = best.with_for_update(skip_locked=True).cte("chosen")
        claimed = update(Page).where(col(Page.id).in_(select(chosen.c.id)))
        leased = claimed.values(
            state=PageState.LEASED, leased_until=leased_until, attempts=Page.attempts + 1
        )
        pages = session.scalars(
            leased.returning(Page), execution_options={"synchronize_session": False}
        )
        # The rows of an update come in no order.
        return sorted(pages, key=_claim_order)

    def _insert(self, session: Session, links: Iterable[FrontierLink]) -> int:
        initial = {"state": PageState.PENDING, "attempts": 0, "unchanged": 0}
        rows = [vars(link) | initial for link in links]
        return insert_pages(session.connection(), self._shop, rows)


def skipped_by_policy() -> Any:
    """Return the SQL condition for pages that a crawl has learnt to skip; no offer is lost with
    them.
    """
    has_learnt_reason = or_(
        col(Page.reason).startswith(TRAP_PREFIX),
        col(Page.reason).in_(
            (DEAD_LINK, WRONG_CANONICAL, SAME_AS_CANONICAL, SAME_IN_OTHER_SESSION)
        ),
    )
    return and_(col(Page.state) == PageState.REFUSED, has_learnt_reason)


def due_today(now: datetime) -> Any:
    """Return the SQL condition for the seventh of all pages whose day it is, without those just
    fetched.
    """
    days = MAX_REVISIT_INTERVAL.days
    is_their_day = col(Page.id) % days == now.toordinal() % days
    return is_their_day & (col(Page.fetched_at) < now - MIN_REVISIT_INTERVAL)


def _claim_order(page: Page) -> tuple[int, int]:
    return -page.priority, page.id or 0


def _latest_meaning(lastmod: datetime) -> datetime:
    """Return the latest time that a sitemap's date can mean.

    >>> from datetime import UTC
    >>> str(_latest_meaning(datetime(2026, 5, 1, tzinfo=UTC))), str(_latest_meaning(datetime(2026, 5, 1, 8, tzinfo=UTC)))
    ('2026-05-02 12:00:00+00:00', '2026-05-01 08:00:00+00:00')
    """
    if lastmod.time() != time():
        return lastmod
    return lastmod + _DAY_ANYWHERE


def _is_waiting(now: datetime) -> Any:
    is_due = or_(col(Page.not_before).is_(None), col(Page.not_before) <= now)
    return (col(Page.state) == PageState.PENDING) & is_due


def _is_lapsed(now: datetime) -> Any:
    return (col(Page.state) == PageState.LEASED) & (col(Page.leased_until) <= now)
