"""Locate known values on a page (annotation): in texts, attributes, and blocks of data.

Each page is walked once. A raw text is compared with all known values by their kind, so `$1,299.00`, `129900` and
`1299.0` are all occurrences of the price 1299.00. A text that only contains the value is an occurrence that needs
trimming. The number of occurrences per attribute and page is capped, data and marked-up places first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import Hint, is_same_value, normalise, value_key
from catalog.values.identifier import read_gtin
from parser.page.cards import CARD_ATTRIBUTES, only_link
from parser.page.document import MAX_TEMPLATES, Document, scalar_text
from parser.page.texts import HIDDEN_TAGS, element_text, own_text
from parser.rules.model import Form
from parser.rules.selector import CONTENT, IN_ATTRIBUTE, IN_TEXT
from parser.scripts.blocks import attribute_data
from parser.scripts.syntax.jsonpath import Entry, can_name, child_path, nested_json
from rules_generator.locate.element_selectors import (
    ancestors_or_self,
    anchor_selectors,
    css_name,
    css_tag,
)

# Caps on one page: occurrences per attribute, elements, values and depth of a block.
MAX_OCCURRENCES = 150
MAX_NODES = 20_000
MAX_SCALARS = 8_000
MAX_LEVELS = 14
# Longest text compared with values, longest class or address searched for names (characters).
MAX_LINE_CHARS = 300
MAX_NAMES_CHARS = 2_000
# Descendants up to which an element is a line of text.
MAX_LINE_NODES = 40
# Attributes whose value may be a part of a text.
TRIMMED_ATTRIBUTES = frozenset(
    {
        Attribute.TITLE,
        Attribute.BRAND,
        Attribute.SKU,
        Attribute.HAN,
        Attribute.EAN,
        Attribute.CATEGORY,
        Attribute.PRICE,
    }
)
# Attributes that classes and addresses name, as slugs.
SLUG_ATTRIBUTES = frozenset({Attribute.BRAND, Attribute.CATEGORY})
# HTML attributes that hold values, and those that hold names.
VALUE_ATTRIBUTES = frozenset(
    "content value href src alt title datetime aria-label srcset label".split()
)
NAME_ATTRIBUTES = frozenset({"class", "id", "href", "action"})
# Elements around one that may be a tab.
MAX_TAB_LEVELS = 4
LONG_NUMBER = re.compile(r"\d{4}")
NOT_ALNUM = re.compile(r"[\W_]+")
# Signs of a text that is spelled otherwise than its value: entities, escapes, tags.
ESCAPED = re.compile(r"[&%<\\]")
IMAGE_FILE = re.compile(r"^[^?#]*\.(?:jpe?g|png|gif|webp|avif)(?:[?#]|$)", re.IGNORECASE)
# Elements around the whole page: those with names of their own, and all.
NAMED_ROOTS = frozenset({"html", "body"})
ROOTS = NAMED_ROOTS | {"head"}
# Keys of a list that pairs names with values.
ENTRY_NAMES = (
    "name",
    "key",
    "code",
    "label",
    "attribute_code",
    "attribute",
    "property",
    "propertyID",
    "title",
    "id",
)
ENTRY_VALUES = frozenset(
    {
        "value",
        "values",
        "val",
        "text",
        "content",
        "displayValue",
        "display_value",
        "attribute_value",
    }
)
MAX_ENTRIES = 100
MAX_ENTRY_NAME_CHARS = 60
# Keys of an entry that may be a flag: a bound against hostile data.
MAX_FLAGS = 60
# Entries of a list without names that are looked at.
MAX_LIST_ITEMS = 3
# Elements that may hold a description.
DESCRIPTION_TAGS = "div, section, article, p, td, dd, li, main, span"
# Length of a description on the page, relative to the known one.
MIN_DESCRIPTION_FACTOR = 0.5
MAX_DESCRIPTION_FACTOR = 4
DESCRIPTION_MARGIN = 200
# Shortest names that are searched in texts, and in slugs (characters).
MIN_CONTAINED_CHARS = 2
MIN_SLUG_CHARS = 3
# Longest number of cents (digits).
MAX_CENTS_DIGITS = 12
AMBIGUOUS_AMOUNT = re.compile(r"(?<!\d)\d{1,3}[.,]\d{3}(?!\d)")
DECIMAL_SIGNS: dict[Form, str | None] = {"plain": None, "comma": ",", "point": ".", "minor": "."}

# Attribute, form of the value in a text, and whether the text is nothing but the value.
Match = tuple[Attribute, Form, bool]


@dataclass(frozen=True)
class Occurrence:
    """A place on one page where a known value stands: an element's text, an attribute, or a value in a block.

    `whole`: the raw text is the value, not only part of it. `own`: the element's direct text is meant. `within` leads
    into the template whose content it is, else it is empty. `size` is the raw text's length.
    """

    attribute: Attribute
    form: Form
    whole: bool
    node: LexborNode | None = None
    name: str | None = None
    own: bool = False
    css: str = ""
    block: str = ""
    path: str = ""
    within: str = ""
    size: int = 0


@dataclass
class ValueMatcher:
    """The known values of one example, ready to be compared with raw texts; `base` resolves relative addresses."""

    known: Mapping[Attribute, Sequence[str]]
    base: str
    _keys: dict[Attribute, set[str]] = field(default_factory=dict)
    _lines: dict[Attribute, list[str]] = field(default_factory=dict)
    _slugs: dict[Attribute, list[str]] = field(default_factory=dict)
    _cores: dict[Attribute, tuple[str, ...]] = field(default_factory=dict)
    _matches: dict[str, list[Match]] = field(default_factory=dict)
    _descriptions: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute, values in self.known.items():
            keys = {value_key(attribute, value) for value in values}
            self._keys[attribute] = keys
            self._cores[attribute] = tuple({_core(attribute, key) for key in keys})
            if attribute in TRIMMED_ATTRIBUTES:
                self._lines[attribute] = [
                    value.casefold() for value in values if len(value) >= MIN_CONTAINED_CHARS
                ]
            if attribute in SLUG_ATTRIBUTES:
                slugs: list[str] = []
                for value in values:
                    if len(value) >= MIN_SLUG_CHARS:
                        slugs += slug_spellings(value)
                self._slugs[attribute] = slugs

    def matches(self, raw: str) -> list[Match]:
        """Return the attributes whose known value a text is or contains, with its form there."""
        if raw not in self._matches:
            self._matches[raw] = list(self._find_matches(raw))
        return self._matches[raw]

    def _find_matches(self, raw: str) -> Iterator[Match]:
        is_line = len(raw) <= MAX_LINE_CHARS
        # Most texts lack the letters and digits of all values: they are not normalised.
        squeezed = _squeezed(raw) if raw.isascii() and not ESCAPED.search(raw) else None
        for attribute in self.known:
            if attribute is Attribute.DESCRIPTION:
                if self.describes(raw):
                    yield attribute, "plain", True
                continue
            if squeezed is not None and not any(
                core in squeezed for core in self._cores[attribute]
            ):
                continue
            if is_line or attribute is Attribute.IMAGE:
                form = self.form(attribute, raw)
                if form:
                    yield attribute, form, True
                elif is_line and self._contains(attribute, raw):
                    yield attribute, "plain", False

    def slug_matches(self, raw: str) -> list[Match]:
        """Return the attributes whose known value a class, an id or an address names as a slug."""
        folded = raw.casefold()
        matches: list[Match] = []
        for attribute, slugs in self._slugs.items():
            if any(slug in folded for slug in slugs):
                matches.append((attribute, "slug", False))
        return matches

    def form(self, attribute: Attribute, raw: str) -> Form | None:
        """Return the form in which a text is a known value; None if it is none."""
        if attribute is Attribute.PRICE:
            for form in _price_forms(raw):
                if self._is_price(raw, form):
                    return form
            return None
        value = normalise(attribute, raw, Hint(base_url=self.base))
        if value is None and attribute is Attribute.EAN:
            # Rules read data fields so: `"gtin": 36000291452`.
            value = read_gtin(raw).gtin
        is_known = value is not None and value_key(attribute, value) in self._keys[attribute]
        return "plain" if is_known else None

    def describes(self, raw: str) -> bool:
        """Return True for a known description, or a text about as long with most of its words."""
        longest = max(len(value) for value in self.known[Attribute.DESCRIPTION])
        shortest_allowed = MIN_DESCRIPTION_FACTOR * longest
        longest_allowed = MAX_DESCRIPTION_FACTOR * longest + DESCRIPTION_MARGIN
        if not shortest_allowed <= len(raw) <= longest_allowed:
            return False
        if raw not in self._descriptions:
            self._descriptions[raw] = self._is_description(raw)
        return self._descriptions[raw]

    def is_image(self, raw: str) -> bool:
        """Return True for the address of a known picture."""
        return Attribute.IMAGE in self.known and self.form(Attribute.IMAGE, raw) is not None

    def _is_price(self, raw: str, form: Form) -> bool:
        if form == "minor":
            return f"{int(raw) // 100}.{int(raw) % 100:02d}" in self._keys[Attribute.PRICE]
        value = normalise(Attribute.PRICE, raw, Hint(decimal=DECIMAL_SIGNS[form]))
        return (
            value is not None and value_key(Attribute.PRICE, value) in self._keys[Attribute.PRICE]
        )

    def _contains(self, attribute: Attribute, raw: str) -> bool:
        folded = raw.casefold()
        return any(value in folded for value in self._lines.get(attribute, ()))

    def _is_description(self, raw: str) -> bool:
        text = normalise(Attribute.DESCRIPTION, raw)
        if text is None:
            return False
        return any(
            is_same_value(Attribute.DESCRIPTION, text, value)
            for value in self.known[Attribute.DESCRIPTION]
        )


def slug_spellings(value: str) -> set[str]:
    """Return the spellings of a name in classes and addresses.

    >>> sorted(slug_spellings("Desk Lamps"))
    ['desk%20lamps', 'desk+lamps', 'desk-lamps', 'desk_lamps']
    """
    slug_words = [word for word in NOT_ALNUM.split(value.casefold()) if word]
    return (
        {separator.join(slug_words) for separator in ("-", "_", "+", "%20")}
        if slug_words
        else set()
    )


def _squeezed(text: str) -> str:
    return NOT_ALNUM.sub("", text).casefold()


def _core(attribute: Attribute, value_key: str) -> str:
    """Return letters and digits that every spelling of a value has; empty where spellings vary freely.

    >>> _core(Attribute.PRICE, "1299.00"), _core(Attribute.TITLE, "Lamp, red"), _core(Attribute.CURRENCY, "eur")
    ('1299', 'lampred', '')
    """
    if attribute in (Attribute.CURRENCY, Attribute.AVAILABILITY) or not value_key.isascii():
        return ""
    if attribute is Attribute.PRICE:
        return value_key.partition(".")[0].lstrip("0")
    if attribute is Attribute.EAN:
        return value_key.lstrip("0")[3:-1]
    if attribute is Attribute.IMAGE:
        return _squeezed(value_key.rpartition(".")[0])
    return _squeezed(value_key)


def _price_forms(raw: str) -> tuple[Form, ...]:
    """Return the forms in which a text may be a price; none for a bare 0.

    A bare 0 may be a count or an index, and does not tell whether a field holds whole units or cents.
    """
    if not raw.strip("0"):
        return ()
    if raw.isascii() and raw.isdigit() and len(raw) <= MAX_CENTS_DIGITS:
        return ("plain", "minor")
    return ("plain", "comma", "point") if AMBIGUOUS_AMOUNT.search(raw) else ("plain",)


def find_occurrences(
    document: Document, matcher: ValueMatcher
) -> dict[Attribute, list[Occurrence]]:
    """Return all occurrences of the known values on a page, at most 150 per attribute."""
    occurrences: dict[Attribute, list[Occurrence]] = {name: [] for name in matcher.known}
    for occurrence in _all_occurrences(document, matcher):
        located = occurrences[occurrence.attribute]
        if len(located) < MAX_OCCURRENCES and not _is_of_something_else(document, occurrence):
            located.append(occurrence)
    return occurrences


def _is_of_something_else(document: Document, occurrence: Occurrence) -> bool:
    """Return True if it is a title, price or picture of another page's offer, or the label of a tab."""
    if occurrence.node is None:
        return False
    if occurrence.attribute in CARD_ATTRIBUTES:
        return document.cards.hold(occurrence.node)
    if occurrence.attribute in SLUG_ATTRIBUTES:
        return _is_tab_label(occurrence.node)
    return False


