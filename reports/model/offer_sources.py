"""Sources of findings: the stored page that each was read from, and the reading of each attribute."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session, col, select

from catalog.models import Attribute, Page, ShopOffer, StoredFinding
from catalog.runtime.batches import batches
from reports.statistics.findings_reader import MAX_URL_LENGTH, clean_text, time_text

_BATCH_SIZE = 500  # values of a query
# URLs of a finding at which its page is looked up.
_MAX_URLS = 10
# Offers of a page that are compared with a finding: a bound against hostile pages.
_MAX_OFFERS = 1000


@dataclass
class _StoredPage:
    page: Page
    offers: list[ShopOffer] = field(default_factory=list)


def read_sources(
    session: Session, findings: Sequence[StoredFinding]
) -> dict[int | None, dict[str, Any]]:
    """Read the sources of some findings of one shop, by the id of the finding.

    A source has `snapshot`, the page with the key of its stored body, and `readings`: for each
    attribute the text on the page, the value, the selector of the rule, the confidence and the
    number of votes. Both are of the newest crawl and parse; None and empty where the page is gone.
    """
    urls = {url for finding in findings for url in _urls_of(finding)}
    shop_ids = {finding.shop_id for finding in findings}
    pages = _read_pages(session, shop_ids, urls)
    sources: dict[int | None, dict[str, Any]] = {}
    for finding in findings:
        stored = _page_of(finding, pages)
        offer = None if stored is None else _offer_of(finding, stored)
        sources[finding.id] = {
            "snapshot": stored and _snapshot(stored.page),
            "readings": {} if offer is None else _readings(offer),
        }
    return sources


def _urls_of(finding: StoredFinding) -> Iterator[str]:
    """Yield the URLs at which the page of a finding may be stored, the most likely first."""
    # A variant has no page of its own.
    if finding.variant_of:
        yield finding.variant_of
    yield finding.url
    yield from finding.urls[:_MAX_URLS]


def _read_pages(
    session: Session, shop_ids: Iterable[int], urls: Iterable[str]
) -> dict[str, _StoredPage]:
    pages: dict[str, _StoredPage] = {}
    by_id: dict[int | None, _StoredPage] = {}
    of_shop = col(Page.shop_id).in_(sorted(shop_ids))
    for batch in batches(sorted(urls), _BATCH_SIZE):
        for page in session.exec(select(Page).where(of_shop, col(Page.url).in_(batch))):
            pages[page.url] = by_id[page.id] = _StoredPage(page)
    for ids in batches([page_id for page_id in by_id if page_id is not None], _BATCH_SIZE):
        offers = select(ShopOffer).where(col(ShopOffer.page_id).in_(ids))
        for offer in session.exec(offers.order_by(col(ShopOffer.page_id), col(ShopOffer.variant))):
            stored = by_id[offer.page_id]
            if len(stored.offers) < _MAX_OFFERS:
                stored.offers.append(offer)
    return pages


def _page_of(finding: StoredFinding, pages: Mapping[str, _StoredPage]) -> _StoredPage | None:
    """Return the page of a finding: the first that has offers, else the first that is stored."""
    stored = [pages[url] for url in _urls_of(finding) if url in pages]
    with_offers = [page for page in stored if page.offers]
    return next(iter(with_offers or stored), None)


def _offer_of(finding: StoredFinding, stored: _StoredPage) -> ShopOffer | None:
    """Return the offer of a page that a finding was made of; None if several may be it."""
    if len(stored.offers) == 1:
        return stored.offers[0]
    for offer in stored.offers:
        if offer.url == finding.url and offer.title == finding.title:
            return offer
    same = [
        offer
        for offer in stored.offers
        if (clean_text(offer.title), offer.price, offer.sku)
        == (finding.title, finding.price, finding.sku)
    ]
    return same[0] if len(same) == 1 else None


def _snapshot(page: Page) -> dict[str, Any]:
    return {
        "page": page.id,
        "url": clean_text(page.url, MAX_URL_LENGTH),
        "body": page.body,
        "fetched_at": time_text(page.fetched_at),
    }


def _readings(offer: ShopOffer) -> dict[str, Any]:
    readings = {}
    for name, stored in offer.readings.items():
        readings[name] = {
            "raw": clean_text(stored.get("raw")),
            "value": _value_of(offer, name),
            "rule": clean_text(stored.get("rule")),
            "confidence": stored.get("weight"),
            "votes": stored.get("votes"),
        }
    return readings


def _value_of(offer: ShopOffer, name: str) -> str | None:
    """Return the normalised value of an attribute; of the pictures the first."""
    if name == Attribute.IMAGE:
        return clean_text(next(iter(offer.images), None), MAX_URL_LENGTH)
    return clean_text(getattr(offer, name, None))
