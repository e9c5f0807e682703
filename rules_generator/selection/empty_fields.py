"""Numbers and categories that none of the examples has, read where the shop keeps a field for them.

Of a number that three offers in a hundred have, ten known offers teach nothing. But the objects that bear the offers'
titles in a page's data, or that other attributes are read from, often have a field named for it, empty on all
examples; schema.org's products have fixed names, and elements may carry an attribute of that name. Such a place is read
on other pages. One that says something on an example is none: the catalog has its reasons not to list that.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from catalog.models import NUMBERS, Attribute
from catalog.values import normalise, same
from catalog.values.identifier import GTIN_NAMES
from parser.heuristics.structured_data import KEYS, NAMES, PARTS
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt
from parser.scripts.block_lookup import PAIRS
from parser.scripts.blocks import SCHEMA_ORG
from parser.scripts.syntax.jsonpath import AnyOf, child, compile_path, has_path
from parser.voting.early_stopping import source_of
from rules_generator.candidates.candidate import UNEARNED
from rules_generator.candidates.place_kind import DATA, family
from rules_generator.training.examples import Example

DIGITS = frozenset("0123456789")
OPTIONAL = (*NUMBERS, Attribute.CATEGORY)
PRODUCT = "ld+json Product"
IN_SCHEMA = {
    Attribute.SKU: ("$.sku", "$.offers.sku", "$.offers[0].sku"),
    Attribute.EAN: (child("$", AnyOf(GTIN_NAMES)),),
    Attribute.HAN: ("$.mpn",),
    Attribute.CATEGORY: ("$.category",),
}
FEWEST = 5
MOST_PAGES = 12
MOST_RULES = 4
DEEPEST = 7
MOST_OBJECTS = 2_000
LAST_KEY = re.compile(r"(?:\.[\w$]+|\['[^'\\]*'\])\Z")


def unspoken(
    examples: Sequence[Example], documents: Sequence[Document], asked: Iterable[AnySelector] = ()
) -> list[Rule]:
    """Rules for what no example has, of places that many pages have and that are empty on all.

    `asked` are the selectors that other attributes are read by.
    """
    known = {attribute for example in examples for attribute in example.known}
    missing = [attribute for attribute in OPTIONAL if attribute not in known]
    if not missing or len(examples) < FEWEST:
        return []
    objects = list(
        dict.fromkeys(around for selector in asked for around in _object_around(selector))
    )
    counts: Counter[tuple[Attribute, AnySelector]] = Counter()
    for example, document in list(zip(examples, documents, strict=True))[:MOST_PAGES]:
        titles = example.known.get(Attribute.TITLE, ())
        fields = chain(_fields(document, titles), _beside(document, objects))
        counts.update(list(dict.fromkeys(field for field in fields if field[0] in missing)))
    usual = [
        field for field, count in counts.most_common() if 3 * count > min(len(examples), MOST_PAGES)
    ]
    kept: Counter[Attribute] = Counter()
    found = []
    for attribute, selector in usual:
        if kept[attribute] < MOST_RULES and not any(
            _says(document, attribute, selector) for document in documents
        ):
            kept[attribute] += 1
            support = counts[attribute, selector]
            found.append(
                Rule(
                    attribute=attribute,
                    selector=selector,
                    score=UNEARNED,
                    support=support,
                    origin="general",
                )
            )
    return found


def at_hand(fields: Sequence[Rule], chosen: Sequence[Rule]) -> list[Rule]:
    """Of several blocks of data with such a field the one that most of the chosen rules read: their source is one."""
    uses = Counter(source_of(rule.selector) for rule in chosen)
    in_data = [rule for rule in fields if family(rule.selector) == DATA]
    best: dict[Attribute, Rule] = {}
    for rule in sorted(in_data, key=lambda rule: -uses[source_of(rule.selector)]):
        best.setdefault(rule.attribute, rule)
    return [rule for rule in fields if rule not in in_data or rule == best[rule.attribute]]


def _says(document: Document, attribute: Attribute, selector: AnySelector) -> bool:
    raw = document.find(selector)
    return raw is not None and normalise(attribute, raw) is not None


def _fields(document: Document, titles: Sequence[str]) -> Iterator[tuple[Attribute, AnySelector]]:
    """The places of a page that are named for something optional."""
    for attribute in NUMBERS:
        for name in KEYS[attribute]:
            for said in (f"data-{name}", f"data-product-{name}"):
                if document.first(f"[{said}]") is not None:
                    yield attribute, AttributeAt(css=f"[{said}]", name=said)
    budget = [MOST_OBJECTS]
    for block in document.blocks:
        if block.name == PRODUCT:
            for attribute, paths in IN_SCHEMA.items():
                yield from (
                    (attribute, JsonAt(css=SCHEMA_ORG, block=PRODUCT, path=path)) for path in paths
                )
        elif block.css != SCHEMA_ORG and block.name != PAIRS:
            for path, thing in _bearing(block.data, titles, "$", budget):
                for attribute, name in _named(thing):
                    yield attribute, JsonAt(css=block.css, block=block.name, path=child(path, name))


def _object_around(selector: AnySelector) -> Iterator[JsonAt]:
    """Where the object is that a selector reads a field of; of schema.org's things the fields are known."""
    if isinstance(selector, JsonAt) and selector.css != SCHEMA_ORG and selector.block != PAIRS:
        outer = LAST_KEY.sub("", selector.path)
        if outer != selector.path:
            yield selector.model_copy(update={"path": outer})


def _beside(
    document: Document, objects: Sequence[JsonAt]
) -> Iterator[tuple[Attribute, AnySelector]]:
    """The fields of those objects that are named for something optional."""
    for place in objects:
        things = (
            thing for data in document.data_of(place) for thing in compile_path(place.path)(data)
        )
        thing = next(things, None)
        for attribute, name in _named(thing) if isinstance(thing, dict) else ():
            yield attribute, place.model_copy(update={"path": child(place.path, name)})


def _named(thing: dict[str, Any]) -> Iterator[tuple[Attribute, str]]:
    yield from (
        (attribute, name) for attribute in OPTIONAL for name in KEYS[attribute] if name in thing
    )


def _bearing(
    data: Any, titles: Sequence[str], path: str, budget: list[int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects that bear the offer's title, and the first of their parts."""
    budget[0] -= 1
    if budget[0] <= 0 or path.count("[") + path.count(".") > DEEPEST:
        return
    if isinstance(data, list):
        for place, one in enumerate(data[:1]):
            yield from _bearing(one, titles, child(path, place), budget)
    elif isinstance(data, dict):
        if any(_is_title(data.get(name), titles) for name in NAMES):
            yield path, data
            yield from _parts(path, data)
        for name, value in data.items():
            if (
                isinstance(value, dict | list)
                and has_path(str(name))
                and DIGITS.isdisjoint(str(name))
            ):
                yield from _bearing(value, titles, child(path, name), budget)


def _parts(path: str, thing: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in PARTS:
        parts = thing.get(name)
        if isinstance(parts, list) and parts and isinstance(parts[0], dict):
            yield child(child(path, name), 0), parts[0]


def _is_title(value: Any, titles: Sequence[str]) -> bool:
    text = (
        normalise(Attribute.TITLE, value) if isinstance(value, str) and len(value) <= 500 else None
    )
    return text is not None and any(same(Attribute.TITLE, text, title) for title in titles)
