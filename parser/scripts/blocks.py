"""The data blocks of a page: JSON and JavaScript objects in scripts, JSON in attributes.

A script that is JSON as a whole is identified by its own attributes, a schema.org thing by its
type, data in code by the code before it (`parser.scripts.syntax.javascript`). All is capped: a page
may be made to be slow.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

from parser.rules.selector import CONTENT, IN_ATTRIBUTE
from parser.scripts import states
from parser.scripts.schema_org import SCHEMA_ORG as SCHEMA_ORG
from parser.scripts.schema_org import schema_org_things
from parser.scripts.states import apollo, nuxt
from parser.scripts.syntax.javascript import (
    CodeReader,
    parse_javascript,
    parse_json,
    starts_like_data,
)

# Bounds against hostile input.
MAX_SCRIPTS = 300
MAX_ELEMENTS = 200
MAX_SCRIPT_CHARS = 3_000_000
MAX_SCRIPTS_IN_TEMPLATE = 5

CODE = "script"
# Attribute by which VTEX names a template with a script of data.
VARIABLE = "data-varname"
# Angular's transfer state replaces these characters, so that no markup stands in the script.
ANGULAR_STARTS = ("{&q;", "[&q;", "[{&q;")
ANGULAR_ESCAPES = (("&q;", '"'), ("&s;", "'"), ("&l;", "<"), ("&g;", ">"), ("&a;", "&"))

DIGIT = re.compile(r"\d")
ID_PREFIX = re.compile(r"[a-z_-]*?json[_-](?=.)|[a-z_-]{4,}(?=[0-9])", re.IGNORECASE | re.ASCII)
CONTROL_CHAR = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Block:
    """A JSON or JavaScript value on a page: the CSS selector of its element, its name, its data."""

    css: str
    name: str
    data: Any


class DataScript(NamedTuple):
    """A script of JSON: schema.org things, or a script that `css` identifies by its own attributes.

    Shops append names of sections and products to ids, `ProductJson-product-template`. So the first
    script of a page whose id has such a prefix is also matched by the CSS in `prefix_css`.
    """

    css: str
    text: str
    prefix_css: str | None = None

    def is_at(self, css: str) -> bool:
        """Return True if a selector identifies this script."""
        return css in (self.css, self.prefix_css)

    def blocks(self) -> list[Block]:
        """Decode the data blocks in it."""
        if self.css == SCHEMA_ORG:
            return [Block(SCHEMA_ORG, name, thing) for name, thing in schema_org_things(self.text)]
        data = parse_json(unescape_angular(self.text).strip())
        if self.css == nuxt.STATE:
            data = nuxt.resolve_payload(data)
        if apollo.ROOT in self.text:
            data = apollo.resolve_cache(data)
        if data is None:
            return []
        return [Block(self.prefix_css or self.css, "", data)]


@dataclass(frozen=True)
class Scripts:
    """The scripts of data and of code in document order; those in templates when needed."""

    data: list[DataScript]
    code: list[str]
    look_in_templates: Callable[[], list[DataScript]] = list

    @cached_property
    def in_templates(self) -> list[DataScript]:
        """The scripts of data in templates."""
        return self.look_in_templates()

    def candidates_for(self, css: str) -> list[DataScript]:
        """Return the scripts of data among which a selector may match."""
        return self.in_templates if CONTENT in css else self.data

    def blocks(self, reader: CodeReader | None = None) -> list[Block]:
        """Decode the data blocks of all scripts; `reader` caches code that other pages share."""
        reader = reader or CodeReader()
        blocks = []
        for script in (*self.data, *self.in_templates):
            blocks += script.blocks()
        for text in self.code:
            for name, data in reader.named_data(text):
                blocks.append(Block(CODE, name, apollo.resolve_cache(data, 0)))
        return blocks


def scripts_of(tree: LexborHTMLParser) -> Scripts:
    """Collect the scripts of a page: the first 300."""
    data, code, states_code = list[DataScript](), list[str](), list[str]()
    prefixes = set[str]()
    for node in tree.tags("script")[:MAX_SCRIPTS]:
        child = node.first_child
        text = None if child is None else child.text_content
        if not text or len(text) > MAX_SCRIPT_CHARS or text.isspace():
            continue
        attributes = node.attributes
        kind = (attributes.get("type") or "").lower()
        if "ld+json" in kind:
            data.append(DataScript(SCHEMA_ORG, text))
        elif "json" in kind:
            data.append(_data_script(attributes, text, prefixes))
        elif text.startswith(states.STARTS):
            states_code.append(text)
        else:
            code.append(text)
    if states_code:
        code += states.to_assignments(states_code)
    return Scripts(data, code, lambda: list(_scripts_in_templates(tree)))


def _scripts_in_templates(tree: LexborHTMLParser) -> Iterator[DataScript]:
    """Yield the scripts of data in templates, where VTEX keeps a page's state."""
    for template in tree.css("template")[:MAX_SCRIPTS]:
        css = f"{_attribute_css(template.attributes, 'template')}{CONTENT}script"
        scripts = (
            node for fragment in template.template_fragments() for node in fragment.css("script")
        )
        for node in islice(scripts, MAX_SCRIPTS_IN_TEMPLATE):
            text = node.text_lexbor()
            if starts_like_data(text) and len(text) <= MAX_SCRIPT_CHARS:
                yield DataScript(css, text)


