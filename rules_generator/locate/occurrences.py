"""Locate known values on a page (annotation): in texts, attributes, and blocks of data.

Each page is walked once. The number of occurrences per attribute and page is capped, data and
marked-up places first.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.cards import CARD_ATTRIBUTES
from parser.page.document import MAX_TEMPLATES, Document
from parser.page.texts import HIDDEN_TAGS, element_text, own_text
from parser.rules.model import Form
from parser.rules.selector import CONTENT, IN_ATTRIBUTE, IN_TEXT
from parser.scripts.blocks import attribute_data
from rules_generator.locate.element_selectors import (
    anchor_selectors,
    css_name,
    css_tag,
)
from rules_generator.locate.json_texts import flatten_json
from rules_generator.locate.value_matcher import (
    MAX_LINE_CHARS,
    NAME_ATTRIBUTES,
    ValueMatcher,
)

# Caps on one page: occurrences per attribute, elements.
MAX_OCCURRENCES = 150
MAX_NODES = 20_000
# Longest class or address searched for names (characters).
MAX_NAMES_CHARS = 2_000
# Characters read beyond those of a line, so that a longer text is not taken for a line.
FURTHER_LINE_CHARS = 50
# Selectors of an element under which its JSON is searched, the most specific ones: each one more
# repeats all of its occurrences.
MAX_JSON_SELECTORS = 2
# Descendants up to which an element is a line of text.
MAX_LINE_NODES = 40
# HTML attributes that hold values.
VALUE_ATTRIBUTES = frozenset(
    "content value href src alt title datetime aria-label srcset label".split()
)
IMAGE_FILE = re.compile(r"^[^?#]*\.(?:jpe?g|png|gif|webp|avif)(?:[?#]|$)", re.IGNORECASE)
# Elements around the whole page: those with names of their own, and all.
NAMED_ROOTS = frozenset({"html", "body"})
ROOTS = NAMED_ROOTS | {"head"}
# Elements that may hold a description.
DESCRIPTION_TAGS = "div, section, article, p, td, dd, li, main, span"


@dataclass(frozen=True)
class Occurrence:
    """A place on one page where a known value stands: an element's text, an attribute, or a value
    in a block.

    `is_whole_text`: the raw text is the value, not only part of it. `is_direct_text`: the element's
    direct text is meant. `template_css` leads into the template whose content it is, else it is
    empty. `size` is the raw text's length.
    """

    attribute: Attribute
    form: Form
    is_whole_text: bool
    node: LexborNode | None = None
    name: str | None = None
    is_direct_text: bool = False
    css: str = ""
    block: str = ""
    path: str = ""
    template_css: str = ""
    size: int = 0


def find_occurrences(
    document: Document, matcher: ValueMatcher
) -> dict[Attribute, list[Occurrence]]:
    """Return the occurrences of the known values on a page, at most MAX_OCCURRENCES of each."""
    occurrences: dict[Attribute, list[Occurrence]] = {name: [] for name in matcher.known}
    for occurrence in _all_occurrences(document, matcher):
        located = occurrences[occurrence.attribute]
        if len(located) < MAX_OCCURRENCES and not _belongs_to_other_offer(document, occurrence):
            located.append(occurrence)
    return occurrences


def _belongs_to_other_offer(document: Document, occurrence: Occurrence) -> bool:
    """Return True for a title, price or picture in a card of another page."""
    if occurrence.node is None or occurrence.attribute not in CARD_ATTRIBUTES:
        return False
    return document.cards.contains(occurrence.node)


def _all_occurrences(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for block in document.blocks:
        yield from _in_data(block.css, block.name, block.data, matcher)
    yield from _in_elements(document, matcher)
    yield from _in_templates(document, matcher)
    if Attribute.DESCRIPTION in matcher.known:
        yield from _in_long_texts(document, matcher)


def _in_data(css: str, name: str, data: Any, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for path, raw in flatten_json(data):
        for match in matcher.matches(raw):
            yield Occurrence(*match, css=css, block=name, path=path, size=len(raw))


def _in_elements(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    nodes = document.tree.root.traverse() if document.tree.root else ()
    for node in islice(nodes, MAX_NODES):
        if node.tag not in HIDDEN_TAGS and node.tag not in ROOTS:
            yield from _at_element(node, matcher)
        elif node.tag in NAMED_ROOTS:
            yield from _in_names(node, node.attributes, matcher)


def _in_templates(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    """Yield occurrences inside `<template>` elements, which scripts show on a click."""
    for fragment in document.tree.template_fragments()[:MAX_TEMPLATES]:
        template = fragment.parent
        anchors = anchor_selectors(template) if template is not None else []
        template_css = f"{anchors[0] if anchors else 'template'}{CONTENT}"
        for node in islice(fragment.traverse(), MAX_NODES // MAX_TEMPLATES):
            if node.tag not in HIDDEN_TAGS:
                for occurrence in _at_element(node, matcher):
                    yield replace(occurrence, template_css=template_css)


def _at_element(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    yield from _in_attributes(node, matcher)
    yield from _in_json_text(node, matcher)
    yield from _in_text(node, matcher)


def _in_attributes(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    attributes = node.attributes
    for name, raw in attributes.items():
        if not raw or raw.isspace():
            continue
        data = attribute_data(raw)
        if data is not None:
            yield from _in_data(f"[{css_name(name)}]", f"{IN_ATTRIBUTE}{name}", data, matcher)
        elif name in VALUE_ATTRIBUTES or name.startswith("data-"):
            for match in matcher.matches(raw.strip()):
                # A link to the page of a picture is no picture.
                if match[0] is not Attribute.IMAGE or name != "href" or IMAGE_FILE.search(raw):
                    yield Occurrence(*match, node=node, name=name, size=len(raw))
        elif name == "style" and "url(" in raw and matcher.is_image(raw):
            yield Occurrence(Attribute.IMAGE, "plain", True, node=node, name=name, size=len(raw))
    yield from _in_names(node, attributes, matcher)


def _in_names(
    node: LexborNode, attributes: Mapping[str, str | None], matcher: ValueMatcher
) -> Iterator[Occurrence]:
    for name, raw in attributes.items():
        if raw and name in NAME_ATTRIBUTES and len(raw) <= MAX_NAMES_CHARS:
            for match in matcher.slug_matches(raw):
                yield Occurrence(*match, node=node, name=name, size=len(raw))


def _in_json_text(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    """Yield occurrences in JSON that is an element's only text, as in `<textarea>`."""
    text_node = node.first_child
    if text_node is None or text_node.tag != "-text" or text_node.next is not None:
        return
    data = attribute_data(text_node.text_content)
    if data is not None:
        for css in [*anchor_selectors(node), css_tag(node)][:MAX_JSON_SELECTORS]:
            yield from _in_data(css, IN_TEXT, data, matcher)


def _in_text(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    if not _is_line(node):
        return
    text = element_text(node, MAX_LINE_CHARS + FURTHER_LINE_CHARS) or ""
    for match in matcher.matches(text) if text else ():
        yield Occurrence(*match, node=node, size=len(text))
    has_more = node.first_child is not None and node.first_child.next is not None
    direct = (own_text(node) if has_more else None) or ""
    for match in matcher.matches(direct) if direct and direct != text else ():
        yield Occurrence(*match, node=node, is_direct_text=True, size=len(direct))


def _is_line(node: LexborNode) -> bool:
    """Return True if an element has few enough descendants to be a line of text."""
    if node.first_child is None:
        return False
    # The element itself is the first of the traversal.
    nodes = islice(node.traverse(include_text=True), MAX_LINE_NODES + 1)
    return sum(1 for _ in nodes) <= MAX_LINE_NODES


def _in_long_texts(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for node in document.tree.css(DESCRIPTION_TAGS)[:MAX_NODES]:
        raw = node.text(separator=" ")
        if len(raw) > MAX_LINE_CHARS and matcher.describes(raw):
            yield Occurrence(Attribute.DESCRIPTION, "plain", True, node=node, size=len(raw))
