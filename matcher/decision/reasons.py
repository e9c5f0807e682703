"""Reasons: a decision in sentences for the report, the weightiest first."""

from collections.abc import Iterator
from math import isnan

from catalog.language.sentences import Sentence
from catalog.models import ReviewDecision, Verdict
from matcher.decision.reason_texts import (
    CONFIRMED,
    IDENTIFIER_REASONS,
    NO_TITLE,
    NOTHING_ALIKE,
    OTHER_PRICE,
    REJECTED,
    SAME_LINK,
    SAME_LINK_END,
    SAME_LINK_PATH,
    SAME_PRICE,
    SAME_TITLE,
    SIMILAR_TITLES,
    TAKEN,
    TOO_FAR,
)
from matcher.decision.verdicts import Decision
from matcher.records.record import Record
from matcher.scoring.identifier_evidence import SAME_ADDRESS, SAME_PATH, SAME_SLUG
from matcher.scoring.scored_pairs import ScoredPairs

_LINK_REASONS = {
    SAME_ADDRESS: SAME_LINK,
    SAME_PATH: SAME_LINK_PATH,
    SAME_SLUG: SAME_LINK_END,
}
# Prices that differ by less are the same to the cent.
_CENT = 0.005


def explain_decision(scored: ScoredPairs, decision: Decision) -> tuple[str, ...]:
    """Return the reasons of a decision, the weightiest first."""
    return tuple(_reasons(scored, decision))


def _reasons(scored: ScoredPairs, decision: Decision) -> Iterator[str]:
    if decision.review is ReviewDecision.ACCEPT:
        yield CONFIRMED
    elif decision.review is ReviewDecision.REJECT:
        yield REJECTED
    if decision.pair is None:
        yield NOTHING_ALIKE
        return
    if decision.winner is not None:
        yield TAKEN
    elif decision.verdict is Verdict.MISSING and not decision.review:
        yield Sentence(TOO_FAR, {"share": float(scored.probability[decision.pair])}).text
    yield from _pair_reasons(scored, decision.pair)


def _pair_reasons(scored: ScoredPairs, pair: int) -> Iterator[str]:
    shop = scored.shop[scored.pairs[pair, 0]]
    catalog = scored.catalog[scored.pairs[pair, 1]]
    if link_reason := _LINK_REASONS.get(scored.evidence.links[pair]):
        yield link_reason
    for feature, (same, other) in IDENTIFIER_REASONS.items():
        value = scored.value(pair, feature)
        if not isnan(value):
            yield same if value else other
    yield _title_reason(scored, pair, shop, catalog)
    if difference := scored.variant_words.describe_difference(shop, catalog):
        yield difference
    if shop.price and catalog.price:
        yield _price_reason(shop.price, catalog.price)


def _title_reason(scored: ScoredPairs, pair: int, shop: Record, catalog: Record) -> str:
    if not shop.title or not catalog.title:
        return NO_TITLE
    if scored.value(pair, "same_title"):
        return SAME_TITLE
    return SIMILAR_TITLES.format(number=f"{scored.value(pair, 'token_sort'):.0f}")


def _price_reason(shop_price: float, catalog_price: float) -> str:
    if abs(shop_price - catalog_price) < _CENT:
        return SAME_PRICE
    return OTHER_PRICE.format(price_shop=f"{shop_price:.2f}", price_catalog=f"{catalog_price:.2f}")