def unescape_angular(text: str) -> str:
    """Undo the escapes of Angular's transfer state; other texts stay as they are.

    >>> unescape_angular("{&q;name&q;:&q;Hook &a; Eye&q;}")
    '{"name":"Hook & Eye"}'
    """
    if text.startswith(ANGULAR_STARTS):
        for escaped, char in ANGULAR_ESCAPES:
            text = text.replace(escaped, char)
    return text


def _data_script(attributes: dict[str, str | None], text: str, prefixes: set[str]) -> DataScript:
    """Make a script of JSON; `prefixes` are the id prefixes of the scripts before it."""
    prefix = ID_PREFIX.match(attributes.get("id") or "")
    if prefix is None or prefix[0] in prefixes:
        return DataScript(_attribute_css(attributes), text)
    prefixes.add(prefix[0])
    return DataScript(_attribute_css(attributes), text, f'script[id^="{prefix[0]}"]')


def _attribute_css(attributes: dict[str, str | None], tag: str = "script") -> str:
    """Return the CSS that identifies an element by its attributes without digits, which vary."""
    key = VARIABLE
    if attributes.get("id"):
        key = "id"
    name = attributes.get(key)
    if name and not DIGIT.search(name):
        return f'{tag}[{key}="{css_string(name)}"]'
    for name in attributes:
        if name.startswith("data-") and not DIGIT.search(name):
            return f"{tag}[{name}]"
    kind = attributes.get("type")
    if not kind:
        return tag
    return f'{tag}[type="{css_string(kind)}"]'


def css_string(text: str) -> str:
    """Escape a text for use between double quotes in a CSS selector.

    >>> css_string('a"b')
    'a\\\\"b'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return CONTROL_CHAR.sub(lambda char: f"\\{ord(char[0]):x} ", escaped)


def blocks_at(nodes: Iterable[LexborNode], name: str) -> list[Any]:
    """Decode the data in elements at a block name: `@data-x` or `text`."""
    blocks = (_data_at(node, name) for node in islice(nodes, MAX_ELEMENTS))
    return [data for data in blocks if data is not None]


def _data_at(node: LexborNode, name: str) -> Any:
    if name.startswith(IN_ATTRIBUTE):
        return attribute_data(node.attrs.get(name[len(IN_ATTRIBUTE) :]))
    return attribute_data(node.text())


def attribute_data(value: str | None) -> Any:
    """Parse an attribute's value or an element's text as a JSON or JavaScript object or list.

    None where it is none.

    >>> attribute_data(' {"a": 1}')
    {'a': 1}
    """
    if not value or not starts_like_data(value) or len(value) > MAX_SCRIPT_CHARS:
        return None
    data = parse_json(value)
    if data is None:
        data = parse_javascript(value.strip())
    if not isinstance(data, dict | list):
        return None
    return data
