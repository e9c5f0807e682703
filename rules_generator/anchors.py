"""Selectors for an element by its own marks: id, schema.org names, classes, data attributes.

Digits in ids and classes vary by product, so a name that has some is cut before them or left out; what stands behind
them counts too (`ctl00_Main1_lblPrice`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from selectolax.lexbor import LexborNode

from parser.blocks import css_string

IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")
NAMED = ("itemprop", "property", "name", "rel", "typeof", "http-equiv", "aria-current")
DIGIT = re.compile(r"\d")
BEFORE_DIGITS, BEHIND_DIGITS = re.compile(r"[A-Za-z_-]{3,}(?=\d)"), re.compile(r"(?<=\d)[A-Za-z_-]{4,}\Z")
STATES = ("selected", "checked")
MOST_CLASSES = 6


def tag_of(node: LexborNode) -> str:
    """The element's tag as CSS says it; any tag where it has a character that CSS would read otherwise."""
    tag = node.tag or "*"
    return tag if IDENTIFIER.fullmatch(tag) else "*"


def upwards(node: LexborNode) -> Iterator[LexborNode]:
    """The element, the one around it, and so on, up to the page's own."""
    here: LexborNode | None = node
    while here is not None and here.tag not in ("html", "-undef", None):
        yield here
        here = here.parent


def anchors_of(node: LexborNode) -> list[str]:
    """Selectors for an element by its own marks, the most telling first."""
    return list(_known(tag_of(node), tuple(node.attributes.items())))


@lru_cache(maxsize=16_384)
def _known(tag: str, attributes: tuple[tuple[str, str | None], ...]) -> tuple[str, ...]:
    """A shop's pages repeat their elements, so most are known already."""
    return tuple(_anchors(tag, dict(attributes)))


def _anchors(tag: str, attributes: dict[str, str | None]) -> Iterator[str]:
    yield from _by_id(tag, attributes.get("id") or "")
    for mark in NAMED:
        if attributes.get(mark):
            yield f'{tag}[{mark}="{css_string(attributes[mark] or "")}"]'
    yield from (f"{tag}[{state}]" for state in STATES if state in attributes)
    classes = [one for one in (attributes.get("class") or "").split()[:MOST_CLASSES] if _is_stable(one)]
    if len(classes) > 1:
        yield tag + "".join(f".{one}" for one in classes)
    yield from (f"{tag}.{one}" for one in classes)
    yield from (tag + around for around in _around_digits(attributes.get("class") or ""))
    yield from (f'{tag}[class*="{start[0]}"]' for start in _starts(attributes.get("class") or ""))
    yield from (f"{tag}[{one}]" for one in attributes if one.startswith("data-") and _is_stable(one))


def _by_id(tag: str, name: str) -> Iterator[str]:
    """The id, or what stands before and behind its digits."""
    if name and not DIGIT.search(name):
        yield f'{tag}[id="{css_string(name)}"]'
        return
    start, end = BEFORE_DIGITS.match(name), BEHIND_DIGITS.search(name)
    ends = [f'[id^="{start[0]}"]'] if start else []
    ends += [f'[id$="{end[0]}"]'] if end else []
    if ends:
        yield tag + "".join(ends)


def _around_digits(classes: str) -> Iterator[str]:
    """What stands before and behind the digits in classes, as in `vtex-product-price-1-x-sellingPrice`."""
    for name in classes.split()[:MOST_CLASSES]:
        start, end = BEFORE_DIGITS.match(name), BEHIND_DIGITS.search(name)
        if start and end:
            yield f'[class*="{start[0]}"][class*="{end[0]}"]'


def _starts(classes: str) -> Iterator[re.Match[str]]:
    """What stands before the digits in classes that a build tool has numbered, as in `product-title_9x2f`."""
    for name in classes.split()[:MOST_CLASSES]:
        start = re.match(r"[A-Za-z_-]{5,}[_-](?=\w*\d)", name)
        if start:
            yield start


def _is_stable(name: str) -> bool:
    return IDENTIFIER.fullmatch(name) is not None and not DIGIT.search(name)


def css_name(name: str) -> str:
    """An attribute's name as CSS says it.

    >>> css_name(":product")
    '\\\\:product'
    """
    return re.sub(r"([^\w-])", r"\\\1", name)
