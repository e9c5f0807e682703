"""From a row of a feed to a known offer: values normalised, the link cleaned, doubts noted.

An invalid value leaves its field empty, with a note; only a row with neither title nor link is no
offer. The price is the one that the shop asks now, so a valid sale price goes before the regular
one.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urljoin

from catalog import values
from catalog.errors import BadUrl
from catalog.feeds.columns import Columns, currency_in_name
from catalog.feeds.price_formats import PriceFormats, is_ambiguous
from catalog.feeds.rows import Texts
from catalog.html_references import unescape_references
from catalog.links.plain_links import PlainLinkCleaner, UrlCleaner
from catalog.models import Attribute
from catalog.values import Hint, category, identifier, text
from url_cleaner.cleaner import clean_url

# Characters of an offer's key in the catalog, and of its product's.
MAX_REF_LENGTH = 200
# Characters of a link. Bound against hostile input.
MAX_LINK_LENGTH = 4_096
# Bytes of the hash that stands in for a missing key.
REF_HASH_SIZE = 12

# Attributes whose texts need no treatment of their own.
_PLAIN_ATTRIBUTES = [
    Attribute.TITLE,
    Attribute.DESCRIPTION,
    Attribute.BRAND,
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
_PLAIN_PRICE = re.compile(r"((?:[1-9][0-9]{0,6}|0)\.[0-9]{2}) ([A-Z]{3})")
_BEFORE_NEXT_URL = re.compile(r"(?<=[,|;\s])(?=https?://)")
_REFERENCE = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_CDATA = re.compile(r"<!\[CDATA\[((?:(?!\]\]>|<!\[CDATA\[).)*+)\]\]>", re.DOTALL)
_ESCAPED_CDATA = re.compile(r"&(?:amp;){0,3}(?:lt|#60|#x3c);!\[CDATA\[", re.IGNORECASE)
# Stands in a decoded text where bytes were no characters.
_REPLACEMENT_CHARACTER = "\ufffd"


@dataclass(frozen=True, slots=True)
class PriceTexts:
    """The texts of an offer's price, by column: regular prices, sale prices, and the currency."""

    regular: tuple[tuple[str, str], ...]
    sale: tuple[tuple[str, str], ...]
    currency: str | None


@dataclass(frozen=True, slots=True)
class ParsedOffer:
    """A known offer's columns, notes on its doubts, and whether its link had tracking.

    `price_texts` are those of a price that the rest of its column may show to be another.
    """

    columns: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    had_tracking: bool = False
    price_texts: PriceTexts | None = None


@dataclass(frozen=True, slots=True)
class _CleanedLink:
    """A link as delivered, and as cleaned."""

    link: str | None = None
    url: str | None = None
    is_opaque: bool = False
    had_tracking: bool = False
    note: str = ""


_NO_LINK = _CleanedLink()


