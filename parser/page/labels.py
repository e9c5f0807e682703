"""The text behind a label, as in `EAN: 4006`: in the same element or in the next one.

A label is recognised by its whole text among the elements that a CSS selector matches. So one
selector holds for all layouts of a shop and all spellings of a label, where a path to the value
would need one selector for each.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from selectolax.lexbor import LexborNode

from parser.page.texts import element_text

# Characters of a label with its value; longer texts are prose.
MAX_LABELLED_CHARS = 80
# Characters between a label and its value that belong to neither.
SEPARATORS = " \t\r\n\xa0:#：＃"


def labelled_text(nodes: Iterable[LexborNode], label: str) -> str | None:
    """Return the text behind the first element that is a label, given as a regular expression."""
    pattern = label_pattern(label)
    for node in nodes:
        match = pattern.fullmatch(short_text(node) or "")
        if match is None:
            continue
        value = match["value"] or _text_beside(node, pattern)
        if value:
            return value
    return None


@lru_cache(maxsize=256)
def label_pattern(label: str) -> re.Pattern[str]:
    """Return the pattern of a label with groups `mark`, its end, and `value`, the text after.

    >>> label_pattern("EAN|GTIN").fullmatch("GTIN: 4006").groupdict()
    {'mark': ':', 'value': '4006'}
    """
    return re.compile(
        rf"(?:{label})(?![^\W\d_])\s*(?P<mark>[:#：＃]?)\s*(?P<value>.*)", re.IGNORECASE | re.DOTALL
    )


def short_text(node: LexborNode | None) -> str | None:
    """Return the text of an element; None where it is longer than a label with its value."""
    text = element_text(node, MAX_LABELLED_CHARS + 1) if node is not None else None
    return text if text and len(text) <= MAX_LABELLED_CHARS else None


def _text_beside(node: LexborNode, pattern: re.Pattern[str]) -> str | None:
    """Return the text after a label, or after its parent if the label fills that."""
    value = following_text(node)
    if value is not None or node.parent is None:
        return value
    if pattern.fullmatch(short_text(node.parent) or ""):
        return following_text(node.parent)
    return None


def following_text(node: LexborNode) -> str | None:
    """Return the short text after an element: a bare text, or the next element's."""
    sibling = node.next
    while sibling is not None:
        text: str | None = ""
        if sibling.is_text_node:
            text = sibling.text_content
        elif sibling.is_element_node:
            text = short_text(sibling)
        value = (text or "").strip(SEPARATORS)
        # Comments and blanks are skipped; the first element ends the search.
        if value or sibling.is_element_node:
            return value if 0 < len(value) <= MAX_LABELLED_CHARS else None
        sibling = sibling.next
    return None
