"""Selectors for an element by its own marks: id, schema.org names, classes, data attributes.

Digits in ids and classes vary by product, so a name that has some is cut before them (`product-title_9x2f`, which a
build tool has numbered) or left out; what stands behind them counts too (`ctl00_Main1_lblPrice`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from selectolax.lexbor import LexborNode

from parser.scripts.blocks import css_string

IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")
NAMED = ("itemprop", "property", "name", "rel", "typeof", "http-equiv", "aria-current")
DIGIT = re.compile(r"\d")
BEFORE_DIGITS = re.compile(r"[A-Za-z_-]{3,}(?=\d)")
BEHIND_DIGITS = re.compile(r"(?<=\d)[A-Za-z_-]{4,}\Z")
LONGEST_NAMED = 100
NUMBERED = re.compile(r"[A-Za-z_-]{5,}[_-](?=\w*\d)")
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
    names = (attributes.get("class") or "").split()[:MOST_CLASSES]
    classes = [one for one in names if _is_stable(one)]
    if len(classes) > 1:
        yield tag + "".join(f".{one}" for one in classes)
    yield from (f"{tag}.{one}" for one in classes)
    ends = map(_around_digits, names)
    yield from (f'{tag}[class*="{start}"][class*="{end}"]' for start, end in ends if start and end)
    starts = (NUMBERED.match(name[:LONGEST_NAMED]) for name in names)
    yield from (f'{tag}[class*="{start[0]}"]' for start in starts if start)
    yield from (
        f"{tag}[{one}]" for one in attributes if one.startswith("data-") and _is_stable(one)
    )


def _by_id(tag: str, name: str) -> Iterator[str]:
    """The id, or what stands before and behind its digits."""
    if name and not DIGIT.search(name):
        yield f'{tag}[id="{css_string(name)}"]'
        return
    start, end = _around_digits(name)
    ends = [f'[id^="{start}"]'] if start else []
    ends += [f'[id$="{end}"]'] if end else []
    if ends:
        yield tag + "".join(ends)


def _around_digits(name: str) -> tuple[str, str]:
    """What stands before and behind the digits in an id or a class; nothing where that is short.

    >>> _around_digits("vtex-product-price-1-x-sellingPrice"), _around_digits("p1")
    (('vtex-product-price-', '-x-sellingPrice'), ('', ''))
    """
    start, end = BEFORE_DIGITS.match(name), BEHIND_DIGITS.search(name)
    return start[0] if start else "", end[0] if end else ""


def _is_stable(name: str) -> bool:
    return IDENTIFIER.fullmatch(name) is not None and not DIGIT.search(name)


def css_name(name: str) -> str:
    """An attribute's name as CSS says it.

    >>> css_name(":product"), css_name("1x")
    ('\\\\:product', '\\\\31 x')
    """
    escaped = re.sub(r"([^\w-])", r"\\\1", name)
    return re.sub(r"^-?\d|^-$", lambda first: f"\\{ord(first[0][0]):x} {first[0][1:]}", escaped)
