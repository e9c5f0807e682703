"""The matching of a shop as a step of a run: offers from the store in, the run's matches out, in one transaction.

A step that was killed has written nothing, and one that is repeated replaces what it wrote before.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz
from sqlmodel import Session, col, delete, select

from catalog.errors import UsageError
from catalog.models import (
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageState,
    PersonsWord,
    Shop,
    ShopOffer,
    Verdict,
    Word,
)
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.features.cache import Memory
from matcher.features.pair_features import OWN, TRENDS
from matcher.match import Found, match
from matcher.records.text import fold
from matcher.records.url_keys import Address, address

ENGINES = ("local",)
UNRELATED = 50
LONGEST = 500
MOST_HOPS = 8


@dataclass(frozen=True)
class Matched:
    """How many offers a shop has, by verdict."""

    offers: int
    listed: int
    missing: int
    unsure: int
    seconds: float


@dataclass(frozen=True)
class _Side:
    """The shop's offers with the URL that stands for each and all the URLs under which each was found."""

    offers: list[OfferFields]
    pages: list[str]
    links: list[list[str]]
    variant_of: list[str | None]


def match_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    engine: str = "local",
    precision: float | None = None,
    progress: Progress = silent,
) -> Matched:
    """Decide every offer of the shop and write the run's matches. Raises UsageError for an engine that is not there.

    `precision` is that of the settings unless given.
    """
    if engine not in ENGINES:
        raise UsageError(f"no matching engine is called {engine!r}: there is {', '.join(ENGINES)}")
    begin = time.monotonic()
    with store.read() as session:
        side = _shop_side(session, shop)
        known = list(
            session.exec(
                select(KnownOffer).where(KnownOffer.shop_id == shop.id).order_by(col(KnownOffer.id))
            )
        )
        words = {
            w.url: Word(w.word)
            for w in session.exec(select(PersonsWord).where(PersonsWord.shop_id == shop.id))
        }
    progress("offers matched", 0, len(side.offers))
    catalog, products = [plain(offer) for offer in known], [offer.product for offer in known]
    memory = Memory(settings.data_dir / "matching" / f"{shop.id}.npz", OWN, len(TRENDS))
    found = match(
        side.offers,
        catalog,
        products=products,
        words=words,
        links=side.links,
        pages=side.variant_of,
        precision=settings.precision if precision is None else precision,
        memory=memory,
    )
    rows = _rows(found, side, known, run_id, shop.id or 0)
    with store.write() as session:
        session.exec(delete(Match).where(col(Match.run_id) == run_id))
        session.add_all(rows)
    with suppress(OSError):
        memory.keep()
    progress("offers matched", len(side.offers), len(side.offers))
    counts = {verdict: sum(one.verdict is verdict for one in found) for verdict in Verdict}
    return Matched(
        len(found),
        counts[Verdict.LISTED],
        counts[Verdict.MISSING],
        counts[Verdict.UNSURE],
        time.monotonic() - begin,
    )


def plain(offer: OfferFields) -> OfferFields:
    """What an offer says, without its table's columns."""
    return OfferFields(**{name: getattr(offer, name) for name in OfferFields.model_fields})


def _shop_side(session: Session, shop: Shop) -> _Side:
    """The offers of pages that the shop still has."""
    wanted = (
        select(ShopOffer, Page.url)
        .join(Page, col(Page.id) == col(ShopOffer.page_id))
        .where(
            ShopOffer.shop_id == shop.id,
            col(Page.state).not_in((PageState.GONE, PageState.REDIRECTED)),
        )
        .order_by(col(ShopOffer.page_id), col(ShopOffer.variant))
    )
    rows = list(session.exec(wanted))
    pages = [url for _, url in rows]
    offers = with_own_urls([plain(offer) for offer, _ in rows], pages)
    detours = _detours(session, shop)
    variant_of = [offer.variant_of for offer, _ in rows]
    links = [
        [*([] if product else [page, *detours[page]]), *detours[offer.url or page]]
        for offer, page, product in zip(offers, pages, variant_of, strict=True)
    ]
    return _Side(offers, pages, links, variant_of)


