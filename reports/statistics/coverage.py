"""Coverage of a crawl: how much of the shop, and of the catalog's offers, a run has seen.

A number of missing offers means little without it, because an offer that was not found may merely
not have been crawled. `Coverage` is a plain value: `scout run --json` prints it, and a run stores
it in its figures, because the page table describes the newest crawl only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from catalog.language.sentences import gettext_noop
from catalog.models import (
    FINAL_SITEMAP_STATUSES,
    KnownOffer,
    Match,
    Page,
    PageKind,
    PageState,
    Run,
    Shop,
    SitemapSeen,
    Verdict,
)
from catalog.storage.frontier import skipped_by_policy
from catalog.storage.store import Store
from reports.statistics.findings_reader import clean_text
from url_cleaner.urls.url import url_key

MAX_REASON_LENGTH = 120  # characters; a bound against hostile input
_MAX_REASONS = 200  # most frequent reasons listed with the coverage
_BATCH_SIZE = 1000  # rows fetched at a time
_NOT_CRAWLED = frozenset({PageState.PENDING, PageState.LEASED, PageState.REFUSED, PageState.FAILED})


class OfferStatus(StrEnum):
    """Outcome of looking up a catalog offer's page in a crawl."""

    SEEN = gettext_noop("seen")
    PAGE_FOUND = gettext_noop("page found")
    NOT_FOUND = gettext_noop("not found")
    NOT_CRAWLED = gettext_noop("not crawled")
    NO_LINK = gettext_noop("no link")


@dataclass(frozen=True, slots=True)
class PageStatus:
    """State of a page after the crawl.

    `state` is None for a page that the crawl never discovered.
    """

    state: str | None = None
    kind: str | None = None
    reason: str | None = None

    @property
    def offer_status(self) -> OfferStatus:
        """Status of a catalog offer that links to this page."""
        if self.state is None or self.state in _NOT_CRAWLED:
            return OfferStatus.NOT_CRAWLED
        if self.state == PageState.FETCHED and self.kind != PageKind.OTHER:
            return OfferStatus.PAGE_FOUND
        return OfferStatus.NOT_FOUND


PagesByUrl = Mapping[str, PageStatus]
_UNDISCOVERED = PageStatus()
_STATUS_ORDER = (OfferStatus.NOT_CRAWLED, OfferStatus.NOT_FOUND, OfferStatus.PAGE_FOUND)


def _informativeness(page: PageStatus) -> tuple[int, bool]:
    """Rank pages at one address: a page that was found says more than one that was not crawled."""
    return _STATUS_ORDER.index(page.offer_status), page.state is not None


@dataclass(frozen=True)
class ReasonCount:
    """Number of pages that ended in one state for one reason."""

    state: str
    reason: str
    pages: int


