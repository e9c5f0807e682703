"""The data a page carries: JSON and JavaScript objects in scripts, JSON in attributes.

Each script is opened once. One that is JSON as a whole is told apart by its own attributes, a schema.org thing by its
type, data in code by what stands before it (`parser.scripts.syntax.javascript`). All is capped: a page may be made to be slow.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

from parser.rules.selector import CONTENT, IN_ATTRIBUTE, IN_TEXT
from parser.scripts import states
from parser.scripts.states import apollo, nuxt
from parser.scripts.syntax.javascript import as_json, by_braces, data_in_code, javascript, opens
from parser.scripts.syntax.repair_json import mended

MOST_SCRIPTS = 300
MOST_IN_ATTRIBUTES = 200
LONGEST_SCRIPT = 3_000_000
MOST_IN_TEMPLATE = 5
VARIABLE = "data-varname"
ANGULAR = ("{&q;", "[&q;", "[{&q;")
ESCAPED_BY_ANGULAR = (("&q;", '"'), ("&s;", "'"), ("&l;", "<"), ("&g;", ">"), ("&a;", "&"))
CODE = "script"
SCHEMA_ORG = 'script[type="application/ld+json"]'

DIGITS = re.compile(r"\d")
NUMBER = re.compile(r"[0-9]+")
ID_START = re.compile(r"[a-z_-]*?json[_-](?=.)|[a-z_-]{4,}(?=[0-9])", re.IGNORECASE | re.ASCII)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
WRAPPING_START = re.compile(r"^\s*(?:<!--|/\*[^*]{0,200}\*/|//\s*<!\[CDATA\[)")
WRAPPING_END = re.compile(r"(?:-->|//[ \t]{0,20}\]\]>|;)\Z")


@dataclass(frozen=True)
class Block:
    """A value of JSON or JavaScript on a page: the CSS selector of its element, its name, its data."""

    css: str
    name: str
    data: Any


class DataScript(NamedTuple):
    """A script of JSON: schema.org's things, or one that `css` tells by its own attributes.

    Sections and products add their own names to ids, `ProductJson-product-template`, so the first of a page whose id
    starts in such a way is told by that `start`, too.
    """

    css: str
    text: str
    start: str | None = None

    def is_at(self, css: str) -> bool:
        """Whether a selector tells it."""
        return css in (self.css, self.start)

    def blocks(self) -> list[Block]:
        """The blocks of data in it."""
        if self.css == SCHEMA_ORG:
            return list(_schema_org(self.text))
        data = as_json(without_angular(self.text).strip())
        data = nuxt.written_out(data) if self.css == nuxt.STATE else data
        data = apollo.written_out(data) if apollo.ASKED in self.text else data
        return [] if data is None else [Block(self.start or self.css, "", data)]


@dataclass(frozen=True)
class Scripts:
    """The scripts of a page that hold text, each kind in document order: data, and texts of code.

    Those in templates are looked for when they are asked for: few shops have any.
    """

    data: list[DataScript]
    code: list[str]
    look_in_templates: Callable[[], list[DataScript]] = list

    @cached_property
    def in_templates(self) -> list[DataScript]:
        """The scripts of data in templates."""
        return self.look_in_templates()

    def of(self, css: str) -> list[DataScript]:
        """Those among which the scripts of data that a selector tells are."""
        return self.in_templates if CONTENT in css else self.data

    def blocks(self) -> list[Block]:
        """The blocks of data in all of them."""
        in_data = (
            block for script in (*self.data, *self.in_templates) for block in script.blocks()
        )
        in_code = (found for text in self.code for found in data_in_code(text))
        return [
            *in_data,
            *(Block(CODE, name, apollo.written_out(data, 0)) for name, data in in_code),
        ]


def scripts_of(tree: LexborHTMLParser) -> Scripts:
    """The scripts of a page, of the first 300; those in templates as far as they are data."""
    data, code, stated, starts = list[DataScript](), list[str](), list[str](), set[str]()
    for node in tree.tags("script")[:MOST_SCRIPTS]:
        text = None if (alone := node.first_child) is None else alone.text_content
        if not text or len(text) > LONGEST_SCRIPT or text.isspace():
            continue
        said = node.attributes
        kind = (said.get("type") or "").lower()
        if "json" in kind:
            data.append(
                DataScript(SCHEMA_ORG, text) if "ld+json" in kind else _of_data(said, text, starts)
            )
        else:
            (stated if text.startswith(states.STARTS) else code).append(text)
    if stated:
        code += states.written_out(stated)
    return Scripts(data, code, lambda: list(_in_templates(tree)))


def _in_templates(tree: LexborHTMLParser) -> Iterator[DataScript]:
    """The scripts of data in templates, as VTEX keeps its pages' state."""
    for template in tree.css("template")[:MOST_SCRIPTS]:
        inside = (node for part in template.template_fragments() for node in part.css("script"))
        for node in islice(inside, MOST_IN_TEMPLATE):
            text = node.text_lexbor()
            if opens(text) and len(text) <= LONGEST_SCRIPT:
                yield DataScript(
                    f"{_own_css(template.attributes, 'template')}{CONTENT}script", text
                )


