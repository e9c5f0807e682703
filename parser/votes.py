"""Votes: what a rule finds on a page, and the value that most of the votes' weight stands behind.

A rule's vote weighs the cube of its score: one good rule outweighs two middling ones that agree. Descriptions differ
too much in detail to be counted; there the best rule that finds one decides, and where what it finds is cut short, as
in the head of many pages, the best that has the whole.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from catalog.models import Attribute, OfferFields
from catalog.values import DASH, NO_HINT, Hint, currency_of, is_dash, is_stand_in, key, normalise
from catalog.values.category import in_steps, is_home
from catalog.values.text import typed
from parser.confidence import confidence
from parser.document import Document
from parser.rules import Rule
from parser.selector import AnySelector, AttributeAt, JsonAt, TextAt

HINTED = frozenset({Attribute.PRICE, Attribute.IMAGE})
DECIMAL = {"comma": ",", "point": ".", "minor": "."}
Sure = Callable[[float, Sequence[Rule]], float]
DOTS, LEAST_CUT = ("...", "…"), 100
IN_HEAD, SHOWN, LEAST = 0.25, 0.97, 0.94
SEVERAL, COUNTED = 4, ":nth"
OF_A_VARIANT = re.compile(r"variant|offers|track\(", re.IGNORECASE)
TITLE_IN_HEAD = re.compile(r'(?:html > head\S* > )?title\b|meta\[(?:property|name)="(?:og|twitter):title"')
ANYWHERE_IN_HEAD = re.compile(r"title\b|html > head\b|meta\[(?:property|name)\b")
FOR_SCRIPTS = re.compile(r"data-(?!.*(?:alt|caption|label))")
OF_PICTURES = re.compile(r"image|img|photo|gallery|media|slide|thumb|zoom", re.IGNORECASE)
OF_THE_SHOP = re.compile(r"(?:\b|_)(?:logo|shar(?:e|ing)|social)(?:\b|_)[^/]*$", re.IGNORECASE)
BETWEEN_WORDS = re.compile(r"[-_+]+")


class Vote(NamedTuple):
    """What one rule found on one page: the raw text, what the cuts left of it, and the normalised value."""

    rule: Rule
    raw: str | None
    cut: str | None
    value: str | None


class Reading(NamedTuple):
    """The winning value of an attribute, and the votes that were heard (`parser.hearing`).

    `weight` is the probability that the value is right (`parser.confidence`), `share` its part of the votes cast.
    `all_votes` are those of all rules, in the rules' order, where they were asked for; `left_out` are those heard that
    did not count beside the brand (`parser.brands`).
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


def vote(document: Document, rule: Rule) -> Vote:
    """What one rule finds on a page."""
    raw = document.find(rule.selector)
    cut = rule.trim.apply(raw) if raw is not None else None
    return Vote(rule, raw, cut, value_of(rule, cut, document.url) if cut is not None else None)


def value_of(rule: Rule, text: str, url: str) -> str | None:
    """The normalised value of a text that a rule has found and cut."""
    if rule.form == "slug":
        text = unslugged(text)
    hint = _hint(rule.form, url) if rule.attribute in HINTED else NO_HINT
    value = normalise(rule.attribute, text, hint)
    if value is None:
        return None
    if value in rule.never or _is_front_page(rule, value) or _is_no_key(rule, value):
        return DASH if rule.form == "dash" else None
    return _in_major_units(text) if rule.form == "minor" else in_form(rule, value)


def way_of(rule: Rule) -> tuple[Hashable, ...]:
    """All of a rule that `value_of` heeds: rules that are alike in it take a text for the same value."""
    return rule.attribute, rule.form, rule.signs, rule.never, _is_field(rule.selector)


def in_form(rule: Rule, value: str) -> str:
    """A canonical text as the catalog spells it, where the rule's form says how."""
    if rule.form == "typed":
        return typed(value, rule.signs) if rule.signs else typed(value)
    return in_steps(value) if rule.form == "path" else value


def _is_front_page(rule: Rule, value: str) -> bool:
    """Whether a category is only a breadcrumb's way home; a field of data may call a kind of goods so."""
    return rule.attribute is Attribute.CATEGORY and is_home(value) and not _is_field(rule.selector)


def _is_no_key(rule: Rule, value: str) -> bool:
    """Whether an article number is only a dash, and known offers do not list that."""
    return rule.attribute is Attribute.SKU and rule.form != "dash" and is_dash(value)


def _is_field(selector: AnySelector) -> bool:
    return isinstance(selector, JsonAt) and not selector.join


@lru_cache(maxsize=64)
def _hint(form: str, url: str) -> Hint:
    return Hint(decimal=DECIMAL.get(form), base_url=url)


def unslugged(text: str) -> str:
    """A name out of a class or an address, as words.

    >>> unslugged("desk-lamps"), unslugged("k%20pure+naturals")
    ('desk lamps', 'k pure naturals')
    """
    return BETWEEN_WORDS.sub(" ", unquote(text)).strip()


def decide(attribute: Attribute, votes: Sequence[Vote], sure_of: Sure = confidence) -> Reading:
    """The value that most weight stands behind; among equals, the one of the best rule."""
    found = [one for one in votes if one.value is not None]
    if not found or (len(found) < len(votes) and attribute is Attribute.IMAGE and _is_no_offers(votes, found)):
        return Reading(attribute, None, 0.0, tuple(votes), 0.0)
    if len({one.value for one in found}) == 1:
        return Reading(attribute, found[0].value, sure_of(1.0, [one.rule for one in found]), tuple(votes))
    best, share, agreeing = _heaviest(attribute, [(one, one.value or "") for one in found])
    return Reading(attribute, best, sure_of(share, agreeing), tuple(votes), share)


