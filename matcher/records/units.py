"""Unit normalisation: `1,5 l` and `1500 ml`, `set of 2` and `2er-Pack` become the same token.

Pint and quantulum3 read physical units, but neither pack sizes nor German spellings. Both are far
slower than one regular expression over a short title.
"""

import re
from collections.abc import Iterable

from catalog.values.text import alternation

# Base unit, factor to the base unit, spellings.
_UNIT_TABLE = (
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
    ("pcs", 1, "pc pcs piece pieces stuck stk stuck ct count pk pack packs er erpack"),
    ("pcs", 1, "tlg teilig paar pair pairs"),
)
_UNITS: dict[str, tuple[str, float]] = {
    spelling: (unit, factor)
    for unit, factor, spellings in _UNIT_TABLE
    for spelling in spellings.split()
}
_SPELLINGS = alternation(_UNITS)
# `set of 2`, `2 x`, `2er-Pack`
_PACK = re.compile(
    r"\b(?:set|pack|packung|box|case|bag|package)\s(?:of|mit|a|von)\s(\d{1,5})\b"
    r"|\b(\d{1,4})\s?x(?=\s)"
    r"|\b(\d{1,4})er[\s-]?(?:set|pack)\b"
)
# `60 x 40 cm`, `60cm x 40cm`, `6x0.75 l`: two or three factors, and the unit of the last one.
_FACTOR = r"\d{1,5}(?:\.\d{1,4})?"
_FACTORS = re.compile(
    rf"(?<![\w.])({_FACTOR})\s?(?P<inner>[a-z]{{0,10}})\s?[x×]\s?({_FACTOR})"
    rf"(?:\s?(?P=inner)\s?[x×]\s?({_FACTOR}))?(?![.\d])"
    rf"(?:[\s-]?(?P<unit>{_SPELLINGS}))?(?![^\W_])(?!\s?[x×])"
)
# Units of dimensions. Several pieces are sold by the long ones, too: `2 x 5 m`.
_LENGTHS = frozenset(("mm", "inch", "ft", "yd"))
_LONG_LENGTHS = frozenset(
    spelling
    for base, factor, spellings in _UNIT_TABLE
    for spelling in spellings.split()
    if base in ("ft", "yd") or (base == "mm" and factor == 1000)
)
# Smallest first factor of a dimension in a long unit or in none.
_MIN_DIMENSION = 10
# A comma before exactly three digits separates thousands, any other one decimals, as in `0,750 l`.
_THOUSANDS = re.compile(r"(?<=\d)(?<!(?<!\d)0),(?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_AMOUNT = re.compile(rf"(?<![\w.])(\d{{1,6}}(?:\.\d{{1,4}})?)[\s-]?({_SPELLINGS})(?![^\W_])")
# A point before exactly three digits: `1.500 g` is 1500 g in German, 1.5 g in English.
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
# Base units of the imperial system, in whose texts a point separates decimals: `5.125 inch`.
_IMPERIAL = frozenset(("floz", "oz", "gal", "lb", "inch", "ft", "yd"))
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
BASE_UNITS = frozenset(unit for unit, _ in _UNITS.values())


def find_unit(spelling: str) -> tuple[str, float] | None:
    """Return the base unit that a spelling of a unit belongs to, and its factor.

    >>> find_unit("KG"), find_unit("mg"), find_unit("EUR")
    (('g', 1000), ('g', 0.001), None)
    """
    return _UNITS.get(spelling.lower())


def normalise_quantities(text: str) -> str:
    """Write every quantity of folded text in one form; an ambiguous amount stays as it is.

    >>> normalise_quantities("set of 2 bottles 1,5 l"), normalise_quantities("2er-pack 1500ml")
    ('2pcs bottles 1500ml', '2pcs 1500ml')
    >>> normalise_quantities('128 gb 6.1" 10 in 1'), normalise_quantities("rug 60 x 40 cm")
    ('128gb 6.1inch 10 in 1', 'rug 60x40 cm')
    >>> normalise_quantities("1.500 g"), normalise_quantities("0.500 g 5.125 inch")
    ('1.500 g', '0.5g 5.125inch')
    """
    text = (
        _DECIMAL_COMMA.sub(".", _THOUSANDS.sub("", text))
        .replace("''", '"')
        .replace("fl oz", "floz")
        .replace("fl. oz", "floz")
    )
    text = _FACTORS.sub(_join_factors, text)
    text = _PACK.sub(lambda m: f"{_format_number(float(m[1] or m[2] or m[3]))}pcs ", text)
    return " ".join(_AMOUNT.sub(_in_base_unit, text).split())


def extract_quantities(tokens: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the quantities among tokens as {base unit: amounts}.

    >>> extract_quantities(("phone", "128gb", "6.1inch", "a12s"))
    {'gb': frozenset({'128'}), 'inch': frozenset({'6.1'})}
    """
    amounts: dict[str, set[str]] = {}
    for token in tokens:
        match = _QUANTITY.fullmatch(token)
        if match and match[2] in BASE_UNITS:
            amounts.setdefault(match[2], set()).add(match[1])
    return {unit: frozenset(values) for unit, values in amounts.items()}


def _join_factors(match: re.Match[str]) -> str:
    """Write dimensions in one word, and a pack as such; a shop sets the spaces as it likes."""
    first, inner, *others = match[1], match["inner"], *filter(None, (match[3], match[4]))
    unit = match["unit"] or ""
    if inner not in ("", unit):
        return match[0]
    is_small = len(others) == 1 and float(first) < _MIN_DIMENSION
    if not unit and is_small:
        return match[0]
    is_length = not unit or _UNITS[unit][0] in _LENGTHS
    if is_length and not (is_small and unit in _LONG_LENGTHS):
        return f"{'x'.join([first, *others])} {unit}".rstrip()
    if inner or len(others) > 1 or not first.isdigit():
        return match[0]
    return f"{first}pcs {others[0]} {unit}"


def _in_base_unit(match: re.Match[str]) -> str:
    unit, factor = _UNITS[match[2]]
    if _AMBIGUOUS.fullmatch(match[1]) and unit not in _IMPERIAL:
        return match[0]
    return f"{_format_number(float(match[1]) * factor)}{unit} "


def _format_number(value: float) -> str:
    # Four decimals of a milligram, the smallest unit.
    return f"{value:.7f}".rstrip("0").rstrip(".")
