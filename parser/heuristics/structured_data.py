"""Claims of a page's data: schema.org's product, and objects with the page's title."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any

from rapidfuzz import fuzz

from catalog.digits import is_ascii_number
from catalog.models import Attribute
from catalog.values import is_same_as_any, normalise
from catalog.values.identifier import GTIN_NAMES, read_gtin_number
from catalog.values.shop_words import names as is_word_of
from parser.heuristics.claims import DATA, JSON_LD, Claim
from parser.page.document import Document, scalar_text
from parser.scripts.block_lookup import PAIRS
from parser.scripts.blocks import SCHEMA_ORG

# Similarity of a thing's name and the page's title, in percent of rapidfuzz's token set ratio, from
# which they match.
MIN_NAME_SIMILARITY = 85
# Bounds against hostile input.
MAX_THINGS = 60
MAX_THING_LEVELS = 6
MAX_OBJECTS = 4_000
MAX_LEVELS = 9
MAX_TITLE_CHARS = 500
MAX_PAGE_CHARS = 2_000_000
MAX_SHOWN_AMOUNTS = 30
# Items of a list that are searched for the page's title: items of a list are alike.
MAX_LIST_ITEMS = 3

PRODUCT_TYPES = frozenset(
    {"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Book"}
)
# schema.org's types of pages that show no single offer.
OTHER_PAGE_TYPES = frozenset(
    "CollectionPage SearchResultsPage OfferCatalog Article BlogPosting NewsArticle Blog".split()
)
# schema.org's properties that lead from a thing to the product that it is about.
CONTAINERS = ("mainEntity", "@graph", "mainEntityOfPage", "itemReviewed")
# Keys of a product's title in data objects of common shop systems, best first.
NAMES = ("title", "name", "productName", "product_name", "product_title", "item_name", "label")
# Keys of the other attributes.
PRICE_KEYS = "price current_price sale_price final_price finalPrice salePrice display_price"
SKU_KEYS = "sku item_number article_number articleNumber product_sku productSku"
IMAGE_KEYS = "featured_image image image_url imageUrl img picture images thumbnail"
CATEGORY_KEYS = "type product_type category category_name categoryName item_category"
KEYS = {
    Attribute.PRICE: tuple(PRICE_KEYS.split()),
    Attribute.BRAND: ("vendor", "brand", "brand_name", "brandName", "manufacturer", "item_brand"),
    Attribute.SKU: tuple(SKU_KEYS.split()),
    Attribute.EAN: ("ean", "ean13", *GTIN_NAMES, "barcode", "upc", "isbn", "isbn13"),
    Attribute.HAN: ("mpn", "manufacturer_number", "manufacturerNumber", "part_number"),
    Attribute.IMAGE: tuple(IMAGE_KEYS.split()),
    Attribute.CATEGORY: tuple(CATEGORY_KEYS.split()),
    Attribute.DESCRIPTION: ("description", "body_html", "descriptionHtml", "content"),
    Attribute.CURRENCY: ("currency", "currencyCode", "priceCurrency"),
}
# Keys of a product's variants.
PARTS = ("variants", "skus", "offers", "items", "product_variants")
# Keys of the text of an object, best first.
TEXT_KEYS = ("name", "value", "src", "url", "amount", "title", "content")

# An object with the page's title, and the object of which it is a variant, if any.
ObjectChain = tuple[dict[str, Any], ...]


def json_ld_claims(document: Document, title: str | None) -> Iterator[Claim]:
    """Yield the claims of JSON-LD's product: the one with the page's title, else the only one."""
    products = own_products(document, title)
    if len(products) == 1:
        yield from _thing_claims(products[0])


def own_products(document: Document, title: str | None) -> list[dict[str, Any]]:
    """Return the products in JSON-LD that a page may be about, those of one name once.

    That is the one with the page's title, else those with a similar name, else all.
    """
    by_name: dict[str, dict[str, Any]] = {}
    products = chain.from_iterable(
        _products(data, MAX_THING_LEVELS) for data in things_of(document)
    )
    for thing in islice(products, MAX_THINGS):
        name = _text(thing.get("name")) or ""
        # Of several things with one name, themes state the offer in one only.
        if name not in by_name or not _offer_of(by_name[name]):
            by_name[name] = thing
    things = list(by_name.values())
    if title is None:
        return things
    similar = []
    for name, thing in by_name.items():
        if has_name(thing, title):
            return [thing]
        if fuzz.token_set_ratio(name, title) >= MIN_NAME_SIMILARITY:
            similar.append(thing)
    return similar or things


def has_name(thing: dict[str, Any], title: str) -> bool:
    """Return True if a thing's name is the title."""
    return is_title(thing.get("name"), [title])


