"""From a row of a feed to a known offer: values normalised, the link cleaned, doubts noted.

An invalid value leaves its field empty, with a note; only a row with neither title nor link is no
offer. The price is the one that the shop asks now, so a valid sale price goes before the regular
one.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urljoin

from catalog import values
from catalog.errors import BadUrl
from catalog.feeds.columns import Columns, currency_in_name
from catalog.feeds.rows import Texts
from catalog.links.shop_links import UrlCleaner
from catalog.models import Attribute
from catalog.values import Hint, category, identifier, text
from url_cleaner.cleaner import clean_url

# Characters of an offer's key in the catalog, and of its product's.
MAX_REF_LENGTH = 200
# Characters of a link. Bound against hostile input.
MAX_LINK_LENGTH = 4_096
# Bytes of the hash that stands in for a missing key.
REF_HASH_SIZE = 12
# Digits of a GTIN, without the ISBN of 10.
GTIN_LENGTHS = (8, 12, 13, 14)

# Attributes whose texts need no treatment of their own.
_PLAIN_ATTRIBUTES = [
    Attribute.TITLE,
    Attribute.DESCRIPTION,
    Attribute.BRAND,
    Attribute.EAN,
    Attribute.HAN,
    Attribute.SKU,
    Attribute.AVAILABILITY,
]
_NOTES = {
    Attribute.TITLE: "title that is no line of text",
    Attribute.DESCRIPTION: "description without text",
    Attribute.PRICE: "price that is no price",
    Attribute.BRAND: "brand that is no line of text",
    Attribute.CATEGORY: "category that is no path",
    Attribute.IMAGE: "image that is no picture's address",
    Attribute.HAN: "han that is no short line",
    Attribute.SKU: "sku that is no short line",
    Attribute.AVAILABILITY: "availability in unknown words",
}
_BEFORE_NEXT_URL = re.compile(r"(?<=[,|;\s])(?=https?://)")
_SPACES_AND_HYPHENS = re.compile(r"[\s-]")
# Stands in a decoded text where bytes were no characters.
_REPLACEMENT_CHARACTER = "\ufffd"


@dataclass(frozen=True)
class ParsedOffer:
    """A known offer's columns, notes on its doubts, and whether its link had tracking."""

    columns: dict[str, Any]
    notes: tuple[str, ...] = ()
    had_tracking: bool = False


@dataclass(frozen=True)
class _CleanedLink:
    """A link as delivered, and as cleaned."""

    link: str | None = None
    url: str | None = None
    is_opaque: bool = False
    had_tracking: bool = False
    notes: Sequence[str] = field(default_factory=list)


def parse_offer(
    row: Texts, columns: Columns, hint: Hint, home: str, cleaner: UrlCleaner | None = None
) -> ParsedOffer | str:
    """Parse the offer of a row; returns the reason where it is none.

    Without a `cleaner`, links are cleaned without the shop's own keys.
    """
    texts = {name: _column_texts(row, field_columns) for name, field_columns in columns.items()}
    clean = cleaner or partial(clean_url, home=home)
    link = _clean_link(texts.get("link", []), home, clean)
    raws = _raw_values(row, columns, texts, hint)
    currency = next(iter(texts.get("currency", [])), None)
    offer = values.make_offer(raws, hint, link.url, currency).model_dump(mode="json")
    if offer["title"] is None and link.link is None:
        return "has neither a title nor a link"
    identity = {
        "ref": _ref(texts.get("id", []), link, offer["title"]),
        "link": link.link,
        "opaque": link.is_opaque,
        "product": _product(texts.get("product", [])),
    }
    notes = (*link.notes, *_doubts(raws, offer))
    return ParsedOffer(offer | identity, notes, link.had_tracking)


