"""Details of single findings for the HTML report: values, catalog candidates and evidence.

They are long, so they are read for a chunk of findings at a time and never kept for all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, func, select
from sqlmodel import Session, col

from catalog.models import Match, Page, ShopOffer
from reports.statistics.findings_reader import (
    MAX_CODE_LENGTH,
    MAX_TEXT_LENGTH,
    MAX_URL_LENGTH,
    Finding,
    clean_text,
)

# Candidates of the catalog that the matcher compared an offer with, the most probable first.
_MAX_CANDIDATES = 5
# Features of the matcher that speak for or against a match.
_MAX_EVIDENCE = 12
_ATTRIBUTES = (
    "title", "price", "currency", "brand", "category", "ean", "han", "sku", "availability",
    "description", "images",
)  # fmt: skip
# The parser's name of an attribute that offers keep under a different one.
_READING_NAMES = {"images": "image"}


def read_offer_details(
    session: Session, findings: Sequence[Finding]
) -> Iterator[Mapping[str, Any]]:
    """Yield the details of findings in their order.

    Each has the `values` of the offer beside those of the nearest catalog offer, with the parser's
    confidence and number of votes; the `page` with its hash in the page store; the matcher's
    `reasons`, the `evidence` with its weights, and the five nearest `candidates`.
    """
    match_ids = [finding.match_id for finding in findings if finding.match_id is not None]
    matches = {}
    query = select(col(Match.id), col(Match.offer), col(Match.nearest), col(Match.why)).where(
        col(Match.id).in_(match_ids)
    )
    for match_id, offer, nearest, why in session.connection().execute(query):
        matches[match_id] = offer or {}, nearest or {}, why or {}
    pages = _read_pages(session, match_ids)
    for finding in findings:
        offer, nearest, why = matches.get(finding.match_id, ({}, {}, {}))
        body, fetched_at, readings = pages.get(finding.match_id, (None, None, {}))
        yield {
            "values": list(_values(offer, nearest, readings)),
            "reasons": list(finding.reasons),
            "evidence": list(_evidence(why)),
            "candidates": list(_candidates(why)),
            "urls": [url for url in finding.urls if url != finding.url],
            "page": {
                "body": body,
                "fetched_at": fetched_at and f"{fetched_at:%Y-%m-%dT%H:%MZ}",
            },
        }


def _read_pages(
    session: Session, match_ids: Sequence[int]
) -> dict[int | None, tuple[Any, Any, Mapping[str, Any]]]:
    """Read the hash, fetch time and readings of the pages of matches, by match."""
    page = and_(
        col(Page.shop_id) == col(Match.shop_id),
        col(Page.url) == func.coalesce(Match.variant_of, Match.url),
    )
    offer = col(ShopOffer.page_id) == col(Page.id)
    query = (
        select(
            col(Match.id),
            col(Match.url),
            col(Page.body),
            col(Page.fetched_at),
            col(ShopOffer.url),
            col(ShopOffer.readings),
        )
        .select_from(Match)
        .join(Page, page)
        .outerjoin(ShopOffer, offer)
        .where(col(Match.id).in_(match_ids))
        .order_by(col(Match.id), col(ShopOffer.variant))
    )
    pages: dict[int | None, tuple[Any, Any, Mapping[str, Any]]] = {}
    for match_id, url, body, fetched_at, offer_url, readings in session.connection().execute(query):
        # A page may hold several variants: the one with the URL of the match, else the first.
        if match_id not in pages or offer_url == url:
            pages[match_id] = body, fetched_at, readings or {}
    return pages


def _values(
    offer: Mapping[str, Any], nearest: Mapping[str, Any], readings: Mapping[str, Any]
) -> Iterator[list[Any]]:
    """Yield attribute, value on the page, value in the catalog, confidence and number of votes."""
    for attribute in _ATTRIBUTES:
        page_value, catalog_value = _text(offer.get(attribute)), _text(nearest.get(attribute))
        if page_value is None and catalog_value is None:
            continue
        reading = readings.get(_READING_NAMES.get(attribute, attribute)) or {}
        yield [attribute, page_value, catalog_value, reading.get("weight"), reading.get("votes")]


def _text(value: object) -> str | None:
    if isinstance(value, list):
        value = " ".join(map(str, value[:_MAX_CANDIDATES]))
    return clean_text(value, MAX_TEXT_LENGTH)


def _evidence(why: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield kind and weight of the evidence for (weight above 0) and against a match."""
    for item in (why.get("evidence") or [])[:_MAX_EVIDENCE]:
        yield [clean_text(item.get("kind"), MAX_CODE_LENGTH), float(item.get("weight") or 0)]


def _candidates(why: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield catalog key, title, URL and probability of the nearest catalog offers."""
    for candidate in (why.get("candidates") or [])[:_MAX_CANDIDATES]:
        yield [
            clean_text(candidate.get("ref"), MAX_CODE_LENGTH),
            clean_text(candidate.get("title")),
            clean_text(candidate.get("url"), MAX_URL_LENGTH),
            candidate.get("score"),
        ]