def things_of(document: Document) -> list[dict[str, Any]]:
    """Return the things in a page's JSON-LD."""
    return [block.data for block in document.blocks if block.css == SCHEMA_ORG]


def has_price_range(thing: dict[str, Any]) -> bool:
    """Return True if a product has several prices, as some categories declare themselves."""
    offer = _offer_of(thing)
    low, high = _first_text(offer, "lowPrice"), _first_text(offer, "highPrice")
    return low is not None and high is not None and low != high


def declares_other_page(document: Document) -> bool:
    """Return True if JSON-LD declares the page a list of things, or an article."""
    types = set[str]().union(*map(_types_of, things_of(document)))
    return not OTHER_PAGE_TYPES.isdisjoint(types)


def _products(data: Any, levels: int) -> Iterator[dict[str, Any]]:
    if isinstance(data, list):
        for item in data[:MAX_THINGS] if levels else ():
            yield from _products(item, levels - 1)
    elif isinstance(data, dict):
        if not PRODUCT_TYPES.isdisjoint(_types_of(data)):
            yield data
        elif levels:
            for name in CONTAINERS:
                yield from _products(data.get(name), levels - 1)


def _types_of(thing: dict[str, Any]) -> set[str]:
    """Return the names of a thing's types, without the vocabulary."""
    types = thing.get("@type")
    if not isinstance(types, list):
        types = [types]
    names = [kind for kind in types[:MAX_THINGS] if isinstance(kind, str)]
    return {name.rpartition("/")[2].rpartition(":")[2] for name in names}


def _thing_claims(thing: dict[str, Any]) -> Iterator[Claim]:
    offer = _offer_of(thing)
    codes = KEYS[Attribute.EAN]
    values = {
        Attribute.TITLE: thing.get("name"),
        Attribute.BRAND: _first_text(thing, "brand", "manufacturer"),
        Attribute.SKU: _first_text(thing, "sku") or _first_text(offer, "sku"),
        Attribute.HAN: _first_text(thing, "mpn") or _first_text(offer, "mpn"),
        Attribute.EAN: _first_text(thing, *codes) or _first_text(offer, *codes),
        Attribute.IMAGE: _first_text(thing, "image"),
        Attribute.DESCRIPTION: thing.get("description"),
        Attribute.CATEGORY: _first_text(thing, "category"),
        Attribute.PRICE: _first_text(offer, "price", "lowPrice"),
        Attribute.CURRENCY: _first_text(offer, "priceCurrency"),
        Attribute.AVAILABILITY: _first_text(offer, "availability"),
    }
    for attribute, value in values.items():
        text = _text(value)
        if text and attribute is Attribute.EAN:
            # A number type drops leading zeros.
            text = read_gtin_number(text) or text
        if text:
            yield Claim(attribute, text, JSON_LD)


def _offer_of(thing: dict[str, Any]) -> dict[str, Any]:
    return _inner_object(thing, "offers") or _inner_object(
        _inner_object(thing, "hasVariant"), "offers"
    )


