"""Cuts learnt from what stands around the known values (Hübscher 2018, 2.9).

On each training page a text that contains the known value leaves something on its left and on its right. Where all
pages leave the same, that is a literal to cut; where only its end (or start) is the same, that is a delimiter; where
only the length agrees, a number of characters is. Identifiers and prices are cut at literals and delimiters without
digits only: a count could take digits away.
"""

import os.path
from collections import Counter
from collections.abc import Iterable, Sequence

from catalog.models import Attribute
from parser.trim import Trim

NO_CUT = Trim()
MOST_TRIMS = 4
LONGEST_LITERAL = 40
BY_COUNT = frozenset({Attribute.TITLE, Attribute.CATEGORY})

Around = tuple[str, str]


def around(raw: str, values: Iterable[str]) -> Around | None:
    """What stands left and right of the first known value in a text; None where it holds none.

    >>> around("EAN: 123 *", ["123"])
    ('EAN: ', ' *')
    """
    folded = raw.casefold()
    if len(folded) != len(raw):
        return None
    for value in values:
        start = folded.find(value.casefold())
        if start >= 0:
            return raw[:start], raw[start + len(value) :]
    return None


def trims(attribute: Attribute, arounds: Sequence[Around]) -> list[Trim]:
    """The cuts that the surroundings suggest, at most four; which of them hold is for `score` to say."""
    found = [(left, right) for left, right in arounds if left or right]
    if not found:
        return []
    lefts, rights = [left for left, _ in found], [right for _, right in found]
    made = [Trim(left=_common(lefts) or 0, right=_common(rights) or 0)]
    left, right = _delimiter(lefts, at_end=True), _delimiter(rights, at_end=False)
    if left or right:
        made.append(Trim(left=left, right=right, inside=True))
        made.append(Trim(left=left if _same(lefts) else 0, right=right if _same(rights) else 0))
    if attribute in BY_COUNT and _same([len(one) for one in lefts]) and _same([len(one) for one in rights]):
        made.append(Trim(left=len(lefts[0]), right=len(rights[0])))
    return [trim for trim in dict.fromkeys(made) if trim != NO_CUT][:MOST_TRIMS]


def _common(sides: Sequence[str]) -> str | None:
    """The literal that most pages leave on one side."""
    literal, count = Counter(sides).most_common(1)[0]
    return literal if literal and count * 2 > len(sides) and _is_literal(literal) else None


def _delimiter(sides: Sequence[str], *, at_end: bool) -> str:
    """What all non-empty sides have in common next to the value."""
    full = [side for side in sides if side]
    if not full or len(full) * 2 < len(sides):
        return ""
    turned = [side[::-1] if at_end else side for side in full]
    shared = os.path.commonprefix(turned)[:LONGEST_LITERAL]  # noqa: RUF071 - character by character is what is wanted
    literal = shared[::-1] if at_end else shared
    return literal if _is_literal(literal) else ""


def _same(values: Sequence[object]) -> bool:
    return len(set(values)) == 1


def _is_literal(text: str) -> bool:
    return len(text) <= LONGEST_LITERAL and not any(char.isdigit() for char in text)
