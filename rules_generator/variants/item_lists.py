"""Places on a page where several offers may be listed: lists of objects in its data, and elements
in a row.

An item is described by its texts, each under the selector that leads there from the item. Lists are
searched in all blocks of data; rows are found from two known offers whose identifiers stand in two
neighbouring elements.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import IDENTIFIERS, Attribute
from parser.page.ancestors import ancestors_or_self
from parser.page.document import Document
from parser.page.texts import HIDDEN_TAGS, element_text, own_text
from parser.rules.selector import ITEM, AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.blocks import attribute_data
from parser.scripts.syntax.jsonpath import can_name, child_path
from parser.variants import Item, items_at
from rules_generator.locate.element_selectors import (
    anchor_selectors,
    css_tag,
    nth_of_type,
)
from rules_generator.locate.json_texts import flatten_json
from rules_generator.locate.occurrences import VALUE_ATTRIBUTES, find_occurrences
from rules_generator.locate.value_matcher import MAX_LINE_CHARS, ValueMatcher

ItemTexts = Mapping[AnySelector, str]
KnownValues = Mapping[Attribute, Sequence[str]]

# Attributes by which a known offer is located in a row.
IDENTIFYING = (*IDENTIFIERS, Attribute.TITLE)
# HTML attributes that may hold a value, or an option's number.
HOLDING_ATTRIBUTES = VALUE_ATTRIBUTES | {"id", "for"}
# Caps against very large pages.
MAX_LISTS = 60
MAX_LEVELS = 12
MAX_ITEMS = 60
MAX_ITEM_NODES = 120
MAX_ITEM_LEVELS = 5
MAX_NODES = 20_000
MAX_OCCURRENCES = 6
MAX_PATHS = 5
MAX_TEXTS = 600
MAX_STEPS = 6
MAX_PATH_STEPS = 8
MAX_KEYS = 200
MAX_VALUE_CHARS = 2_000
# Known offers of a page that rows are searched from.
MAX_ROW_OFFERS = 3


@dataclass(frozen=True)
class ItemList:
    """A selector of items with the texts of each item on one page."""

    selector: AnySelector
    items: tuple[ItemTexts, ...]


def find_item_lists(document: Document, offers: Sequence[KnownValues]) -> list[ItemList]:
    """Return the lists and rows of a page in which its known offers may stand."""
    selectors: dict[AnySelector, None] = dict.fromkeys(islice(_data_lists(document), MAX_LISTS))
    selectors |= dict.fromkeys(_rows(document, offers))
    item_lists = map(partial(read_item_list, document), selectors)
    return [item_list for item_list in item_lists if item_list.items]


def read_item_list(document: Document, selector: AnySelector) -> ItemList:
    """Read the items that a selector finds on a page, with the texts of each."""
    items = islice(items_at(document, selector), MAX_ITEMS)
    return ItemList(selector, tuple(map(_item_texts, items)))


def _data_lists(document: Document) -> Iterator[JsonAt]:
    by_name: dict[tuple[str, str], list[Any]] = {}
    for block in document.blocks:
        by_name.setdefault((block.css, block.name), []).append(block.data)
    for (css, name), blocks in by_name.items():
        if len(blocks) > 1:
            yield JsonAt(css=css, block=name, path="$")
        yield from _lists_in(css, name, blocks)
    for css, name, data in _data_attributes(document):
        yield from _lists_in(css, name, [data])


def _data_attributes(document: Document) -> Iterator[tuple[str, str, Any]]:
    """Yield (CSS, block name, data) of the attributes that hold JSON."""
    nodes = document.tree.root.traverse() if document.tree.root else ()
    for node in islice(nodes, MAX_NODES):
        for name, value in node.attributes.items() if node.is_element_node else ():
            if not value or not name.startswith("data-") or value[:1] not in "[{":
                continue
            data = attribute_data(value)
            if data is not None:
                yield f"[{name}]", f"@{name}", data


def _lists_in(css: str, block: str, blocks: Iterable[Any]) -> Iterator[JsonAt]:
    for data in blocks:
        for path in _list_paths(data, "$", MAX_LEVELS):
            yield JsonAt(css=css, block=block, path=path)


def _list_paths(data: Any, path: str, levels: int) -> Iterator[str]:
    """Yield paths to the children of each list of objects, or of numbered objects."""
    if levels < 0:
        return
    if isinstance(data, list):
        if any(isinstance(entry, dict) for entry in data):
            yield f"{path}.*"
        for index, value in enumerate(data[:2]):
            yield from _list_paths(value, child_path(path, index), levels - 1)
    elif isinstance(data, dict):
        if data and all(name.isdigit() and isinstance(value, dict) for name, value in data.items()):
            yield f"{path}.*"
        for name, value in islice(data.items(), MAX_KEYS):
            if isinstance(value, dict | list) and not name.isdigit() and can_name(name):
                yield from _list_paths(value, child_path(path, name), levels - 1)


def _rows(document: Document, offers: Sequence[KnownValues]) -> Iterator[TextAt]:
    """Yield selectors of neighbouring elements that each show one of two known offers."""
    if len(offers) < 2:
        return
    nodes_of_offers = [_identifying_nodes(document, values) for values in offers[:MAX_ROW_OFFERS]]
    for first_nodes, second_nodes in combinations(nodes_of_offers, 2):
        for first in first_nodes:
            for second in second_nodes:
                parent = _common_parent(first, second)
                if parent is not None:
                    for css in _row_selectors(*parent):
                        yield TextAt(css=css)


def _identifying_nodes(document: Document, values: KnownValues) -> list[LexborNode]:
    identifying = {name: texts for name, texts in values.items() if name in IDENTIFYING}
    by_attribute = find_occurrences(document, ValueMatcher(identifying, document.base))
    nodes: dict[int, LexborNode] = {}
    for occurrence in chain.from_iterable(by_attribute.values()):
        if occurrence.node is not None:
            nodes[occurrence.node.mem_id] = occurrence.node
    return list(nodes.values())[:MAX_OCCURRENCES]


def _common_parent(
    first: LexborNode, second: LexborNode
) -> tuple[LexborNode, LexborNode, LexborNode] | None:
    """Return the element around both nodes, and its two children that hold one each."""
    child_of = {}
    for node in ancestors_or_self(first, MAX_NODES):
        if node.parent is not None:
            child_of[node.parent.mem_id] = node
    for node in ancestors_or_self(second, MAX_NODES):
        sibling = child_of.get(node.parent.mem_id) if node.parent else None
        if node.parent is not None and sibling is not None:
            is_alike = sibling.mem_id != node.mem_id and sibling.tag == node.tag
            return (node.parent, sibling, node) if is_alike else None
    return None


def _row_selectors(parent: LexborNode, first: LexborNode, second: LexborNode) -> Iterator[str]:
    second_anchors = set(anchor_selectors(second))
    shared = [anchor for anchor in anchor_selectors(first) if anchor in second_anchors]
    holders = [*anchor_selectors(parent)[:2], css_tag(parent)]
    ancestors = islice(ancestors_or_self(parent, MAX_NODES), 1, None)
    outer_anchors = chain.from_iterable(map(anchor_selectors, ancestors))
    holders += [f"{outer} {css_tag(parent)}" for outer in islice(outer_anchors, 1)]
    holders += _paths_from_anchors(parent)
    yield from shared[:3]
    for holder in holders:
        for step in [*shared[:2], css_tag(first)]:
            yield f"{holder} > {step}"


def _paths_from_anchors(node: LexborNode) -> Iterator[str]:
    """Yield paths from the two nearest anchors above: by marks and tags, by positions."""
    by_mark, by_position, anchored = [css_tag(node)], [nth_of_type(node)], 0
    for ancestor in islice(ancestors_or_self(node), 1, MAX_STEPS):
        anchor = next(iter(anchor_selectors(ancestor)), None)
        if anchor is not None:
            yield " > ".join([anchor, *by_mark])
            yield " > ".join([anchor, *by_position])
            anchored += 1
        if anchored == 2:
            return
        by_mark.insert(0, anchor or css_tag(ancestor))
        by_position.insert(0, nth_of_type(ancestor))


def _item_texts(item: Item) -> ItemTexts:
    """Return the texts of an item; of several at one selector the first."""
    pairs = _texts_in_data(item.data) if item.node is None else _texts_in_element(item.node)
    texts: dict[AnySelector, str] = {}
    for selector, text in islice(pairs, MAX_TEXTS):
        texts.setdefault(selector, text)
    return texts


def _texts_in_data(data: Any) -> Iterator[tuple[AnySelector, str]]:
    for path, text in flatten_json(data, levels=MAX_ITEM_LEVELS):
        yield JsonAt(css="", block=ITEM, path=path), text


def _texts_in_element(row: LexborNode) -> Iterator[tuple[AnySelector, str]]:
    yield from _texts_at(row, "")
    inner = (node for node in row.traverse() if node.mem_id != row.mem_id)
    for node in islice(inner, MAX_ITEM_NODES):
        if node.tag not in HIDDEN_TAGS:
            for css in islice(dict.fromkeys(_selectors_inside(node, row)), MAX_PATHS):
                yield from _texts_at(node, css)


def _selectors_inside(node: LexborNode, row: LexborNode) -> Iterator[str]:
    yield from anchor_selectors(node)
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.mem_id != row.mem_id and len(steps) < MAX_PATH_STEPS:
        steps.append(nth_of_type(current))
        current = current.parent
    yield " > ".join(reversed(steps))


def _texts_at(node: LexborNode, css: str) -> Iterator[tuple[AnySelector, str]]:
    for name, value in node.attributes.items():
        may_hold_value = name in HOLDING_ATTRIBUTES or name.startswith("data-")
        if value and len(value) <= MAX_VALUE_CHARS and may_hold_value:
            yield AttributeAt(css=css, name=name), value.strip()
    text = element_text(node, MAX_LINE_CHARS + 50)
    if text and len(text) <= MAX_LINE_CHARS:
        yield TextAt(css=css), text
    # With a single child the element's own text is its text, or empty.
    direct = own_text(node) if node.first_child is not node.last_child else None
    if direct and direct != text and len(direct) <= MAX_LINE_CHARS:
        yield TextAt(css=css, own=True), direct
