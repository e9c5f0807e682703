"""Details of single findings for the HTML report: values, catalog candidates and evidence.

They are long, so they are read for a chunk of findings at a time and never kept for all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from catalog.models import Match
from reports.model.offer_sources import read_sources
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
    session: Session, shop_id: int, findings: Sequence[Finding]
) -> Iterator[Mapping[str, Any]]:
    """Yield the details of a shop's findings in their order.

    Each has the `values` of the offer beside those of the nearest catalog offer, with the parser's
    reading; the `page` with its hash in the page store; the matcher's `reasons`, the `evidence`
    with its weights, and the five nearest `candidates` with theirs.
    """
    match_ids = [finding.match_id for finding in findings if finding.match_id is not None]
    matches = {}
    query = select(col(Match.id), col(Match.offer), col(Match.nearest), col(Match.why)).where(
        col(Match.id).in_(match_ids)
    )
    for match_id, offer, nearest, why in session.connection().execute(query):
        matches[match_id] = offer or {}, nearest or {}, why or {}
    sources = read_sources(session, shop_id, findings)
    for finding, source in zip(findings, sources, strict=True):
        offer, nearest, why = matches.get(finding.match_id, ({}, {}, {}))
        snapshot = source["snapshot"] or {}
        yield {
            "values": list(_values(offer, nearest, source["readings"])),
            "reasons": list(finding.reasons),
            "evidence": list(_evidence(why)),
            "candidates": list(_candidates(why)),
            "urls": [url for url in finding.urls if url != finding.url],
            "page": {name: snapshot.get(name) for name in ("page", "body", "fetched_at")},
        }


def _values(
    offer: Mapping[str, Any], nearest: Mapping[str, Any], readings: Mapping[str, Any]
) -> Iterator[list[Any]]:
    """Yield attribute, value on the page, value in the catalog, and the parser's reading.

    A reading is confidence, number of votes, text on the page and selector of the rule.
    """
    for attribute in _ATTRIBUTES:
        page_value, catalog_value = _text(offer.get(attribute)), _text(nearest.get(attribute))
        if page_value is None and catalog_value is None:
            continue
        reading = readings.get(_READING_NAMES.get(attribute, attribute)) or {}
        details = [reading.get(name) for name in ("confidence", "votes", "raw", "rule")]
        yield [attribute, page_value, catalog_value, *details]


def _text(value: object) -> str | None:
    if isinstance(value, list):
        value = " ".join(map(str, value[:_MAX_CANDIDATES]))
    return clean_text(value, MAX_TEXT_LENGTH)


def _evidence(why: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield kind and weight of the evidence for (weight above 0) and against a match."""
    for item in (why.get("evidence") or [])[:_MAX_EVIDENCE]:
        yield _weight(item.get("kind"), item.get("weight"))


def _weight(kind: object, weight: Any) -> list[Any]:
    return [clean_text(kind, MAX_CODE_LENGTH), float(weight or 0)]


def _candidates(why: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield catalog key, title, URL, probability and evidence of the nearest catalog offers.

    Evidence has the kinds with their weights, the greatest first.
    """
    for candidate in (why.get("candidates") or [])[:_MAX_CANDIDATES]:
        weights = list((candidate.get("weights") or {}).items())[:_MAX_EVIDENCE]
        yield [
            clean_text(candidate.get("ref"), MAX_CODE_LENGTH),
            clean_text(candidate.get("title")),
            clean_text(candidate.get("url"), MAX_URL_LENGTH),
            candidate.get("score"),
            [_weight(kind, weight) for kind, weight in weights],
        ]