@dataclass(frozen=True)
class Coverage:
    """Pages by state and reason, and catalog offers by the outcome of looking up their pages.

    `passed_over` counts the refused pages that the crawl has learnt to skip: traps, dead link
    patterns, duplicate addresses of pages. `sitemaps_unread` counts the sitemaps that exist but
    could not be read.

    Of the `known` catalog offers, `seen` were paired with an offer of the shop. For the others, the
    page was fetched (`page_found`); is gone or no longer an offer page (`not_found`); was not
    fetched (`not_crawled`); or cannot be looked up, because the link is opaque or broken
    (`no_link`).
    """

    pages: int = 0
    fetched: int = 0
    redirected: int = 0
    gone: int = 0
    refused: int = 0
    passed_over: int = 0
    failed: int = 0
    waiting: int = 0
    offer_pages: int = 0
    other_pages: int = 0
    reasons: tuple[ReasonCount, ...] = ()
    sitemaps_unread: int = 0
    known: int = 0
    seen: int = 0
    page_found: int = 0
    not_found: int = 0
    not_crawled: int = 0
    no_link: int = 0

    @property
    def answered(self) -> int:
        """Number of pages with a response from the shop, "gone" included."""
        return self.fetched + self.redirected + self.gone

    @property
    def requested(self) -> int:
        """Number of pages to request: all discovered pages that were not passed over."""
        return self.pages - self.passed_over

    @property
    def page_share(self) -> float | None:
        """Share of the pages to request that got a response; None if there are none."""
        if not self.requested:
            return None
        return self.answered / self.requested

    @property
    def known_share(self) -> float | None:
        """Share of the catalog's offers whose page was found; None if the catalog has none."""
        if not self.known:
            return None
        return (self.seen + self.page_found) / self.known

    @property
    def is_complete(self) -> bool:
        """True if no page is waiting or failed, and no sitemap that may list more stayed unread."""
        return self.pages > 0 and not (self.waiting or self.failed or self.sitemaps_unread)

    def as_json(self) -> dict[str, Any]:
        """Return the fields and shares as `scout run --json` prints them."""
        return asdict(self) | {
            "page_share": _rounded(self.page_share),
            "known_share": _rounded(self.known_share),
            "complete": self.is_complete,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Coverage":
        """Read the output of `as_json`; fields of other Scout versions are ignored.

        >>> Coverage.from_json(Coverage(pages=4, fetched=3, failed=1).as_json()).page_share
        0.75
        """
        values = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
        values["reasons"] = tuple(ReasonCount(**reason) for reason in values.get("reasons", ()))
        return cls(**values)


def measure_coverage(store: Store, shop: Shop, run_id: int) -> Coverage:
    """Return the coverage of a run, from its figures if superseded, else from the pages."""
    with store.read() as session:
        return count_coverage(session, shop, run_id)


def count_coverage(
    session: Session, shop: Shop, run_id: int, pages: PagesByUrl | None = None
) -> Coverage:
    """Return the coverage of a run.

    `pages` are the result of `read_linked_pages`, if already read.
    """
    stored = _stored_coverage(session, shop, run_id)
    if stored is not None:
        return stored
    if pages is None:
        pages = read_linked_pages(session, shop)
    statuses = _count_statuses(session, shop, run_id, pages)
    return Coverage(
        **_count_pages(session, shop),
        sitemaps_unread=_count_unread_sitemaps(session, run_id),
        known=sum(statuses.values()),
        seen=statuses[OfferStatus.SEEN],
        page_found=statuses[OfferStatus.PAGE_FOUND],
        not_found=statuses[OfferStatus.NOT_FOUND],
        not_crawled=statuses[OfferStatus.NOT_CRAWLED],
        no_link=statuses[OfferStatus.NO_LINK],
    )


def is_superseded(session: Session, shop: Shop, run_id: int) -> bool:
    """Return True if a newer run has changed the page table since."""
    newer = select(col(Run.id)).where(col(Run.shop_id) == shop.id, col(Run.id) > run_id).limit(1)
    return session.connection().execute(newer).first() is not None


def coverage_of_figures(run: Run) -> Coverage | None:
    """Return the coverage stored in a run's figures, or None."""
    stored = (run.figures or {}).get("coverage")
    if not isinstance(stored, dict):
        return None
    return Coverage.from_json(stored)


def _stored_coverage(session: Session, shop: Shop, run_id: int) -> Coverage | None:
    run = session.get(Run, run_id)
    if run is None or not is_superseded(session, shop, run_id):
        return None
    return coverage_of_figures(run)


def _count_pages(session: Session, shop: Shop) -> dict[str, Any]:
    groups: list[Any] = [col(Page.state), col(Page.kind), col(Page.reason), col(Page.read_reason)]
    counts: list[Any] = [skipped_by_policy().label("is_passed_over"), func.count()]
    query = select(*groups, *counts).where(col(Page.shop_id) == shop.id).group_by(*groups)
    rows = session.connection().execute(query)
    states: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    passed = 0
    for state, kind, reason, read_reason, is_passed_over, count in rows:
        states[state] += count
        if is_passed_over:
            passed += count
        if state == PageState.FETCHED:
            kinds[kind or ""] += count
        reasons[str(state), clean_text(reason or read_reason, MAX_REASON_LENGTH) or ""] += count
    # Most frequent first; the database returns groups in any order.
    frequent = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:_MAX_REASONS]
    return {
        "pages": states.total(),
        "fetched": states[PageState.FETCHED],
        "redirected": states[PageState.REDIRECTED],
        "gone": states[PageState.GONE],
        "refused": states[PageState.REFUSED],
        "passed_over": passed,
        "failed": states[PageState.FAILED],
        "waiting": states[PageState.PENDING] + states[PageState.LEASED],
        "offer_pages": kinds[PageKind.OFFER],
        "other_pages": kinds[PageKind.OTHER],
        "reasons": tuple(ReasonCount(state, reason, pages) for (state, reason), pages in frequent),
    }


