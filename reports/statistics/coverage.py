"""Coverage: how much of the shop, and of what the catalog says of it, a run has seen.

A figure of missing offers means little without it: an offer that is not found may only not have been crawled.
`Coverage` is a plain value; `scout run --json` prints it and a run keeps it in its figures, because the page table
tells of the newest crawl only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from catalog.models import (
    SITEMAP_TOLD,
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
from catalog.storage.frontier import passed_over
from catalog.storage.store import Store
from reports.statistics.findings_reader import text
from url_cleaner.urls.link import bare_url

_BATCH = 1000
_NOT_CRAWLED = frozenset({PageState.PENDING, PageState.LEASED, PageState.REFUSED, PageState.FAILED})


class Sight(StrEnum):
    """What became of a catalog offer's page."""

    SEEN = "seen"
    PAGE_FOUND = "page found"
    NOT_FOUND = "not found"
    NOT_CRAWLED = "not crawled"
    NO_LINK = "no link"


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as the crawl left it; without a state, one that it never met."""

    state: str | None = None
    kind: str | None = None
    reason: str | None = None

    @property
    def sight(self) -> Sight:
        """What became of the offer that links to it."""
        if self.state is None or self.state in _NOT_CRAWLED:
            return Sight.NOT_CRAWLED
        if self.state == PageState.FETCHED and self.kind != PageKind.OTHER:
            return Sight.PAGE_FOUND
        return Sight.NOT_FOUND


Pages = Mapping[str, Seen]
_NEVER = Seen()
_RANKS = (Sight.NOT_CRAWLED, Sight.NOT_FOUND, Sight.PAGE_FOUND)


def _telling(page: Seen) -> tuple[int, bool]:
    return _RANKS.index(page.sight), page.state is not None


@dataclass(frozen=True)
class Reason:
    """So many pages ended in this state for this reason."""

    state: str
    reason: str
    pages: int


@dataclass(frozen=True)
class Coverage:
    """Pages by state and reason, and the catalog's offers by what became of their pages.

    Of the `refused` pages, `passed_over` are those that the crawl has learnt not to ask for: traps, dead kinds of
    links, further addresses of pages. `sitemaps_unread` are the sitemaps that the shop has and that could not be read.

    Of the `known` offers of the catalog: `seen` were paired with an offer of the shop; of the others, the page was
    fetched (`page_found`), is not there or is no offer page any more (`not_found`), was not fetched (`not_crawled`), or
    cannot be looked up because the link is opaque or broken and no page fits (`no_link`).
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
    reasons: tuple[Reason, ...] = ()
    sitemaps_unread: int = 0
    known: int = 0
    seen: int = 0
    page_found: int = 0
    not_found: int = 0
    not_crawled: int = 0
    no_link: int = 0

    @property
    def answered(self) -> int:
        """Pages that the shop gave an answer for, be it that they are gone."""
        return self.fetched + self.redirected + self.gone

    @property
    def wanted(self) -> int:
        """Pages to ask for: all that were met but those passed over."""
        return self.pages - self.passed_over

    @property
    def page_share(self) -> float | None:
        """The share of the pages to ask for that were answered; None where there was none."""
        return self.answered / self.wanted if self.wanted else None

    @property
    def known_share(self) -> float | None:
        """The share of the catalog's offers whose page was found; None where the catalog has none."""
        return (self.seen + self.page_found) / self.known if self.known else None

    @property
    def complete(self) -> bool:
        """Whether no page was left to fetch or failed, and no sitemap that may name more stayed unread."""
        return self.pages > 0 and not (self.waiting or self.failed or self.sitemaps_unread)

    def as_json(self) -> dict[str, Any]:
        """As `scout run --json` prints it."""
        return asdict(self) | {
            "page_share": _rounded(self.page_share),
            "known_share": _rounded(self.known_share),
            "complete": self.complete,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Coverage":
        """What `as_json` wrote; fields of another Scout are left out.

        >>> Coverage.from_json(Coverage(pages=4, fetched=3, failed=1).as_json()).page_share
        0.75
        """
        kept = {field.name: value[field.name] for field in fields(cls) if field.name in value}
        kept["reasons"] = tuple(Reason(**reason) for reason in kept.get("reasons", ()))
        return cls(**kept)


def coverage(store: Store, shop: Shop, run_id: int) -> Coverage:
    """The coverage of a run: as kept with it where a newer run has crawled since, else counted from the pages."""
    with store.read() as session:
        return covered(session, shop, run_id)


def covered(session: Session, shop: Shop, run_id: int, pages: Pages | None = None) -> Coverage:
    """The same, in an open session; `pages` are those that the catalog's links lead to, where they are at hand."""
    kept = _kept(session, shop, run_id)
    if kept is not None:
        return kept
    sights = _sights(
        session, shop, run_id, pages_of_known(session, shop) if pages is None else pages
    )
    return Coverage(
        **_pages(session, shop),
        sitemaps_unread=_sitemaps_unread(session, run_id),
        known=sum(sights.values()),
        seen=sights[Sight.SEEN],
        page_found=sights[Sight.PAGE_FOUND],
        not_found=sights[Sight.NOT_FOUND],
        not_crawled=sights[Sight.NOT_CRAWLED],
        no_link=sights[Sight.NO_LINK],
    )


def superseded(session: Session, shop: Shop, run_id: int) -> bool:
    """Whether a newer run of the shop exists, so that the page table no longer tells of this one."""
    newer = select(col(Run.id)).where(col(Run.shop_id) == shop.id, col(Run.id) > run_id).limit(1)
    return session.connection().execute(newer).first() is not None


def _kept(session: Session, shop: Shop, run_id: int) -> Coverage | None:
    run = session.get(Run, run_id)
    kept = (run.figures or {}).get("coverage") if run else None
    return (
        Coverage.from_json(kept)
        if isinstance(kept, dict) and superseded(session, shop, run_id)
        else None
    )


def _pages(session: Session, shop: Shop) -> dict[str, Any]:
    what: list[Any] = [col(Page.state), col(Page.kind), col(Page.reason), col(Page.read_reason)]
    figures = [passed_over().label("over"), func.count()]
    query = select(*what, *figures).where(col(Page.shop_id) == shop.id).group_by(*what)
    states: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    over = 0
    for state, kind, reason, read_reason, is_over, count in session.connection().execute(query):
        states[state] += count
        over += count if is_over else 0
        kinds[kind or ""] += count if state == PageState.FETCHED else 0
        reasons[str(state), text(reason or read_reason, 120) or ""] += count
    return {
        "pages": states.total(),
        "fetched": states[PageState.FETCHED],
        "redirected": states[PageState.REDIRECTED],
        "gone": states[PageState.GONE],
        "refused": states[PageState.REFUSED],
        "passed_over": over,
        "failed": states[PageState.FAILED],
        "waiting": states[PageState.PENDING] + states[PageState.LEASED],
        "offer_pages": kinds[PageKind.OFFER],
        "other_pages": kinds[PageKind.OTHER],
        "reasons": tuple(Reason(*of, pages) for of, pages in reasons.most_common(200)),
    }


def _sitemaps_unread(session: Session, run_id: int) -> int:
    unread = select(func.count()).where(
        col(SitemapSeen.run_id) == run_id, col(SitemapSeen.status).not_in(SITEMAP_TOLD)
    )
    return session.connection().execute(unread).scalar_one()


def _sights(session: Session, shop: Shop, run_id: int, pages: Pages) -> Counter[Sight]:
    known = select(known_is_paired(run_id).label("paired"), col(KnownOffer.url)).where(
        col(KnownOffer.shop_id) == shop.id
    )
    rows = session.connection().execute(known.execution_options(yield_per=_BATCH))
    return Counter(sight(bool(seen), url, page_of(url, pages)) for seen, url in rows)


def known_is_paired(run_id: int) -> Any:
    """Whether a run has paired a catalog offer with one of the shop."""
    listed = select(col(Match.known_id)).where(
        col(Match.run_id) == run_id, col(Match.verdict) == Verdict.LISTED
    )
    return col(KnownOffer.id).in_(listed.where(col(Match.known_id).is_not(None)))


def pages_of_known(session: Session, shop: Shop) -> Pages:
    """The pages that the catalog's links lead to, by their bare address; of several at one, that which tells most."""
    links = select(col(KnownOffer.url)).where(
        col(KnownOffer.shop_id) == shop.id, col(KnownOffer.url).is_not(None)
    )
    linked = {bare_url(url or "") for url in session.connection().execute(links).scalars()}
    what: list[Any] = [
        col(Page.url),
        col(Page.state),
        col(Page.kind),
        func.coalesce(Page.reason, Page.read_reason),
    ]
    query = select(*what).where(col(Page.shop_id) == shop.id).execution_options(yield_per=_BATCH)
    found: dict[str, Seen] = {}
    for url, state, kind, reason in session.connection().execute(query):
        place = bare_url(url)
        if place in linked:
            found[place] = max(found.get(place, _NEVER), Seen(state, kind, reason), key=_telling)
    return found


def page_of(url: str | None, pages: Pages) -> Seen:
    """The page that a catalog offer's link leads to."""
    return pages.get(bare_url(url or ""), _NEVER)


def sight(seen: bool, url: str | None, page: Seen) -> Sight:
    """What became of a catalog offer, by whether it is paired, its link, and that one's page.

    >>> sight(False, "u", Seen("gone")).value, sight(False, "u", Seen("failed")).value
    ('not found', 'not crawled')
    >>> sight(False, "u", Seen("fetched", "other")).value, sight(False, None, Seen()).value
    ('not found', 'no link')
    """
    if seen:
        return Sight.SEEN
    return page.sight if url else Sight.NO_LINK


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
