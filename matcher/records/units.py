"""Quantities and units in one form, so that `1,5 l` and `1500 ml`, `set of 2` and `2er-Pack` are the same token.

Pint and quantulum3 read physical units, but neither reads pack sizes nor German spellings, and both are far slower
than one expression over a short title.
"""

import re
from collections.abc import Iterable

from catalog.values.text import any_of

_UNITS: dict[str, tuple[str, float]] = {
    spelling: (unit, factor)
    for unit, factor, spellings in (
        ("ml", 1, "ml milliliter millilitre milliliters millilitres"),
        ("ml", 10, "cl"),
        ("ml", 1000, "l ltr liter litre liters litres"),
        ("floz", 1, "floz"),
        ("oz", 1, "oz ounce ounces unze unzen"),
        ("gal", 1, "gal gallon gallons"),
        ("g", 0.001, "mg"),
        ("g", 1, "g gr gramm gram grams"),
        ("g", 1000, "kg kilo kilogramm kilogram"),
        ("lb", 1, "lb lbs pound pounds"),
        ("mm", 1, "mm millimeter millimetre"),
        ("mm", 10, "cm zentimeter centimeter centimetre"),
        ("mm", 1000, "m meter metre meters metres"),
        ("inch", 1, 'inch inches zoll "'),
        ("ft", 1, "ft feet foot"),
        ("yd", 1, "yd yds yard yards"),
        ("gb", 0.001, "mb"),
        ("gb", 1, "gb gig"),
        ("gb", 1000, "tb"),
        ("w", 1, "w watt watts"),
        ("w", 1000, "kw"),
        ("v", 1, "v volt volts"),
        ("mah", 1, "mah"),
        ("mah", 1000, "ah"),
        (
            "pcs",
            1,
            "pc pcs piece pieces stuck stk stuck ct count pk pack packs er erpack tlg teilig paar pair pairs",
        ),
    )
    for spelling in spellings.split()
}
_NAMES = any_of(_UNITS)
_PACK = re.compile(
    r"\b(?:set|pack|packung|box|case|bag|package)\s(?:of|mit|a|von)\s(\d{1,5})\b|\b(\d{1,4})\s?x(?=\s)|\b(\d{1,4})er[\s-]?(?:set|pack)\b"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_AMOUNT = re.compile(rf"(?<![\w.])(\d{{1,6}}(?:\.\d{{1,4}})?)[\s-]?({_NAMES})(?![^\W_])")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
DIMENSIONS = frozenset(unit for unit, _ in _UNITS.values())


def quantify(text: str) -> str:
    """Folded text with every quantity written in one form.

    >>> quantify("set of 2 bottles 1,5 l"), quantify("2er-pack 1500ml"), quantify('128 gb 6.1" 10 in 1')
    ('2pcs bottles 1500ml', '2pcs 1500ml', '128gb 6.1inch 10 in 1')
    """
    text = (
        _COMMA.sub(".", _THOUSANDS.sub("", text))
        .replace("''", '"')
        .replace("fl oz", "floz")
        .replace("fl. oz", "floz")
    )
    text = _PACK.sub(lambda m: f"{_number(float(m[1] or m[2] or m[3]))}pcs ", text)
    return " ".join(_AMOUNT.sub(_one_form, text).split())


def quantities(words: Iterable[str]) -> dict[str, frozenset[str]]:
    """The quantities among tokens, by unit.

    >>> quantities(("phone", "128gb", "6.1inch", "a12s"))
    {'gb': frozenset({'128'}), 'inch': frozenset({'6.1'})}
    """
    found: dict[str, set[str]] = {}
    for word in words:
        match = _QUANTITY.fullmatch(word)
        if match and match[2] in DIMENSIONS:
            found.setdefault(match[2], set()).add(match[1])
    return {unit: frozenset(values) for unit, values in found.items()}


def _one_form(match: re.Match[str]) -> str:
    unit, factor = _UNITS[match[2]]
    return f"{_number(float(match[1]) * factor)}{unit} "


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