def _heaviest(attribute: Attribute, found: Sequence[tuple[Vote, str]]) -> tuple[str, float, list[Rule]]:
    """Of votes for several values the winner, its share of the weight, and the rules that agree on it."""
    groups = {value: key(attribute, value) for _, value in found}
    weights = dict.fromkeys(groups.values(), 0.0)
    for one, value in found:
        weights[groups[value]] += weight_of(one.rule)
    by_score = attribute is Attribute.DESCRIPTION
    ranked = sorted(found, key=lambda pair: (0.0 if by_score else -weights[groups[pair[1]]], *_rank(pair[0].rule)))
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
    return value.endswith(DOTS) or (is_in_meta(rule) and len(value) >= LEAST_CUT and value[-1].isalnum())


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


def _is_no_offers(votes: Sequence[Vote], found: Sequence[Vote]) -> bool:
    """Whether a picture is the shop's own or another offer's, as places that have all known ones have none.

    What only the head names, for others to show, is the shop's own where the offer's own place holds a stand-in, where
    two such places are silent, or one and the file is named so. What one other place alone names is another offer's
    where the head is silent, or a place that does not count its way holds a stand-in.
    """
    if any(one.rule.kept for one in found):
        return False
    in_head = all(is_in_head(one.rule) for one in found)
    if in_head and any(one.cut is not None and one.value is None for one in votes):
        return True
    silent = _silent_with_all_known(votes) if len(found) == 1 else []
    if in_head:
        return len(silent) > 1 or (len(silent) == 1 and OF_THE_SHOP.search(found[0].value or "") is not None)
    return any(is_in_head(one.rule) or _holds_a_stand_in(one) for one in silent)


def _silent_with_all_known(votes: Sequence[Vote]) -> list[Vote]:
    """The votes for nothing of rules that were right wherever any was, on several known offers at least."""
    most = max(one.rule.support for one in votes)
    silent = [one for one in votes if one.value is None and not one.rule.stands_in]
    return [one for one in silent if one.rule.support >= max(most, SEVERAL)]


def _holds_a_stand_in(one: Vote) -> bool:
    return one.cut is not None and is_stand_in(one.cut) and COUNTED not in one.rule.selector.css


def is_in_meta(rule: Rule) -> bool:
    """Whether it reads what a page says for search engines and others, mostly in its head."""
    return rule.selector.css.startswith("meta[")


def is_in_head(rule: Rule) -> bool:
    """Whether it reads what the page's head says for others to show."""
    return isinstance(rule.selector, AttributeAt) and rule.selector.css.startswith("meta[property")


def weight_of(rule: Rule) -> float:
    """What a rule's vote weighs."""
    return weight_at(rule.score, rule.attribute, rule.selector)


def weight_at(score: float, attribute: Attribute, selector: AnySelector) -> float:
    """What the vote of a rule on that place weighs: the cube of its score; a quarter of that in the head's titles.

    Shops fill all of these from one text, and that they may have written for search engines. Where other attributes are
    cut out of it, the shop's own name may stand in their place.
    """
    weight: float = max(score, 0.01) ** 3
    is_title = attribute is Attribute.TITLE
    if (ANYWHERE_IN_HEAD if is_title else TITLE_IN_HEAD).match(selector.css):
        return weight * IN_HEAD
    return weight * _among_titles(selector) if is_title else weight


def _among_titles(selector: AnySelector) -> float:
    """What settles ties of titles. Some layouts add words to those that they show, which data does not.

    What data calls a variant may have its size behind it, and other attributes describe a picture or a link.
    """
    if isinstance(selector, TextAt):
        return SHOWN
    if isinstance(selector, JsonAt):
        return LEAST if OF_A_VARIANT.search(f"{selector.block} {selector.path}") else 1.0
    return 1.0 if FOR_SCRIPTS.match(selector.name) and not OF_PICTURES.search(selector.css) else LEAST


def offer_of(readings: Mapping[Attribute, Reading], url: str, currency: str | None) -> OfferFields:
    """The offer that the readings make: their values are normalised already."""
    values: dict[str, str] = {name: one.value for name, one in readings.items() if one.value is not None}
    price, image = values.pop(Attribute.PRICE, None), values.pop(Attribute.IMAGE, None)
    said = values.pop(Attribute.CURRENCY, None)
    found: dict[str, Any] = {**values, "url": url, "images": [image] if image else []}
    if price:
        found["price"] = Decimal(price)
        found["currency"] = said or _currency_beside(readings[Attribute.PRICE]) or currency_of(currency or "")
    return OfferFields(**found)


def _currency_beside(price: Reading) -> str | None:
    """The currency that stands in the text of a vote for the winning price."""
    votes = [one for one in price.votes if one.value == price.value and one.raw]
    return next((said for one in votes if (said := currency_of((one.raw or "")[:60]))), None)


def _in_major_units(text: str) -> str | None:
    digits = text.strip()
    return f"{int(digits) // 100}.{int(digits) % 100:02d}" if digits.isascii() and digits.isdigit() else None
