"""Where on a page its several offers may stand: lists of objects in its data, and elements in a row.

An item is told by its facts: each text inside it under the selector that leads there from the item. Lists are found in
all blocks of data; rows are found from two known offers, whose numbers stand in two neighbouring elements.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import NUMBERS, Attribute
from parser.page.document import Document
from parser.page.texts import UNSEEN, own_text, text_of
from parser.rules.selector import ITEM, AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.blocks import attribute_data
from parser.scripts.syntax.jsonpath import child, has_path
from parser.variants import Item, items_at
from rules_generator.locate.element_selectors import anchors_of, tag_of, upwards
from rules_generator.locate.known_values import (
    LONGEST_LINE,
    VALUE_ATTRIBUTES,
    Place,
    Wanted,
    flatten,
    places,
)

Facts = Mapping[AnySelector, str]
TELLING = (*NUMBERS, Attribute.TITLE)
MOST_LISTS = 60
MOST_LEVELS = 12
MOST_ITEMS = 60
MOST_NODES = 120
MOST_PLACES = 6
MOST_PATHS = 5
MOST_FACTS = 600
MOST_STEPS = 6


@dataclass(frozen=True)
class Listing:
    """A way to items with the facts of each of those on one page."""

    selector: AnySelector
    items: tuple[Facts, ...]


def listings(
    document: Document, known: Sequence[Mapping[Attribute, Sequence[str]]]
) -> list[Listing]:
    """The lists and rows of a page in which its known offers may stand."""
    ways: dict[AnySelector, None] = dict.fromkeys(islice(_lists(document), MOST_LISTS))
    ways |= dict.fromkeys(_rows(document, known))
    return [one for way in ways if (one := listing(document, way)).items]


def listing(document: Document, way: AnySelector) -> Listing:
    """The items that a selector finds on a page, with the facts of each."""
    items = islice(items_at(document, way), MOST_ITEMS)
    return Listing(way, tuple(dict(_facts(item)) for item in items))


def _lists(document: Document) -> Iterator[JsonAt]:
    named: dict[tuple[str, str], list[Any]] = {}
    for one in document.blocks:
        named.setdefault((one.css, one.name), []).append(one.data)
    for (css, name), found in named.items():
        if len(found) > 1:
            yield JsonAt(css=css, block=name, path="$")
        yield from _lists_in(css, name, found)
    for css, block, data in _in_attributes(document):
        yield from _lists_in(css, block, [data])


def _in_attributes(document: Document) -> Iterator[tuple[str, str, Any]]:
    for node in islice(document.tree.root.traverse() if document.tree.root else (), 20_000):
        for name, value in node.attributes.items() if node.is_element_node else ():
            if (
                name.startswith("data-")
                and value
                and value[:1] in "[{"
                and (data := attribute_data(value)) is not None
            ):
                yield f"[{name}]", f"@{name}", data


def _lists_in(css: str, block: str, found: Iterable[Any]) -> Iterator[JsonAt]:
    for data in found:
        for path in _paths(data, "$", MOST_LEVELS):
            yield JsonAt(css=css, block=block, path=path)


def _paths(data: Any, path: str, levels: int) -> Iterator[str]:
    """The paths to the children of each list of objects, and of each object of objects by number."""
    if levels < 0:
        return
    if isinstance(data, list):
        if any(isinstance(one, dict) for one in data):
            yield f"{path}.*"
        for place, value in enumerate(data[:2]):
            yield from _paths(value, child(path, place), levels - 1)
    elif isinstance(data, dict):
        if data and all(name.isdigit() and isinstance(value, dict) for name, value in data.items()):
            yield f"{path}.*"
        for name, value in islice(data.items(), 200):
            if isinstance(value, dict | list) and not name.isdigit() and has_path(name):
                yield from _paths(value, child(path, name), levels - 1)


def _rows(
    document: Document, known: Sequence[Mapping[Attribute, Sequence[str]]]
) -> Iterator[TextAt]:
    """Neighbouring elements, in each of which something stands that only one of two known offers has."""
    if len(known) < 2:
        return
    found = [_told(document, one) for one in known[:3]]
    for first, second in combinations(found, 2):
        for one in first:
            for other in second:
                above = _apart(one, other)
                if above is not None:
                    yield from (TextAt(css=css) for css in _row_paths(*above))


def _told(document: Document, known: Mapping[Attribute, Sequence[str]]) -> list[LexborNode]:
    wanted = {attribute: values for attribute, values in known.items() if attribute in TELLING}
    found = places(document, Wanted(wanted, document.base))
    spots: list[Place] = [
        place for one in found.values() for place in one if place.node is not None
    ][: 4 * MOST_PLACES]
    nodes = {place.node.mem_id: place.node for place in spots if place.node is not None}
    return list(nodes.values())[:MOST_PLACES]


def _apart(one: LexborNode, other: LexborNode) -> tuple[LexborNode, LexborNode, LexborNode] | None:
    """The element around both, and its two children that hold one of them each."""
    above = {node.mem_id: node for node in upwards(one)}
    below: LexborNode = other
    for node in upwards(other):
        if node.mem_id in above:
            mine = next(
                (
                    up
                    for up in upwards(one)
                    if up.parent is not None and up.parent.mem_id == node.mem_id
                ),
                None,
            )
            return (
                (node, mine, below)
                if mine is not None and mine.tag == below.tag and mine != below
                else None
            )
        below = node
    return None


def _row_paths(above: LexborNode, one: LexborNode, other: LexborNode) -> Iterator[str]:
    theirs = set(anchors_of(other))
    shared = [step for step in anchors_of(one) if step in theirs]
    holders = [*list(anchors_of(above))[:2], tag_of(above)]
    outer = next(
        (step for up in upwards(above) if up is not above for step in anchors_of(up)), None
    )
    holders += [f"{outer} {tag_of(above)}"] if outer else []
    holders += _step_by_step(above)
    yield from shared[:3]
    yield from (f"{holder} > {step}" for holder in holders for step in [*shared[:2], tag_of(one)])


def _step_by_step(node: LexborNode) -> Iterator[str]:
    """The way down to an element from two of those around it that have marks: by marks and tags, and by places."""
    steps: list[str] = []
    placed: list[str] = []
    marked = 0
    for up in islice(upwards(node), MOST_STEPS):
        anchor = next(iter(anchors_of(up)), None) if up is not node else None
        if anchor is not None:
            yield " > ".join([anchor, *steps])
            yield " > ".join([anchor, *placed])
            marked += 1
        if marked == 2:
            return
        steps.insert(0, anchor or tag_of(up))
        placed.insert(0, _placed(up))


def _placed(node: LexborNode) -> str:
    """An element's tag and its place among its like."""
    return f"{tag_of(node)}:nth-of-type({1 + sum(1 for other in _before(node) if other.tag == node.tag)})"


