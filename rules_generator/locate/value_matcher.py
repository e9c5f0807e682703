"""Compare the known values of an offer with raw texts, in all forms that pages write them in.

`$1,299.00`, `129900` and `1299.0` are all the price 1299.00. A text that only contains the value
needs trimming.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from catalog.digits import is_ascii_number
from catalog.models import Attribute
from catalog.values import Hint, is_same_as_any, normalise, value_key
from catalog.values.identifier import read_gtin_number
from parser.rules.model import Form

# Longest text compared with values (characters).
MAX_LINE_CHARS = 300
# Attributes whose value may be a part of a text.
TRIMMED_ATTRIBUTES = frozenset(
    {
        Attribute.TITLE,
        Attribute.BRAND,
        Attribute.SKU,
        Attribute.HAN,
        Attribute.EAN,
        Attribute.CATEGORY,
        Attribute.PRICE,
    }
)
# Attributes that classes and addresses name, as slugs; and the HTML attributes that hold such
# names.
SLUG_ATTRIBUTES = frozenset({Attribute.BRAND, Attribute.CATEGORY})
NAME_ATTRIBUTES = frozenset({"class", "id", "href", "action"})
NOT_ALNUM = re.compile(r"[\W_]+")
# Signs of a text that is spelled otherwise than its value: entities, escapes, tags.
ESCAPED = re.compile(r"[&%<\\]")
# Length of a description on the page, relative to the known one.
MIN_DESCRIPTION_FACTOR = 0.5
MAX_DESCRIPTION_FACTOR = 4
DESCRIPTION_MARGIN = 200
# Shortest names that are searched in texts, and in slugs (characters).
MIN_CONTAINED_CHARS = 2
MIN_SLUG_CHARS = 3
# Longest number of cents (digits).
MAX_CENTS_DIGITS = 12
# Texts whose readings are kept: a shop's pages repeat most of their texts.
MAX_CACHED = 8_192
AMBIGUOUS_AMOUNT = re.compile(r"(?<!\d)\d{1,3}[.,]\d{3}(?!\d)")
DECIMAL_SIGNS: dict[Form, str | None] = {"plain": None, "comma": ",", "point": ".", "minor": "."}

# Attribute, form of the value in a text, and whether the text is nothing but the value.
Match = tuple[Attribute, Form, bool]


@dataclass
class ValueMatcher:
    """One example's known values, ready for raw texts; `base` resolves relative URLs."""

    known: Mapping[Attribute, Sequence[str]]
    base: str
    _keys: dict[Attribute, set[str]] = field(default_factory=dict)
    _lines: dict[Attribute, list[str]] = field(default_factory=dict)
    _slugs: dict[Attribute, list[str]] = field(default_factory=dict)
    _cores: dict[Attribute, tuple[str, ...]] = field(default_factory=dict)
    _matches: dict[str, list[Match]] = field(default_factory=dict)
    _descriptions: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute, values in self.known.items():
            keys = {value_key(attribute, value) for value in values}
            self._keys[attribute] = keys
            self._cores[attribute] = tuple({_core(attribute, key) for key in keys})
            if attribute in TRIMMED_ATTRIBUTES:
                self._lines[attribute] = []
                for value in values:
                    if len(value) >= MIN_CONTAINED_CHARS:
                        self._lines[attribute].append(value.casefold())
            if attribute in SLUG_ATTRIBUTES:
                self._slugs[attribute] = []
                for value in values:
                    if len(value) >= MIN_SLUG_CHARS:
                        self._slugs[attribute] += slug_spellings(value)

    def matches(self, raw: str) -> list[Match]:
        """Return the attributes whose known value a text is or contains, with its form there."""
        if raw not in self._matches:
            self._matches[raw] = list(self._find_matches(raw))
        return self._matches[raw]

    def _find_matches(self, raw: str) -> Iterator[Match]:
        is_line = len(raw) <= MAX_LINE_CHARS
        folded = raw.casefold() if is_line else ""
        # Most texts lack the letters and digits of all values: they are not normalised.
        squeezed = _letters_of_line(raw) if is_line else _plain_letters(raw)
        for attribute in self.known:
            if attribute is Attribute.DESCRIPTION:
                if self.describes(raw):
                    yield attribute, "plain", True
                continue
            if squeezed is not None:
                # A loop: `any` would take half of this function's time.
                for core in self._cores[attribute]:
                    if core in squeezed:
                        break
                else:
                    continue
            if is_line or attribute is Attribute.IMAGE:
                form = self.form(attribute, raw)
                if form:
                    yield attribute, form, True
                elif any(line in folded for line in self._lines.get(attribute, ())):
                    yield attribute, "plain", False

    def slug_matches(self, raw: str) -> list[Match]:
        """Return the attributes whose known value a class, an id or an address names as a slug."""
        folded = raw.casefold()
        matches: list[Match] = []
        for attribute, slugs in self._slugs.items():
            if any(slug in folded for slug in slugs):
                matches.append((attribute, "slug", False))
        return matches

    def form(self, attribute: Attribute, raw: str) -> Form | None:
        """Return the form in which a text is a known value; None if it is none."""
        if attribute is Attribute.PRICE:
            for form in _price_forms(raw):
                if self._is_price(raw, form):
                    return form
            return None
        if attribute is Attribute.IMAGE:
            image = normalise(attribute, raw, Hint(base_url=self.base))
            key = image and value_key(attribute, image)
        else:
            key = _key_of_line(attribute, raw)
        return "plain" if key in self._keys[attribute] else None

    def describes(self, raw: str) -> bool:
        """Return True for a known description, or a text about as long with most of its words."""
        shortest_allowed, longest_allowed = self._description_lengths
        if not shortest_allowed <= len(raw) <= longest_allowed:
            return False
        if raw not in self._descriptions:
            self._descriptions[raw] = self._is_description(raw)
        return self._descriptions[raw]

    @cached_property
    def _description_lengths(self) -> tuple[float, float]:
        longest = max(map(len, self.known[Attribute.DESCRIPTION]))
        return (
            MIN_DESCRIPTION_FACTOR * longest,
            MAX_DESCRIPTION_FACTOR * longest + DESCRIPTION_MARGIN,
        )

    def is_image(self, raw: str) -> bool:
        """Return True for the address of a known picture."""
        return Attribute.IMAGE in self.known and self.form(Attribute.IMAGE, raw) is not None

    def _is_price(self, raw: str, form: Form) -> bool:
        if form == "minor":
            return f"{int(raw) // 100}.{int(raw) % 100:02d}" in self._keys[Attribute.PRICE]
        value = normalise(Attribute.PRICE, raw, Hint(decimal=DECIMAL_SIGNS[form]))
        return (
            value is not None and value_key(Attribute.PRICE, value) in self._keys[Attribute.PRICE]
        )

    def _is_description(self, raw: str) -> bool:
        text = normalise(Attribute.DESCRIPTION, raw) or ""
        descriptions = self.known[Attribute.DESCRIPTION]
        return is_same_as_any(Attribute.DESCRIPTION, text, descriptions)