def without_angular(text: str) -> str:
    """JSON as it is: Angular escapes the state that it hands its pages in a way of its own.

    >>> without_angular("{&q;name&q;:&q;Hook &a; Eye&q;}")
    '{"name":"Hook & Eye"}'
    """
    if text.startswith(ANGULAR):
        for escaped, char in ESCAPED_BY_ANGULAR:
            text = text.replace(escaped, char)
    return text


def _of_data(attributes: dict[str, str | None], text: str, starts: set[str]) -> DataScript:
    """A script of JSON; `starts` are those of the ids before it."""
    found = ID_START.match(attributes.get("id") or "")
    if found is None or found[0] in starts:
        return DataScript(_own_css(attributes), text)
    starts.add(found[0])
    return DataScript(_own_css(attributes), text, f'script[id^="{found[0]}"]')


def _own_css(attributes: dict[str, str | None], tag: str = "script") -> str:
    mark = "id" if attributes.get("id") else VARIABLE
    name = attributes.get(mark)
    if name and not DIGITS.search(name):
        return f'{tag}[{mark}="{css_string(name)}"]'
    marks = [key for key in attributes if key.startswith("data-") and not DIGITS.search(key)]
    if marks:
        return f"{tag}[{marks[0]}]"
    kind = attributes.get("type")
    return f'{tag}[type="{css_string(kind)}"]' if kind else tag


def css_string(text: str) -> str:
    """`text` as it may stand between double quotes in a CSS selector.

    >>> css_string('a"b')
    'a\\\\"b'
    """
    return CONTROL.sub(
        lambda char: f"\\{ord(char[0]):x} ", text.replace("\\", "\\\\").replace('"', '\\"')
    )


def _schema_org(text: str) -> Iterator[Block]:
    data = as_json(text)
    if data is None:
        bare = _uncommented(text)
        ways = ((as_json, bare), (javascript, text), (mended, bare))
        data = next((found for read, said in ways if (found := read(said)) is not None), None)
    for thing in _things(data):
        yield Block(SCHEMA_ORG, f"ld+json {_type_of(thing)}".strip(), thing)


def _uncommented(text: str) -> str:
    """Without the comment marks, the mark of its bytes' order and the stray semicolon that some shops put around it."""
    bare = WRAPPING_START.sub("", text.strip().lstrip("\ufeff"), count=1).rstrip()
    return WRAPPING_END.sub("", bare, count=1).rstrip(" \t\r\n;")


def _things(data: Any) -> Iterator[dict[str, Any]]:
    for thing in data if isinstance(data, list) else [data]:
        if isinstance(thing, dict):
            graph = thing.get("@graph")
            yield from (
                (inner for inner in graph if isinstance(inner, dict))
                if isinstance(graph, list)
                else [thing]
            )


def _type_of(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    first = kind[0] if isinstance(kind, list) and kind else kind
    return str(first)[:40] if first else ""


def blocks_at(nodes: Iterable[LexborNode], name: str) -> list[Any]:
    """The data in these elements that a block's name means: `@data-x`, `text`, or a path of braces, `-> 2 -> 1`."""
    found = (_data_at(node, name) for node in islice(nodes, MOST_IN_ATTRIBUTES))
    return [data for data in found if data is not None]


def _data_at(node: LexborNode, name: str) -> Any:
    if name.startswith(IN_ATTRIBUTE):
        return attribute_data(node.attrs.get(name[len(IN_ATTRIBUTE) :]))
    if name == IN_TEXT:
        return attribute_data(node.text())
    return by_braces(node.text(), [int(step) for step in NUMBER.findall(name)])


def attribute_data(value: str | None) -> Any:
    """The object or list that an attribute's value or an element's text is, as JSON or JavaScript, or None.

    >>> attribute_data(' {"a": 1}')
    {'a': 1}
    """
    if not value or not opens(value) or len(value) > LONGEST_SCRIPT:
        return None
    data = as_json(value)
    if data is None:
        data = javascript(value.strip())
    return data if isinstance(data, dict | list) else None