class OfferParser:
    """Parser of the offers of one feed; without a `cleaner`, links are cleaned without the shop's
    own keys.
    """

    def __init__(
        self, columns: Columns, hint: Hint, home: str, cleaner: UrlCleaner | None = None
    ) -> None:
        self.formats = PriceFormats()
        self._hint = hint
        self._home = home
        self._clean = cleaner or PlainLinkCleaner(home, partial(clean_url, home=home))
        self.set_columns(columns)

    def set_columns(self, columns: Columns) -> None:
        """Set the columns of the fields; called again where later rows have new ones."""
        self._columns = columns
        self._plain = [
            (attribute, columns[attribute.value])
            for attribute in _PLAIN_ATTRIBUTES
            if attribute.value in columns
        ]
        amount_columns = (*columns.get("price", []), *columns.get("sale_price", []))
        self._currency_of_column = {name: currency_in_name(name) for name in amount_columns}

    def learn_formats(self, row: Texts) -> None:
        """Let the prices of a row show the formats of their columns."""
        for column in self._currency_of_column:
            for raw in row.get(column, ()):
                self.formats.add(column, raw)

    def parse(self, row: Texts) -> ParsedOffer | str:
        """Parse the offer of a row; returns the reason where it is none."""
        link = self._clean_link(self._texts(row, "link"))
        raws: dict[Attribute, list[str]] = {}
        for attribute, columns in self._plain:
            if texts := _column_texts(row, columns):
                raws[attribute] = texts
        notes: list[str] = []
        gtin = _read_gtins(self._texts(row, "ean"), notes)
        price_texts = self._price_texts(row)
        plain_price = _read_plain_price(price_texts)
        if price_texts and not plain_price and (prices := self._prices(price_texts)):
            raws[Attribute.PRICE] = prices
        if images := self._texts(row, "image"):
            raws[Attribute.IMAGE] = _split_all_urls(images)
        if categories := self._category(row):
            raws[Attribute.CATEGORY] = categories
        currency = price_texts.currency if price_texts else None
        offer = values.make_columns(raws, self._hint, link.url, currency)
        offer["ean"] = gtin
        if plain_price:
            offer["price"], offer["currency"] = plain_price
        if offer["title"] is None and link.link is None:
            return "has neither a title nor a link"
        offer["ref"] = _ref(self._texts(row, "id"), link, offer["title"])
        offer["link"] = link.link
        offer["opaque"] = link.is_opaque
        offer["product"] = _product(self._texts(row, "product"))
        if link.note:
            notes.append(link.note)
        _add_doubts(notes, raws, offer)
        may_change = price_texts is not None and _is_any_ambiguous(price_texts)
        return ParsedOffer(offer, notes, link.had_tracking, price_texts if may_change else None)

    def parse_price(self, texts: PriceTexts) -> tuple[Decimal | None, str | None, str | None]:
        """Parse price and currency again, once all prices of the feed have shown their formats.

        The third value is a note on a price whose format is a guess; None where it is shown.
        """
        raws = {Attribute.PRICE: self._prices(texts)}
        offer = values.make_columns(raws, self._hint, None, texts.currency)
        note = None
        for column, raw in (*texts.regular, *texts.sale):
            note = note or self.formats.note(column, raw, _price_currency(texts, raw))
        return offer["price"], offer["currency"], note

    def _texts(self, row: Texts, field: str) -> list[str]:
        columns = self._columns.get(field)
        return _column_texts(row, columns) if columns else []

    def _price_texts(self, row: Texts) -> PriceTexts | None:
        regular = self._amounts(row, "price")
        sale = self._amounts(row, "sale_price")
        if not regular and not sale:
            return None
        if sale and not _is_current(self._texts(row, "sale_period")):
            sale = ()
        currency = next(iter(self._texts(row, "currency")), None)
        return PriceTexts(regular, sale, currency)

    def _amounts(self, row: Texts, field: str) -> tuple[tuple[str, str], ...]:
        """Return the amounts of a field's columns; one without a currency gets that of its column's
        name.
        """
        amounts: list[tuple[str, str]] = []
        for column in self._columns.get(field, ()):
            currency = self._currency_of_column[column]
            for raw in _column_texts(row, [column]):
                needs_currency = currency and not values.find_currency(raw)
                amounts.append((column, f"{raw} {currency}" if needs_currency else raw))
        return tuple(amounts)

    def _prices(self, texts: PriceTexts) -> list[str]:
        """Return the prices, the current one first: a sale price must not be above the regular
        one.
        """
        regular = self._rewritten(texts, texts.regular)
        if not texts.sale:
            return regular
        sale = self._rewritten(texts, texts.sale)
        sale_amount = _first_amount(sale, self._hint)
        regular_amount = _first_amount(regular, self._hint)
        if not sale_amount or (regular_amount is not None and sale_amount > regular_amount):
            return regular
        return [*sale, *regular]

    def _rewritten(self, texts: PriceTexts, amounts: Iterable[tuple[str, str]]) -> list[str]:
        """Return amounts in forms that read in one way only, as far as the feed shows it."""
        rewritten: list[str] = []
        for column, raw in amounts:
            currency = _price_currency(texts, raw) if is_ambiguous(raw) else None
            rewritten.append(self.formats.rewrite(column, raw, currency))
        return rewritten

    def _category(self, row: Texts) -> list[str]:
        """Return the first column with a category; several texts are the steps of one path, unless
        each is a path.
        """
        non_empty: list[list[str]] = []
        for column in self._columns.get("category", ()):
            if raws := _column_texts(row, [column]):
                non_empty.append(raws)
        for raws in non_empty:
            if first := category.normalise_category(raws[0]):
                return raws[:1] if category.SEPARATOR in first else raws
        return non_empty[0] if non_empty else []

    def _clean_link(self, raws: Sequence[str]) -> _CleanedLink:
        if not raws:
            return _NO_LINK
        if len(raws[0]) > MAX_LINK_LENGTH:
            return _CleanedLink(note=f"link longer than {MAX_LINK_LENGTH:,} characters")
        link = plain_link(raws[0])
        if not link:
            return _NO_LINK
        is_path = link.startswith("/") and not link.startswith("//")
        try:
            cleaned = self._clean(urljoin(self._home, link) if is_path else link)
        except BadUrl:
            return _CleanedLink(link, note="link that is no URL")
        return _CleanedLink(
            link=link,
            url=None if cleaned.opaque else cleaned.url,
            is_opaque=cleaned.opaque,
            had_tracking=bool(cleaned.unwrapped or cleaned.removed),
            note="link that only a visit would resolve" if cleaned.opaque else "",
        )


