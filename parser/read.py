"""Read a page: every rule votes, the values that agree add up, the heaviest wins (Hübscher 2018, 2.11).

`read` returns all votes, so an inspector shows exactly what the parser did. A rule's vote weighs the cube of its score:
one good rule outweighs two middling ones that agree. Descriptions differ too much in detail to be counted; there the
best rule that finds one decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin

from catalog.models import Attribute, OfferFields, PageKind
from catalog.values import Hint, currency_of, fields, key, normalise
from parser.document import Document
from parser.gate import template_of
from parser.rules import Rule, RuleSet, Template

DECIMAL = {"comma": ",", "point": ".", "minor": ".", "plain": None}


@dataclass(frozen=True)
class Vote:
    """What one rule found on one page: the raw text, what the cuts left of it, and the normalised value."""

    rule: Rule
    raw: str | None
    cut: str | None
    value: str | None


@dataclass(frozen=True)
class Reading:
    """The winning value of an attribute, its share of all votes cast in (0, 1], and the votes."""

    attribute: Attribute
    value: str | None
    weight: float
    votes: tuple[Vote, ...]

    @property
    def cast(self) -> int:
        """How many rules found a value."""
        return sum(vote.value is not None for vote in self.votes)


@dataclass(frozen=True)
class PageReading:
    """What a page was taken for, why, and - where it is an offer page - what was read."""

    kind: PageKind
    reason: str
    template: str | None = None
    likeness: float = 0.0
    offer: OfferFields | None = None
    readings: Mapping[Attribute, Reading] = field(default_factory=dict)


def read(document: Document, rules: RuleSet) -> PageReading:
    """Read a page by the rules of its template. A page like no template, or without a title, is no offer page."""
    template, likest = template_of(document, rules)
    if template is None:
        return PageReading(PageKind.OTHER, f"unlike the shop's offer pages ({likest:.2f})", likeness=likest)
    readings = read_attributes(document, template)
    offer = offer_of(readings, document.url, rules.currency)
    if not offer.title:
        return PageReading(PageKind.OTHER, "no title found", template.name, likest, None, readings)
    return PageReading(PageKind.OFFER, f"like template {template.name}", template.name, likest, offer, readings)


def read_attributes(document: Document, template: Template) -> dict[Attribute, Reading]:
    """All readings of a page by one template's rules."""
    votes: dict[Attribute, list[Vote]] = {}
    for rule in template.rules:
        votes.setdefault(rule.attribute, []).append(vote(document, rule))
    return {attribute: decide(attribute, cast) for attribute, cast in votes.items()}


def vote(document: Document, rule: Rule) -> Vote:
    """What one rule finds on a page."""
    raw = document.find(rule.selector)
    cut = rule.trim.apply(raw) if raw is not None else None
    return Vote(rule, raw, cut, value_of(rule, cut, document.url) if cut is not None else None)


def value_of(rule: Rule, text: str, url: str) -> str | None:
    """The normalised value of a text that a rule has found and cut."""
    hint = Hint(decimal=DECIMAL[rule.form], base_url=url)
    value = normalise(rule.attribute, text, hint)
    return _in_major_units(text) if value is not None and rule.form == "minor" else value


def decide(attribute: Attribute, votes: Sequence[Vote]) -> Reading:
    """The value that most weight stands behind; among equals, the one of the best rule."""
    cast = [one for one in votes if one.value is not None]
    if not cast:
        return Reading(attribute, None, 0.0, tuple(votes))
    weights: dict[str, float] = {}
    for one in cast:
        group = _group(attribute, one.value)
        weights[group] = weights.get(group, 0.0) + weight_of(one.rule.score)
    best = max(cast, key=lambda one: (weights[_group(attribute, one.value)], one.rule.score))
    if attribute is Attribute.DESCRIPTION:
        best = max(cast, key=lambda one: one.rule.score)
    share = weights[_group(attribute, best.value)] / sum(weights.values())
    return Reading(attribute, best.value, share, tuple(votes))


def weight_of(score: float) -> float:
    """What the vote of a rule of that score weighs."""
    return max(score, 0.01) ** 3


def offer_of(readings: Mapping[Attribute, Reading], url: str, currency: str | None) -> OfferFields:
    """The offer that the readings make."""
    values = {attribute: reading.value for attribute, reading in readings.items() if reading.value is not None}
    said = values.pop(Attribute.CURRENCY, None) or _currency_beside(readings.get(Attribute.PRICE)) or currency
    image = values.get(Attribute.IMAGE)
    if image:
        values[Attribute.IMAGE] = urljoin(url, image)
    return fields(values, url=url, currency=said)


def _currency_beside(price: Reading | None) -> str | None:
    """The currency that stands in the text of a vote for the winning price."""
    votes = [one for one in price.votes if one.value == price.value and one.raw] if price else []
    return next((said for one in votes if (said := currency_of((one.raw or "")[:60]))), None)


def _group(attribute: Attribute, value: str | None) -> str:
    return key(attribute, value) if value is not None else ""


def _in_major_units(text: str) -> str | None:
    digits = text.strip()
    return f"{int(digits) // 100}.{int(digits) % 100:02d}" if digits.isascii() and digits.isdigit() else None