def _count_unread_sitemaps(session: Session, run_id: int) -> int:
    unread = select(func.count()).where(
        col(SitemapSeen.run_id) == run_id, col(SitemapSeen.status).not_in(FINAL_SITEMAP_STATUSES)
    )
    return session.connection().execute(unread).scalar_one()


def _count_statuses(
    session: Session, shop: Shop, run_id: int, pages: PagesByUrl
) -> Counter[OfferStatus]:
    query = select(is_paired(run_id).label("is_paired"), col(KnownOffer.url)).where(
        col(KnownOffer.shop_id) == shop.id
    )
    rows = session.connection().execute(query.execution_options(yield_per=_BATCH_SIZE))
    return Counter(offer_status(bool(paired), url, linked_page(url, pages)) for paired, url in rows)


def is_paired(run_id: int) -> Any:
    """Return the SQL condition that a run has paired a catalog offer with an offer of the shop."""
    paired = select(col(Match.known_id)).where(
        col(Match.run_id) == run_id,
        col(Match.verdict) == Verdict.LISTED,
        # NOT IN over a set with NULL is never true in SQL.
        col(Match.known_id).is_not(None),
    )
    return col(KnownOffer.id).in_(paired)


def read_linked_pages(session: Session, shop: Shop) -> PagesByUrl:
    """Return the pages that the catalog's links lead to, by bare URL.

    Of several pages at one URL, the most informative one is kept.
    """
    links = select(col(KnownOffer.url)).where(
        col(KnownOffer.shop_id) == shop.id, col(KnownOffer.url).is_not(None)
    )
    linked = {url_key(url or "") for url in session.connection().execute(links).scalars()}
    columns: list[Any] = [
        col(Page.url),
        col(Page.state),
        col(Page.kind),
        func.coalesce(Page.reason, Page.read_reason),
    ]
    query = (
        select(*columns)
        .where(col(Page.shop_id) == shop.id)
        .execution_options(yield_per=_BATCH_SIZE)
    )
    pages: dict[str, PageStatus] = {}
    for url, state, kind, reason in session.connection().execute(query):
        bare = url_key(url)
        if bare in linked:
            page = PageStatus(state, kind, reason)
            pages[bare] = max(pages.get(bare, _UNDISCOVERED), page, key=_informativeness)
    return pages


def linked_page(url: str | None, pages: PagesByUrl) -> PageStatus:
    """Return the page that a catalog offer's link leads to."""
    return pages.get(url_key(url or ""), _UNDISCOVERED)


def offer_status(is_paired: bool, url: str | None, page: PageStatus) -> OfferStatus:
    """Return the status of a catalog offer from its pairing, its link and the linked page.

    >>> offer_status(False, "u", PageStatus("gone")).value
    'not found'
    >>> offer_status(False, "u", PageStatus("failed")).value
    'not crawled'
    >>> offer_status(False, "u", PageStatus("fetched", "other")).value
    'not found'
    >>> offer_status(False, None, PageStatus()).value
    'no link'
    """
    if is_paired:
        return OfferStatus.SEEN
    if not url:
        return OfferStatus.NO_LINK
    return page.offer_status


def _rounded(share: float | None) -> float | None:
    if share is None:
        return None
    return round(share, 4)
