"""Amounts in one form: in one unit, and with decimals told from thousands.

In `17.787` a point or comma before three digits separates thousands, or decimals. One value does not
tell which, but its column does: of both readings the one is taken that is nearer to the amounts that
can be read in one way only. Where a column mixes units, such as g and kg, all amounts are converted to
their base unit; an amount without a unit has the most frequent one. Sizes are amounts, too: their
product.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from math import sqrt

import numpy as np

from matcher.records.units import find_unit
from matcher.taught.columns.dates import MAX_CHARACTERS
from matcher.taught.columns.values import count_factors, parse_number

Unit = tuple[str, float]
"""A base unit, and the factor to it."""

# Three digits after the only separator; a number that begins with zero is no thousand.
_AMBIGUOUS = re.compile(r"^(\D*[1-9]\d{0,2})[.,](\d{3})(\D*(?:m[23])?)$")
# An amount and its unit.
_WITH_UNIT = re.compile(r"^(.*\d)\s*([^\W\d_]+)$")
# Base units of lengths.
LENGTHS = frozenset({"mm", "inch", "ft", "yd"})
# Numbers of an amount that are lengths of one thing, at least.
MIN_LENGTHS = 3
# Amounts of one reading that a column needs to tell the others', and amounts in other units than the
# usual one from which on it mixes units.
MIN_AMOUNTS = 10


def amount_form(columns: Sequence[Iterable[str]]) -> Callable[[str], str] | None:
    """Return what brings the amounts of a column, of one table or of two, into one form.

    None where they have one already.
    """
    usual_unit = _usual_unit(chain.from_iterable(columns))
    usual = _usual_amount(chain.from_iterable(columns), usual_unit)
    if usual is None and usual_unit is None:
        return None
    return partial(unify_amount, usual=usual, usual_unit=usual_unit)


def unify_amount(text: str, usual: float | None, usual_unit: Unit | None = None) -> str:
    """Return an amount without the separator of thousands, or with a decimal point.

    `usual` is the median of the amounts in the column that have one reading, None if all have.
    `usual_unit` is the most frequent unit of a column that mixes units: the amount is then a bare
    number in its base unit.

    >>> unify_amount("17.787 €", 21000), unify_amount("6,852", 10), unify_amount("6,85", 10)
    ('17787 €', '6.852', '6,85')
    >>> [unify_amount(text, 9000, ("g", 1000)) for text in ("10.17 kg", "10170 g", "7,076", "1.046 kg")]
    ['10170', '10170', '7076', '1046']
    """
    amount, factor = _read_amount(text[:MAX_CHARACTERS], usual_unit)
    is_changed = False
    if usual is not None and (match := _AMBIGUOUS.match(amount)):
        is_changed = True
        start, end, rest = match.groups()
        # As a number of thousands it is 1,000 times the decimal: in between lies the usual amount.
        thousands = float(re.sub(r"\D", "", start) + end)
        separator = "" if thousands * factor < usual * sqrt(1000) else "."
        amount = f"{start}{separator}{end}{rest}"
    if usual_unit is None:
        return amount if is_changed else text
    number = parse_number(amount)
    return text if number is None else f"{number * factor:.4f}".rstrip("0").rstrip(".")


def _read_amount(text: str, usual_unit: Unit | None) -> tuple[str, float]:
    """Return an amount and its factor to the column's base unit: 1 where the column mixes no units."""
    if usual_unit is None:
        return text, 1.0
    amount, unit = _split_unit(text)
    base, factor = unit or usual_unit
    if base != usual_unit[0]:
        return text, 1.0
    # A size of three lengths has the unit three times; two numbers may be a pack of one length.
    lengths = count_factors(amount) if base in LENGTHS else 1
    return amount, factor**lengths if lengths >= MIN_LENGTHS else factor


def _split_unit(text: str) -> tuple[str, Unit | None]:
    """Return an amount without its unit, and the unit; None if it names none that is known."""
    # Most amounts of most tables end with a digit.
    match = _WITH_UNIT.match(text[:MAX_CHARACTERS]) if text[-1:].isalpha() else None
    unit = find_unit(match[2]) if match else None
    return (match[1], unit) if match and unit else (text, None)


def _usual_unit(values: Iterable[str]) -> Unit | None:
    """Return the most frequent unit of a column that mixes units of one kind; None if it does not."""
    units = Counter(unit for _, unit in map(_split_unit, values) if unit is not None)
    if not units:
        return None
    [(usual_unit, _)] = units.most_common(1)
    others = sum(
        count for unit, count in units.items() if unit[0] == usual_unit[0] and unit != usual_unit
    )
    return usual_unit if others >= MIN_AMOUNTS else None


def _usual_amount(values: Iterable[str], usual_unit: Unit | None) -> float | None:
    """Return the median of the amounts of one reading, None if there are few or none is ambiguous."""
    amounts = array("d")
    has_ambiguous = False
    for value in values:
        amount, factor = _read_amount(value[:MAX_CHARACTERS], usual_unit)
        if _AMBIGUOUS.match(amount):
            has_ambiguous = True
            continue
        number = parse_number(amount)
        if number is not None and number > 0:
            amounts.append(number * factor)
    if not has_ambiguous or len(amounts) < MIN_AMOUNTS:
        return None
    return float(np.median(amounts))
