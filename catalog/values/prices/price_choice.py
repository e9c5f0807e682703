"""Choice of the offer's price among several amounts in one text.

Texts of shops hold prices per unit (`101,48 €/kg 25,37 €`), old prices (`statt 129 € nur 99 €`),
savings and postage. Words beside each amount tell its role; the first amount of the best role is
the price. Without such words it is the first one.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from catalog.values.prices.price_words import (
    CURRENT_PRICE_WORDS,
    OLD_PRICE_WORDS,
    OTHER_AMOUNT_WORDS,
    UNIT_PREPOSITIONS,
    UNIT_PRICE_WORDS,
    UNITS,
    WORDS_BEHIND_OTHER_AMOUNT,
    words_pattern,
)

# Characters before an amount that may hold its label.
MAX_LABEL_LENGTH = 60


class Role(IntEnum):
    """Role of an amount, the likeliest price first."""

    CURRENT_PRICE = 0
    PRICE = 1
    UNIT_PRICE = 2
    OLD_PRICE = 3
    OTHER_AMOUNT = 4


class Span(NamedTuple):
    """Start and end of an amount in a text, its currency mark included."""

    start: int
    end: int


def _label_pattern(label_words: list[str]) -> re.Pattern[str]:
    """Return a pattern for one of the words at the end of a text, a few others between: `Original
    price was: `.
    """
    return re.compile(rf"(?<![^\W_])(?:{words_pattern(label_words)})(?![^\W_])[^\d]{{0,20}}$")


_UNIT = rf"(?:{words_pattern(UNITS)})\.?(?![^\W_]|[.,]\d)"
_QUANTITY = r"(?:\d{1,4}(?:[.,]\d{1,3})? ?(?:x ?)?)?"
_PREPOSITIONS = words_pattern(UNIT_PREPOSITIONS)
_UNIT_EXPRESSION = re.compile(
    rf"(?P<open>[(\[] ?)?(?:/ ?|(?<![^\W_])(?:{_PREPOSITIONS})\.?[ '’])"
    rf"{_QUANTITY}{_UNIT}\)?(?P<equals> ?[=:])?"
    rf"|(?<![\d.,])(?P<quantity_first>\d{{1,4}}(?:[.,]\d{{1,3}})? ?{_UNIT} ?[=:])",
)
# `€/kg25,37 €`: a price directly behind a unit, from another element.
_GLUED_TO_UNIT = re.compile(
    rf"(?<=/)( ?{_QUANTITY}(?:{words_pattern(word for word in UNITS if '*' not in word)}))(?=\d)",
    re.IGNORECASE,
)
_UNIT_PRICE_LABEL = _label_pattern(UNIT_PRICE_WORDS)
_OLD_PRICE_LABEL = _label_pattern(OLD_PRICE_WORDS)
_CURRENT_PRICE_LABEL = _label_pattern(CURRENT_PRICE_WORDS)
_OTHER_LABEL = _label_pattern(OTHER_AMOUNT_WORDS)
# `3 for 5 €`: a price of several pieces. `+ 4 €`: postage or a surcharge.
_PIECES_OR_PLUS = re.compile(
    r"(?<![\d.,])\d{1,2} (?:for|für|pour|por|per|voor|för|za|за|x)\s$|\+\s?$"
)
_OTHER_BEHIND = re.compile(rf"[\s(]{{0,2}}(?:{words_pattern(WORDS_BEHIND_OTHER_AMOUNT)})(?![^\W_])")
_ONLY_GAP = re.compile(r"[\s=:)\]*]{0,3}$")


def separate_units(line: str) -> str:
    """Set a price apart from the unit before it.

    >>> separate_units("24,90 €/kg4,98 €")
    '24,90 €/kg 4,98 €'
    """
    return _GLUED_TO_UNIT.sub(r"\1 ", line) if "/" in line else line


def choose(line: str, spans: Sequence[Span]) -> tuple[int, Role]:
    """Return the index of the amount that is the price, and its role.

    >>> def chosen(line): return choose(line, [Span(*m.span()) for m in re.finditer(r"[\\d,]+ €", line)])[0]
    >>> chosen("101,48 €/kg 25,37 €"), chosen("25,37 € (1 kg = 101,48 €)"), chosen("statt 129 € nur 99 €"), chosen("99 € 129 €")
    (1, 0, 1, 0)
    """
    roles = roles_of(line, spans)
    best = min(range(len(spans)), key=lambda index: (roles[index], index))
    return best, roles[best]


def roles_of(line: str, spans: Sequence[Span]) -> list[Role]:
    """Return the role of each amount of a text."""
    lower = line.lower()
    # A few letters become two in lower case; the words of the data file have none of them.
    if len(lower) == len(line):
        line = lower
    with_unit = _with_unit(line, spans)
    starts = [span.start for span in spans]
    ends = [span.end for span in spans]
    # Texts before each amount, and behind it.
    before = [line[start:end] for start, end in zip([0, *ends], starts, strict=False)]
    behind = [line[start:end] for start, end in zip(ends, [*starts[1:], len(line)], strict=True)]
    is_behind = not any(map(str.isalpha, before[0])) and _role_of_label(behind[-1]) is not None
    labels = behind if is_behind else before
    roles: list[Role] = []
    for index, label in enumerate(labels):
        if note := _OTHER_BEHIND.match(behind[index]):
            roles.append(Role.OTHER_AMOUNT)
            # A word behind an amount is no label of the next one.
            if not is_behind and index + 1 < len(labels):
                labels[index + 1] = behind[index][note.end() :]
            continue
        role = _role_of_label(label)
        if role in (None, Role.CURRENT_PRICE) and index in with_unit:
            role = Role.UNIT_PRICE
        roles.append(Role.PRICE if role is None else role)
    return roles


def _role_of_label(label: str) -> Role | None:
    """Return the role that the words beside an amount give it; None where they give none.

    >>> _role_of_label("statt "), _role_of_label("sale price "), _role_of_label("price ")
    (<Role.OLD_PRICE: 3>, <Role.CURRENT_PRICE: 0>, None)
    """
    label = label[-MAX_LABEL_LENGTH:]
    if _PIECES_OR_PLUS.search(label) or _OTHER_LABEL.search(label):
        return Role.OTHER_AMOUNT
    if _OLD_PRICE_LABEL.search(label):
        return Role.OLD_PRICE
    if _UNIT_PRICE_LABEL.search(label):
        return Role.UNIT_PRICE
    if _CURRENT_PRICE_LABEL.search(label):
        return Role.CURRENT_PRICE
    return None


def _with_unit(line: str, spans: Sequence[Span]) -> set[int]:
    """Return the indices of the amounts that are prices per unit.

    A unit belongs to the amount before it, unless an equals sign or an opening bracket binds it to
    the one behind: `12 € (100 g = 3 €)`.
    """
    indices: set[int] = set()
    for match in _UNIT_EXPRESSION.finditer(line):
        before: int | None = None
        behind: int | None = None
        for index, span in enumerate(spans):
            if span.end <= match.start() and _ONLY_GAP.match(line[span.end : match.start()]):
                before = index
            if span.start >= match.end() and behind is None:
                is_beside = _ONLY_GAP.match(line[match.end() : span.start])
                behind = index if is_beside else None
        binds_right = match["equals"] or match["quantity_first"] or match["open"]
        owner = behind if binds_right and behind is not None else before
        # `/kg` without an equals sign belongs to a number before it, with or without a mark.
        if owner is None and "/" not in match[0]:
            owner = behind
        if owner is not None:
            indices.add(owner)
    return indices