def _column_texts(row: Texts, columns: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for column in columns:
        texts += [raw for raw in row.get(column, ()) if raw.strip()]
    return texts


def _raw_values(
    row: Texts, columns: Columns, texts: Mapping[str, list[str]], hint: Hint
) -> dict[Attribute, list[str]]:
    raws = {attribute: texts.get(attribute.value, []) for attribute in _PLAIN_ATTRIBUTES}
    regular = _amounts(row, columns.get("price", []))
    sale = _amounts(row, columns.get("sale_price", []))
    if not _is_current(texts.get("sale_period", [])):
        sale = []
    raws[Attribute.PRICE] = _prices(regular, sale, hint)
    raws[Attribute.IMAGE] = []
    for raw in texts.get("image", []):
        raws[Attribute.IMAGE] += _split_urls(raw)
    raws[Attribute.CATEGORY] = _category(row, columns.get("category", []))
    return {attribute: raw_texts for attribute, raw_texts in raws.items() if raw_texts}


def _amounts(row: Texts, columns: Sequence[str]) -> list[str]:
    """Return the amounts of columns; one without a currency gets that of its column's name."""
    amounts: list[str] = []
    for column in columns:
        currency = currency_in_name(column)
        for raw in _column_texts(row, [column]):
            needs_currency = currency and not values.find_currency(raw)
            amounts.append(f"{raw} {currency}" if needs_currency else raw)
    return amounts


def _split_urls(raw: str) -> list[str]:
    """Split a list of URLs in one text: its separators may also be parts of a URL."""
    parts = _BEFORE_NEXT_URL.split(raw)[: values.MAX_IMAGES]
    return [part.strip(" \t\r\n,|;") for part in parts]


def _category(row: Texts, columns: Sequence[str]) -> list[str]:
    """Return the first column with a category; several texts are the steps of one path, unless each
    is a path.
    """
    candidates = [_column_texts(row, [column]) for column in columns]
    non_empty = [raws for raws in candidates if raws]
    for raws in non_empty:
        if first := category.normalise_category(raws[0]):
            return raws[:1] if category.SEPARATOR in first else raws
    return non_empty[0] if non_empty else []


def _prices(regular: list[str], sale: list[str], hint: Hint) -> list[str]:
    """Return the prices, the current one first: a sale price must not be above the regular one."""
    sale_amount = _first_amount(sale, hint)
    regular_amount = _first_amount(regular, hint)
    if not sale_amount or (regular_amount is not None and sale_amount > regular_amount):
        return regular
    return [*sale, *regular]


def _first_amount(raws: Sequence[str], hint: Hint) -> Decimal | None:
    if not raws:
        return None
    amount = values.normalise(Attribute.PRICE, raws[0], hint)
    return None if amount is None else Decimal(amount)


def _is_current(periods: Sequence[str]) -> bool:
    """Return True if a period as Google writes it (`start/end`, ISO 8601) includes now, or cannot
    be read.
    """
    try:
        start, end = (datetime.fromisoformat(part.strip()) for part in periods[0].split("/"))
    except (IndexError, ValueError):
        return True
    return _aware(start) <= datetime.now(UTC) <= _aware(end)


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _clean_link(raws: Sequence[str], home: str, clean: UrlCleaner) -> _CleanedLink:
    if not raws:
        return _CleanedLink()
    link = text.plain(raws[0]) if len(raws[0]) <= MAX_LINK_LENGTH else ""
    if not link:
        return _CleanedLink(notes=["link longer than 4,096 characters"])
    is_path = link.startswith("/") and not link.startswith("//")
    try:
        cleaned = clean(urljoin(home, link) if is_path else link)
    except BadUrl:
        return _CleanedLink(link, notes=["link that is no URL"])
    return _CleanedLink(
        link=link,
        url=None if cleaned.opaque else cleaned.url,
        is_opaque=cleaned.opaque,
        had_tracking=bool(cleaned.unwrapped or cleaned.removed),
        notes=["link that only a visit would resolve"] if cleaned.opaque else [],
    )


def _ref(ids: Sequence[str], link: _CleanedLink, title: str | None) -> str:
    """Return the offer's key: the catalog's own, or a hash of the best that identifies it."""
    own_id = text.plain(ids[0]) if ids and len(ids[0]) <= MAX_LINK_LENGTH else ""
    if 0 < len(own_id) <= MAX_REF_LENGTH:
        return own_id
    seed = own_id or link.url or link.link or title or ""
    return "~" + hashlib.blake2b(seed.encode(), digest_size=REF_HASH_SIZE).hexdigest()


def _product(raws: Sequence[str]) -> str | None:
    if not raws:
        return None
    return text.plain(raws[0])[:MAX_REF_LENGTH]


def _doubts(raws: Mapping[Attribute, list[str]], offer: Mapping[str, Any]) -> list[str]:
    """Return a note for each attribute whose texts gave no value, and one for broken characters."""
    notes: list[str] = []
    has_broken = False
    for attribute, texts in raws.items():
        value = offer["images"] if attribute is Attribute.IMAGE else offer[attribute.value]
        if value in (None, []) and not all(text.is_no_value(raw.strip()) for raw in texts):
            notes.append(_NOTES[attribute] if attribute in _NOTES else _ean_note(texts[0]))
        has_broken = has_broken or any(_REPLACEMENT_CHARACTER in raw for raw in texts)
    if has_broken:
        notes.append("broken characters: not in the encoding of the rest")
    return [note for note in notes if note]


def _ean_note(raw: str) -> str:
    digits = _SPACES_AND_HYPHENS.sub("", raw)
    # Zeros stand for no GTIN.
    if not digits.strip("0"):
        return ""
    if not digits.isdecimal() or len(digits) not in GTIN_LENGTHS:
        return "ean that is no GTIN"
    if identifier.has_check_digit(digits):
        return "ean that names no article"
    return "ean with a wrong check digit"
