"""From an occurrence on one page to selectors that may hold on many.

The browser's full path (Hübscher 2018) breaks as soon as a shop shows one banner more. So each
occurrence gives several selectors: anchored at ids, classes, schema.org names and data attributes
of the element or of one above it, at the label beside it ("EAN:" in the neighbouring cell), and the
full path too. Digits in ids and classes vary by product and are left out. `scoring` then runs them
all on all examples.
"""

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from parser.page.ancestors import ancestors_or_self
from parser.page.texts import element_text
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.blocks import css_string
from rules_generator.locate.element_selectors import (
    anchor_selectors,
    css_tag,
    nth_of_type,
    sibling_position,
)
from rules_generator.locate.occurrences import Occurrence

# A text that is a label as a whole, or begins with one.
LABEL = re.compile(r"[^\d{}<>\"\\]{2,40}")
LEADING_LABEL = re.compile(r"([^\d:#{}<>\"\\]{2,30}[:#])\s?\S|([^\d:#{}<>\"\\]{2,20}) \d{6}")
# Tags that a page has once or twice.
RARE_TAGS = frozenset({"h1", "title", "main", "h2"})
# Elements above that selectors are anchored at, and anchors taken of each.
MAX_ANCESTORS = 6
MAX_ANCHORS = 3
# Caps: selectors of one element, steps of a path.
MAX_SELECTORS = 48
MAX_STEPS = 40
# Positions from the end, where breadcrumbs of any length keep the category.
MAX_FROM_END = 2
# Elements that one fills, in which a label beside them is looked for.
MAX_FILLED = 3
# Characters read of a text that may be a label, or begin with one.
MAX_LABEL_CHARS = 60
MAX_LABELLED_CHARS = 120

# Kind of selector, CSS or data block, attribute or JSONPath, block name.
SelectorParts = tuple[str, str, str, str]


def selector_parts(
    occurrence: Occurrence, path_cache: dict[int, list[str]]
) -> Iterator[SelectorParts]:
    """Yield the parts of the selectors that lead to an occurrence, at most 48.

    `path_cache` has the selectors of the page's elements by their memory ids.
    """
    node = occurrence.node
    if node is None:
        css = f"{occurrence.template_css}{occurrence.css}"
        yield "json", css, occurrence.path, occurrence.block
        return
    if node.mem_id not in path_cache:
        paths = dict.fromkeys(_paths_to(node))
        path_cache[node.mem_id] = list(islice(paths, MAX_SELECTORS))
    kind = "attribute" if occurrence.name else "own" if occurrence.is_direct_text else "text"
    for css in path_cache[node.mem_id]:
        yield kind, occurrence.template_css + css, occurrence.name or "", ""


def selectors_for(occurrence: Occurrence) -> list[AnySelector]:
    """Return the selectors that lead to an occurrence, at most 48."""
    return [build_selector(parts) for parts in selector_parts(occurrence, {})]


def build_selector(parts: SelectorParts) -> AnySelector:
    """Build the selector of these parts."""
    kind, css, detail, block = parts
    if kind == "json":
        return JsonAt(css=css, block=block, path=detail)
    if kind == "attribute":
        return AttributeAt(css=css, name=detail)
    return TextAt(css=css, own=kind == "own")


def _paths_to(node: LexborNode) -> Iterator[str]:
    tag = css_tag(node)
    anchors = anchor_selectors(node)
    yield from anchors
    if tag in RARE_TAGS:
        yield tag
    yield from _by_label(node)
    yield from _by_text_before(node)
    yield from _by_leading_label(node)
    steps = [*anchors[:3], tag]
    if tag != "*":
        steps += _by_position(node, tag)
    for ancestor in islice(ancestors_or_self(node), 1, MAX_ANCESTORS + 1):
        for anchor in anchor_selectors(ancestor)[:MAX_ANCHORS]:
            for step in steps:
                yield f"{anchor} {step}"
    yield from rooted_paths(node)


def _by_position(node: LexborNode, tag: str) -> Iterator[str]:
    """Yield selectors by the position among siblings, from the end as well."""
    yield nth_of_type(node)
    from_end = sibling_position(node, from_end=True)
    if from_end <= MAX_FROM_END:
        yield f"{tag}:nth-last-of-type({from_end})"


def _by_label(node: LexborNode) -> Iterator[str]:
    """Yield selectors of the element behind a label: `th` and `td`, `dt` and `dd`, or any two
    neighbours.

    The element may fill the neighbour: `<th>EAN</th><td><span>4006</span></td>`.
    """
    element, step = node, css_tag(node)
    for _ in range(MAX_FILLED):
        neighbour = _previous_element(element)
        label = _label(neighbour) if neighbour is not None else None
        if neighbour is not None and label:
            for before in dict.fromkeys([*anchor_selectors(neighbour)[-1:], css_tag(neighbour)]):
                yield f'{before}:lexbor-contains("{css_string(label)}" i) + {step}'
            return
        parent = element.parent
        if neighbour is not None or parent is None:
            return
        if element_text(parent, MAX_LABELLED_CHARS) != element_text(node, MAX_LABELLED_CHARS):
            return
        element, step = parent, f"{css_tag(parent)} {step}"


def _by_text_before(node: LexborNode) -> Iterator[str]:
    """Yield a selector of an element behind its parent's label: `EAN: <b>4006</b>`."""
    before, parent = node.prev, node.parent
    if before is None or parent is None or not before.is_text_node or before.prev is not None:
        return
    label = " ".join((before.text_content or "")[:MAX_LABEL_CHARS].split())
    if LABEL.fullmatch(label):
        yield f'{css_tag(parent)}:lexbor-contains("{css_string(label)}" i) > {css_tag(node)}'


def _by_leading_label(node: LexborNode) -> Iterator[str]:
    """Yield a selector of an element that begins with a label: `<li>EAN: 4006</li>`."""
    text = element_text(node, MAX_LABELLED_CHARS) or ""
    leading = LEADING_LABEL.match(text)
    label = leading[1] or leading[2] if leading else _child_label(node, text)
    if label:
        yield f'{css_tag(node)}:lexbor-contains("{css_string(label)}" i)'


def _child_label(node: LexborNode, text: str) -> str | None:
    """Return the label in the first child element that a longer text begins with."""
    child = next((inner for inner in node.iter() if inner.is_element_node), None)
    label = _label(child) if child is not None else None
    return label if label and text.startswith(label) and text != label else None


def _previous_element(node: LexborNode) -> LexborNode | None:
    sibling = node.prev
    while sibling is not None and not sibling.is_element_node:
        sibling = sibling.prev
    return sibling


def _label(node: LexborNode) -> str | None:
    text = element_text(node, MAX_LABEL_CHARS)
    text = text.removesuffix(" :") if text else ""
    return text if LABEL.fullmatch(text) else None


def rooted_paths(node: LexborNode) -> Iterator[str]:
    """Yield the browser's own path: from each stable id above, and from the root."""
    steps: list[str] = []
    current: LexborNode | None = node
    while (
        current is not None
        and current.tag not in ("html", "-undef", None)
        and len(steps) < MAX_STEPS
    ):
        name = current.attributes.get("id") if current is not node else None
        if name and not any(char.isdigit() for char in name):
            yield " > ".join([f'{css_tag(current)}[id="{css_string(name)}"]', *reversed(steps)])
        if css_tag(current) == "*":
            return
        steps.append(nth_of_type(current))
        current = current.parent
    yield " > ".join(["html", *reversed(steps)])
