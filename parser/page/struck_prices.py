"""Prices that a page shows but does not ask: struck through, named as old, or list prices of
schema.org.

A shop strikes out the price before a reduction beside the price: in `<del>`, by a style, by a class
such as `old-price`, or as a list price in microdata. A rule for prices must not read it, at
whatever depth inside the struck element its own element stands.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from math import inf

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import normalise
from parser.page.ancestors import ancestors_or_self, path_to_body
from parser.page.texts import element_text, selected_text
from parser.rules.selector import AttributeAt, TextAt

STRUCK_TAGS = frozenset(("del", "s", "strike"))
LINE_THROUGH = "line-through"
# Elements that may be marked as an old price.
MARKED = '[class], [style], [role="deletion"], del, s, strike'
PRICE_WORD = r"(?:price|preis|prix|precio|prezzo|prijs|pris|preco|cena|hinta|fiyat|amount|cost)s?"
OLD_WORD = (
    r"(?:old|was|former|previous|prev|before|compare(?:at)?|original|orig|list|msrp|rrp|uvp|alt|alter|statt"
    r"|ancien|barre|avant|anterior|antes|antiguo|vecchio|oude?|van|stara|stare|puvodni|eski|gammel|gammal|vanha)"
)
# Classes of prices that are no longer asked; `has-old-price` names the element around both prices.
OLD_CLASS = re.compile(
    r"(?<![a-z])(?<!with-)(?<!has-)(?<!no-)"
    rf"(?:{OLD_WORD}[\s_-]*(?:at[\s_-]*)?{PRICE_WORD}|{PRICE_WORD}[\s_-]*(?:is[\s_-]*)?{OLD_WORD}"
    r"|line[_-]?through|strike(?:d|out)?|strike[_-]?through|striked[_-]?price|struck(?:[_-]?out)?"
    r"|crossed(?:[_-]?out)?|streichpreis|msrp|rrp|uvp|pvpr)(?![a-z])",
    re.IGNORECASE,
)
CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
SPECIFICATION = "PriceSpecification"
LIST_PRICE_TYPES = re.compile(
    r"(?:List|Strikethrough|MSRP|SRP|Regular|MinimumAdvertised)(?:Price)?/?$"
)
# Ancestors of which class and style are looked at: a struck element may hold any markup, a named
# one holds little more than its amount.
MAX_NAMED_ANCESTORS = 8
# Levels from a struck element up to the element that holds the asked price as well.
MAX_BOX_LEVELS = 3
# Ancestors of a heading that are searched for struck prices, and old prices that are read.
MAX_HEADING_LEVELS = 6
MAX_OLD_PRICES = 20
# Elements that are tried in place of a struck one, and marked elements of a price.
MAX_ALTERNATIVES = 30
MAX_MARKED = 60
# Characters of a class attribute that are searched.
MAX_CLASS_CHARS = 500
# Characters of a price that are read.
MAX_PRICE_CHARS = 1_000


class Mark(IntEnum):
    """How sure it is that a price is not asked."""

    NONE = 0
    # By a class, which may mean something else in a shop.
    NAMED = 1
    STRUCK = 2


def find_price(
    node: LexborNode | None,
    selector: TextAt | AttributeAt,
    all_matches: Callable[[], Iterable[LexborNode]],
) -> str | None:
    """Return the text of the price that a selector means, `node` being its first match.

    Where that is struck out, the next match beside it counts (`all_matches`). Of an element with a
    struck price and another one, the text is without the former. None where all is struck out.
    """
    if node is None:
        return None
    mark, marked = mark_of(node)
    if mark is Mark.NONE or marked is None:
        return _asked_text(node, selector)
    for match in _beside(node, marked, all_matches):
        text = _asked_text(match, selector)
        if text and _is_lower(text, _asked_text(node, selector), mark):
            return text
    return None if mark is Mark.STRUCK else _asked_text(node, selector)


def mark_of(node: LexborNode) -> tuple[Mark, LexborNode | None]:
    """Return the mark of a price by its element and all around it, and the marked element."""
    marked: tuple[Mark, LexborNode | None] = (Mark.NONE, None)
    for level, ancestor in enumerate(ancestors_or_self(node)):
        tag = ancestor.tag
        if tag == "body":
            break
        if tag in STRUCK_TAGS:
            return Mark.STRUCK, ancestor
        mark = _mark_by_attributes(ancestor) if level < MAX_NAMED_ANCESTORS else Mark.NONE
        if mark is Mark.STRUCK:
            return mark, ancestor
        if mark:
            marked = mark, ancestor
    return marked


def struck_amounts(element: LexborNode) -> list[str]:
    """Return the normalised amounts inside an element that are struck through or named as old."""
    amounts: list[str] = []
    for node in element.css(MARKED)[:MAX_MARKED]:
        if node.tag in STRUCK_TAGS or _mark_by_attributes(node):
            amount = normalise(Attribute.PRICE, element_text(node, MAX_PRICE_CHARS) or "")
            if amount:
                amounts.append(amount)
    return amounts[:MAX_OLD_PRICES]


def struck_near(heading: LexborNode) -> list[str]:
    """Return the struck amounts in the innermost element around a heading that has any."""
    for ancestor in islice(ancestors_or_self(heading), 1, MAX_HEADING_LEVELS + 1):
        if ancestor.tag == "body":
            break
        amounts = struck_amounts(ancestor)
        if amounts:
            return amounts
    return []


def find_outdated(prices: Set[str], old: Iterable[str]) -> set[str]:
    """Return the old prices among those of an offer, where a lower one is not old."""
    outdated = prices & set(old)
    lowest = min(map(float, prices - outdated), default=inf)
    return {price for price in outdated if float(price) > lowest}


def _mark_by_attributes(node: LexborNode) -> Mark:
    attributes = node.attributes
    if not attributes:
        return Mark.NONE
    if LINE_THROUGH in (attributes.get("style") or "") or attributes.get("role") == "deletion":
        return Mark.STRUCK
    kind = attributes.get("itemtype") or attributes.get("typeof")
    if kind and SPECIFICATION in kind and _is_list_price(node):
        return Mark.STRUCK
    classes = attributes.get("class")
    return Mark.NAMED if classes and _names_old_price(classes[:MAX_CLASS_CHARS]) else Mark.NONE


@lru_cache(maxsize=4096)
def _names_old_price(classes: str) -> bool:
    """Return True if a class names an old price; cached, as pages repeat their classes."""
    return OLD_CLASS.search(CAMEL_CASE.sub("-", classes)) is not None


def _is_list_price(specification: LexborNode) -> bool:
    """Return True for a price specification in markup of a list price, or of a price per unit."""
    kind = specification.css_first('[itemprop~="priceType"], [property~="priceType"]')
    if kind is not None:
        attributes = kind.attributes
        value = attributes.get("content") or attributes.get("href") or attributes.get("resource")
        return LIST_PRICE_TYPES.search((value or element_text(kind) or "").strip()) is not None
    unit = '[itemprop~="referenceQuantity"], [property~="referenceQuantity"]'
    quantity = specification.css_first(unit)
    if quantity is None:
        return False
    # A reference quantity with a base of its own is the offer's content.
    return quantity.css_first('[itemprop~="valueReference"], [property~="valueReference"]') is None


def _beside(
    node: LexborNode, marked: LexborNode, all_matches: Callable[[], Iterable[LexborNode]]
) -> Iterator[LexborNode]:
    """Yield further matches that are not marked and stand in the same price box."""
    box = price_box(marked).mem_id
    is_behind = False
    for match in islice(all_matches(), MAX_ALTERNATIVES):
        if match.mem_id == node.mem_id:
            is_behind = True
        elif is_behind and box in path_to_body(match) and mark_of(match)[0] is Mark.NONE:
            yield match


def price_box(node: LexborNode) -> LexborNode:
    """Return the element that holds a price and those beside it."""
    box = node
    for ancestor in ancestors_or_self(node, MAX_BOX_LEVELS + 1):
        if ancestor.tag != "body":
            box = ancestor
    return box


def _is_lower(text: str, struck_text: str | None, mark: Mark) -> bool:
    """Return True for an amount that may be asked in place of the struck one."""
    amount = normalise(Attribute.PRICE, text)
    if amount is None:
        return False
    struck = normalise(Attribute.PRICE, struck_text or "")
    return mark is Mark.STRUCK or struck is None or float(amount) < float(struck)


def _asked_text(node: LexborNode, selector: TextAt | AttributeAt) -> str | None:
    """Return the text of a price without the struck prices inside its element."""
    if isinstance(selector, AttributeAt) or selector.own:
        return selected_text(node, selector)
    first = node.first_child
    if first is None or (first.next is None and first.is_text_node):
        return element_text(node)
    struck, named = set[int](), set[int]()
    for inner in islice(node.css(MARKED), MAX_MARKED):
        if inner.mem_id == node.mem_id:
            continue
        is_struck = inner.tag in STRUCK_TAGS
        mark = Mark.STRUCK if is_struck else _mark_by_attributes(inner)
        if mark:
            (struck if mark is Mark.STRUCK else named).add(inner.mem_id)
    text = element_text(node)
    if not (struck or named) or text is None:
        return text
    for skipped in (struck | named, struck):
        remaining = element_text(node, MAX_PRICE_CHARS, skipped=skipped)
        if remaining and normalise(Attribute.PRICE, remaining):
            return remaining
    return text if not struck else None