def plain_link(raw: str) -> str:
    """Tidy a link and resolve its references; only those with a semicolon, since `&region=` and
    `&copy=` are parameters.

    >>> plain_link(" https://shop.example/p?id=1&amp;amp;region=de&copy=2 ")
    'https://shop.example/p?id=1&region=de&copy=2'
    """
    link = raw
    for _ in range(text.MAX_UNESCAPE_ROUNDS):
        if "&" not in link or (resolved := _REFERENCE.sub(_resolve, link)) == link:
            break
        link = resolved
    return text.tidy(link)


def _resolve(match: re.Match[str]) -> str:
    return unescape_references(match[0])


def without_cdata(raw: str) -> str:
    """Remove the marks of CDATA sections that were escaped once more, and stand in the text.

    >>> without_cdata("<![CDATA[Red <b>lamp</b>]]>"), without_cdata("&lt;![CDATA[A &amp; B]]&gt;")
    ('Red <b>lamp</b>', 'A & B')
    """
    for _ in range(text.MAX_UNESCAPE_ROUNDS):
        if "CDATA[" not in raw:
            return raw
        if _CDATA.search(raw):
            raw = _CDATA.sub(r"\1", raw)
        elif _ESCAPED_CDATA.search(raw):
            raw = unescape_references(raw)
        else:
            return raw
    return raw


