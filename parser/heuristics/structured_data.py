"""What a page's data says of its offer by general rules: schema.org's products, objects that bear the page's title."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from rapidfuzz import fuzz

from catalog.models import Attribute
from catalog.values import normalise, same
from catalog.values.identifier import GTIN_NAMES
from parser.page.document import Document, scalar
from parser.scripts.blocks import SCHEMA_ORG

SCHEMA = 1.0
DATA = 0.8
ALIKE = 85
MOST_THINGS = 60
MOST_OBJECTS = 4_000
DEEPEST = 9
LONGEST_PAGE = 2_000_000
MOST_AMOUNTS = 30
PRODUCT = frozenset(
    {"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Book"}
)
NAMES = ("title", "name", "productName", "product_name", "product_title", "item_name", "label")
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
PARTS = ("variants", "skus", "offers", "items", "product_variants")
INNER = ("name", "value", "src", "url", "amount", "title", "content")
OFFER = re.compile(r"^(?:offers|priceSpecification)$")


@dataclass(frozen=True)
class Spoken:
    """One way of saying a value: how far it is to be trusted, and what kind of way it is."""

    attribute: Attribute
    value: str
    trust: float
    source: str


def in_schema(document: Document, title: str | None) -> Iterator[Spoken]:
    """JSON-LD's product: the only one, or the one that is called as the page is."""
    blocks = [block.data for block in document.blocks if block.css == SCHEMA_ORG]
    things = list(islice((thing for data in blocks for thing in _products(data, 6)), MOST_THINGS))
    named = [
        thing
        for thing in things
        if title and fuzz.token_set_ratio(_text(thing.get("name")) or "", title) >= ALIKE
    ]
    chosen = (named or (things if len(things) == 1 else []))[:1]
    for thing in chosen:
        yield from _of_thing(thing)


def _products(data: Any, levels: int) -> Iterator[dict[str, Any]]:
    if isinstance(data, list):
        for one in data[:MOST_THINGS] if levels else ():
            yield from _products(one, levels - 1)
    elif isinstance(data, dict):
        kinds = data.get("@type")
        if PRODUCT.intersection(
            kind
            for kind in (kinds if isinstance(kinds, list) else [kinds])
            if isinstance(kind, str)
        ):
            yield data
        elif levels:
            for name in ("mainEntity", "@graph", "mainEntityOfPage", "itemReviewed"):
                yield from _products(data.get(name), levels - 1)


def _of_thing(thing: dict[str, Any]) -> Iterator[Spoken]:
    offer = _offer(thing)
    found = {
        Attribute.TITLE: thing.get("name"),
        Attribute.BRAND: _first(thing, "brand", "manufacturer"),
        Attribute.SKU: _first(thing, "sku") or _first(offer, "sku"),
        Attribute.HAN: _first(thing, "mpn") or _first(offer, "mpn"),
        Attribute.EAN: _first(thing, *KEYS[Attribute.EAN]) or _first(offer, *KEYS[Attribute.EAN]),
        Attribute.IMAGE: _first(thing, "image"),
        Attribute.DESCRIPTION: thing.get("description"),
        Attribute.CATEGORY: _first(thing, "category"),
        Attribute.PRICE: _first(offer, "price", "lowPrice")
        or _first(_inner(offer, "priceSpecification"), "price"),
        Attribute.CURRENCY: _first(offer, "priceCurrency"),
        Attribute.AVAILABILITY: _first(offer, "availability"),
    }
    for attribute, value in found.items():
        text = _text(value)
        if text:
            yield Spoken(attribute, text, SCHEMA, "JSON-LD")


def _offer(thing: dict[str, Any]) -> dict[str, Any]:
    own = _inner(thing, "offers")
    return own or _inner(_inner(thing, "hasVariant"), "offers")


def _inner(thing: dict[str, Any], name: str) -> dict[str, Any]:
    value = thing.get(name)
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, dict) else {}


def _first(thing: dict[str, Any], *names: str) -> Any:
    return next((value for name in names if (value := _text(thing.get(name)))), None)


def _text(value: Any) -> str | None:
    """A value as text: of an object its name, address or amount."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = next(
            (value[name] for name in INNER if isinstance(value.get(name), str | int | float)), None
        )
    return scalar(value)


def in_data(document: Document, title: str) -> Iterator[Spoken]:
    """What objects of the page's data say that bear its title, and those around them of which they are a part."""
    budget, shown = [MOST_OBJECTS], _Shown(document)
    blocks = [
        block for block in document.blocks if block.css != SCHEMA_ORG and block.name != "pairs"
    ]
    for block in blocks:
        for chain in _bearing(block.data, title, (), budget):
            yield from _of_chain(chain, shown)


Chain = tuple[dict[str, Any], ...]


def _bearing(
    data: Any, title: str, above: Chain, budget: list[int], part: bool = False
) -> Iterator[Chain]:
    """Objects whose name is the title, each with the object of which it is a variant, if any."""
    budget[0] -= 1
    if budget[0] <= 0 or len(above) > DEEPEST:
        return
    if isinstance(data, list):
        for one in data[:3]:
            yield from _bearing(one, title, above, budget, part)
    elif isinstance(data, dict):
        if any(_is_title(data.get(name), title) for name in NAMES):
            yield (data, above[-1]) if part and above else (data,)
        for name, value in data.items():
            if isinstance(value, dict | list):
                yield from _bearing(value, title, (*above, data), budget, name in PARTS)


def _is_title(value: Any, title: str) -> bool:
    if not isinstance(value, str) or len(value) > 500:
        return False
    text = normalise(Attribute.TITLE, value)
    return text is not None and same(Attribute.TITLE, text, title)


def _of_chain(chain: Chain, shown: "_Shown") -> Iterator[Spoken]:
    for attribute, names in KEYS.items():
        for thing in chain:
            text = _first(thing, *names) or _first(_part(thing), *names)
            if text is None:
                continue
            if attribute is Attribute.PRICE:
                text = shown.amount(text)
            yield Spoken(attribute, text, DATA, "data")
            break


def _part(thing: dict[str, Any]) -> dict[str, Any]:
    return next((inner for name in PARTS if (inner := _inner(thing, name))), {})


class _Shown:
    """The amounts that a page shows; each of the first few is looked for, once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._found: dict[str, str] = {}

    @cached_property
    def _page(self) -> str:
        return (self._document.tree.html or "")[:LONGEST_PAGE]

    def amount(self, text: str) -> str:
        """A price that may count in cents: it does where the page shows that amount."""
        if not (text.isascii() and text.isdigit()) or not 3 <= len(text) <= 12:
            return text
        if text not in self._found:
            if len(self._found) == MOST_AMOUNTS:
                return text
            major = f"{int(text) // 100}.{int(text) % 100:02d}"
            shown = any(_stands(form, self._page) for form in (major, major.replace(".", ",")))
            self._found[text] = major if shown else text
        return self._found[text]


def _stands(amount: str, page: str) -> bool:
    whole, mark, cents = amount[:-3], amount[-3], amount[-2:]
    grouped = rf"(?:{int(whole):,}|{whole})".replace(",", "[.,'’ ]?")
    return re.search(rf"(?<!\d){grouped}{re.escape(mark)}{cents}(?!\d)", page) is not None
