"""From a place on one page to selectors that may hold on many.

The browser's full path (Hübscher 2018) breaks as soon as a shop shows one banner more. So each place yields several
selectors: anchored at ids, classes, schema.org names and data attributes of the element or of one above it, at the
label beside it ("EAN:" in the neighbouring cell), and the full path too. Digits in ids and classes vary by product and
are left out. Which of them hold is not judged here: `score` runs them all on all examples.
"""

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from parser.page.texts import text_of
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.blocks import css_string
from rules_generator.locate.element_selectors import anchors_of, tag_of, upwards
from rules_generator.locate.known_values import Place

LABEL = re.compile(r"[^\d{}<>\"\\]{2,40}")
OWN_LABEL = re.compile(r"([^\d:{}<>\"\\]{2,30}:)\s?\S")
LONE_TAGS = frozenset({"h1", "title", "main", "h2"})
MOST_ABOVE = 6
MOST_SELECTORS = 48
MOST_FROM_END = 2
MOST_ALIKE = 500


Parts = tuple[str, str, str, str]
Paths = dict[int, list[str]]


def parts_at(place: Place, known: Paths) -> Iterator[Parts]:
    """What the selectors that lead to a place are made of, at most 48; `known` remembers the paths of one page."""
    if place.node is None:
        yield "json", f"{place.within}{place.css}", place.path, place.block
        return
    if place.node.mem_id not in known:
        known[place.node.mem_id] = list(
            islice(dict.fromkeys(_paths_to(place.node)), MOST_SELECTORS)
        )
    kind = "attribute" if place.name else "own" if place.own else "text"
    for css in known[place.node.mem_id]:
        yield kind, f"{place.within}{css}", place.name or "", ""


def selectors_at(place: Place) -> list[AnySelector]:
    """The selectors that lead to a place, at most 48."""
    return [selector_of(parts) for parts in parts_at(place, {})]


def selector_of(parts: Parts) -> AnySelector:
    """The selector made of these parts."""
    kind, css, detail, block = parts
    if kind == "json":
        return JsonAt(css=css, block=block, path=detail)
    return (
        AttributeAt(css=css, name=detail)
        if kind == "attribute"
        else TextAt(css=css, own=kind == "own")
    )


def _paths_to(node: LexborNode) -> Iterator[str]:
    tag = tag_of(node)
    own = anchors_of(node)
    yield from own
    if tag in LONE_TAGS:
        yield tag
    yield from _by_label(node)
    yield from _by_own_label(node)
    steps = [*own[:3], tag, *(_counted(node, tag) if tag != "*" else [])]
    for above in _above(node):
        for anchor in anchors_of(above)[:3]:
            yield from (f"{anchor} {step}" for step in steps)
    yield from rooted(node)


def _counted(node: LexborNode, tag: str) -> Iterator[str]:
    """By its place among its like; from the end too, where breadcrumbs of any length keep the category."""
    yield f"{tag}:nth-of-type({_place_among(node)})"
    last = _place_among(node, from_end=True)
    if last <= MOST_FROM_END:
        yield f"{tag}:nth-last-of-type({last})"


def _above(node: LexborNode) -> Iterator[LexborNode]:
    return islice(upwards(node), 1, MOST_ABOVE + 1)


def _by_label(node: LexborNode) -> Iterator[str]:
    """The element behind one whose text is a label: `th` and `td`, `dt` and `dd`, or any two neighbours."""
    before = _neighbour_before(node)
    if before is not None:
        label = _label(before)
        if label:
            steps = [*anchors_of(before)[-1:], tag_of(before)]
            for step in dict.fromkeys(steps):
                yield f'{step}:lexbor-contains("{css_string(label)}" i) + {tag_of(node)}'


def _by_own_label(node: LexborNode) -> Iterator[str]:
    """The element that begins with a label itself, as in `<li>EAN: 4006</li>` and `<li><b>EAN</b> 4006</li>`."""
    text = text_of(node, 120) or ""
    first = next((inner for inner in node.iter() if inner.is_element_node), None)
    within = _label(first) if first is not None else None
    before = OWN_LABEL.match(text)
    label = (
        before[1]
        if before
        else within
        if within and text.startswith(within) and text != within
        else None
    )
    if label:
        yield f'{tag_of(node)}:lexbor-contains("{css_string(label)}" i)'


def _neighbour_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


def _label(node: LexborNode) -> str | None:
    text = text_of(node, 60)
    text = text.removesuffix(" :") if text else ""
    return text if LABEL.fullmatch(text) else None


def rooted(node: LexborNode) -> Iterator[str]:
    """The browser's own path: from the nearest stable id, and from the root."""
    steps: list[str] = []
    here: LexborNode | None = node
    while here is not None and here.tag not in ("html", "-undef", None) and len(steps) < 40:
        name = here.attributes.get("id") if here is not node else None
        if name and not any(char.isdigit() for char in name):
            yield " > ".join([f'{tag_of(here)}[id="{css_string(name)}"]', *reversed(steps)])
        if tag_of(here) == "*":
            return
        steps.append(f"{here.tag}:nth-of-type({_place_among(here)})")
        here = here.parent
    yield " > ".join(["html", *reversed(steps)])


def _place_among(node: LexborNode, *, from_end: bool = False) -> int:
    place, other = 1, node.next if from_end else node.prev
    while other is not None and place < MOST_ALIKE:
        place += other.tag == node.tag
        other = other.next if from_end else other.prev
    return place
