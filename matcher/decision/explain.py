"""A decision in sentences, for the report's reader: what spoke for the pair, what against, and what settled it."""

from collections.abc import Iterator
from math import isnan

from catalog.models import Verdict, Word
from matcher.decision.decide import Decision
from matcher.scoring.score_pairs import Comparison

_LINKS = {
    "link": "the catalog's link leads to this page",
    "path": "the catalog's link leads to this page, apart from its query",
    "last": "the catalog's link ends like this page's",
}
_NAMES = {"ean": "EAN", "sku": "sku", "han": "manufacturer's number", "image": "image"}


def explain(seen: Comparison, decision: Decision) -> tuple[str, ...]:
    """The reasons of a decision, the weightiest first."""
    return tuple(_reasons(seen, decision))


def _reasons(seen: Comparison, decision: Decision) -> Iterator[str]:
    if decision.word is Word.ACCEPT:
        yield "a person confirmed that the catalog lacks it"
    elif decision.word is Word.REJECT:
        yield "a person said that the catalog lists it"
    if decision.pair is None:
        yield "nothing in the catalog resembles it"
        return
    if decision.winner is not None:
        yield "the nearest catalog offer belongs to another offer of the shop"
    elif decision.verdict is Verdict.MISSING and not decision.word:
        yield f"the nearest catalog offer is too far ({seen.probability[decision.pair]:.2f})"
    yield from _pair(seen, decision.pair)


def _pair(seen: Comparison, pair: int) -> Iterator[str]:
    shop, known = seen.shop[seen.pairs[pair, 0]], seen.known[seen.pairs[pair, 1]]
    if link := _LINKS.get(seen.said.links[pair]):
        yield link
    for name, said in _NAMES.items():
        value = seen.value(pair, name)
        if not isnan(value):
            yield f"same {said}" if value else f"another {said}"
    yield _title(
        seen.value(pair, "same_title"),
        seen.value(pair, "token_sort"),
        bool(shop.title and known.title),
    )
    if difference := seen.variants.difference(shop, known):
        yield difference
    if shop.price and known.price:
        equal = abs(shop.price - known.price) < 0.005
        yield (
            "same price"
            if equal
            else f"price {shop.price:.2f} in the shop, {known.price:.2f} in the catalog"
        )


def _title(equal: float, alike: float, given: bool) -> str:
    if not given:
        return "no title to compare"
    return "same title" if equal else f"titles {alike:.0f} % alike"
