"""Reasons: a decision in sentences for the report, the weightiest first."""

from collections.abc import Iterator
from math import isnan

from catalog.models import ReviewDecision, Verdict
from matcher.decision.verdicts import Decision
from matcher.records.record import Record
from matcher.scoring.identifier_evidence import SAME_ADDRESS, SAME_PATH, SAME_SLUG
from matcher.scoring.scored_pairs import ScoredPairs

_LINK_REASONS = {
    SAME_ADDRESS: "the catalog's link leads to this page",
    SAME_PATH: "the catalog's link leads to this page, apart from its query",
    SAME_SLUG: "the catalog's link ends like this page's",
}
# Features of the table that a reason names, with the name that it uses.
_IDENTIFIER_NAMES = {
    "ean": "EAN",
    "sku": "sku",
    "han": "manufacturer's number",
    "image": "image",
}
# Prices that differ by less are the same to the cent.
_CENT = 0.005


def explain_decision(scored: ScoredPairs, decision: Decision) -> tuple[str, ...]:
    """Return the reasons of a decision, the weightiest first."""
    return tuple(_reasons(scored, decision))


def _reasons(scored: ScoredPairs, decision: Decision) -> Iterator[str]:
    if decision.review is ReviewDecision.ACCEPT:
        yield "a reviewer confirmed that the catalog lacks it"
    elif decision.review is ReviewDecision.REJECT:
        yield "a reviewer rejected the finding: the catalog lists it"
    if decision.pair is None:
        yield "nothing in the catalog resembles it"
        return
    if decision.winner is not None:
        yield "the nearest catalog offer belongs to another offer of the shop"
    elif decision.verdict is Verdict.MISSING and not decision.review:
        yield f"the nearest catalog offer is too far ({scored.probability[decision.pair]:.2f})"
    yield from _pair_reasons(scored, decision.pair)


def _pair_reasons(scored: ScoredPairs, pair: int) -> Iterator[str]:
    shop = scored.shop[scored.pairs[pair, 0]]
    catalog = scored.catalog[scored.pairs[pair, 1]]
    if link_reason := _LINK_REASONS.get(scored.evidence.links[pair]):
        yield link_reason
    for feature, name in _IDENTIFIER_NAMES.items():
        value = scored.value(pair, feature)
        if not isnan(value):
            yield f"same {name}" if value else f"another {name}"
    yield _title_reason(scored, pair, shop, catalog)
    if difference := scored.variant_words.describe_difference(shop, catalog):
        yield difference
    if shop.price and catalog.price:
        yield _price_reason(shop.price, catalog.price)


def _title_reason(scored: ScoredPairs, pair: int, shop: Record, catalog: Record) -> str:
    if not shop.title or not catalog.title:
        return "no title to compare"
    if scored.value(pair, "same_title"):
        return "same title"
    return f"titles {scored.value(pair, 'token_sort'):.0f} % alike"


def _price_reason(shop_price: float, catalog_price: float) -> str:
    if abs(shop_price - catalog_price) < _CENT:
        return "same price"
    return f"price {shop_price:.2f} in the shop, {catalog_price:.2f} in the catalog"
