"""Claims of a page's data: schema.org's product, and objects with the page's title."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from rapidfuzz import fuzz

from catalog.models import Attribute
from catalog.values import is_same_value, normalise
from catalog.values.identifier import GTIN_NAMES, read_gtin
from catalog.values.shop_words import names as is_word_of
from parser.heuristics.claims import DATA, DATA_TRUST, JSON_LD, JSON_LD_TRUST, Claim
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
    {
        "CollectionPage",
        "SearchResultsPage",
        "OfferCatalog",
        "Article",
        "BlogPosting",
        "NewsArticle",
        "Blog",
    }
)
# schema.org's properties that lead from a thing to the product that it is about.
CONTAINERS = ("mainEntity", "@graph", "mainEntityOfPage", "itemReviewed")
# Keys of a product's title in data objects of common shop systems, best first.
NAMES = ("title", "name", "productName", "product_name", "product_title", "item_name", "label")
# Keys of the other attributes.
KEYS = {
    Attribute.PRICE: (
        "price",
        "current_price",
        "sale_price",
        "final_price",
        "finalPrice",
        "salePrice",
        "display_price",
    ),
    Attribute.BRAND: ("vendor", "brand", "brand_name", "brandName", "manufacturer", "item_brand"),
    Attribute.SKU: (
        "sku",
        "item_number",
        "article_number",
        "articleNumber",
        "product_sku",
        "productSku",
    ),
    Attribute.EAN: ("ean", "ean13", *GTIN_NAMES, "barcode", "upc", "isbn", "isbn13"),
    Attribute.HAN: ("mpn", "manufacturer_number", "manufacturerNumber", "part_number"),
    Attribute.IMAGE: (
        "featured_image",
        "image",
        "image_url",
        "imageUrl",
        "img",
        "picture",
        "images",
        "thumbnail",
    ),
    Attribute.CATEGORY: (
        "type",
        "product_type",
        "category",
        "category_name",
        "categoryName",
        "item_category",
    ),
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
    for thing in islice(_products_in_json_ld(document), MAX_THINGS):
        name = _text(thing.get("name")) or ""
        # Of several things with one name, themes state the offer in one only.
        if name not in by_name or not _offer_of(by_name[name]):
            by_name[name] = thing
    things = list(by_name.values())
    if title is None:
        return things
    equal = [thing for thing in things if _is_title(thing.get("name"), title)]
    if equal:
        return equal[:1]
    similar = [thing for thing in things if _name_similarity(thing, title) >= MIN_NAME_SIMILARITY]
    return similar or things


def has_name(thing: dict[str, Any], title: str) -> bool:
    """Return True if a thing's name is the title."""
    return _is_title(thing.get("name"), title)


def has_price_range(thing: dict[str, Any]) -> bool:
    """Return True if a product is offered at several prices, as some categories declare themselves."""
    offer = _offer_of(thing)
    low, high = _first_text(offer, "lowPrice"), _first_text(offer, "highPrice")
    return low is not None and high is not None and low != high


def declares_other_page(document: Document) -> bool:
    """Return True if JSON-LD declares the page a list of things, or an article."""
    return any(
        not OTHER_PAGE_TYPES.isdisjoint(_types_of(thing))
        for block in document.blocks
        if block.css == SCHEMA_ORG
        for thing in _things(block.data, MAX_THING_LEVELS)
    )


def _things(data: Any, levels: int) -> Iterator[dict[str, Any]]:
    """Yield the things that a block declares for the page itself."""
    if isinstance(data, list):
        for item in data[:MAX_THINGS] if levels else ():
            yield from _things(item, levels - 1)
    elif isinstance(data, dict):
        yield data
        if levels:
            yield from _things(data.get("@graph"), levels - 1)


def _products_in_json_ld(document: Document) -> Iterator[dict[str, Any]]:
    for block in document.blocks:
        if block.css == SCHEMA_ORG:
            yield from _products(block.data, MAX_THING_LEVELS)


def _name_similarity(thing: dict[str, Any], title: str) -> float:
    return fuzz.token_set_ratio(_text(thing.get("name")) or "", title)


