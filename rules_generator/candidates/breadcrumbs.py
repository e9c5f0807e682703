"""Breadcrumb selectors: category paths whose steps stand in elements of their own, or in a list of
data.

No single text holds the whole path then. In markup, elements with the path's last step are looked
for; where all elements of their kind below an ancestor make up the path, that is a candidate. In
data, so are lists whose entries make it up. A breadcrumb may begin with the home page and a list of
all goods, and end with the offer's title, so its first one or two elements and its last may be left
out. A known category of one step is found by its position from a list's end.

Without it, shops whose catalog lacks whole categories show their missing offers without a category:
69 of 141 in the demo shop (`scout demo --json`, and `missing` of its report). The 23 labelled shops
need it for no value.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress, islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import normalise, value_key
from catalog.values.category import SEPARATOR
from parser.page.document import MAX_STEP_CHARS, MAX_STEPS, Document, scalar_text
from parser.page.texts import element_text
from parser.rules.selector import JsonAt, TextAt
from parser.scripts.syntax.jsonpath import child_path, compile_path
from rules_generator.candidates.selectors import rooted_paths
from rules_generator.locate.element_selectors import anchor_selectors, css_tag
from rules_generator.locate.json_texts import flatten_json, path_step
from rules_generator.training.page_cache import PageCache

# Elements that hold one step of a breadcrumb.
STEP_ELEMENTS = "a, li, span, dd, td, p, b, strong, div"
# All elements, or without the first (the home page) or the first two (the shop's list of all
# goods), each with and without the last (the title).
ELEMENT_PARTS = (
    "",
    ":not(:last-child)",
    ":not(:first-child)",
    ":not(:first-child):not(:last-child)",
    ":nth-of-type(n+3)",
    ":nth-of-type(n+3):not(:last-child)",
)
LIST_PARTS = (
    slice(None),
    slice(None, -1),
    slice(1, None),
    slice(1, -1),
    slice(2, None),
    slice(2, -1),
)
# Positions from a list's end for a known category of one step.
POSITIONS_FROM_END = (-1, -2, -3)
# Pages that must agree on a selector.
MIN_PAGES = 2
# Entries of a list that may be a breadcrumb.
MIN_STEPS = 2
# Pages that are searched; each costs up to 3,000 elements.
MAX_PAGES = 8
# Selectors of each kind (markup, data) that become candidates.
MAX_PER_KIND = 8
# Bounds against hostile pages.
MAX_ELEMENTS = 3_000
MAX_STEP_ELEMENTS = 8
MAX_ANCESTORS = 4
MAX_BREADCRUMB_CHARS = 600
MAX_LISTS = 200
MAX_DEPTH = 8
MAX_FIELDS = 6


def breadcrumb_selectors(
    known_paths: Sequence[Sequence[str]], pages: Sequence[PageCache]
) -> list[TextAt | JsonAt]:
    """Return selectors that give the known category on several pages, commonest first."""
    counts: Counter[TextAt | JsonAt] = Counter()
    labelled = compress(zip(known_paths, pages, strict=True), known_paths)
    for (path, *_), page in islice(labelled, MAX_PAGES):
        selectors = set[TextAt | JsonAt](_in_data(page.document, path))
        if SEPARATOR in path:
            selectors.update(_in_markup(page.document, path))
        counts.update(selectors)

    def rank(selector: TextAt | JsonAt) -> tuple[int, int, str]:
        return -counts[selector], len(str(selector)), str(selector)

    common = [selector for selector in sorted(counts, key=rank) if counts[selector] >= MIN_PAGES]
    in_markup = [selector for selector in common if isinstance(selector, TextAt)]
    in_data = [selector for selector in common if isinstance(selector, JsonAt)]
    return [*in_markup[:MAX_PER_KIND], *in_data[:MAX_PER_KIND]]


def _in_data(document: Document, path: str) -> Iterator[JsonAt]:
    """Yield lists of data that make up a path, or hold its single step near their end."""
    category_key = _category_key(path)
    is_path = SEPARATOR in path
    parts: Sequence[slice | int] = LIST_PARTS if is_path else POSITIONS_FROM_END
    for block in document.blocks:
        for json_path in _list_paths(block.data, parts, category_key):
            selector = JsonAt(css=block.css, block=block.name, path=json_path, join=is_path)
            # Of blocks with one name the first is read, which may be another list.
            if _category_key(document.find(selector)) == category_key:
                yield selector


def _list_paths(data: Any, parts: Sequence[slice | int], category_key: str | None) -> Iterator[str]:
    for path, entries in islice(_lists(data), MAX_LISTS):
        for field, texts in _fields(entries):
            for part in parts:
                if _part_key(texts, part) == category_key:
                    yield f"{child_path(path, part)}{field}"


def _fields(entries: Sequence[Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield each field of the first entry with its text in every entry."""
    for field, _ in islice(flatten_json(entries[0], ""), MAX_FIELDS):
        values_at = compile_path(f"${field}")
        texts = []
        for entry in entries:
            value = next(iter(values_at(entry)), None)
            texts.append(scalar_text(value) or "")
        yield field, texts