def _is_tab_label(node: LexborNode) -> bool:
    around = islice(ancestors_or_self(node), MAX_TAB_LEVELS)
    link = only_link(node)
    return any(map(_is_tab, around)) or (link is not None and _is_tab(link))


def _is_tab(node: LexborNode) -> bool:
    """Return True for a tab, or a link to a part of its own page."""
    href = (node.attributes.get("href") or "").strip()
    return node.attributes.get("role") == "tab" or (href.startswith("#") and len(href) > 1)


def _all_occurrences(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for block in document.blocks:
        yield from _in_data(block.css, block.name, block.data, matcher)
    yield from _in_elements(document, matcher)
    yield from _in_templates(document, matcher)
    if Attribute.DESCRIPTION in matcher.known:
        yield from _in_long_texts(document, matcher)


def _in_data(css: str, name: str, data: Any, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for path, raw in flatten_json(data):
        for attribute, form, is_complete in matcher.matches(raw):
            yield Occurrence(
                attribute, form, is_complete, css=css, block=name, path=path, size=len(raw)
            )


def flatten_json(data: Any, path: str = "$", levels: int = MAX_LEVELS) -> Iterator[tuple[str, str]]:
    """Yield (JSONPath, text) of the scalars of a block: of lists the first three entries, and all that have names.

    Keys that are numbers, or contain a long one as ids do, become `*`.

    >>> list(flatten_json({"a": [{"b": 1}], "17": {"c": "x"}, "product-59483": {"d": "y"}}))
    [('$.a[0].b', '1'), ('$.*.c', 'x'), ('$.*.d', 'y')]
    >>> next(flatten_json([{"name": "size", "value": "M"}]))
    ("$[?(@.name=='size')].value", 'M')
    >>> next(flatten_json([{"img": "a.jpg", "isMain": False}, {"img": "b.jpg", "isMain": True}]))
    ('$[?(@.isMain==true)].img', 'b.jpg')
    """
    budget = [MAX_SCALARS]
    yield from _flatten(data, path, levels, budget)


def _flatten(data: Any, path: str, levels: int, budget: list[int]) -> Iterator[tuple[str, str]]:
    if levels < 0 or budget[0] <= 0:
        return
    if isinstance(data, str) and (inner := nested_json(data)) is not None:
        data = inner
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _flatten(value, child_path(path, path_step(str(name))), levels - 1, budget)
    elif isinstance(data, list):
        for entry, value in chain(_named_entries(data), _flagged_entries(data)):
            yield from _flatten(value, child_path(path, entry), levels - 1, budget)
        for index, value in enumerate(data[:MAX_LIST_ITEMS]):
            yield from _flatten(value, child_path(path, index), levels - 1, budget)
    else:
        budget[0] -= 1
        text = scalar_text(data)
        if text:
            yield path, text


def _named_entries(entries: list[Any]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Yield the entries of a list that pairs names with values, each without its name: their order may vary."""
    for entry in entries[:MAX_ENTRIES]:
        if not isinstance(entry, dict) or ENTRY_VALUES.isdisjoint(entry):
            return
        name_key = next((name for name in ENTRY_NAMES if _is_entry_name(entry.get(name))), None)
        if name_key is not None:
            unnamed = {name: value for name, value in entry.items() if name != name_key}
            yield Entry(name_key, entry[name_key]), unnamed


def _flagged_entries(entries: list[Any]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Yield the entries of a list that alone have a flag, as the main picture of a gallery does."""
    objects = [entry for entry in entries[:MAX_ENTRIES] if isinstance(entry, dict)]
    for entry in objects:
        for name, flag in islice(entry.items(), MAX_FLAGS):
            if flag is not True or path_step(name) is None or not name.isidentifier():
                continue
            if [other.get(name) for other in objects].count(True) == 1 < len(objects):
                yield Entry(name, flag), entry


def _is_entry_name(value: Any) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ENTRY_NAME_CHARS:
        return False
    return path_step(value) is not None


def path_step(name: str) -> str | None:
    """Return a key as a step of a path; None, for any key, if it is an id or cannot be written in a path."""
    is_any = name.isdigit() or not can_name(name) or LONG_NUMBER.search(name)
    return None if is_any else name


def _in_elements(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    nodes = document.tree.root.traverse() if document.tree.root else ()
    for node in islice(nodes, MAX_NODES):
        if node.tag not in HIDDEN_TAGS and node.tag not in ROOTS:
            yield from _at_element(node, matcher)
        elif node.tag in NAMED_ROOTS:
            yield from _in_names(node, matcher)


def _in_templates(document: Document, matcher: ValueMatcher) -> Iterator[Occurrence]:
    """Yield occurrences in the content of templates, which shops fill in when something is clicked."""
    for fragment in document.tree.template_fragments()[:MAX_TEMPLATES]:
        template = fragment.parent
        anchors = anchor_selectors(template) if template is not None else []
        within = f"{anchors[0] if anchors else 'template'}{CONTENT}"
        for node in islice(fragment.traverse(), MAX_NODES // MAX_TEMPLATES):
            if node.tag not in HIDDEN_TAGS:
                for occurrence in _at_element(node, matcher):
                    yield replace(occurrence, within=within)


def _at_element(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    yield from _in_attributes(node, matcher)
    yield from _in_json_text(node, matcher)
    yield from _in_text(node, matcher)


def _in_attributes(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for name, raw in node.attributes.items():
        if not raw or raw.isspace():
            continue
        data = attribute_data(raw)
        if data is not None:
            yield from _in_data(f"[{css_name(name)}]", f"{IN_ATTRIBUTE}{name}", data, matcher)
        elif name in VALUE_ATTRIBUTES or name.startswith("data-"):
            for attribute, form, is_complete in matcher.matches(raw.strip()):
                # A link to the page of a picture is no picture.
                if attribute is not Attribute.IMAGE or name != "href" or IMAGE_FILE.search(raw):
                    yield Occurrence(
                        attribute, form, is_complete, node=node, name=name, size=len(raw)
                    )
        elif name == "style" and "url(" in raw and matcher.is_image(raw):
            yield Occurrence(Attribute.IMAGE, "plain", True, node=node, name=name, size=len(raw))
    yield from _in_names(node, matcher)


def _in_names(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    for name, raw in node.attributes.items():
        if raw and name in NAME_ATTRIBUTES and len(raw) <= MAX_NAMES_CHARS:
            for attribute, form, is_complete in matcher.slug_matches(raw):
                yield Occurrence(attribute, form, is_complete, node=node, name=name, size=len(raw))


def _in_json_text(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    """Yield occurrences in JSON that is an element's only text, as in `<textarea>`."""
    text_node = node.first_child
    if text_node is None or text_node.tag != "-text" or text_node.next is not None:
        return
    data = attribute_data(text_node.text_content)
    if data is not None:
        for css in [*anchor_selectors(node), css_tag(node)][:2]:
            yield from _in_data(css, IN_TEXT, data, matcher)


def _in_text(node: LexborNode, matcher: ValueMatcher) -> Iterator[Occurrence]:
    if not _is_line(node):
        return
    text = element_text(node, MAX_LINE_CHARS + 50)
    for attribute, form, is_complete in matcher.matches(text) if text else ():
        yield Occurrence(attribute, form, is_complete, node=node, size=len(text or ""))
    has_more = node.first_child is not None and node.first_child.next is not None
    direct = own_text(node) if has_more else None
    for attribute, form, is_complete in (
        matcher.matches(direct) if direct and direct != text else ()
    ):
        yield Occurrence(attribute, form, is_complete, node=node, own=True, size=len(direct or ""))


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
