"""From a row of a feed to a known offer: values normalised, the link cleaned, and each doubt noted.

A value that is none of its kind leaves its field empty and a note behind; only a row with neither a title nor a link is
no offer. What a shop sells for now is its price, so a valid sale price goes before the regular one.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urljoin

from catalog import values
from catalog.errors import BadUrl
from catalog.feeds.columns import Columns, currency
from catalog.feeds.rows import Texts
from catalog.links.shop_links import Clean
from catalog.models import Attribute
from catalog.values import Hint, category, identifier, text
from url_cleaner.clean import clean

LONGEST_REF = 200
LONGEST_LINK = 4096
_SIMPLE = [
    Attribute.TITLE,
    Attribute.DESCRIPTION,
    Attribute.BRAND,
    Attribute.EAN,
    Attribute.HAN,
    Attribute.SKU,
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
_NEXT_ADDRESS = re.compile(r"(?<=[,|;\s])(?=https?://)")
_BROKEN = "\ufffd"


@dataclass(frozen=True)
class Reading:
    """A known offer's columns, what was doubtful about it, and whether its link carried tracking."""

    columns: dict[str, Any]
    notes: tuple[str, ...] = ()
    cleaned: bool = False


@dataclass
class _Link:
    """What became of a link."""

    link: str | None = None
    url: str | None = None
    opaque: bool = False
    cleaned: bool = False
    notes: list[str] = field(default_factory=list)


def read(
    row: Texts, columns: Columns, hint: Hint, home: str, cleaner: Clean | None = None
) -> Reading | str:
    """The offer of a row; where it is none, why. `cleaner` cleans its link, in another way than the plain one."""
    given = {name: _given(row, places) for name, places in columns.items()}
    link = _link(given.get("link", []), home, cleaner or partial(clean, home=home))
    raws = _raws(row, columns, given, hint)
    code = next(iter(given.get("currency", [])), None)
    offer = values.fields(raws, hint, link.url, code).model_dump(mode="json")
    if offer["title"] is None and link.link is None:
        return "has neither a title nor a link"
    notes = [*link.notes, *_doubts(raws, offer)]
    ref = _ref(given.get("id", []), link, offer["title"])
    product = next((text.plain(raw)[:LONGEST_REF] for raw in given.get("product", [])), None)
    more = {"ref": ref, "link": link.link, "opaque": link.opaque, "product": product}
    return Reading(offer | more, tuple(notes), link.cleaned)


def _given(row: Texts, places: Sequence[str]) -> list[str]:
    return [raw for place in places for raw in row.get(place, ()) if raw.strip()]


def _raws(
    row: Texts, columns: Columns, given: dict[str, list[str]], hint: Hint
) -> dict[Attribute, list[str]]:
    raws = {
        attribute: given.get(attribute.value, [])
        for attribute in (*_SIMPLE, Attribute.AVAILABILITY)
    }
    amounts = {name: _amounts(row, columns.get(name, [])) for name in ("price", "sale_price")}
    raws[Attribute.PRICE] = _prices(given | amounts, hint)
    raws[Attribute.IMAGE] = [part for raw in given.get("image", []) for part in _addresses(raw)]
    raws[Attribute.CATEGORY] = _category(row, columns.get("category", []))
    return {attribute: texts for attribute, texts in raws.items() if texts}


def _amounts(row: Texts, places: Sequence[str]) -> list[str]:
    """The amounts of some columns, each with the currency that its column's name gives, unless it has its own."""
    found = [(raw, currency(place)) for place in places for raw in _given(row, [place])]
    return [f"{raw} {code}" if code and not values.currency_of(raw) else raw for raw, code in found]


def _addresses(raw: str) -> list[str]:
    """The addresses of a list in one text, separated by what may as well stand in an address."""
    return [part.strip(" \t\r\n,|;") for part in _NEXT_ADDRESS.split(raw)[: values.MOST_IMAGES]]


def _category(row: Texts, places: Sequence[str]) -> list[str]:
    """The first column with a category; its several texts are the steps of one path, unless each is a path."""
    found = [_given(row, [place]) for place in places]
    for raws in found:
        if raws and (first := category.normalise(raws[0])):
            return raws[:1] if category.SEPARATOR in first else raws
    return next((raws for raws in found if raws), [])


def _prices(given: dict[str, list[str]], hint: Hint) -> list[str]:
    regular, sale = given.get("price", []), given.get("sale_price", [])
    if not sale or not _is_now(given.get("sale_period", [])):
        return regular
    amounts = [
        values.normalise(Attribute.PRICE, raws[0], hint) if raws else None
        for raws in (sale, regular)
    ]
    low, high = (None if amount is None else Decimal(amount) for amount in amounts)
    return [*sale, *regular] if low and (high is None or low <= high) else regular


def _is_now(periods: Sequence[str]) -> bool:
    """Whether a period as Google writes it (`start/end`, ISO 8601) holds now; what cannot be read does."""
    try:
        start, end = (datetime.fromisoformat(part.strip()) for part in periods[0].split("/"))
        return (
            start.replace(tzinfo=start.tzinfo or UTC)
            <= datetime.now(UTC)
            <= end.replace(tzinfo=end.tzinfo or UTC)
        )
    except (IndexError, ValueError):
        return True


def _link(raws: Sequence[str], home: str, cleaner: Clean) -> _Link:
    raw = text.plain(raws[0]) if raws and len(raws[0]) <= LONGEST_LINK else ""
    if not raw:
        return _Link(notes=["link longer than 4,096 characters"] if raws else [])
    absolute = urljoin(home, raw) if raw.startswith("/") and not raw.startswith("//") else raw
    try:
        found = cleaner(absolute)
    except BadUrl:
        return _Link(raw, notes=["link that is no URL"])
    notes = ["link that only a visit would resolve"] if found.opaque else []
    return _Link(
        raw,
        None if found.opaque else found.url,
        found.opaque,
        bool(found.unwrapped or found.removed),
        notes,
    )


def _ref(ids: Sequence[str], link: _Link, title: str | None) -> str:
    given = text.plain(ids[0]) if ids and len(ids[0]) <= LONGEST_LINK else ""
    if 0 < len(given) <= LONGEST_REF:
        return given
    seed = given or link.url or link.link or title or ""
    return "~" + hashlib.blake2b(seed.encode(), digest_size=12).hexdigest()


def _doubts(raws: dict[Attribute, list[str]], offer: dict[str, Any]) -> list[str]:
    found = []
    for attribute, texts in raws.items():
        kept = offer["images"] if attribute is Attribute.IMAGE else offer[attribute.value]
        if kept in (None, []) and not all(text.is_nothing(raw.strip()) for raw in texts):
            found.append(_NOTES[attribute] if attribute in _NOTES else _ean_note(texts[0]))
    if any(_BROKEN in raw for texts in raws.values() for raw in texts):
        found.append("broken characters: not in the encoding of the rest")
    return [note for note in found if note]


def _ean_note(raw: str) -> str:
    digits = re.sub(r"[\s-]", "", raw)
    if not digits.strip("0"):
        return ""
    if not digits.isdecimal() or len(digits) not in (8, 12, 13, 14):
        return "ean that is no GTIN"
    return (
        "ean that names no article"
        if identifier.has_check_digit(digits)
        else "ean with a wrong check digit"
    )