def slug_spellings(value: str) -> set[str]:
    """Return the spellings of a name in classes and addresses.

    >>> sorted(slug_spellings("Desk Lamps"))
    ['desk%20lamps', 'desk+lamps', 'desk-lamps', 'desk_lamps']
    """
    words = NOT_ALNUM.sub(" ", value.casefold()).split()
    if not words:
        return set()
    return {separator.join(words) for separator in ("-", "_", "+", "%20")}


def _squeezed(text: str) -> str:
    return NOT_ALNUM.sub("", text).casefold()


def _plain_letters(raw: str) -> str | None:
    """Return the letters and digits of a text; None where values may be spelled otherwise in it."""
    return _squeezed(raw) if raw.isascii() and not ESCAPED.search(raw) else None


_letters_of_line = lru_cache(MAX_CACHED)(_plain_letters)


@lru_cache(MAX_CACHED)
def _key_of_line(attribute: Attribute, raw: str) -> str | None:
    """Return the comparison key of a text of at most `MAX_LINE_CHARS`; None if it is no value."""
    value = normalise(attribute, raw)
    if value is None and attribute is Attribute.EAN:
        # Rules read data fields so: `"gtin": 36000291452`.
        value = read_gtin_number(raw)
    return None if value is None else value_key(attribute, value)


def _core(attribute: Attribute, value_key: str) -> str:
    """Return letters and digits that every spelling of a value has; empty where spellings vary
    freely.

    >>> _core(Attribute.PRICE, "1299.00"), _core(Attribute.TITLE, "Lamp, red"), _core(Attribute.CURRENCY, "eur")
    ('1299', 'lampred', '')
    """
    if attribute in (Attribute.CURRENCY, Attribute.AVAILABILITY) or not value_key.isascii():
        return ""
    if attribute is Attribute.PRICE:
        return value_key.partition(".")[0].lstrip("0")
    if attribute is Attribute.EAN:
        return value_key.lstrip("0")[3:-1]
    if attribute is Attribute.IMAGE:
        return _squeezed(value_key.rpartition(".")[0])
    return _squeezed(value_key)


def _price_forms(raw: str) -> tuple[Form, ...]:
    """Return the forms in which a text may be a price; none for a bare 0.

    A bare 0 may be a count or an index, and does not tell whether a field holds whole units or
    cents.
    """
    if not raw.strip("0"):
        return ()
    if is_ascii_number(raw, MAX_CENTS_DIGITS):
        return ("plain", "minor")
    return ("plain", "comma", "point") if AMBIGUOUS_AMOUNT.search(raw) else ("plain",)