def _facts(item: Item) -> Iterator[tuple[AnySelector, str]]:
    seen: set[AnySelector] = set()
    said = _in_data(item.data) if item.node is None else _in_element(item.node)
    for selector, text in islice(said, MOST_FACTS):
        if selector not in seen:
            seen.add(selector)
            yield selector, text


def _in_data(data: Any) -> Iterator[tuple[AnySelector, str]]:
    for path, text in flatten(data, levels=5):
        yield JsonAt(css="", block=ITEM, path=path), text


def _in_element(row: LexborNode) -> Iterator[tuple[AnySelector, str]]:
    yield from _at(row, "")
    for node in islice((one for one in row.traverse() if one.mem_id != row.mem_id), MOST_NODES):
        if node.tag not in UNSEEN:
            for css in islice(dict.fromkeys(_inside(node, row)), MOST_PATHS):
                yield from _at(node, css)


def _inside(node: LexborNode, row: LexborNode) -> Iterator[str]:
    yield from anchors_of(node)
    steps: list[str] = []
    here: LexborNode | None = node
    while here is not None and here.mem_id != row.mem_id and len(steps) < 8:
        steps.append(_placed(here))
        here = here.parent
    yield " > ".join(reversed(steps))


def _before(node: LexborNode) -> Iterator[LexborNode]:
    here = node.prev
    while here is not None:
        yield here
        here = here.prev


def _at(node: LexborNode, css: str) -> Iterator[tuple[AnySelector, str]]:
    for name, value in node.attributes.items():
        if (
            value
            and len(value) <= 2000
            and (name in VALUE_ATTRIBUTES or name in ("id", "for") or name.startswith("data-"))
        ):
            yield AttributeAt(css=css, name=name), value.strip()
    text = text_of(node, LONGEST_LINE + 50)
    if text and len(text) <= LONGEST_LINE:
        yield TextAt(css=css), text
    own = own_text(node) if node.first_child is not node.last_child else None
    if own and own != text and len(own) <= LONGEST_LINE:
        yield TextAt(css=css, own=True), own