def _column_texts(row: Texts, columns: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for column in columns:
        for raw in row.get(column, ()):
            value = without_cdata(raw) if "CDATA[" in raw else raw
            if value and not value.isspace():
                texts.append(value)
    return texts


def _read_gtins(raws: Sequence[str], notes: list[str]) -> str | None:
    """Return the first GTIN of the texts; adds a note where there is none."""
    first_reason = ""
    for raw in raws:
        reading = identifier.read_gtin(raw)
        if reading.gtin:
            return reading.gtin
        if not first_reason and not _says_none(raw):
            first_reason = reading.reason
    if first_reason:
        notes.append(_ean_note(first_reason))
    return None


def _ean_note(reason: str) -> str:
    if reason.startswith("with "):
        return f"ean {reason}"
    return f"ean that {reason}"


def _read_plain_price(texts: PriceTexts | None) -> tuple[str, str] | None:
    """Read amount and currency of a price as Google's feeds write it, `12.99 EUR`, fast; None where
    it is written in another way, or other texts have a say.
    """
    if texts is None or texts.sale or texts.currency or len(texts.regular) != 1:
        return None
    match = _PLAIN_PRICE.fullmatch(texts.regular[0][1])
    if match is None:
        return None
    code = _currency_of_code(match[2])
    return None if code is None else (match[1], code)


@lru_cache(maxsize=256)
def _currency_of_code(code: str) -> str | None:
    return code if values.find_currency(code) == code else None


def _is_any_ambiguous(texts: PriceTexts) -> bool:
    """Return True if further prices of the feed may change how these are read."""
    return any(is_ambiguous(raw) for _, raw in (*texts.regular, *texts.sale))


def _price_currency(texts: PriceTexts, raw: str) -> str | None:
    """Return the currency of a price: that of its row, else its text's."""
    return values.find_currency(texts.currency or "") or values.find_currency(raw)


def _split_all_urls(raws: Sequence[str]) -> list[str]:
    urls: list[str] = []
    for raw in raws:
        urls += _split_urls(raw)
    return urls


def _split_urls(raw: str) -> list[str]:
    """Split a list of URLs in one text: its separators may also be parts of a URL."""
    if "http" not in raw[1:]:
        return [raw.strip(" \t\r\n,|;")]
    parts = _BEFORE_NEXT_URL.split(raw)[: values.MAX_IMAGES]
    return [part.strip(" \t\r\n,|;") for part in parts]


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
        first, last = (part.strip() for part in periods[0].split("/"))
        start, end = datetime.fromisoformat(first), _end_of(last)
    except (IndexError, ValueError):
        return True
    return _aware(start) <= datetime.now(UTC) <= _aware(end)


def _end_of(moment: str) -> datetime:
    """Return a time, or the end of a day. Raises ValueError."""
    try:
        return datetime.combine(date.fromisoformat(moment), time.max)
    except ValueError:
        return datetime.fromisoformat(moment)


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _ref(ids: Sequence[str], link: _CleanedLink, title: str | None) -> str:
    """Return the offer's key: the catalog's own, or a hash of the best that identifies it."""
    own_id = _key(ids[0]) if ids and len(ids[0]) <= MAX_LINK_LENGTH else ""
    if 0 < len(own_id) <= MAX_REF_LENGTH:
        return own_id
    seed = own_id or link.url or link.link or title or ""
    return "~" + hashlib.blake2b(seed.encode(), digest_size=REF_HASH_SIZE).hexdigest()


def _product(raws: Sequence[str]) -> str | None:
    if not raws:
        return None
    return _key(raws[0])[:MAX_REF_LENGTH] or None


def _key(raw: str) -> str:
    """Return a key as plain text; empty where it says that there is none.

    >>> _key(" A&amp;B-1 "), _key("null")
    ('A&B-1', '')
    """
    key = text.plain(raw)
    return "" if text.is_no_value(key) else key


def _add_doubts(
    notes: list[str], raws: Mapping[Attribute, list[str]], offer: Mapping[str, Any]
) -> None:
    """Add a note for each attribute whose texts gave no value, and one for broken characters."""
    has_broken = False
    for attribute, texts in raws.items():
        value = offer["images"] if attribute is Attribute.IMAGE else offer[attribute]
        is_missing = value is None or value == []
        if is_missing and attribute in _NOTES and not all(map(_says_none, texts)):
            notes.append(_NOTES[attribute])
        for raw in texts:
            if _REPLACEMENT_CHARACTER in raw:
                has_broken = True
    if has_broken:
        notes.append("broken characters: not in the encoding of the rest")


def _says_none(raw: str) -> bool:
    return text.is_no_value(raw.strip())
