"""Cents in an element of their own, `12<sup>50</sup> €`: written as raised digits, `12⁵⁰ €`.

Without that the text of the elements around is 1250. Values know raised digits
(`catalog.values.prices.split_amounts`), and a person reads them as the page shows them.
"""

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from catalog.values import find_currency

# Characters of a text that may be cents with their sign, and characters before it that are read.
MAX_CENTS_CHARS = 12
CHARS_BEFORE = 24
# Characters of a text in which two adjacent elements may be one amount.
MAX_AMOUNT_CHARS = 40
RAISED_TAGS = frozenset(("sup", "sub", "small"))
# Parts of class names of cents.
CENTS_CLASS = re.compile(
    r"cent(?:s|ime|imes|imos|avos|esimi)?(?![a-z])|decimal|fraction|superscript|minor|kopeck|kopeyk|grosz"
    r"|(?<![a-z])(?:sup|dec|decs|ct|cts|frac|haler\w*|kop|ore)(?![a-z])",
    re.IGNORECASE,
)
_CENTS = re.compile(r"(\s*)(\d\d)((?!\d)\D{0,8})\Z", re.ASCII)
# The number or the mark of a footnote.
_FOOTNOTE = re.compile(r"\s*[(\[]?(\d{1,2}|[*†‡§]{1,3})[)\].]?\s*\Z", re.ASCII)
# A cheap test of a text before `raised`.
MAY_BE_RAISED = re.compile(r"\s*[(\[]?[\d*†‡§]").match
# Whole units, perhaps with a sign behind, at the end of a text.
_WHOLE = r"(?<![\d.,])(?:\d{1,3}(?:[ .,'’\xa0\u202f]\d{3})+|\d{1,9})"
_UNITS_BEFORE = re.compile(rf"{_WHOLE}\s?[^\s\w.,;:()/%+&-]?\s?\Z")
_ADJACENT_UNITS_BEFORE = re.compile(rf"{_WHOLE}\Z")
_AMOUNT_BEFORE = re.compile(
    r"(?:[.,]\d\d|[⁰¹²³⁴-⁹]{2})\s?(?:[^\s\w.,;:()/%+&-]|[^\W\d_]{1,3})?\s?\Z"
    r"|\d\s?[^\s\w.,;:()/%+&-]\s?\Z|(?<![.,])(?<!\d)\d{1,9}\Z"
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_DIGITS = str.maketrans("0123456789", _RAISED)


def raised(text_node: LexborNode, parts: Sequence[str]) -> str | None:
    """Return a short text raised if it is cents or a footnote's number behind `parts`."""
    parent = text_node.parent
    if parent is None:
        return None
    text = text_node.text_content or ""
    before = "".join(parts[-4:])[-CHARS_BEFORE:]
    is_raised = parent.tag in RAISED_TAGS
    if not is_raised and not CENTS_CLASS.search(parent.attributes.get("class") or ""):
        return None
    cents = _CENTS.match(text)
    if cents and _UNITS_BEFORE.search(before):
        return f"{cents[1]}{cents[2].translate(_RAISED_DIGITS)}{cents[3]}"
    footnote = _FOOTNOTE.match(text) if parent.tag == "sup" else None
    if footnote and _AMOUNT_BEFORE.search(before):
        # Set apart from raised cents.
        gap = " " if before[-1] in _RAISED else ""
        return gap + footnote[1].translate(_RAISED_DIGITS)
    return None


def raise_adjacent_cents(parts: Sequence[str], places: Sequence[int]) -> str:
    """Join texts of which those at `places` follow another element's without a gap: in a short text
    with a currency, two digits there are cents.

    >>> raise_adjacent_cents(["12", "50", " €"], [1]), raise_adjacent_cents(["Room 12", "50"], [1])
    ('12⁵⁰ €', 'Room 1250')
    """
    joined = "".join(parts)
    if len(joined) > MAX_AMOUNT_CHARS or not find_currency(joined):
        return joined
    written = list(parts)
    for place in places:
        match = _CENTS.match(written[place])
        if match and not match[1] and _ADJACENT_UNITS_BEFORE.search("".join(written[:place])):
            written[place] = f"{match[2].translate(_RAISED_DIGITS)}{match[3]}"
    return "".join(written)
