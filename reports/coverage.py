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

from sqlalchemy import and_, func, select
from sqlmodel import Session, col

from catalog.models import KnownOffer, Match, Page, PageKind, PageState, Run, Shop, Verdict
from catalog.store import Store
from reports.reading import text

_NOT_CRAWLED = frozenset({PageState.PENDING, PageState.LEASED, PageState.REFUSED, PageState.FAILED})


class Sight(StrEnum):
    """What became of a catalog offer's page."""

    SEEN = "seen"
    PAGE_FOUND = "page found"
    NOT_FOUND = "not found"
    NOT_CRAWLED = "not crawled"
    NO_LINK = "no link"


@dataclass(frozen=True)
class Reason:
    """So many pages ended in this state for this reason."""

    state: str
    reason: str
    pages: int


@dataclass(frozen=True)
class Coverage:
    """Pages by state and reason, and the catalog's offers by what became of their pages.

    Of the `known` offers of the catalog: `seen` were paired with an offer of the shop; of the others, the page was
    fetched (`page_found`), is not there or is no offer page any more (`not_found`), was not fetched (`not_crawled`), or
    cannot be looked up because the link is opaque or broken and no page fits (`no_link`).
    """

    pages: int = 0
    fetched: int = 0
    redirected: int = 0
    gone: int = 0
    refused: int = 0
    failed: int = 0
    waiting: int = 0
    offer_pages: int = 0
    other_pages: int = 0
    reasons: tuple[Reason, ...] = ()
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
    def page_share(self) -> float | None:
        """The share of the pages met that were answered; None where none was met."""
        return self.answered / self.pages if self.pages else None

    @property
    def known_share(self) -> float | None:
        """The share of the catalog's offers whose page was found; None where the catalog has none."""
        return (self.seen + self.page_found) / self.known if self.known else None

    @property
    def complete(self) -> bool:
        """Whether no page was left to fetch or failed."""
        return self.pages > 0 and not (self.waiting or self.failed)

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


def covered(session: Session, shop: Shop, run_id: int) -> Coverage:
    """The same, in an open session."""
    kept = _kept(session, shop, run_id)
    if kept is not None:
        return kept
    pages = _pages(session, shop)
    sights = _sights(session, shop, run_id)
    return Coverage(
        **pages,
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
    return Coverage.from_json(kept) if isinstance(kept, dict) and superseded(session, shop, run_id) else None


def _pages(session: Session, shop: Shop) -> dict[str, Any]:
    what: list[Any] = [col(Page.state), col(Page.kind), col(Page.reason), col(Page.read_reason), func.count()]
    query = select(*what).where(col(Page.shop_id) == shop.id).group_by(*what[:-1])
    states: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for state, kind, reason, read_reason, count in session.connection().execute(query):
        states[state] += count
        kinds[kind or ""] += count if state == PageState.FETCHED else 0
        reasons[str(state), text(reason or read_reason, 120) or ""] += count
    return {
        "pages": states.total(),
        "fetched": states[PageState.FETCHED],
        "redirected": states[PageState.REDIRECTED],
        "gone": states[PageState.GONE],
        "refused": states[PageState.REFUSED],
        "failed": states[PageState.FAILED],
        "waiting": states[PageState.PENDING] + states[PageState.LEASED],
        "offer_pages": kinds[PageKind.OFFER],
        "other_pages": kinds[PageKind.OTHER],
        "reasons": tuple(Reason(*of, pages) for of, pages in reasons.most_common(200)),
    }


def _sights(session: Session, shop: Shop, run_id: int) -> Counter[Sight]:
    each = (
        select(
            known_is_paired(run_id).label("paired"),
            col(KnownOffer.url).is_(None).label("unlinked"),
            col(Page.state).label("state"),
            col(Page.kind).label("kind"),
        )
        .select_from(KnownOffer)
        .outerjoin(Page, page_of_known())
        .where(col(KnownOffer.shop_id) == shop.id)
        .subquery()
    )
    what: list[Any] = [*each.c, func.count()]
    query = select(*what).group_by(*each.c)
    sights: Counter[Sight] = Counter()
    for seen, no_link, state, kind, count in session.connection().execute(query):
        sights[sight(bool(seen), bool(no_link), state, kind)] += count
    return sights


def known_is_paired(run_id: int) -> Any:
    """Whether a run has paired a catalog offer with one of the shop."""
    listed = select(col(Match.known_id)).where(col(Match.run_id) == run_id, col(Match.verdict) == Verdict.LISTED)
    return col(KnownOffer.id).in_(listed.where(col(Match.known_id).is_not(None)))


def page_of_known() -> Any:
    """How a catalog offer is joined with its page."""
    return and_(col(Page.shop_id) == col(KnownOffer.shop_id), col(Page.url) == col(KnownOffer.url))


def sight(seen: bool, no_link: bool, state: str | None, kind: str | None) -> Sight:
    """What became of a catalog offer, by its page's state and kind.

    >>> sight(False, False, "gone", None).value, sight(False, False, "failed", None).value
    ('not found', 'not crawled')
    >>> sight(False, False, "fetched", "other").value, sight(False, True, None, None).value
    ('not found', 'no link')
    """
    if seen:
        return Sight.SEEN
    if no_link:
        return Sight.NO_LINK
    if state is None or state in _NOT_CRAWLED:
        return Sight.NOT_CRAWLED
    if state == PageState.FETCHED and kind != PageKind.OTHER:
        return Sight.PAGE_FOUND
    return Sight.NOT_FOUND


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
