"""Where a known value stands on a page: in texts, attributes, and blocks of data.

Each page is walked once. A raw text is compared with all known values by their kind, so `$1,299.00`, `129900` and
`1299.0` are all found as the price 1299.00. Where a text only contains the value, the place counts as one that needs
cuts. The number of places per attribute and page is bounded, data and marked-up places first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import Hint, key, normalise, same
from parser.page.document import MOST_TEMPLATES, Document, scalar
from parser.page.texts import UNSEEN, own_text, text_of
from parser.rules.model import Form
from parser.rules.selector import CONTENT, IN_ATTRIBUTE, IN_TEXT
from parser.scripts.blocks import attribute_data
from parser.scripts.syntax.jsonpath import Entry, child, has_path, nested
from rules_generator.locate.element_selectors import anchors_of, css_name, tag_of
from rules_generator.locate.share_links import pictures_in

MOST_PLACES = 150
MOST_NODES = 20_000
MOST_SCALARS = 8_000
MOST_LEVELS = 14
LONGEST_LINE = 300
LONGEST_NAMES = 2_000
CUTTABLE = frozenset(
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
VALUE_ATTRIBUTES = frozenset(
    "content value href src alt title datetime aria-label srcset label".split()
)
NAME_ATTRIBUTES = frozenset({"class", "id", "href", "action"})
SLUGGED = frozenset({Attribute.BRAND, Attribute.CATEGORY})
ID = re.compile(r"\d{4}")
NOT_ALNUM = re.compile(r"[\W_]+")
ESCAPED = re.compile(r"[&%<\\]")
PICTURE = re.compile(r"^[^?#]*\.(?:jpe?g|png|gif|webp|avif)(?:[?#]|$)", re.IGNORECASE)
NAMED_PAGE = frozenset({"html", "body"})
WHOLE_PAGE = NAMED_PAGE | {"head"}
NAMING = (
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
VALUED = frozenset(
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
MOST_NAMED = 100
LONGEST_NAME = 60
ROOMY = "div, section, article, p, td, dd, li, main, span"


@dataclass(frozen=True)
class Place:
    """A spot on one page where a value was found: an element's text, an attribute, or a value in a block.

    `whole` tells that the raw text is the value; otherwise it contains it. `own`: only the element's own text is meant.
    `within` is empty, or leads into the template whose content it is. `size` is the raw text's length.
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
class Wanted:
    """The known values of one example, ready to be compared with raw texts."""

    known: Mapping[Attribute, Sequence[str]]
    base: str
    _keys: dict[Attribute, set[str]] = field(default_factory=dict)
    _lines: dict[Attribute, list[str]] = field(default_factory=dict)
    _slugs: dict[Attribute, list[str]] = field(default_factory=dict)
    _cores: dict[Attribute, tuple[str, ...]] = field(default_factory=dict)
    _memory: dict[str, list[tuple[Attribute, Form, bool]]] = field(default_factory=dict)
    _described: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute, values in self.known.items():
            self._keys[attribute] = {key(attribute, value) for value in values}
            self._cores[attribute] = tuple(
                {_core(attribute, group) for group in self._keys[attribute]}
            )
            if attribute in CUTTABLE:
                self._lines[attribute] = [value.casefold() for value in values if len(value) >= 2]
            if attribute in SLUGGED:
                self._slugs[attribute] = [
                    slug for value in values if len(value) >= 3 for slug in slugs(value)
                ]

    def matches(self, raw: str) -> list[tuple[Attribute, Form, bool]]:
        """The attributes whose known value this text is or (False) contains, each with the form it has there."""
        if raw not in self._memory:
            self._memory[raw] = list(self._match(raw))
        return self._memory[raw]

    def _match(self, raw: str) -> Iterator[tuple[Attribute, Form, bool]]:
        line = len(raw) <= LONGEST_LINE
        squeezed = _squeezed(raw) if raw.isascii() and not ESCAPED.search(raw) else None
        for attribute in self.known:
            if attribute is Attribute.DESCRIPTION:
                if self.describes(raw):
                    yield attribute, "plain", True
            elif squeezed is not None and not any(
                core in squeezed for core in self._cores[attribute]
            ):
                continue
            elif line or attribute is Attribute.IMAGE:
                form = self.form(attribute, raw)
                if form:
                    yield attribute, form, True
                elif line and self._contains(attribute, raw):
                    yield attribute, "plain", False

    def named(self, raw: str) -> list[tuple[Attribute, Form, bool]]:
        """The attributes whose known value stands in a class, an id or an address, spelled as names are there."""
        folded = raw.casefold()
        return [
            (attribute, "slug", False) for attribute, all_slugs in self._slugs.items()
            if any(slug in folded for slug in all_slugs)
        ]  # fmt: skip

    def form(self, attribute: Attribute, raw: str) -> Form | None:
        """The form in which `raw` is a known value; None where it is none."""
        if attribute is Attribute.PRICE:
            return next((form for form in _forms(raw) if self._is_price(raw, form)), None)
        value = normalise(attribute, raw, Hint(base_url=self.base))
        return (
            "plain"
            if value is not None and key(attribute, value) in self._keys[attribute]
            else None
        )

    def describes(self, raw: str) -> bool:
        """Whether this is a known description, or one as long that has most of its words."""
        longest = max(len(value) for value in self.known[Attribute.DESCRIPTION])
        if not 0.5 * longest <= len(raw) <= 4 * longest + 200:
            return False
        if raw not in self._described:
            self._described[raw] = self._describes(raw)
        return self._described[raw]

    def is_picture(self, raw: str) -> bool:
        """Whether this is the address of a known picture."""
        return Attribute.IMAGE in self.known and self.form(Attribute.IMAGE, raw) is not None

    def _is_price(self, raw: str, form: Form) -> bool:
        if form == "minor":
            return f"{int(raw) // 100}.{int(raw) % 100:02d}" in self._keys[Attribute.PRICE]
        value = normalise(Attribute.PRICE, raw, Hint(decimal=_DECIMAL[form]))
        return value is not None and key(Attribute.PRICE, value) in self._keys[Attribute.PRICE]

    def _contains(self, attribute: Attribute, raw: str) -> bool:
        folded = raw.casefold()
        return any(value in folded for value in self._lines.get(attribute, ()))

    def _describes(self, raw: str) -> bool:
        text = normalise(Attribute.DESCRIPTION, raw)
        return text is not None and any(
            same(Attribute.DESCRIPTION, text, v) for v in self.known[Attribute.DESCRIPTION]
        )


