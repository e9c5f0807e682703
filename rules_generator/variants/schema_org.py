"""Variants without known offers: where a shop's structured data lists them, each with a number of
its own.

Schema.org has two forms: the variants of a ProductGroup, and several offers of one Product. Lists
in scripts and tables are not taken without known offers, since most shops mean sizes and colours of
one offer by them.
"""

from collections.abc import Sequence
from itertools import chain

from catalog.models import IDENTIFIERS, Attribute
from catalog.values.identifier import GTIN_NAMES
from parser.page.document import Document
from parser.rules.model import Rule, VariantLayout
from parser.rules.selector import ITEM, JsonAt
from parser.scripts.blocks import SCHEMA_ORG
from parser.scripts.syntax.jsonpath import AnyOf, child_path
from parser.variants import Item, items_at

# Block and JSONPath of the lists.
LIST_PATHS = (
    ("ld+json ProductGroup", "$.hasVariant.*"),
    ("ld+json Product", "$.hasVariant.*"),
    ("ld+json Product", "$.offers.*"),
    ("ld+json Product", "$.offers.offers.*"),
)
# JSONPaths of the attributes inside an item.
ITEM_PATHS = {
    Attribute.SKU: ("$.sku", "$.offers.sku"),
    Attribute.HAN: ("$.mpn",),
    Attribute.EAN: (child_path("$", AnyOf(GTIN_NAMES)),),
    Attribute.TITLE: ("$.name",),
    Attribute.PRICE: ("$.price", "$.offers.price", "$.offers[0].price"),
    Attribute.IMAGE: ("$.image", "$.image.url"),
    Attribute.AVAILABILITY: ("$.availability", "$.offers.availability"),
}
LINK_PATHS = ("$.url", "$.offers.url")
# Pages that have to list variants.
MIN_PAGES = 2


def schema_variants(documents: Sequence[Document]) -> tuple[VariantLayout, ...]:
    """Return the variant lists of the shop's structured data whose items are all numbered."""
    layouts = []
    for block, path in LIST_PATHS:
        selector = JsonAt(css=SCHEMA_ORG, block=block, path=path)
        all_items = (items_at(document, selector) for document in documents)
        pages = [items for items in all_items if len(items) > 1]
        if len(pages) >= MIN_PAGES and _are_numbered(pages):
            layouts.append(_layout(selector, [*chain.from_iterable(pages)]))
    return tuple(layouts)


def _are_numbered(pages: Sequence[Sequence[Item]]) -> bool:
    """Return True if some identifier is present and unique in all items of every page."""
    for attribute in IDENTIFIERS:
        for path in ITEM_PATHS[attribute]:
            if all(_are_unique(items, path) for items in pages):
                return True
    return False


def _are_unique(items: Sequence[Item], path: str) -> bool:
    numbers = [item.find(_in_item(path)) for item in items]
    return all(numbers) and len(set(numbers)) == len(numbers)


def _layout(selector: JsonAt, items: Sequence[Item]) -> VariantLayout:
    rules = []
    for attribute, paths in ITEM_PATHS.items():
        for path in paths:
            at_path = _in_item(path)
            if any(item.find(at_path) for item in items):
                rule = Rule(
                    attribute=attribute, selector=at_path, origin="general", support=len(items)
                )
                rules.append(rule)
    link = _common_link(items)
    return VariantLayout(items=selector, rules=tuple(rules), link=link, support=len(items))


def _common_link(items: Sequence[Item]) -> JsonAt | None:
    """Return the first kind of link that all items have."""
    for link in map(_in_item, LINK_PATHS):
        if all(item.find(link) for item in items):
            return link
    return None


def _in_item(path: str) -> JsonAt:
    return JsonAt(css="", block=ITEM, path=path)
