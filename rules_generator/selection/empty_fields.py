"""Fields for identifiers and categories that are empty on all examples, read on other pages.

Mechanism `empty_fields`. If three offers in a hundred have an EAN, ten known offers train no rule
for it. But the objects with the offers' titles in a page's data, or of other attributes that are
read, often have a field named for it, empty on all examples; schema.org's products have fixed
names, and elements may carry an attribute of that name. Such a field is read on other pages. A
field that has a value on some example is left out: the catalog does not list it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from catalog.models import IDENTIFIERS, Attribute
from catalog.values import normalise
from catalog.values.identifier import GTIN_NAMES
from parser.heuristics.structured_data import KEYS, NAMES, PARTS, is_title
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt
from parser.scripts.block_lookup import PAIRS
from parser.scripts.blocks import SCHEMA_ORG
from parser.scripts.syntax.jsonpath import AnyOf, can_name, child_path, compile_path
from parser.voting.early_stopping import source_of
from rules_generator.candidates.candidate import UNTRAINED_SCORE
from rules_generator.candidates.source_kinds import DATA, source_kind
from rules_generator.training.examples import TrainingExample

DIGITS = frozenset("0123456789")
# Attributes that an offer may lack.
OPTIONAL = (*IDENTIFIERS, Attribute.CATEGORY)
PRODUCT = "ld+json Product"
SCHEMA_PATHS = {
    Attribute.SKU: ("$.sku", "$.offers.sku", "$.offers[0].sku"),
    Attribute.EAN: (
        child_path("$", AnyOf(GTIN_NAMES)),
        child_path("$.offers", AnyOf(GTIN_NAMES)),
        child_path("$.offers[0]", AnyOf(GTIN_NAMES)),
        child_path("$.offers.offers[0]", AnyOf(GTIN_NAMES)),
    ),
    Attribute.HAN: ("$.mpn", "$.offers.mpn", "$.offers[0].mpn"),
    Attribute.CATEGORY: ("$.category",),
}
# Examples below which an absent attribute means nothing.
MIN_EXAMPLES = 5
# Part of the examples looked at that have to have the field: more than one in three.
MIN_ONE_IN = 3
# Caps: examples looked at, rules per attribute, depth and objects of a block.
MAX_PAGES = 12
MAX_RULES = 4
MAX_DEPTH = 7
MAX_OBJECTS = 2_000
LAST_KEY = re.compile(r"(?:\.[\w$]+|\['[^'\\]*'\])\Z")

Field = tuple[Attribute, AnySelector]


def empty_field_rules(
    examples: Sequence[TrainingExample], read_selectors: Iterable[AnySelector] = ()
) -> list[Rule]:
    """Return rules for attributes of no example, at fields that many pages have and that are empty
    on all.

    `read_selectors` are the selectors that other attributes are read by.
    """
    absent = set(OPTIONAL)
    for example in examples:
        absent -= example.known.keys()
    if not absent or len(examples) < MIN_EXAMPLES:
        return []
    objects = dict.fromkeys(filter(None, map(_object_around, read_selectors)))
    counts = _count_fields(examples, list(objects), absent)
    pages = min(len(examples), MAX_PAGES)
    rules_of = Counter[Attribute]()
    rules = []
    for field, count in counts.most_common():
        attribute, selector = field
        if MIN_ONE_IN * count <= pages or rules_of[attribute] >= MAX_RULES:
            continue
        if _has_value(field, examples):
            continue
        rules_of[attribute] += 1
        rule = Rule(
            attribute=attribute,
            selector=selector,
            score=UNTRAINED_SCORE,
            support=count,
            origin="general",
        )
        rules.append(rule)
    return rules


def _has_value(field: Field, examples: Iterable[TrainingExample]) -> bool:
    """Return True if a field has a valid value on some example."""
    attribute, selector = field
    for example in examples:
        if normalise(attribute, example.document.find(selector) or "") is not None:
            return True
    return False


def of_any_gtin(selector: AnySelector) -> AnySelector:
    """Return the selector of a field for GTINs of one length, with those of all lengths."""
    if not isinstance(selector, JsonAt):
        return selector
    outer, _, name = selector.path.rpartition(".")
    if name not in GTIN_NAMES:
        return selector
    return selector.model_copy(update={"path": child_path(outer, AnyOf(GTIN_NAMES))})


def prefer_read_blocks(fields: Sequence[Rule], chosen: Sequence[Rule]) -> list[Rule]:
    """Keep the block with a field for an attribute that most chosen rules read."""
    uses = Counter(source_of(rule.selector) for rule in chosen)
    in_data = [rule for rule in fields if source_kind(rule.selector) == DATA]
    best: dict[Attribute, Rule] = {}
    for rule in sorted(in_data, key=lambda rule: -uses[source_of(rule.selector)]):
        best.setdefault(rule.attribute, rule)
    return [rule for rule in fields if rule not in in_data or rule == best[rule.attribute]]


def _count_fields(
    examples: Sequence[TrainingExample], objects: Sequence[JsonAt], absent: set[Attribute]
) -> Counter[Field]:
    """Count the pages that have a field for each absent attribute."""

    def is_absent(field: Field) -> bool:
        return field[0] in absent

    counts: Counter[Field] = Counter()
    for example in examples[:MAX_PAGES]:
        titles = example.known.get(Attribute.TITLE, ())
        named = _named_fields(example.document, titles)
        fields = chain(named, _sibling_fields(example.document, objects))
        counts.update(list(dict.fromkeys(filter(is_absent, fields))))
    return counts


def _named_fields(document: Document, titles: Sequence[str]) -> Iterator[Field]:
    """Yield the fields of a page that are named for an optional attribute."""
    for attribute in IDENTIFIERS:
        for key_name in KEYS[attribute]:
            for part in ("", "product-", "variant-"):
                name = f"data-{part}{key_name}"
                if document.first(f"[{name}]") is not None:
                    yield attribute, AttributeAt(css=f"[{name}]", name=name)
    budget = [MAX_OBJECTS]
    for block in document.blocks:
        if block.name == PRODUCT:
            for attribute, paths in SCHEMA_PATHS.items():
                for path in paths:
                    yield attribute, JsonAt(css=SCHEMA_ORG, block=PRODUCT, path=path)
        elif block.css != SCHEMA_ORG and block.name != PAIRS:
            for path, data in _titled_objects(block.data, titles, "$", budget):
                for attribute, name in _optional_keys(data):
                    field_path = child_path(path, name)
                    yield attribute, JsonAt(css=block.css, block=block.name, path=field_path)


def _object_around(selector: AnySelector) -> JsonAt | None:
    """Return the object that a selector reads a field of; schema.org's fields are known anyway."""
    if not isinstance(selector, JsonAt) or selector.css == SCHEMA_ORG or selector.block == PAIRS:
        return None
    outer = LAST_KEY.sub("", selector.path)
    return None if outer == selector.path else selector.model_copy(update={"path": outer})


