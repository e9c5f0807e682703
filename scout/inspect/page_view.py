"""A stored page to look at: every element numbered, the elements that rules hit named, nothing
live.

Scripts, frames, forms and links of the page are made inert here, and the web application serves the
page in a sandbox without scripts or network as well.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborNode
from sqlmodel import col, select

from catalog.errors import UsageError
from catalog.models import Attribute, Page, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage, PageOpener
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, JsonAt
from parser.rules.trim import Trim
from parser.voting.votes import run_rule
from rules_generator.candidates.selectors import selectors_for
from rules_generator.locate.json_texts import flatten_json
from rules_generator.locate.occurrences import Occurrence

NUMBER = "data-scout-n"
"""Attribute of a viewed page with the number of each element, in the order of the document."""

RULES = "data-scout-rules"
"""Attribute with the rules that hit an element: their numbers, space-separated."""

MAX_SUGGESTIONS = 8
"""Selectors that are suggested for an element."""

MAX_LEAVES = 400
"""Values of a block of data that are listed."""

# Elements that do something, or load something.
_REMOVED = ("script", "iframe", "frame", "object", "embed", "link", "base", "applet", "portal")
# Attributes by which an element leads or loads somewhere.
_LEADING = (
    "href",
    "xlink:href",
    "src",
    "srcset",
    "data",
    "action",
    "formaction",
    "ping",
    "background",
    "poster",
)
# Parts of a style sheet that load something.
_LOADING_STYLE = re.compile(r"(?i)@import\b|\burl\s*\(")
_MAX_TEXT = 300  # characters of a value that is shown
_MAX_AFFIX = 40  # characters of a literal that a trim cuts off


def open_stored_page(settings: Settings, store: Store, shop: Shop, page_id: int) -> Document:
    """Open a page of a shop by its row. Raises UsageError, HostilePage, StoreError."""
    stored = select(Page).where(
        Page.id == page_id, Page.shop_id == shop.id, col(Page.body).is_not(None)
    )
    with store.read() as session:
        page = session.exec(stored).first()
    if page is None or page.body is None:
        raise UsageError(f"shop {shop.name!r} has no such stored page")
    crawled = CrawledPage(page_id, page.url, page.canonical, page.body, page.content_type)
    return PageOpener(settings.bodies).open(crawled)


def view_page(document: Document, selectors: Sequence[AnySelector]) -> str:
    """Return the HTML of a page with numbered elements, and marks on those that selectors hit.

    The document is changed: open it anew to read it.
    """
    hits: dict[int, list[int]] = {}
    for place, selector in enumerate(selectors):
        if isinstance(selector, JsonAt):
            continue
        node = document.first(selector.css)
        if node is not None:
            hits.setdefault(node.mem_id, []).append(place)
    removed: list[LexborNode] = []
    for number, node in enumerate(elements(document)):
        attributes: Any = node.attrs
        for name in list(node.attributes):
            if name in _LEADING or name.startswith("on"):
                del attributes[name]
        attributes[NUMBER] = str(number)
        if node.mem_id in hits:
            attributes[RULES] = " ".join(map(str, hits[node.mem_id]))
        if node.tag in _REMOVED or (node.tag == "meta" and "http-equiv" in node.attributes):
            removed.append(node)
    for node in removed:
        node.decompose()
    return _LOADING_STYLE.sub("unused(", document.tree.html or "")


def elements(document: Document) -> Iterator[LexborNode]:
    """Yield all elements of a page in the order of the document."""
    root = document.tree.root
    if root is not None:
        yield from root.traverse(include_text=False)


@dataclass(frozen=True)
class Suggestion:
    """A selector for a picked place with a trim, and the value that both give on this page.

    `name` is an attribute of the element, empty for its text; `block` and `path` are a place in
    data.
    """

    css: str
    name: str
    block: str
    path: str
    left: str
    right: str
    raw: str
    value: str | None


def suggest_for_element(
    document: Document, number: int, attribute: Attribute, known: Sequence[str]
) -> list[Suggestion]:
    """Suggest selectors that hit an element first: of its text, and of its attributes with a value.

    The learner would try the same selectors. A trim is suggested where a known value is a
    part of the text. Suggestions that read a known value come first. Raises UsageError.
    """
    node = next(islice(elements(document), number, None), None)
    if node is None:
        raise UsageError("this element is there no more: load the page again")
    suggestions: list[Suggestion] = []
    for name in ("", *_attributes_of(node)):
        occurrence = Occurrence(attribute, "plain", True, node=node, name=name or None)
        for selector in selectors_for(occurrence):
            if isinstance(selector, JsonAt):
                continue
            first = document.first(selector.css)
            if first is None or first.mem_id != node.mem_id:
                continue
            suggestion = _try(document, attribute, selector, known)
            if suggestion is not None:
                suggestions.append(suggestion)
    return _best(suggestions, known)


def _attributes_of(node: LexborNode) -> Iterator[str]:
    for name, value in node.attributes.items():
        if value and value.strip() and name not in ("class", "id", "style", NUMBER, RULES):
            yield name


def suggest_for_data(
    document: Document, css: str, block: str, path: str, attribute: Attribute, known: Sequence[str]
) -> list[Suggestion]:
    """Suggest a selector for a value of a block of data. Raises RuleError."""
    suggestion = _try(document, attribute, JsonAt(css=css, block=block, path=path), known)
    return [suggestion] if suggestion is not None else []


def _try(
    document: Document, attribute: Attribute, selector: AnySelector, known: Sequence[str]
) -> Suggestion | None:
    """Return the suggestion of a selector; None where it finds no text."""
    vote = run_rule(document, Rule(attribute=attribute, selector=selector))
    if vote.raw is None:
        return None
    left, right = _affixes(vote.raw, known)
    if left or right:
        trim = Trim(left=left or 0, right=right or 0)
        vote = run_rule(document, Rule(attribute=attribute, selector=selector, trim=trim))
    parts = selector.model_dump()
    return Suggestion(
        parts["css"],
        parts.get("name") or "",
        parts.get("block") or "",
        parts.get("path") or "",
        left,
        right,
        (vote.raw or "")[:_MAX_TEXT],
        vote.value and vote.value[:_MAX_TEXT],
    )


def _affixes(raw: str, known: Sequence[str]) -> tuple[str, str]:
    """Return the texts left and right of a known value; empty where there is none, or they are
    long.

    >>> _affixes("Brand: Acme (new)", ["Acme"])
    ('Brand: ', ' (new)')
    """
    for value in known:
        position = raw.find(value)
        if position >= 0 and len(value) < len(raw):
            left, right = raw[:position], raw[position + len(value) :]
            if len(left) <= _MAX_AFFIX and len(right) <= _MAX_AFFIX:
                return left, right
    return "", ""


def _best(suggestions: Sequence[Suggestion], known: Sequence[str]) -> list[Suggestion]:
    """Return the best suggestions: with a known value, with any value, short first."""

    def order(suggestion: Suggestion) -> tuple[bool, bool, bool, int]:
        return (
            suggestion.value not in known,
            suggestion.value is None,
            bool(suggestion.name),
            len(suggestion.css),
        )

    return sorted(suggestions, key=order)[:MAX_SUGGESTIONS]


@dataclass(frozen=True)
class DataLeaf:
    """A value in a block of data with its JSONPath."""

    path: str
    text: str


@dataclass(frozen=True)
class DataBlock:
    """A block of data of a page: the selector of its element, its name, the first of its values."""

    css: str
    name: str
    leaves: Sequence[DataLeaf]


def list_data(document: Document) -> list[DataBlock]:
    """List the blocks of data of a page with their values."""
    blocks = []
    for block in document.blocks:
        leaves: list[DataLeaf] = []
        for path, text in flatten_json(block.data):
            if len(leaves) == MAX_LEAVES:
                break
            leaves.append(DataLeaf(path, text[:_MAX_TEXT]))
        if leaves:
            blocks.append(DataBlock(block.css, block.name, leaves))
    return blocks
