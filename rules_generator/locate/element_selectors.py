"""Selectors for an element by its own marks: id, schema.org names, classes, data attributes.

Digits in ids and classes vary by product, so a name with digits is cut before them
(`product-title_9x2f`, numbered by a build tool) or left out; the part behind them counts too
(`ctl00_Main1_lblPrice`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from selectolax.lexbor import LexborNode

from parser.scripts.blocks import css_string

IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")
# Attributes whose value names the element's content.
NAMING_ATTRIBUTES = ("itemprop", "property", "name", "rel", "typeof", "http-equiv", "aria-current")
GTIN_NAME = re.compile(r"gtin\d{1,2}")
STATE_ATTRIBUTES = ("selected", "checked")
DIGIT = re.compile(r"\d")
BEFORE_DIGITS = re.compile(r"[A-Za-z_-]{3,}(?=\d)")
BEHIND_DIGITS = re.compile(r"(?<=\d)[A-Za-z_-]{4,}\Z")
NUMBERED_CLASS = re.compile(r"[A-Za-z_-]{5,}[_-](?=\w*\d)")
# Caps against hostile markup.
MAX_CLASS_CHARS = 100
MAX_CLASSES = 6
MAX_SIBLINGS = 500
MAX_CACHED = 16_384


def css_tag(node: LexborNode) -> str:
    """Return the element's tag in CSS; `*` where a character has a meaning in CSS."""
    tag = node.tag or "*"
    return tag if IDENTIFIER.fullmatch(tag) else "*"


def nth_of_type(node: LexborNode) -> str:
    """Return a selector by an element's tag and its position among siblings of that tag."""
    return f"{css_tag(node)}:nth-of-type({sibling_position(node)})"


def sibling_position(node: LexborNode, *, from_end: bool = False) -> int:
    """Return an element's position among siblings of its tag, from 1 to at most 500."""
    position = 1
    sibling = node.next if from_end else node.prev
    while sibling is not None and position < MAX_SIBLINGS:
        position += sibling.tag == node.tag
        sibling = sibling.next if from_end else sibling.prev
    return position


def anchor_selectors(node: LexborNode) -> list[str]:
    """Return selectors for an element by its own marks, the most specific first."""
    return list(_anchors_cached(css_tag(node), tuple(node.attributes.items())))


# A shop's pages repeat their elements, so most are in the cache.
@lru_cache(maxsize=MAX_CACHED)
def _anchors_cached(tag: str, attributes: tuple[tuple[str, str | None], ...]) -> tuple[str, ...]:
    return tuple(_anchors(tag, dict(attributes)))


def _anchors(tag: str, attributes: dict[str, str | None]) -> Iterator[str]:
    yield from _by_id(tag, attributes.get("id") or "")
    for name in NAMING_ATTRIBUTES:
        value = attributes.get(name) or ""
        if GTIN_NAME.fullmatch(value):
            # An offer's GTIN is named by its length: gtin12, gtin13.
            yield f'{tag}[{name}^="gtin"]'
        elif value:
            yield f'{tag}[{name}="{css_string(value)}"]'
    for state in STATE_ATTRIBUTES:
        if state in attributes:
            yield f"{tag}[{state}]"
    yield from _by_class(tag, (attributes.get("class") or "").split()[:MAX_CLASSES])
    for name in attributes:
        if name.startswith("data-") and _is_stable(name):
            yield f"{tag}[{name}]"


def _by_class(tag: str, names: list[str]) -> Iterator[str]:
    """Yield selectors by all stable classes, by each, and by the stable parts of numbered ones."""
    stable = [name for name in names if _is_stable(name)]
    if len(stable) > 1:
        yield tag + "".join(f".{name}" for name in stable)
    for name in stable:
        yield f"{tag}.{name}"
    for name in names:
        start, end = _around_digits(name)
        if start and end:
            yield f'{tag}[class*="{start}"][class*="{end}"]'
    for name in names:
        numbered = NUMBERED_CLASS.match(name[:MAX_CLASS_CHARS])
        if numbered:
            yield f'{tag}[class*="{numbered[0]}"]'


def _by_id(tag: str, name: str) -> Iterator[str]:
    """Yield a selector by the id, or by its parts before and behind digits."""
    if name and not DIGIT.search(name):
        yield f'{tag}[id="{css_string(name)}"]'
        return
    start, end = _around_digits(name)
    parts = [f'[id^="{start}"]'] if start else []
    parts += [f'[id$="{end}"]'] if end else []
    if parts:
        yield tag + "".join(parts)


def _around_digits(name: str) -> tuple[str, str]:
    """Return the parts of an id or class before and behind its digits; empty where a part is short.

    >>> _around_digits("vtex-product-price-1-x-sellingPrice"), _around_digits("p1")
    (('vtex-product-price-', '-x-sellingPrice'), ('', ''))
    """
    start, end = BEFORE_DIGITS.match(name), BEHIND_DIGITS.search(name)
    return start[0] if start else "", end[0] if end else ""


def _is_stable(name: str) -> bool:
    return IDENTIFIER.fullmatch(name) is not None and not DIGIT.search(name)


def css_name(name: str) -> str:
    """Escape an attribute's name for CSS.

    >>> css_name(":product"), css_name("1x")
    ('\\\\:product', '\\\\31 x')
    """
    escaped = re.sub(r"([^\w-])", r"\\\1", name)
    return re.sub(r"^-?\d|^-$", lambda first: f"\\{ord(first[0][0]):x} {first[0][1:]}", escaped)
