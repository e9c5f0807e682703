"""The outcome of a vote: the value with the most weight, and the offer that the readings form.

Descriptions differ too much in detail for a count of votes: the best rule that finds one decides.
Where its text is truncated, as in the head of many pages, the best rule with the complete text
does.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from catalog.models import Attribute, OfferFields
from catalog.values import find_currency, value_key
from catalog.values.prices.price import first_currency
from parser.rules.model import Rule
from parser.voting.confidence import estimate_confidence
from parser.voting.vote_weights import is_in_meta, weight_of
from parser.voting.votes import Vote

ConfidenceOf = Callable[[float, Sequence[Rule]], float]
ELLIPSES = ("...", "…")
# Characters of a description in the head from which on it may be truncated.
MIN_TRUNCATED_CHARS = 100
# Characters of a text that are searched for a currency.
MAX_AMOUNT_CHARS = 60


class Reading(NamedTuple):
    """The winning value of an attribute, its confidence, and the votes.

    `confidence` is the probability that the value is right (`parser.voting.confidence`), `share`
    its part of the weight of all votes. `all_votes` are those of all rules, in the rules' order,
    where they were requested.
    """

    attribute: Attribute
    value: str | None
    confidence: float
    votes: tuple[Vote, ...]
    share: float = 1.0
    all_votes: tuple[Vote, ...] = ()

    @property
    def vote_count(self) -> int:
        """The number of rules that found a value."""
        return sum(vote.value is not None for vote in self.votes)


def decide(
    attribute: Attribute, votes: Sequence[Vote], confidence_of: ConfidenceOf = estimate_confidence
) -> Reading:
    """Return the reading of the value with the most weight; of equals, that of the best rule."""
    cast = [vote for vote in votes if vote.value is not None]
    if not cast:
        return Reading(attribute, None, 0.0, tuple(votes), 0.0)
    value, share, agreeing = cast[0].value, 1.0, cast
    if len({vote.value for vote in cast}) > 1:
        value, share, agreeing = _weigh(attribute, cast)
    confidence = confidence_of(share, [vote.rule for vote in agreeing])
    return Reading(attribute, value, confidence, tuple(votes), share)


def _weigh(attribute: Attribute, cast: Sequence[Vote]) -> tuple[str, float, list[Vote]]:
    """Return the winning value, its share of the weight and its votes; equal keys mean the same."""
    keys = {vote.value or "": value_key(attribute, vote.value or "") for vote in cast}
    weights = dict.fromkeys(keys.values(), 0.0)
    for vote in cast:
        weights[keys[vote.value or ""]] += weight_of(vote.rule)

    def rank(vote: Vote) -> tuple[float, float]:
        is_weighed = attribute is not Attribute.DESCRIPTION
        weight = weights[keys[vote.value or ""]] if is_weighed else 0.0
        return -weight, -vote.rule.score

    ranked = sorted(cast, key=rank)
    best = ranked[0].value or ""
    if is_truncated(ranked[0].rule, best):
        complete = (vote.value for vote in ranked if _continues(best, vote.value or ""))
        best = next(complete, None) or best
    agreeing = [vote for vote in cast if keys[vote.value or ""] == keys[best]]
    return best, weights[keys[best]] / sum(weights.values()), agreeing


def is_truncated(rule: Rule, value: str) -> bool:
    """Return True if a description may be truncated: with dots, or within a word in the head."""
    if rule.attribute is not Attribute.DESCRIPTION:
        return False
    if value.endswith(ELLIPSES):
        return True
    return is_in_meta(rule) and len(value) >= MIN_TRUNCATED_CHARS and value[-1].isalnum()


def _continues(truncated: str, text: str) -> bool:
    """Return True if a text starts like a truncated one and is longer.

    Without dots, the truncated text must end within a word of the other.

    >>> _continues("A lamp for th...", "A lamp for the desk.")
    True
    >>> _continues("A lamp for th...", "A lamp for all.")
    False
    >>> _continues("A lamp for th", "A lamp for the desk.")
    True
    >>> _continues("A lamp", "A lamp and more.")
    False
    """
    beginning = truncated.rstrip(" .…")
    if len(text) <= len(truncated) or not text.startswith(beginning):
        return False
    return truncated != beginning or text[len(truncated)].isalnum()


def with_values(readings: Mapping[Attribute, Reading]) -> dict[Attribute, Reading]:
    """Return the readings that have a value."""
    return {name: reading for name, reading in readings.items() if reading.value is not None}


def offer_from(
    readings: Mapping[Attribute, Reading], url: str, currency: str | None
) -> OfferFields:
    """Make a page's offer from its readings; `currency` is assumed where the price names none."""
    values: dict[str, Any] = {
        name: reading.value for name, reading in with_values(readings).items()
    }
    price, image = values.pop(Attribute.PRICE, None), values.pop(Attribute.IMAGE, None)
    own_currency = values.pop(Attribute.CURRENCY, None)
    fields: dict[str, Any] = {**values, "url": url, "images": [image] if image else []}
    if price:
        votes = (vote for vote in readings[Attribute.PRICE].votes if vote.value == price)
        texts = [(vote.raw or "")[:MAX_AMOUNT_CHARS] for vote in votes]
        fields["price"] = Decimal(price)
        fields["currency"] = own_currency or first_currency(texts, find_currency(currency or ""))
    return OfferFields(**fields)
