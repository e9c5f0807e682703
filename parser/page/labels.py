"""The text behind a label, as in `EAN: 4006`: in the same element or beside it, whatever holds the two.

Which of the elements that a CSS selector finds is a label is told by its whole text. So one selector holds for all of a
shop's layouts and ways to write a label, where a path to the value would need one for each.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from selectolax.lexbor import LexborNode

from parser.page.texts import text_of

LONGEST_LABELLED = 80
BETWEEN = " \t\r\n\xa0:#"


def text_behind(nodes: Iterable[LexborNode], label: str) -> str | None:
    """The text behind the first of these elements that is such a label and has any; `label` is a regular expression."""
    pattern = labelled(label)
    for node in nodes:
        match = pattern.fullmatch(short_text(node) or "")
        found = (match["value"] or _beside(node, pattern)) if match else None
        if found:
            return found
    return None


@lru_cache(maxsize=256)
def labelled(label: str) -> re.Pattern[str]:
    """What a text that begins with such a label looks like: the group `mark` ends the label, `value` is the rest."""
    return re.compile(
        rf"(?:{label})(?![^\W\d_])\s*(?P<mark>[:#]?)\s*(?P<value>.*)", re.IGNORECASE | re.DOTALL
    )


def short_text(node: LexborNode | None) -> str | None:
    """The text of an element, if it is as short as labels and what they name are."""
    text = text_of(node, LONGEST_LABELLED + 1) if node is not None else None
    return text if text and len(text) <= LONGEST_LABELLED else None


def _beside(node: LexborNode, pattern: re.Pattern[str]) -> str | None:
    """What stands next to a label; where that is all of an element, next to this one."""
    found = next_text(node)
    if (
        found is None
        and node.parent is not None
        and pattern.fullmatch(short_text(node.parent) or "")
    ):
        found = next_text(node.parent)
    return found


def next_text(node: LexborNode) -> str | None:
    """The short text that follows an element beside it: bare, or the next element's."""
    after = node.next
    while after is not None:
        text = (
            (after.text_content or "")
            if after.is_text_node
            else short_text(after)
            if after.is_element_node
            else ""
        )
        found = (text or "").strip(BETWEEN)
        if found or after.is_element_node:
            return found if 0 < len(found) <= LONGEST_LABELLED else None
        after = after.next
    return None
