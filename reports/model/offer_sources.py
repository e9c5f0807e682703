"""Sources of findings: the stored page that each was read from, and the reading of each attribute.

Everything that shows rows reads them here, in batches: a shop may have 60,000 offers. Only columns
are selected, since building objects takes several times as long.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session, col

from catalog.models import Attribute, Page, ShopOffer
from catalog.runtime.batches import batches, iterate_batches
from reports.statistics.findings_reader import (
    MAX_URL_LENGTH,
    Finding,
    clean_text,
    decimal_text,
    time_text,
)

_BATCH_SIZE = 500  # values of a query, and findings of a batch
# URLs of a finding at which its page is looked up.
_MAX_URLS = 10
# Offers of a page that are compared with a finding: a bound against hostile pages.
_MAX_OFFERS = 1000
# Characters of a reading's text and value: evidence of short values; descriptions are cut.
_MAX_READING_LENGTH = 200
# Columns of an offer that a reading's value is taken from; `images` has that of the pictures.
_VALUE_COLUMNS = tuple(
    "images" if attribute is Attribute.IMAGE else attribute.value for attribute in Attribute
)


@dataclass(slots=True)
class _StoredPage:
    """A page's row with the rows of its offers."""

    row: Row[Any]
    offers: list[Row[Any]] = field(default_factory=list)


def iterate_rows(
    session: Session, shop_id: int, findings: Iterable[Finding]
) -> Iterator[dict[str, Any]]:
    """Yield findings as JSON with their sources, read in batches."""
    for batch in iterate_batches(findings, _BATCH_SIZE):
        for finding, source in zip(batch, read_sources(session, shop_id, batch), strict=True):
            yield finding.as_row() | source


def read_sources(
    session: Session, shop_id: int, findings: Sequence[Finding]
) -> list[dict[str, Any]]:
    """Read the sources of some findings of a shop, in their order.

    A source has `snapshot`, the page with the key of its stored body, and `readings`: for each
    attribute the text on the page, the value, the selector of the rule, the confidence and the
    number of votes. Both are of the newest crawl and parse; None and empty where the page is gone.
    """
    urls = {url for finding in findings for url in _urls_of(finding)}
    pages = _read_pages(session, shop_id, urls)
    sources: list[dict[str, Any]] = []
    for finding in findings:
        stored = _page_of(finding, pages)
        offer = None if stored is None else _offer_of(finding, stored)
        sources.append(
            {
                "snapshot": stored and _snapshot(stored.row),
                "readings": {} if offer is None else _readings(offer),
            }
        )
    return sources


def _urls_of(finding: Finding) -> Iterator[str]:
    """Yield the URLs at which the page of a finding may be stored, the most likely first."""
    # A variant has no page of its own.
    if finding.variant_of:
        yield finding.variant_of
    yield finding.url
    yield from finding.urls[:_MAX_URLS]


def _read_pages(session: Session, shop_id: int, urls: Iterable[str]) -> dict[str, _StoredPage]:
    connection = session.connection()
    page_columns: list[Any] = [col(Page.id), col(Page.url), col(Page.body), col(Page.fetched_at)]
    offer_names = ("page_id", "url", "readings", *_VALUE_COLUMNS)
    offer_columns: list[Any] = [getattr(ShopOffer, name) for name in offer_names]
    pages: dict[str, _StoredPage] = {}
    by_id: dict[int, _StoredPage] = {}
    for batch in batches(sorted(urls), _BATCH_SIZE):
        query = select(*page_columns).where(col(Page.shop_id) == shop_id, col(Page.url).in_(batch))
        for row in connection.execute(query).all():
            pages[row.url] = by_id[row.id] = _StoredPage(row)
    for ids in batches(list(by_id), _BATCH_SIZE):
        of_batch = col(ShopOffer.page_id).in_(ids)
        order = col(ShopOffer.page_id), col(ShopOffer.variant)
        query = select(*offer_columns).where(of_batch).order_by(*order)
        for offer in connection.execute(query).all():
            stored = by_id[offer.page_id]
            if len(stored.offers) < _MAX_OFFERS:
                stored.offers.append(offer)
    return pages


def _page_of(finding: Finding, pages: Mapping[str, _StoredPage]) -> _StoredPage | None:
    """Return the page of a finding: the first that has offers, else the first that is stored."""
    stored = [pages[url] for url in _urls_of(finding) if url in pages]
    with_offers = [page for page in stored if page.offers]
    return next(iter(with_offers or stored), None)


def _offer_of(finding: Finding, stored: _StoredPage) -> Row[Any] | None:
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


def _snapshot(page: Row[Any]) -> dict[str, Any]:
    return {
        "page": page.id,
        "url": clean_text(page.url, MAX_URL_LENGTH),
        "body": page.body,
        "fetched_at": time_text(page.fetched_at),
    }


def _readings(offer: Row[Any]) -> dict[str, Any]:
    readings = {}
    for name, stored in (offer.readings or {}).items():
        readings[name] = {
            "raw": clean_text(stored.get("raw"), _MAX_READING_LENGTH),
            "value": _value_of(offer, name),
            "rule": _clean_rule(stored.get("rule")),
            "confidence": stored.get("weight"),
            "votes": stored.get("votes"),
        }
    return readings


@lru_cache(maxsize=4096)
def _clean_rule(rule: str | None) -> str | None:
    """Clean the selector of a rule; a shop has few of them."""
    return clean_text(rule)


def _value_of(offer: Row[Any], name: str) -> str | None:
    """Return the normalised value of an attribute; of the pictures the first."""
    if name == Attribute.IMAGE:
        return clean_text(next(iter(offer.images or ()), None), MAX_URL_LENGTH)
    if name == Attribute.PRICE:
        return decimal_text(offer.price)
    return clean_text(getattr(offer, name, None), _MAX_READING_LENGTH)
