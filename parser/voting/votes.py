"""Votes: what a rule finds on a page, what its cuts leave of that, and the value that it stands for."""

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from catalog.models import Attribute
from catalog.values import DASH, NO_HINT, Hint, is_dash, normalise
from catalog.values.category import in_steps, is_home
from catalog.values.text import typed
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, JsonAt

HINTED = frozenset({Attribute.PRICE, Attribute.IMAGE})
WITH_A_HOST = ("https://", "http://", "//")
DECIMAL = {"comma": ",", "point": ".", "minor": "."}
OF_A_WAY_BACK = re.compile(r"itemListElement|breadcrumb", re.IGNORECASE)
BETWEEN_WORDS = re.compile(r"[-_+]+")


class Vote(NamedTuple):
    """What one rule found on one page: the raw text, what the cuts left of it, and the normalised value."""

    rule: Rule
    raw: str | None
    cut: str | None
    value: str | None


def vote(document: Document, rule: Rule) -> Vote:
    """What one rule finds on a page."""
    return vote_for(rule, document.find(rule.selector), document)


def vote_for(rule: Rule, raw: str | None, document: Document) -> Vote:
    """The vote of a rule that has found that text on a page, or in a part of it."""
    cut = rule.trim.apply(raw) if raw is not None else None
    return Vote(
        rule,
        raw,
        cut,
        value_of(rule, cut, base_of(rule, cut, document)) if cut is not None else None,
    )


def base_of(rule: Rule, text: str, document: Document) -> str:
    """The address that a found text starts from; the page is only asked for it where a picture's names no host."""
    return (
        document.base
        if rule.attribute is Attribute.IMAGE and not text.startswith(WITH_A_HOST)
        else document.url
    )


def value_of(rule: Rule, text: str, base: str) -> str | None:
    """The normalised value of a text that a rule has found and cut."""
    if rule.form == "slug":
        text = unslugged(text)
    hint = _hint(rule.form, base) if rule.attribute in HINTED else NO_HINT
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
    """Whether a field of data holds it, and not a list that leads back to the front page."""
    return (
        isinstance(selector, JsonAt)
        and not selector.join
        and not OF_A_WAY_BACK.search(selector.path)
    )


@lru_cache(maxsize=64)
def _hint(form: str, base: str) -> Hint:
    return Hint(decimal=DECIMAL.get(form), base_url=base)


def unslugged(text: str) -> str:
    """A name out of a class or an address, as words.

    >>> unslugged("desk-lamps"), unslugged("k%20pure+naturals")
    ('desk lamps', 'k pure naturals')
    """
    return BETWEEN_WORDS.sub(" ", unquote(text)).strip()


def _in_major_units(text: str) -> str | None:
    digits = text.strip()
    return (
        f"{int(digits) // 100}.{int(digits) % 100:02d}"
        if digits.isascii() and digits.isdigit()
        else None
    )
