"""The kind of place that a selector reads."""

import re

from parser.rules.selector import UNSTRUCK, AnySelector, JsonAt, TextAt

DATA = "data"


LAST_STEP = re.compile(r"[^\s>+]+$")


PLACE_AMONG = re.compile(r":nth-[a-z-]+\(\d+\)")


def family(selector: AnySelector) -> str:
    """The kind of place a selector reads: shops fill places of one kind from one source.

    >>> family(TextAt(css="h1")), family(JsonAt(block="ld+json Product", path="$.name"))
    ('text', 'schema.org')
    """
    if isinstance(selector, JsonAt):
        return "schema.org" if selector.block.startswith("ld+json") else DATA
    if isinstance(selector, TextAt):
        return "head" if selector.css.startswith("title") else "text"
    last = LAST_STEP.search(selector.css)
    return "meta" if last and last[0].startswith("meta") else "attribute"


def spot(selector: AnySelector) -> str:
    """The kind of place, told more finely: of data its block, of texts and attributes the element at the end.

    >>> spot(TextAt(css="div.product span.sku")), spot(TextAt(css="html > b:nth-of-type(2)"))
    ('text span.sku', 'text b')
    """
    if isinstance(selector, JsonAt):
        return f"{family(selector)} {selector.css} {selector.block}"
    name = "" if isinstance(selector, TextAt) else f" {selector.name}"
    return f"{family(selector)} {last_step(selector.css)}{name}"


def last_step(css: str) -> str:
    """The element at a selector's end, without its place among its like.

    >>> last_step("ul.menu > li:nth-of-type(2)")
    'li'
    """
    last = LAST_STEP.search(css.removesuffix(UNSTRUCK))
    return PLACE_AMONG.sub("", last[0]) if last else ""