def _sibling_fields(document: Document, objects: Sequence[JsonAt]) -> Iterator[Field]:
    """Yield the fields of these objects that are named for an optional attribute."""
    for selector in objects:
        data = _first_object(document, selector)
        if not isinstance(data, dict):
            continue
        for attribute, name in _optional_keys(data):
            field_path = child_path(selector.path, name)
            yield attribute, selector.model_copy(update={"path": field_path})


def _first_object(document: Document, selector: JsonAt) -> Any:
    find_values = compile_path(selector.path)
    for block in document.data_of(selector):
        for data in find_values(block):
            return data
    return None


def _optional_keys(data: Mapping[str, Any]) -> Iterator[tuple[Attribute, str]]:
    for attribute in OPTIONAL:
        for name in KEYS[attribute]:
            if name in data:
                yield attribute, name


def _titled_objects(
    data: Any, titles: Sequence[str], path: str, budget: list[int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects that have the offer's title, and the first of their parts."""
    budget[0] -= 1
    if budget[0] <= 0 or path.count("[") + path.count(".") > MAX_DEPTH:
        return
    if isinstance(data, list):
        for index, entry in enumerate(data[:1]):
            yield from _titled_objects(entry, titles, child_path(path, index), budget)
    elif isinstance(data, dict):
        if any(is_title(data.get(name), titles) for name in NAMES):
            yield path, data
            yield from _first_parts(path, data)
        for name, value in data.items():
            is_plain = can_name(str(name)) and DIGITS.isdisjoint(str(name))
            if isinstance(value, dict | list) and is_plain:
                yield from _titled_objects(value, titles, child_path(path, name), budget)


def _first_parts(path: str, data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in PARTS:
        parts = data.get(name)
        if isinstance(parts, list) and parts and isinstance(parts[0], dict):
            yield child_path(child_path(path, name), 0), parts[0]
