"""Variants without known offers: where a shop's own structured data lists them, each with a number of its own.

Schema.org has two ways: the variants of a ProductGroup, and several offers of one Product. Lists of scripts and tables
are not taken without known offers, since most shops mean sizes and colours of one offer by them.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from catalog.models import NUMBERS, Attribute
from catalog.values.identifier import GTIN_NAMES
from parser.page.document import Document
from parser.rules.model import Rule, Variants
from parser.rules.selector import ITEM, JsonAt
from parser.scripts.blocks import SCHEMA_ORG
from parser.scripts.syntax.jsonpath import AnyOf, child
from parser.variants import Item, items_at

WAYS = (
    ("ld+json ProductGroup", "$.hasVariant.*"), ("ld+json Product", "$.hasVariant.*"),
    ("ld+json Product", "$.offers.*"), ("ld+json Product", "$.offers.offers.*"),
)  # fmt: skip
PATHS = {
    Attribute.SKU: ("$.sku", "$.offers.sku"), Attribute.HAN: ("$.mpn",),
    Attribute.EAN: (child("$", AnyOf(GTIN_NAMES)),), Attribute.TITLE: ("$.name",),
    Attribute.PRICE: ("$.price", "$.offers.price", "$.offers[0].price"), Attribute.IMAGE: ("$.image", "$.image.url"),
    Attribute.AVAILABILITY: ("$.availability", "$.offers.availability"),
}  # fmt: skip
LINKS = ("$.url", "$.offers.url")
LEAST_PAGES = 2


def schema_variants(documents: Sequence[Document]) -> tuple[Variants, ...]:
    """The ways in which the shop's structured data lists variants, each of which has its own number on every page."""
    return tuple(
        made
        for block, path in WAYS
        for made in _way(JsonAt(css=SCHEMA_ORG, block=block, path=path), documents)
    )


def _way(selector: JsonAt, documents: Iterable[Document]) -> list[Variants]:
    found = [items for document in documents if len(items := items_at(document, selector)) > 1]
    for attribute, path in product(NUMBERS, [path for name in NUMBERS for path in PATHS[name]]):
        numbers = (
            [[item.find(_at(path)) for item in items] for items in found]
            if path in PATHS[attribute]
            else []
        )
        if len(numbers) >= LEAST_PAGES and all(
            all(one) and len(set(one)) == len(one) for one in numbers
        ):
            return [_variants(selector, [item for items in found for item in items])]
    return []


def _variants(selector: JsonAt, items: Sequence[Item]) -> Variants:
    rules = [
        Rule(attribute=attribute, selector=_at(path), origin="general", support=len(items))
        for attribute, paths in PATHS.items()
        for path in paths
        if any(item.find(_at(path)) for item in items)
    ]
    link = next((_at(path) for path in LINKS if all(item.find(_at(path)) for item in items)), None)
    return Variants(items=selector, rules=tuple(rules), link=link, support=len(items))


def _at(path: str) -> JsonAt:
    return JsonAt(css="", block=ITEM, path=path)
