"""The kind of source that a selector reads, coarse and fine."""

import re

from parser.rules.selector import AnySelector, JsonAt, TextAt

DATA = "data"
LAST_COMPOUND = re.compile(r"[^\s>+]+$")
POSITION = re.compile(r":nth-[a-z-]+\(\d+\)")


def source_kind(selector: AnySelector) -> str:
    """Return the kind of source of a selector: shops fill places of one kind from one source.

    >>> source_kind(TextAt(css="h1")), source_kind(JsonAt(block="ld+json Product", path="$.name"))
    ('text', 'schema.org')
    """
    if isinstance(selector, JsonAt):
        return "schema.org" if selector.block.startswith("ld+json") else DATA
    if isinstance(selector, TextAt):
        return "head" if selector.css.startswith("title") else "text"
    last = LAST_COMPOUND.search(selector.css)
    return "meta" if last and last[0].startswith("meta") else "attribute"


def element_kind(selector: AnySelector) -> str:
    """Return the finer kind: for data its block, for texts and attributes the element at the
    selector's end.

    >>> element_kind(TextAt(css="div.product span.sku")), element_kind(TextAt(css="b:nth-of-type(2)"))
    ('text span.sku', 'text b')
    """
    if isinstance(selector, JsonAt):
        return f"{source_kind(selector)} {selector.css} {selector.block}"
    name = "" if isinstance(selector, TextAt) else f" {selector.name}"
    return f"{source_kind(selector)} {last_compound(selector.css)}{name}"


def last_compound(css: str) -> str:
    """Return the element at a selector's end, without its position among siblings.

    >>> last_compound("ul.menu > li:nth-of-type(2)")
    'li'
    """
    last = LAST_COMPOUND.search(css)
    return POSITION.sub("", last[0]) if last else ""