def _inner_object(thing: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object under a key, or the first of a list; empty where there is none."""
    value = thing.get(name)
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return {}
    return value


def _first_text(thing: dict[str, Any], *names: str) -> str | None:
    texts = (_text(thing.get(name)) for name in names)
    return next((text for text in texts if text), None)


def _text(value: Any) -> str | None:
    """Return a value as text: of an object its name, URL or amount."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        inner = (value.get(name) for name in TEXT_KEYS)
        value = next((text for text in inner if isinstance(text, str | int | float)), None)
    return scalar_text(value)


def data_claims(document: Document, title: str) -> Iterator[Claim]:
    """Yield the claims of data objects with the page's title, and of their parents."""
    budget, amounts = iter(range(MAX_OBJECTS)), _ShownAmounts(document)
    for block in document.blocks:
        if block.css == SCHEMA_ORG or block.name == PAIRS:
            continue
        for objects in _titled_objects(block.data, title, (), budget):
            yield from _object_claims(objects, amounts)


def _titled_objects(
    data: Any, title: str, ancestors: ObjectChain, budget: Iterator[int], is_part: bool = False
) -> Iterator[ObjectChain]:
    """Yield the objects whose name is the title, each with the object of which it is a variant.

    Each object or list, at any depth, takes one of the shared `budget`.
    """
    if next(budget, None) is None or len(ancestors) > MAX_LEVELS:
        return
    if isinstance(data, list):
        for item in data[:MAX_LIST_ITEMS]:
            yield from _titled_objects(item, title, ancestors, budget, is_part)
    elif isinstance(data, dict):
        if any(is_title(data.get(name), [title]) for name in NAMES):
            yield (data, ancestors[-1]) if is_part and ancestors else (data,)
        for name, value in data.items():
            if isinstance(value, dict | list):
                inner = (*ancestors, data)
                yield from _titled_objects(value, title, inner, budget, name in PARTS)


def is_title(value: Any, titles: Sequence[str]) -> bool:
    """Return True if a value is one of these titles."""
    if not isinstance(value, str) or len(value) > MAX_TITLE_CHARS:
        return False
    text = normalise(Attribute.TITLE, value)
    return text is not None and is_same_as_any(Attribute.TITLE, text, titles)


def _object_claims(objects: ObjectChain, amounts: "_ShownAmounts") -> Iterator[Claim]:
    for attribute, names in KEYS.items():
        for thing in objects:
            parts = (_inner_object(thing, name) for name in PARTS)
            text = _first_text(thing, *names) or _first_text(next(filter(None, parts), {}), *names)
            if text is None:
                continue
            if attribute is Attribute.PRICE:
                text = amounts.to_major_units(text)
            # The type of a product inside the shop system, such as `simple`.
            is_type = text.islower() and is_word_of("product_type", text)
            if attribute is Attribute.CATEGORY and is_type:
                continue
            yield Claim(attribute, text, DATA)
            break


class _ShownAmounts:
    """The amounts that a page shows; each of the first few is searched once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._converted: dict[str, str] = {}

    @cached_property
    def _page(self) -> str:
        return (self._document.tree.html or "")[:MAX_PAGE_CHARS]

    def to_major_units(self, text: str) -> str:
        """Convert a price from cents where the page shows that amount; else return it unchanged."""
        if len(text) < 3 or not is_ascii_number(text, 12):
            return text
        if text not in self._converted:
            if len(self._converted) == MAX_SHOWN_AMOUNTS:
                return text
            self._converted[text] = self._convert(text)
        return self._converted[text]

    def _convert(self, text: str) -> str:
        units, cents = int(text) // 100, text[-2:]
        # With or without separators of thousands.
        grouped = rf"(?:{units:,}|{units})".replace(",", "[.,'’ ]?")
        is_shown = re.search(rf"(?<!\d){grouped}[.,]{cents}(?!\d)", self._page)
        return f"{units}.{cents}" if is_shown else text