def slugs(value: str) -> set[str]:
    """How names are spelled in classes and addresses.

    >>> sorted(slugs("Desk Lamps"))
    ['desk%20lamps', 'desk+lamps', 'desk-lamps', 'desk_lamps']
    """
    words = [word for word in NOT_ALNUM.split(value.casefold()) if word]
    return {between.join(words) for between in ("-", "_", "+", "%20")} if words else set()


def _squeezed(text: str) -> str:
    return NOT_ALNUM.sub("", text).casefold()


def _core(attribute: Attribute, value_key: str) -> str:
    """Letters and digits without which no text is that value, however it is written; nothing where that varies.

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


_DECIMAL: dict[Form, str | None] = {"plain": None, "comma": ",", "point": ".", "minor": "."}
_AMBIGUOUS = re.compile(r"(?<!\d)\d{1,3}[.,]\d{3}(?!\d)")


def _forms(raw: str) -> tuple[Form, ...]:
    if raw.isascii() and raw.isdigit() and len(raw) <= 12:
        return ("plain", "minor")
    return ("plain", "comma", "point") if _AMBIGUOUS.search(raw) else ("plain",)


def places(document: Document, wanted: Wanted) -> dict[Attribute, list[Place]]:
    """All places of the known values on a page, at most 150 per attribute."""
    found: dict[Attribute, list[Place]] = {attribute: [] for attribute in wanted.known}
    for place in _all_places(document, wanted):
        if len(found[place.attribute]) < MOST_PLACES:
            found[place.attribute].append(place)
    return found


def _all_places(document: Document, wanted: Wanted) -> Iterator[Place]:
    yield from _in_blocks(document, wanted)
    yield from _in_elements(document, wanted)
    yield from _in_templates(document, wanted)
    if Attribute.DESCRIPTION in wanted.known:
        yield from _in_long_texts(document, wanted)


def _in_blocks(document: Document, wanted: Wanted) -> Iterator[Place]:
    for block in document.blocks:
        yield from _in_data(block.css, block.name, block.data, wanted)


def _in_data(css: str, name: str, data: Any, wanted: Wanted) -> Iterator[Place]:
    for path, raw in flatten(data):
        for attribute, form, whole in wanted.matches(raw):
            yield Place(attribute, form, whole, css=css, block=name, path=path, size=len(raw))


def flatten(data: Any, path: str = "$", levels: int = MOST_LEVELS) -> Iterator[tuple[str, str]]:
    """The scalars of a block with their JSONPaths; of lists the first three count, and all entries that have names.

    Keys that are numbers, or that have a long one in them as ids do, become `*`.

    >>> list(flatten({"a": [{"b": 1}], "17": {"c": "x"}, "product-59483": {"d": "y"}}))
    [('$.a[0].b', '1'), ('$.*.c', 'x'), ('$.*.d', 'y')]
    >>> next(flatten([{"name": "size", "value": "M"}]))
    ("$[?(@.name=='size')].value", 'M')
    """
    budget = [MOST_SCALARS]
    yield from _flatten(data, path, levels, budget)


def _flatten(data: Any, path: str, levels: int, budget: list[int]) -> Iterator[tuple[str, str]]:
    if levels < 0 or budget[0] <= 0:
        return
    if isinstance(data, str) and (inner := nested(data)) is not None:
        data = inner
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _flatten(value, child(path, generic(str(name))), levels - 1, budget)
    elif isinstance(data, list):
        for entry, value in _named_entries(data):
            yield from _flatten(value, child(path, entry), levels - 1, budget)
        for index, value in enumerate(data[:3]):
            yield from _flatten(value, child(path, index), levels - 1, budget)
    else:
        budget[0] -= 1
        text = scalar(data)
        if text:
            yield path, text


def _named_entries(entries: list[Any]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """The entries of a list that pairs names with values, each by its name and without it: their order may vary."""
    for one in entries[:MOST_NAMED]:
        if not isinstance(one, dict) or VALUED.isdisjoint(one):
            return
        key = next((key for key in NAMING if _is_name(one.get(key))), None)
        if key is not None:
            yield Entry(key, one[key]), {said: value for said, value in one.items() if said != key}


def _is_name(said: Any) -> bool:
    return isinstance(said, str) and 0 < len(said) <= LONGEST_NAME and generic(said) is not None


def generic(name: str) -> str | None:
    """A key as a step of a path; None, for any key, where it is an id, or is written as no path can be."""
    return None if name.isdigit() or not has_path(name) or ID.search(name) else name


def _in_elements(document: Document, wanted: Wanted) -> Iterator[Place]:
    for node in islice(document.tree.root.traverse() if document.tree.root else (), MOST_NODES):
        if node.tag not in UNSEEN and node.tag not in WHOLE_PAGE:
            yield from _at(node, wanted)
        elif node.tag in NAMED_PAGE:
            yield from _in_names(node, wanted)


def _in_templates(document: Document, wanted: Wanted) -> Iterator[Place]:
    """In what stands in templates, which shops fill in when something is clicked."""
    for content in document.tree.template_fragments()[:MOST_TEMPLATES]:
        template = content.parent
        anchors = anchors_of(template) if template is not None else []
        within = f"{anchors[0] if anchors else 'template'}{CONTENT}"
        for node in islice(content.traverse(), MOST_NODES // MOST_TEMPLATES):
            if node.tag not in UNSEEN:
                yield from (replace(place, within=within) for place in _at(node, wanted))


def _at(node: LexborNode, wanted: Wanted) -> Iterator[Place]:
    yield from _in_attributes(node, wanted)
    yield from _in_data_text(node, wanted)
    yield from _in_text(node, wanted)


def _in_attributes(node: LexborNode, wanted: Wanted) -> Iterator[Place]:
    for name, raw in node.attributes.items():
        if not raw or raw.isspace():
            continue
        data = attribute_data(raw)
        if data is not None:
            yield from _in_data(f"[{css_name(name)}]", f"{IN_ATTRIBUTE}{name}", data, wanted)
        elif name in VALUE_ATTRIBUTES or name.startswith("data-"):
            if name == "href" and any(wanted.is_picture(said) for _, said, _ in pictures_in(raw)):
                yield Place(Attribute.IMAGE, "plain", False, node=node, name=name, size=len(raw))
            for attribute, form, whole in wanted.matches(raw.strip()):
                if attribute is not Attribute.IMAGE or name != "href" or PICTURE.search(raw):
                    yield Place(attribute, form, whole, node=node, name=name, size=len(raw))
        elif name == "style" and "url(" in raw and wanted.is_picture(raw):
            yield Place(Attribute.IMAGE, "plain", True, node=node, name=name, size=len(raw))
    yield from _in_names(node, wanted)


def _in_names(node: LexborNode, wanted: Wanted) -> Iterator[Place]:
    for name, raw in node.attributes.items():
        if raw and name in NAME_ATTRIBUTES and len(raw) <= LONGEST_NAMES:
            for attribute, form, whole in wanted.named(raw):
                yield Place(attribute, form, whole, node=node, name=name, size=len(raw))


def _in_data_text(node: LexborNode, wanted: Wanted) -> Iterator[Place]:
    """The JSON that is all of an element's text, as in `<textarea>`."""
    only = node.first_child
    if only is None or only.tag != "-text" or only.next is not None:
        return
    data = attribute_data(only.text_content)
    for css in [*anchors_of(node), tag_of(node)][:2] if data is not None else ():
        yield from _in_data(css, IN_TEXT, data, wanted)


def _in_text(node: LexborNode, wanted: Wanted) -> Iterator[Place]:
    if not _is_small(node):
        return
    text = text_of(node, LONGEST_LINE + 50)
    for attribute, form, whole in wanted.matches(text) if text else ():
        yield Place(attribute, form, whole, node=node, size=len(text or ""))
    own = (
        own_text(node)
        if node.first_child is not None and node.first_child.next is not None
        else None
    )
    for attribute, form, whole in wanted.matches(own) if own and own != text else ():
        yield Place(attribute, form, whole, node=node, own=True, size=len(own or ""))


def _is_small(node: LexborNode) -> bool:
    """Few enough descendants to be a line of text."""
    return (
        node.first_child is not None
        and sum(1 for _ in zip(node.traverse(include_text=True), range(41), strict=False)) <= 40
    )


def _in_long_texts(document: Document, wanted: Wanted) -> Iterator[Place]:
    for node in document.tree.css(ROOMY)[:MOST_NODES]:
        raw = node.text(separator=" ")
        if len(raw) > LONGEST_LINE and wanted.describes(raw):
            yield Place(Attribute.DESCRIPTION, "plain", True, node=node, size=len(raw))
