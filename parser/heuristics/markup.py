"""Claims of a page's markup: schema.org's names, and OpenGraph's in meta elements."""

from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values.identifier import GTIN_NAMES
from parser.heuristics.claims import MARKUP, META, META_TEXT, Claim
from parser.heuristics.page_parts import PageParts
from parser.page.ancestors import ancestors_or_self, around_any
from parser.page.document import Document
from parser.page.struck_prices import mark_of
from parser.page.texts import element_text

PRODUCT_SCOPE = (
    '[itemtype*="schema.org/Product" i], [typeof~="Product" i], [typeof~="schema:Product" i]'
)
# Product scopes of a page that are counted: a bound against hostile input.
MAX_SCOPES = 40
# schema.org's properties of a product and its offer, best first.
PROPERTIES = {
    Attribute.TITLE: ("name",),
    Attribute.PRICE: ("price", "lowPrice"),
    Attribute.CURRENCY: ("priceCurrency",),
    Attribute.BRAND: ("brand", "manufacturer"),
    Attribute.SKU: ("sku",),
    Attribute.HAN: ("mpn",),
    Attribute.EAN: (*GTIN_NAMES, "isbn"),
    Attribute.IMAGE: ("image",),
    Attribute.DESCRIPTION: ("description",),
    Attribute.CATEGORY: ("category",),
    Attribute.AVAILABILITY: ("availability",),
}
# Names of meta elements, best first.
META_NAMES = {
    Attribute.TITLE: ("og:title", "twitter:title"),
    Attribute.PRICE: ("product:sale_price:amount", "product:price:amount", "og:price:amount"),
    Attribute.CURRENCY: ("product:price:currency", "og:price:currency"),
    Attribute.BRAND: ("product:brand", "og:brand"),
    Attribute.SKU: ("product:retailer_item_id",),
    Attribute.EAN: ("product:ean", "product:gtin", "product:upc", "product:isbn"),
    Attribute.HAN: ("product:mfr_part_no",),
    Attribute.IMAGE: ("og:image:secure_url", "og:image", "twitter:image"),
    Attribute.DESCRIPTION: ("og:description", "description"),
    Attribute.CATEGORY: ("product:category",),
    Attribute.AVAILABILITY: ("product:availability", "og:availability"),
}
# Elements without text, and the attributes that hold their value.
EMPTY_TAGS = ("meta", "img", "link")
VALUE_ATTRIBUTES = ("content", "src", "href")
# Things inside a product that speak for it: by their type, or by the property that leads to them.
PART_TYPES = ("offer", "pricespecification")
PART_PROPERTIES = frozenset(("offers", "pricespecification", "hasvariant", "model"))
# Values of a property that are tried: a bound against hostile input.
MAX_VALUES = 60
# Characters of a nested name that are read.
MAX_NAME_CHARS = 400


def schema_markup_claims(document: Document, parts: PageParts) -> Iterator[Claim]:
    """Yield the claims of microdata and RDFa of the page's own product."""
    scope = next(iter(own_product_scopes(document, parts)), None)
    if scope is None:
        return
    for attribute, names in PROPERTIES.items():
        for name in names:
            css = f'[itemprop~="{name}"], [property~="{name}"], [property~="schema:{name}"]'
            nodes = (node for node in scope.css(css)[:MAX_VALUES] if _is_of_product(node, scope))
            if attribute is Attribute.PRICE:
                nodes = (node for node in nodes if not mark_of(node)[0])
            node = next(nodes, None)
            text = _property_text(node) if node is not None else None
            if text:
                yield Claim(attribute, text, MARKUP)
                break


def _is_of_product(node: LexborNode, scope: LexborNode) -> bool:
    """Return True if a property belongs to the product, its offer or a variant.

    Brands, reviews and breadcrumbs inside the product have names and pictures of their own.
    """
    for thing in islice(ancestors_or_self(node), 1, None):
        if thing.mem_id == scope.mem_id:
            return True
        is_thing = "itemscope" in thing.attributes or "typeof" in thing.attributes
        if is_thing and not _is_part(thing):
            return False
    return False


def _is_part(thing: LexborNode) -> bool:
    attributes = thing.attributes
    kind = f"{attributes.get('itemtype') or ''} {attributes.get('typeof') or ''}".lower()
    properties = f"{attributes.get('itemprop') or ''} {attributes.get('property') or ''}".lower()
    if any(name in kind for name in PART_TYPES):
        return True
    if not properties.strip():
        # Themes repeat the product's type on an inner element.
        return not kind.strip() or "product" in kind
    return not PART_PROPERTIES.isdisjoint(properties.replace(":", " ").split())


def own_product_scopes(document: Document, parts: PageParts) -> list[LexborNode]:
    """Return the product scopes that are about the page's offer.

    That is the one around the page's title; else those that hold a price or a button of the page
    itself; else those that are no part of another thing, if the page has no cards.
    """
    scopes = [
        node for node in document.tree.css(PRODUCT_SCOPE)[:MAX_SCOPES] if _is_outer_scope(node)
    ]
    for own_nodes in (parts.anchors, [*parts.amounts, *parts.buy_elements]):
        ancestor_ids = around_any(own_nodes)
        own_scopes = [scope for scope in scopes if scope.mem_id in ancestor_ids]
        if own_scopes:
            return own_scopes[:1]
    return [] if parts.cards else scopes


def _is_outer_scope(node: LexborNode) -> bool:
    """Return True if a product scope is no property of another thing, such as a related product."""
    kind = f"{node.attributes.get('itemtype')} {node.attributes.get('typeof')}".lower()
    return "product" in kind and node.attributes.get("itemprop") is None


def _property_text(node: LexborNode) -> str | None:
    """Return a property's value: of an attribute, of a nested name, else the element's text."""
    names: tuple[str, ...] = ("content",)
    if node.tag in EMPTY_TAGS:
        names = VALUE_ATTRIBUTES
    for name in names:
        if node.attributes.get(name):
            return node.attributes[name]
    nested = node.css_first('[itemprop="name"], [property$="name"]')
    if nested is not None and nested.mem_id != node.mem_id:
        return nested.attributes.get("content") or element_text(nested, MAX_NAME_CHARS)
    return element_text(node)


def meta_claims(document: Document) -> Iterator[Claim]:
    """Yield the claims of meta elements."""
    for attribute, names in META_NAMES.items():
        for name in names:
            content = meta_content(document, name)
            if content:
                is_text = attribute in (Attribute.TITLE, Attribute.DESCRIPTION)
                yield Claim(attribute, content, META_TEXT if is_text else META)
                break


def meta_content(document: Document, name: str) -> str | None:
    """Return the content of the first meta element of a name."""
    node = document.first(f'meta[property="{name}"], meta[name="{name}"]')
    if node is None:
        return None
    return node.attributes.get("content")
