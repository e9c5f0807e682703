"""Columns of the offers that a run has decided: every attribute value as a group of offers.

Each column assigns an offer to at most one group, so that a group's offers are counted with one
pass over an array. Nested values (the steps of a category path, the digits of an EAN) make one
column per level.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

import numpy as np

from matcher.array_types import Bools, Doubles, Ints
from reports.causes.config import CauseConfig
from reports.statistics.category_paths import category_prefixes

_DEFAULTS = CauseConfig()

# Digits of a GTIN-13 that are tested as a prefix: GS1 company prefixes have 7 to 10 digits with the
# country's three (GS1 General Specifications, 1.4.2), so a shorter one is a country.
# Of prefixes that have the same offers the first length is named.
_PREFIX_LENGTHS = (7, 8, 9, 10, 6, 3)
_GTIN_LENGTHS = (12, 13, 14)  # digits of the GTINs that have a company prefix
_AVAILABLE = "in_stock"
_DIGITS = re.compile(r"[0-9]+")
_MAX_NUMBER_TEXT = 120  # characters searched for a running number; a bound against hostile input
_NUMBERED_SHARE = 0.8  # share of numbered offers from which the numbers are a sequence
_MAX_URL_LEVELS = 3  # folders of a URL that are tested
_MAX_LEVELS = 8  # levels of a category that are tested; a bound against hostile input


class Trait(StrEnum):
    """Attribute of an offer that may tell the missing offers from the listed ones.

    The order counts: groups that differ in nothing else are named by the first trait.
    """

    CATEGORY = "category"
    BRAND = "brand"
    PRICE = "price"
    CURRENCY = "currency"
    EAN_PREFIX = "EAN prefix"
    EAN_STATE = "EAN"
    PRICE_STATE = "price state"
    PICTURE = "picture"
    AVAILABILITY = "availability"
    LANGUAGE = "language"
    IS_NEW = "new"
    VARIANT = "variant"
    POSITION = "position"
    TEMPLATE = "page template"
    FOLDER = "folder of the URL"


# Groups of the traits that describe a defect of the page; offers without it are in no group.
YES = "yes"
NO = "no"
NONE = "none"
INVALID = "invalid"
ZERO = "zero"


@dataclass(frozen=True, slots=True)
class OfferRecord:
    """Offer of the shop that a run has decided, with the attributes that causes are inferred from.

    `product` is shared by the variants of one product. `is_new` is True for an offer that the shop
    did not have at the time of the reference (the last import, or the previous run).
    `has_listed_variant` is True if the catalog lists another offer of the same page.
    `id` is the offer's URL. None means unknown.
    """

    id: str
    is_missing: bool
    product: str = ""
    category: str | None = None
    brand: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    ean: str | None = None
    is_valid_ean: bool = False
    availability: str | None = None
    has_picture: bool | None = None
    language: str | None = None
    template: str | None = None
    is_new: bool | None = None
    has_listed_variant: bool | None = None
    sku: str | None = None


@dataclass(frozen=True)
class Column:
    """Groups of one trait.

    `codes` has the number of each offer's group, -1 for none (shape: offers); `values` the groups'
    values by number. `unpaired` has the number of offers per group that the feed may hold without
    their having been paired.
    """

    trait: Trait
    codes: Ints
    values: Sequence[str]
    unpaired: Doubles | None = None


@dataclass(frozen=True)
class Scale:
    """Trait whose groups are intervals: a number per offer, NaN for none (shape: offers).

    `unit` is the currency of prices. Intervals of a price have two borders; those of a position go
    to the end of the sequence. `unpaired` are the numbers, in ascending order, of the offers that
    the feed may hold without their having been paired, `unpaired_anywhere` the number of those
    whose own number is unknown.
    """

    trait: Trait
    numbers: Doubles
    unit: str | None = None
    unpaired_anywhere: int = 0
    unpaired: Doubles = field(default_factory=lambda: np.zeros(0))


@dataclass
class OfferColumns:
    """All columns of a run.

    `is_missing` and `weights` have one entry per offer. The weights of all missing variants of one
    product add up to 1, and so do those of the listed ones: variants are missing together, and
    prove no more than one offer does.
    """

    is_missing: Bools
    weights: Doubles
    columns: list[Column] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)

    def choices_of(self, trait: Trait) -> int:
        """Return the number of groups that a trait has, on all levels."""
        return sum(len(column.values) for column in self.columns if column.trait is trait)


class Unpaired(Protocol):
    """Offers of the feed that were not paired (`reports.causes.unpaired_offers`)."""

    @property
    def prices(self) -> Mapping[str | None, Sequence[Decimal]]:
        """Their prices by currency."""

    @property
    def unpriced(self) -> int:
        """Number of those without a price."""

    def count(self, trait: Trait, value: str) -> float:
        """Return how many of them a category or brand may have."""


def build_columns(
    records: Sequence[OfferRecord],
    unpaired: Unpaired | None = None,
    config: CauseConfig = _DEFAULTS,
) -> OfferColumns:
    """Build the columns of all traits that divide the offers."""
    is_missing = np.array([record.is_missing for record in records], dtype=bool)
    result = OfferColumns(is_missing, _product_weights(records))
    for trait, levels in _levels(records, config):
        for codes, values in levels:
            if not values:
                continue
            counts = None
            if unpaired is not None and trait in (Trait.CATEGORY, Trait.BRAND):
                counts = np.array([unpaired.count(trait, value) for value in values], dtype=float)
            result.columns.append(Column(trait, codes, values, counts))
    result.scales += _price_scales(records, unpaired)
    numbers = _sequence_numbers(records)
    if numbers is not None:
        result.scales.append(Scale(Trait.POSITION, numbers))
    return result


Level = tuple[Ints, list[str]]


def _levels(records: Sequence[OfferRecord], config: CauseConfig) -> list[tuple[Trait, list[Level]]]:
    return [
        (Trait.CATEGORY, _nested([record.category for record in records], category_prefixes)),
        (Trait.BRAND, [_encode_brands(records)]),
        (Trait.CURRENCY, [_encode([record.currency for record in records])]),
        (Trait.EAN_PREFIX, _ean_prefixes(records)),
        (Trait.EAN_STATE, [_encode([_ean_state(record) for record in records])]),
        (Trait.PRICE_STATE, [_encode(_price_states(records, config))]),
        (Trait.PICTURE, [_flag((record.has_picture for record in records), False, NO)]),
        (Trait.AVAILABILITY, [_encode([_unavailable(record) for record in records])]),
        (Trait.LANGUAGE, [_encode([record.language for record in records])]),
        (Trait.IS_NEW, [_flag((record.is_new for record in records), True, YES)]),
        (Trait.VARIANT, [_flag((record.has_listed_variant for record in records), True, YES)]),
        (Trait.TEMPLATE, [_encode([record.template for record in records])]),
        (Trait.FOLDER, _nested([_folder(record.id) for record in records], _folder_prefixes)),
    ]


def _product_weights(records: Sequence[OfferRecord]) -> Doubles:
    clusters = [(record.product or record.id, record.is_missing) for record in records]
    codes, _ = _factorize(clusters)
    if not len(codes):
        return np.zeros(0)
    sizes = np.bincount(codes)
    return np.asarray(1.0 / sizes[codes], dtype=float)


def _factorize(keys: Iterable[Hashable]) -> tuple[Ints, list[Hashable]]:
    """Number the distinct keys in the order in which they occur; None becomes -1."""
    numbers: dict[Hashable, int] = {}
    codes = [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
    return np.array(codes, dtype=np.int64), list(numbers)


def _encode(texts: Iterable[str | None]) -> Level:
    codes, values = _factorize(text or None for text in texts)
    return codes, [str(value) for value in values]


def _encode_brands(records: Sequence[OfferRecord]) -> Level:
    """Encode the brands without regard to case; a value is the spelling that occurs first."""
    spellings: dict[str, str] = {}
    keys: list[str | None] = []
    for record in records:
        key = (record.brand or "").casefold() or None
        keys.append(key)
        if key is not None and record.brand is not None:
            spellings.setdefault(key, record.brand)
    codes, values = _encode(keys)
    return codes, [spellings[value] for value in values]


def _nested(
    texts: Sequence[str | None], prefixes_of: Callable[[str], Sequence[str]]
) -> list[Level]:
    """Encode nested values, one level per depth."""
    codes, distinct = _factorize(text or None for text in texts)
    paths = [prefixes_of(str(text))[:_MAX_LEVELS] for text in distinct]
    levels = []
    for depth in range(max(map(len, paths), default=0)):
        at_depth = [path[depth] if len(path) > depth else None for path in paths]
        path_codes, values = _factorize(at_depth)
        # The last entry is for offers without a path: code -1 selects it.
        lookup = np.append(path_codes, -1)
        levels.append((lookup[codes], [str(value) for value in values]))
    return levels


def _ean_prefixes(records: Sequence[OfferRecord]) -> list[Level]:
    numbers = np.array([_gtin13(record) for record in records], dtype=np.int64)
    levels = []
    for length in _PREFIX_LENGTHS:
        prefixes = numbers // 10 ** (13 - length)
        distinct, codes = np.unique(prefixes, return_inverse=True)
        values = [f"{prefix:0{length}d}" for prefix in distinct.tolist()]
        is_known = numbers >= 0
        levels.append((np.where(is_known, codes, -1).astype(np.int64), values))
    return levels


def _gtin13(record: OfferRecord) -> int:
    """Return a valid EAN as a number of 13 digits; -1 if it has no company prefix."""
    ean = record.ean or ""
    if not record.is_valid_ean or len(ean) not in _GTIN_LENGTHS or not ean.isdecimal():
        return -1
    return int(ean[-13:])


def _ean_state(record: OfferRecord) -> str | None:
    if record.is_valid_ean:
        return None
    return INVALID if record.ean else NONE


def _price_states(records: Sequence[OfferRecord], config: CauseConfig) -> list[str | None]:
    medians = {
        unit: float(np.median(numbers[~np.isnan(numbers)]))
        for unit, numbers in _prices_by_currency(records).items()
    }
    factor = config.implausible_price_factor
    states: list[str | None] = []
    for record in records:
        state = None
        if record.price is None:
            state = NONE
        elif record.price == 0:
            state = ZERO
        elif not 1 / factor <= float(record.price) / (medians[record.currency] or 1.0) <= factor:
            state = INVALID
        states.append(state)
    return states


def _prices_by_currency(records: Sequence[OfferRecord]) -> Mapping[str | None, Doubles]:
    numbers: dict[str | None, Doubles] = {}
    for index, record in enumerate(records):
        if record.price is None:
            continue
        if record.currency not in numbers:
            numbers[record.currency] = np.full(len(records), np.nan)
        numbers[record.currency][index] = float(record.price)
    return numbers


# Currencies with prices of their own to test; a page that states more is not a shop's.
_MAX_CURRENCIES = 8


def _price_scales(records: Sequence[OfferRecord], unpaired: Unpaired | None) -> list[Scale]:
    by_currency = _prices_by_currency(records)
    frequent = sorted(by_currency, key=lambda unit: -int((~np.isnan(by_currency[unit])).sum()))
    scales = []
    for unit in frequent[:_MAX_CURRENCIES]:
        prices: Sequence[Decimal] = ()
        unpriced = 0
        if unpaired is not None:
            prices, unpriced = unpaired.prices.get(unit, ()), unpaired.unpriced
        unpaired_prices = np.sort(np.array([float(price) for price in prices], dtype=float))
        scales.append(Scale(Trait.PRICE, by_currency[unit], unit, unpriced, unpaired_prices))
    return scales


def _sequence_numbers(records: Sequence[OfferRecord]) -> Doubles | None:
    """Return the shop's running number of each offer: in its article number, else in its URL.

    Merchants export in this order. The order of the crawl would not do: it begins with the links of
    the catalog. Returns None if fewer than `_NUMBERED_SHARE` of the offers have a number.
    """
    by_sku = (record.sku or "" for record in records)
    by_url = (_path(record.id).rpartition("/")[2] for record in records)
    for texts in (by_sku, by_url):
        digits = (_longest_number(text) for text in texts)
        numbers = np.array([float(text) if text else np.nan for text in digits], dtype=float)
        if len(numbers) and (~np.isnan(numbers)).mean() >= _NUMBERED_SHARE:
            return numbers
    return None


def _longest_number(text: str) -> str | None:
    """Return the longest run of digits, the last one among equals.

    >>> _longest_number("KV-12-015218"), _longest_number("lamp")
    ('015218', None)
    """
    runs = _DIGITS.findall(text[:_MAX_NUMBER_TEXT])
    return max(reversed(runs), key=len, default=None)


def _flag(flags: Iterable[bool | None], flag: bool, value: str) -> Level:
    """Make one group of the offers with this flag."""
    return _encode([value if offer_flag is flag else None for offer_flag in flags])


def _unavailable(record: OfferRecord) -> str | None:
    if record.availability == _AVAILABLE:
        return None
    return record.availability


def _folder(url: str) -> str | None:
    """Return the folders of a URL, without its last step and its parameters.

    >>> _folder("https://shop.example/de/lamps/red.html?x=1")
    'de/lamps'
    """
    return _path(url).strip("/").rpartition("/")[0] or None


def _path(url: str) -> str:
    """Return the path of a URL that the crawler has cleaned; urlsplit costs ten times as much.

    >>> _path("https://shop.example/de/lamps/red.html?x=1")
    'de/lamps/red.html'
    """
    address = url.partition("?")[0].partition("#")[0]
    return address.rpartition("://")[2].partition("/")[2]


def _folder_prefixes(folder: str) -> list[str]:
    steps = folder.split("/")[:_MAX_URL_LEVELS]
    return ["/" + "/".join(steps[:depth]) for depth in range(1, len(steps) + 1)]