def _part_key(texts: Sequence[str], part: slice | int) -> str | None:
    if isinstance(part, slice):
        return _category_key(SEPARATOR.join(filter(None, texts[part])))
    if -part > len(texts):
        return None
    return _category_key(texts[part])


def _category_key(category: str | None) -> str | None:
    """Return the comparison key of a category; None if the text is none."""
    canonical = normalise(Attribute.CATEGORY, category or "")
    if canonical is None:
        return None
    return value_key(Attribute.CATEGORY, canonical)


def _lists(data: Any, path: str = "$", depth: int = MAX_DEPTH) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of a block that may be a breadcrumb, with their paths."""
    if isinstance(data, list):
        if MIN_STEPS <= len(data) <= MAX_STEPS and not isinstance(data[0], list):
            yield path, data
    elif isinstance(data, dict) and depth:
        for name, value in data.items():
            yield from _lists(value, child_path(path, path_step(str(name))), depth - 1)


def _in_markup(document: Document, path: str) -> Iterator[TextAt]:
    """Yield selectors of elements whose joined texts make up a path."""
    category_key = _category_key(path)
    steps = [value_key(Attribute.CATEGORY, step) for step in path.split(SEPARATOR)]
    selectors: dict[str, None] = {}
    for node in _elements_with_step(document, steps[-1]):
        selectors.update(dict.fromkeys(_row_selectors(node, steps)))
    for css in selectors:
        for part in ELEMENT_PARTS:
            if _category_key(document.join_texts(css + part)) == category_key:
                yield TextAt(css=css + part, join=True)


def _elements_with_step(document: Document, step: str) -> Iterator[LexborNode]:
    """Yield elements whose whole text is one step."""
    count = 0
    for node in document.all(STEP_ELEMENTS)[:MAX_ELEMENTS]:
        if node.first_child is None:
            continue
        if (element_text(node, MAX_STEP_CHARS) or "").casefold() == step:
            yield node
            count += 1
        if count == MAX_STEP_ELEMENTS:
            return


def _row_selectors(node: LexborNode, steps: Sequence[str]) -> Iterator[str]:
    """Yield selectors of the element's like below those ancestors that hold all steps."""
    step_selectors = [css_tag(node), *anchor_selectors(node)[:1]]
    ancestor = node.parent
    for _ in range(MAX_ANCESTORS):
        if ancestor is None or ancestor.tag in ("html", "body", "-undef", None):
            return
        text = (element_text(ancestor, MAX_BREADCRUMB_CHARS) or "").casefold()
        if all(step in text for step in steps):
            for anchor in [*anchor_selectors(ancestor)[:2], *rooted_paths(ancestor)]:
                for css in step_selectors:
                    yield f"{anchor} {css}"
        ancestor = ancestor.parent