def _detours(session: Session, shop: Shop) -> Mapping[str, list[str]]:
    """The addresses that redirected, by where they led in the end."""
    found: dict[str, list[str]] = defaultdict(list)
    pages = select(Page.url, Page.canonical).where(
        Page.shop_id == shop.id, Page.state == PageState.REDIRECTED
    )
    leads_to = {url: target for url, target in session.exec(pages) if target}
    for url, target in leads_to.items():
        last = target
        for _ in range(MOST_HOPS):
            last = leads_to.get(last, last)
        found[last].append(url)
    return found


def with_own_urls(offers: Sequence[OfferFields], pages: Sequence[str]) -> list[OfferFields]:
    """The offers, each with a URL: its canonical one, or its page's where there is none or it is not to be believed.

    Some templates name one address (a category, the page without its query) as canonical for every offer. Offers of
    unrelated titles that claim one address are each put back to their own page, and so are alike ones with identifiers
    of their own whose paths lead elsewhere, unless an offer stands at the address: its variants may name it.
    """
    claims: dict[str, list[int]] = defaultdict(list)
    for index, offer in enumerate(offers):
        if offer.url:
            claims[offer.url].append(index)
    doubted: set[int] = set()
    for url, indices in claims.items():
        if len(indices) > 1:
            doubted.update(
                _doubted(address(url), [(i, offers[i], address(pages[i])) for i in indices])
            )
    return [
        offer.model_copy(update={"url": page}) if index in doubted or not offer.url else offer
        for index, (offer, page) in enumerate(zip(offers, pages, strict=True))
    ]


def _doubted(claimed: Address, claims: Sequence[tuple[int, OfferFields, Address]]) -> Iterator[int]:
    """Those of the claims to one address that are not believed."""
    offers = [offer for _, offer, _ in claims]
    if _unrelated(offer.title for offer in offers):
        yield from (index for index, _, own in claims if own.whole != claimed.whole)
    elif _clash(offers) and all(own.whole != claimed.whole for _, _, own in claims):
        yield from (index for index, _, own in claims if own.path != claimed.path)


def _unrelated(titles: Iterable[str | None]) -> bool:
    first, *others = dict.fromkeys(fold(title) for title in titles)
    return any(fuzz.token_set_ratio(first, other) < UNRELATED for other in others)


def _clash(offers: Sequence[OfferFields]) -> bool:
    """Whether the offers carry different EANs, or different skus where none has an EAN."""
    eans, skus = (
        {getattr(offer, name) for offer in offers} - {None, ""} for name in ("ean", "sku")
    )
    return len(eans or skus) > 1


def _rows(
    found: Sequence[Found], side: _Side, known: Sequence[KnownOffer], run_id: int, shop_id: int
) -> list[Match]:
    """The run's rows. A URL stands for one offer only: a second offer of the same URL goes by its page's."""
    taken: set[str] = set()
    rows = []
    for one in found:
        own = [side.offers[i].url or side.pages[i] for i in one.members]
        there = [*own, *(side.pages[i] for i in one.members if not side.variant_of[i])]
        urls = list(dict.fromkeys([*there, *(url for i in one.members for url in side.links[i])]))
        url = next((u for u in there if u not in taken), f"{urls[0]}#{len(taken)}")
        taken.add(url)
        offer = side.offers[one.members[0]].model_copy(update={"url": url})
        nearest = None if one.known is None else known[one.known]
        columns = (
            _columns(one, offer, nearest)
            | {"why": _why(one, known)}
            | {"variant_of": side.variant_of[one.members[0]]}
        )
        rows.append(Match(run_id=run_id, shop_id=shop_id, url=url, urls=urls, **columns))
    return rows


def _why(one: Found, known: Sequence[KnownOffer]) -> dict[str, Any]:
    """What spoke for and against, its candidates named by what the catalog calls them."""
    candidates = [
        {
            "ref": offer.ref,
            "title": (offer.title or "")[:LONGEST],
            "url": (offer.url or "")[:LONGEST],
            "score": score,
        }
        for offer, score in ((known[row], score) for row, score in one.why.get("candidates", ()))
    ]
    return one.why | {"candidates": candidates}


def _columns(one: Found, offer: OfferFields, nearest: KnownOffer | None) -> dict[str, Any]:
    return {
        "known_id": nearest.id if nearest else None,
        "verdict": one.verdict,
        "score": round(one.score, 4),
        "reasons": list(one.reasons),
        "offer": offer.model_dump(mode="json"),
        "nearest": plain(nearest).model_dump(mode="json") if nearest else None,
    }
