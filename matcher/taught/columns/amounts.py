"""Amounts such as `17.787`: a point or comma before three digits separates thousands, or decimals.

One value does not tell which, but its column does: of both readings the one is taken that is nearer to
the amounts that can be read in one way only.
"""

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from math import sqrt

import numpy as np

from matcher.dedupe.base.packed_texts import PackedTexts
from matcher.dedupe.base.records import Records, join_keys
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import MAX_CHARACTERS, parse_number

# Three digits after the only separator; a number that begins with zero is no thousand.
_AMBIGUOUS = re.compile(r"^(\D*[1-9]\d{0,2})[.,](\d{3})(\D*)$")
# Amounts of one reading that a column needs.
MIN_AMOUNTS = 10


def unify_amounts(sides: Sequence[Records], kinds: Sequence[ColumnKind]) -> list[Records]:
    """Return the records of one table, or of two, with one form of ambiguous amounts."""
    unified = [*sides]
    for number, kind in enumerate(kinds):
        if kind is not ColumnKind.NUMBER:
            continue
        usual = _usual_amount(chain.from_iterable(side.fields[number] for side in unified))
        if usual is None:
            continue
        for place, side in enumerate(unified):
            fields = [*side.fields]
            fields[number] = PackedTexts(unify_amount(value, usual) for value in fields[number])
            unified[place] = replace(side, fields=tuple(fields), texts=join_keys(tuple(fields)))
    return unified


def unify_amount(text: str, usual: float) -> str:
    """Return an amount without the separator of thousands, or with a decimal point.

    `usual` is the median of the amounts in the column that have one reading.

    >>> unify_amount("17.787 €", 21000), unify_amount("6,852", 10), unify_amount("6,85", 10)
    ('17787 €', '6.852', '6,85')
    """
    match = _AMBIGUOUS.match(text[:MAX_CHARACTERS])
    if match is None:
        return text
    start, end, rest = match.groups()
    # As a number of thousands it is 1,000 times the decimal: in between lies the usual amount.
    thousands = float(re.sub(r"\D", "", start) + end)
    separator = "" if thousands < usual * sqrt(1000) else "."
    return f"{start}{separator}{end}{rest}"


def _usual_amount(values: Iterable[str]) -> float | None:
    """Return the median of the amounts of one reading, None if there are few or none is ambiguous."""
    amounts = array("d")
    has_ambiguous = False
    for value in values:
        if _AMBIGUOUS.match(value[:MAX_CHARACTERS]):
            has_ambiguous = True
            continue
        number = parse_number(value)
        if number is not None and number > 0:
            amounts.append(number)
    if not has_ambiguous or len(amounts) < MIN_AMOUNTS:
        return None
    return float(np.median(amounts))
