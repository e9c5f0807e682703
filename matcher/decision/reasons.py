"""Reasons: a decision in sentences for the report, the weightiest first."""

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from catalog.language.recognition import StoredTexts
from catalog.language.sentences import Sentence, gettext_noop
from catalog.models import ReviewDecision, Verdict
from matcher.scoring.identifier_evidence import SAME_ADDRESS, SAME_PATH, SAME_SLUG

# Reports translate the reasons and need no classifier, which takes a second and 90 MB to load.
if TYPE_CHECKING:
    from matcher.decision.verdicts import Decision
    from matcher.records.record import Record
    from matcher.scoring.scored_pairs import ScoredPairs

_LINK_REASONS = {
    SAME_ADDRESS: gettext_noop("the catalog's link leads to this page"),
    SAME_PATH: gettext_noop("the catalog's link leads to this page, apart from its parameters"),
    SAME_SLUG: gettext_noop("the catalog's link ends like this page's"),
}
# Features of the table that a reason names: the reasons for the same and for another value.
_IDENTIFIER_REASONS = {
    "ean": (gettext_noop("same EAN"), gettext_noop("another EAN")),
    "sku": (gettext_noop("same article number"), gettext_noop("another article number")),
    "han": (
        gettext_noop("same manufacturer's number"),
        gettext_noop("another manufacturer's number"),
    ),
    "image": (gettext_noop("same image"), gettext_noop("another image")),
}
_CONFIRMED = gettext_noop("a reviewer confirmed that the catalog lacks it")
_REJECTED = gettext_noop("a reviewer rejected the finding: the catalog lists it")
_NOTHING_ALIKE = gettext_noop("nothing in the catalog resembles it")
_TAKEN = gettext_noop("the nearest catalog offer belongs to another offer of the shop")
_TOO_FAR = gettext_noop("the nearest catalog offer is too different (probability {share})")
_NO_TITLE = gettext_noop("no title to compare")
_SAME_TITLE = gettext_noop("same title")
_SIMILAR_TITLES = gettext_noop("titles {number}% alike")
_SAME_PRICE = gettext_noop("same price")
_OTHER_PRICE = gettext_noop("price {price_shop} in the shop, {price_catalog} in the catalog")
# The difference of two variants, which `matcher.features.variant_words` and
# `matcher.records.product_kinds` describe; special ones first.
_VARIANT_REASONS = (
    gettext_noop("variant: accessory in the shop, main product in the catalog"),
    gettext_noop("variant: main product in the shop, accessory in the catalog"),
    gettext_noop("variant: size {shop} in the shop, size {catalog} in the catalog"),
    gettext_noop("variant: part {shop} in the shop, part {catalog} in the catalog"),
    gettext_noop("variant: nothing in the shop, {catalog} in the catalog"),
    gettext_noop("variant: {shop} in the shop, nothing in the catalog"),
    gettext_noop("variant: {shop} in the shop, {catalog} in the catalog"),
)
MATCH_REASONS = StoredTexts((*_VARIANT_REASONS, _TOO_FAR, _SIMILAR_TITLES, _OTHER_PRICE))
# Prices that differ by less are the same to the cent.
_CENT = 0.005


def explain_decision(scored: "ScoredPairs", decision: "Decision") -> tuple[str, ...]:
    """Return the reasons of a decision, the weightiest first."""
    return tuple(_reasons(scored, decision))


def _reasons(scored: "ScoredPairs", decision: "Decision") -> Iterator[str]:
    if decision.review is ReviewDecision.ACCEPT:
        yield _CONFIRMED
    elif decision.review is ReviewDecision.REJECT:
        yield _REJECTED
    if decision.pair is None:
        yield _NOTHING_ALIKE
        return
    if decision.winner is not None:
        yield _TAKEN
    elif decision.verdict is Verdict.MISSING and not decision.review:
        yield Sentence(_TOO_FAR, {"share": float(scored.probability[decision.pair])}).text
    yield from _pair_reasons(scored, decision.pair)


def _pair_reasons(scored: "ScoredPairs", pair: int) -> Iterator[str]:
    shop = scored.shop[scored.pairs[pair, 0]]
    catalog = scored.catalog[scored.pairs[pair, 1]]
    if link_reason := _LINK_REASONS.get(scored.evidence.links[pair]):
        yield link_reason
    for feature, (same, other) in _IDENTIFIER_REASONS.items():
        value = scored.value(pair, feature)
        if not isnan(value):
            yield same if value else other
    yield _title_reason(scored, pair, shop, catalog)
    if difference := scored.variant_words.describe_difference(shop, catalog):
        yield difference
    if shop.price and catalog.price:
        yield _price_reason(shop.price, catalog.price)


def _title_reason(scored: "ScoredPairs", pair: int, shop: "Record", catalog: "Record") -> str:
    if not shop.title or not catalog.title:
        return _NO_TITLE
    if scored.value(pair, "same_title"):
        return _SAME_TITLE
    return _SIMILAR_TITLES.format(number=f"{scored.value(pair, 'token_sort'):.0f}")


def _price_reason(shop_price: float, catalog_price: float) -> str:
    if abs(shop_price - catalog_price) < _CENT:
        return _SAME_PRICE
    return _OTHER_PRICE.format(price_shop=f"{shop_price:.2f}", price_catalog=f"{catalog_price:.2f}")
