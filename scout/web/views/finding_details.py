"""Details of one finding for its drawer: readings, nearest offers, evidence weights."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlmodel import col, select

from catalog.models import KnownOffer, Shop
from catalog.storage.store import Store
from reports.statistics.findings_reader import MAX_URL_LENGTH, Finding, clean_text, decimal_text

ATTRIBUTES = ("title", "price", "currency", "brand", "category", "ean", "han", "sku", "url")
"""Attributes that are compared between an offer of the shop and one of the catalog."""

MAX_CANDIDATES = 5
"""Nearest catalog offers of a drawer."""

# Width of the half of a chart of weights, and the weight in log-odds that fills it: e^5 is a factor
# of about 150.
_HALF_WIDTH = 100
_FULL_WEIGHT = 5.0


@dataclass(frozen=True)
class ComparedValue:
    """An attribute of a catalog offer beside that of the finding; `is_same` None: one is absent."""

    attribute: str
    text: str | None
    is_same: bool | None


@dataclass(frozen=True)
class WeightBar:
    """Bar of a kind of evidence: speaks for the pair (right of the middle) or against it (left).

    `weight` is in log-odds; `x` and `width` are in pixels of a chart that is 200 wide.
    """

    kind: str
    weight: float
    x: float
    width: float


@dataclass(frozen=True)
class Candidate:
    """One of the nearest catalog offers: its values beside those of the finding, and the evidence.

    `probability` is the matcher's, that both are the same product.
    """

    ref: str | None
    title: str | None
    url: str | None
    probability: float | None
    values: Sequence[ComparedValue]
    bars: Sequence[WeightBar]


@dataclass(frozen=True)
class Reading:
    """An attribute as read from the page: raw text, value, rule, confidence, number of votes."""

    attribute: str
    raw: str | None
    value: str | None
    rule: str | None
    confidence: float | None
    votes: int | None


def read_candidates(store: Store, shop: Shop, finding: Finding) -> list[Candidate]:
    """Return the nearest catalog offers of a finding, the most probable first."""
    if not finding.why:
        return []
    considered = list(finding.why.get("candidates") or ())[:MAX_CANDIDATES]
    refs = [candidate["ref"] for candidate in considered if candidate.get("ref")]
    known: dict[str, KnownOffer] = {}
    with store.read() as session:
        query = select(KnownOffer).where(
            KnownOffer.shop_id == shop.id, col(KnownOffer.ref).in_(refs)
        )
        for offer in session.exec(query):
            known[offer.ref] = offer
    candidates = []
    for candidate in considered:
        paired = known.get(candidate.get("ref") or "")
        candidates.append(_make_candidate(finding, candidate, paired))
    return candidates


def _make_candidate(
    finding: Finding, candidate: Mapping[str, Any], offer: KnownOffer | None
) -> Candidate:
    values = [] if offer is None else list(_compare(finding, offer))
    weights: Mapping[str, float] = candidate.get("weights") or {}
    return Candidate(
        clean_text(candidate.get("ref")),
        clean_text(candidate.get("title")),
        clean_text(candidate.get("url"), MAX_URL_LENGTH),
        candidate.get("score"),
        values,
        [weight_bar(kind, weight) for kind, weight in weights.items()],
    )


def _compare(finding: Finding, offer: KnownOffer) -> Iterator[ComparedValue]:
    for attribute in ATTRIBUTES:
        ours, theirs = _text(getattr(finding, attribute)), _text(getattr(offer, attribute))
        if ours is None and theirs is None:
            continue
        is_same = None
        if ours is not None and theirs is not None:
            is_same = _comparable(ours) == _comparable(theirs)
        yield ComparedValue(attribute, theirs, is_same)


def _text(value: object) -> str | None:
    if isinstance(value, Decimal):
        return decimal_text(value.quantize(Decimal("0.01")))
    return clean_text(value, MAX_URL_LENGTH)


def _comparable(text: str) -> str:
    return " ".join(text.casefold().split())


def weight_bar(kind: str, weight: float) -> WeightBar:
    """Return the bar of a weight; a weight beyond the chart fills its half.

    >>> weight_bar("title", -2.5)
    WeightBar(kind='title', weight=-2.5, x=50.0, width=50.0)
    """
    finite = weight if math.isfinite(weight) else 0.0
    width = round(min(abs(finite) / _FULL_WEIGHT, 1.0) * _HALF_WIDTH, 1)
    x = _HALF_WIDTH - width if finite < 0 else float(_HALF_WIDTH)
    return WeightBar(kind, finite, x, width)


def list_readings(finding: Finding) -> list[Reading]:
    """Return the readings of a finding in the order of its attributes."""
    source = finding.source or {}
    readings = []
    for attribute, stored in (source.get("readings") or {}).items():
        readings.append(
            Reading(
                attribute,
                stored.get("raw"),
                stored.get("value"),
                stored.get("rule"),
                stored.get("confidence"),
                stored.get("votes"),
            )
        )
    readings.sort(key=lambda reading: _position(reading.attribute, ATTRIBUTES))
    return readings


def _position(attribute: str, order: Sequence[str]) -> int:
    return order.index(attribute) if attribute in order else len(order)


def weigh_decision(finding: Finding) -> list[WeightBar]:
    """Return the bars of the evidence that decided on a listed offer."""
    why = finding.why or {}
    evidence: Iterable[Mapping[str, Any]] = why.get("evidence") or ()
    return [weight_bar(str(item["kind"]), float(item["weight"])) for item in evidence]