def _products(data: Any, levels: int) -> Iterator[dict[str, Any]]:
    if isinstance(data, list):
        for item in data[:MAX_THINGS] if levels else ():
            yield from _products(item, levels - 1)
    elif isinstance(data, dict):
        if _is_product(data):
            yield data
        elif levels:
            for name in CONTAINERS:
                yield from _products(data.get(name), levels - 1)


def _is_product(thing: dict[str, Any]) -> bool:
    return not PRODUCT_TYPES.isdisjoint(_types_of(thing))


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
            text = read_gtin(text).gtin or text
        if text:
            yield Claim(attribute, text, JSON_LD_TRUST, JSON_LD)


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
    budget, amounts = _Budget(MAX_OBJECTS), _ShownAmounts(document)
    for block in document.blocks:
        if block.css == SCHEMA_ORG or block.name == PAIRS:
            continue
        for chain in _titled_objects(block.data, title, (), budget):
            yield from _chain_claims(chain, amounts)


class _Budget:
    """The number of objects that may still be visited."""

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self) -> bool:
        """Take one; return False where none is left."""
        self._left -= 1
        return self._left > 0


def _titled_objects(
    data: Any, title: str, ancestors: ObjectChain, budget: _Budget, is_part: bool = False
) -> Iterator[ObjectChain]:
    """Yield the objects whose name is the title, each with the object of which it is a variant."""
    if not budget.spend() or len(ancestors) > MAX_LEVELS:
        return
    if isinstance(data, list):
        for item in data[:MAX_LIST_ITEMS]:
            yield from _titled_objects(item, title, ancestors, budget, is_part)
    elif isinstance(data, dict):
        if any(_is_title(data.get(name), title) for name in NAMES):
            yield (data, ancestors[-1]) if is_part and ancestors else (data,)
        for name, value in data.items():
            if isinstance(value, dict | list):
                chain = (*ancestors, data)
                yield from _titled_objects(value, title, chain, budget, name in PARTS)


def _is_title(value: Any, title: str) -> bool:
    if not isinstance(value, str) or len(value) > MAX_TITLE_CHARS:
        return False
    text = normalise(Attribute.TITLE, value)
    return text is not None and is_same_value(Attribute.TITLE, text, title)


def _chain_claims(chain: ObjectChain, amounts: "_ShownAmounts") -> Iterator[Claim]:
    for attribute, names in KEYS.items():
        for thing in chain:
            text = _first_text(thing, *names) or _first_text(_first_part(thing), *names)
            if text is None:
                continue
            if attribute is Attribute.PRICE:
                text = amounts.to_major_units(text)
            # The type of a product inside the shop system, such as `simple`.
            is_type = text.islower() and is_word_of("product_type", text)
            if attribute is Attribute.CATEGORY and is_type:
                continue
            yield Claim(attribute, text, DATA_TRUST, DATA)
            break


def _first_part(thing: dict[str, Any]) -> dict[str, Any]:
    parts = (_inner_object(thing, name) for name in PARTS)
    return next((part for part in parts if part), {})


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
        if not (text.isascii() and text.isdigit()) or not 3 <= len(text) <= 12:
            return text
        if text not in self._converted:
            if len(self._converted) == MAX_SHOWN_AMOUNTS:
                return text
            self._converted[text] = self._convert(text)
        return self._converted[text]

    def _convert(self, text: str) -> str:
        amount = f"{int(text) // 100}.{int(text) % 100:02d}"
        for spelling in (amount, amount.replace(".", ",")):
            if _is_shown(spelling, self._page):
                return amount
        return text


def _is_shown(amount: str, page: str) -> bool:
    """Return True if a page shows an amount, with or without separators of thousands."""
    units, separator, cents = amount[:-3], amount[-3], amount[-2:]
    grouped = rf"(?:{int(units):,}|{units})".replace(",", "[.,'’ ]?")
    return re.search(rf"(?<!\d){grouped}{re.escape(separator)}{cents}(?!\d)", page) is not None
