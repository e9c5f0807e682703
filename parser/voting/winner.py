"""The outcome of a vote: the value that most weight stands behind, and the offer that the outcomes make.

Descriptions differ too much in detail to be counted; there the best rule that finds one decides, and where what it
finds is cut short, as in the head of many pages, the best that has the whole.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from catalog.models import Attribute, OfferFields
from catalog.values import currency_of, key
from catalog.values.price import currency as currency_among
from parser.rules.model import Rule
from parser.voting.confidence import confidence
from parser.voting.image_checks import is_no_offers
from parser.voting.vote_weights import is_in_meta, weight_of
from parser.voting.votes import Vote

Sure = Callable[[float, Sequence[Rule]], float]
DOTS = ("...", "…")
LEAST_CUT = 100
LONGEST_AMOUNT = 60


class Reading(NamedTuple):
    """The winning value of an attribute, and the votes that were heard (`parser.voting.early_stopping`).

    `weight` is the probability that the value is right (`parser.voting.confidence`), `share` its part of the votes cast.
    `all_votes` are those of all rules, in the rules' order, where they were asked for; `left_out` are those heard that
    did not count beside the brand (`parser.voting.brand_checks`).
    """

    attribute: Attribute
    value: str | None
    weight: float
    votes: tuple[Vote, ...]
    share: float = 1.0
    all_votes: tuple[Vote, ...] = ()
    left_out: tuple[Vote, ...] = ()

    @property
    def cast(self) -> int:
        """How many rules found a value."""
        return sum(vote.value is not None for vote in self.votes)


def decide(attribute: Attribute, votes: Sequence[Vote], sure_of: Sure = confidence) -> Reading:
    """The value that most weight stands behind; among equals, the one of the best rule."""
    found = [one for one in votes if one.value is not None]
    if not found or (
        len(found) < len(votes) and attribute is Attribute.IMAGE and is_no_offers(votes, found)
    ):
        return Reading(attribute, None, 0.0, tuple(votes), 0.0)
    if len({one.value for one in found}) == 1:
        return Reading(
            attribute, found[0].value, sure_of(1.0, [one.rule for one in found]), tuple(votes)
        )
    best, share, agreeing = _heaviest(attribute, [(one, one.value or "") for one in found])
    return Reading(attribute, best, sure_of(share, agreeing), tuple(votes), share)


def _heaviest(
    attribute: Attribute, found: Sequence[tuple[Vote, str]]
) -> tuple[str, float, list[Rule]]:
    """Of votes for several values the winner, its share of the weight, and the rules that agree on it."""
    groups = {value: key(attribute, value) for _, value in found}
    weights = dict.fromkeys(groups.values(), 0.0)
    for one, value in found:
        weights[groups[value]] += weight_of(one.rule)
    by_score = attribute is Attribute.DESCRIPTION
    ranked = sorted(
        found,
        key=lambda pair: (0.0 if by_score else -weights[groups[pair[1]]], *_rank(pair[0].rule)),
    )
    best = ranked[0][1]
    if is_cut_short(ranked[0][0].rule, best):
        best = next((value for _, value in ranked if _goes_on(best, value)), best)
    agreeing = [one.rule for one, value in found if groups[value] == groups[best]]
    return best, weights[groups[best]] / sum(weights.values()), agreeing


def _rank(rule: Rule) -> tuple[bool, float]:
    """What orders rules that agree: what a page spells itself comes before what had to be respelled."""
    return rule.form == "typed", -rule.score


def is_cut_short(rule: Rule, value: str) -> bool:
    """Whether a text may be only a beginning: it says so with dots, or the head has it and it ends within a word."""
    if rule.attribute is not Attribute.DESCRIPTION:
        return False
    return value.endswith(DOTS) or (
        is_in_meta(rule) and len(value) >= LEAST_CUT and value[-1].isalnum()
    )


def _goes_on(short: str, text: str) -> bool:
    """Whether a text begins as one that was cut short and says more.

    Without dots, it was cut short for sure where a word goes on.

    >>> _goes_on("A lamp for th...", "A lamp for the desk."), _goes_on("A lamp for th...", "A lamp for all.")
    (True, False)
    >>> _goes_on("A lamp for th", "A lamp for the desk."), _goes_on("A lamp", "A lamp and more.")
    (True, False)
    """
    beginning = short.rstrip(" .…")
    if len(text) <= len(short) or not text.startswith(beginning):
        return False
    return short != beginning or text[len(short)].isalnum()


def offer_of(readings: Mapping[Attribute, Reading], url: str, currency: str | None) -> OfferFields:
    """The offer that the readings make: their values are normalised already."""
    values: dict[str, str] = {
        name: one.value for name, one in readings.items() if one.value is not None
    }
    price, image = values.pop(Attribute.PRICE, None), values.pop(Attribute.IMAGE, None)
    said = values.pop(Attribute.CURRENCY, None)
    found: dict[str, Any] = {**values, "url": url, "images": [image] if image else []}
    if price:
        found["price"] = Decimal(price)
        found["currency"] = said or _currency_beside(
            readings[Attribute.PRICE], currency_of(currency or "")
        )
    return OfferFields(**found)


def _currency_beside(price: Reading, usual: str | None) -> str | None:
    """The currency in the text of a vote for the winning price; of several that share a sign the usual one."""
    texts = [(one.raw or "")[:LONGEST_AMOUNT] for one in price.votes if one.value == price.value]
    return currency_among(texts, usual)
