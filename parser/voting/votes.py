"""Votes: the text that a rule selects on a page, the trimmed text, and the normalised value.

`run_rule` is the one way to run a rule on a page. The learner, the evaluation and the inspector
call it; compiled rules (`parser.compiled_rules`) are its fast form for many pages, and a property
test shows that both give the same votes.
"""

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from catalog.digits import is_ascii_number
from catalog.models import Attribute
from catalog.values import NO_HINT, Hint, is_dash, is_long_gtin, normalise
from catalog.values.category import is_home
from catalog.values.identifier import read_gtin_number
from parser.page.cards import CARD_ATTRIBUTES
from parser.page.document import Document
from parser.page.texts import selected_text
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, JsonAt, reads_one_element

# Attributes whose normalisation depends on a hint: the decimal separator, the page's URL.
HINTED = frozenset({Attribute.PRICE, Attribute.IMAGE})
WITH_HOST = ("https://", "http://", "//")
DECIMAL_SEPARATORS = {"comma": ",", "point": ".", "minor": "."}
# Paths of a list that leads back to the home page, not of a field of the product.
BREADCRUMB_PATH = re.compile(r"itemListElement|breadcrumb", re.IGNORECASE)
SLUG_SEPARATORS = re.compile(r"[-_+]+")


class Vote(NamedTuple):
    """The result of one rule on one page: selected text, trimmed text, normalised value.

    Each is None where the step before it found nothing, or where the text does not fit.
    """

    rule: Rule
    raw: str | None
    cut: str | None
    value: str | None


def run_rule(document: Document, rule: Rule) -> Vote:
    """Run a rule on a page: select, trim, normalise."""
    return vote_on_text(rule, find_text(document, rule), document)


def find_text(document: Document, rule: Rule) -> str | None:
    """Return the text at a rule's selector; None for another page's offer or a struck price."""
    selector = rule.selector
    if not reads_one_element(selector):
        return document.find(selector)
    node = document.first(selector.css)
    if node is None or (skips_cards(rule) and document.cards.contains(node)):
        return None
    if rule.attribute is Attribute.PRICE:
        return document.price_at(node, selector)
    return selected_text(node, selector)


def skips_cards(rule: Rule) -> bool:
    """Return True if a rule reads nothing in cards: those set by hand may."""
    return rule.attribute in CARD_ATTRIBUTES and rule.origin != "manual"


def vote_on_text(rule: Rule, raw: str | None, document: Document) -> Vote:
    """Return the vote of a rule whose selector has found a text, on a page or in a part of it."""
    cut = rule.trim.apply(raw) if raw is not None else None
    if cut is None:
        return Vote(rule, raw, None, None)
    return Vote(rule, raw, cut, normalised_value(rule, cut, base_url_for(rule, cut, document)))


def base_url_for(rule: Rule, text: str, document: Document) -> str:
    """Return the URL that a text resolves against: the base for pictures without a host."""
    # The base costs a look-up, and most pictures need none.
    if rule.attribute is Attribute.IMAGE and not text.startswith(WITH_HOST):
        return document.base
    return document.url


def normalised_value(rule: Rule, text: str, base: str) -> str | None:
    """Return the canonical value of a trimmed text; None for text that is none or means "none"."""
    if rule.form == "slug":
        text = slug_to_words(text)
    hint = _hint(rule.form, base) if rule.attribute in HINTED else NO_HINT
    value = normalise(rule.attribute, text, hint)
    if value is None and rule.attribute is Attribute.EAN and _is_data_field(rule.selector):
        # A number type drops leading zeros, and may add a fraction.
        value = read_gtin_number(text)
    if value is None or value in rule.blocklist or _means_none(rule, value):
        return None
    if rule.form == "minor":
        return _cents_to_amount(text)
    return value


def normalisation_key(rule: Rule) -> tuple[Hashable, ...]:
    """Return a key of a rule's normalisation: rules with equal keys normalise alike."""
    return rule.attribute, rule.form, rule.blocklist, _is_data_field(rule.selector)


def _means_none(rule: Rule, value: str) -> bool:
    """Return True for a lone dash, another number, or a breadcrumb of the home page only."""
    match rule.attribute:
        case Attribute.SKU:
            return rule.form != "dash" and is_dash(value)
        case Attribute.HAN:
            return is_long_gtin(value)
        case Attribute.CATEGORY:
            # A data field may mean home goods.
            return is_home(value) and not _is_data_field(rule.selector)
        case _:
            return False


def _is_data_field(selector: AnySelector) -> bool:
    """Return True if a selector reads a data field, not a list of breadcrumbs."""
    if not isinstance(selector, JsonAt) or selector.join:
        return False
    return not BREADCRUMB_PATH.search(selector.path)


@lru_cache(maxsize=64)
def _hint(form: str, base: str) -> Hint:
    return Hint(decimal=DECIMAL_SEPARATORS.get(form), base_url=base)


def slug_to_words(text: str) -> str:
    """Turn a name from a class or a URL into words.

    >>> slug_to_words("desk-lamps"), slug_to_words("k%20pure+naturals")
    ('desk lamps', 'k pure naturals')
    """
    return SLUG_SEPARATORS.sub(" ", unquote(text)).strip()


def _cents_to_amount(text: str) -> str | None:
    digits = text.strip()
    if not is_ascii_number(digits):
        return None
    return f"{int(digits) // 100}.{int(digits) % 100:02d}"
