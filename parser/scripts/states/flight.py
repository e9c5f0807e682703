"""The state that Next's app router streams to its pages: the properties of the page's components.

The router writes no state of its own into a page. It pushes pieces of one text,
`self.__next_f.push([1,"..."])`, whose rows are the page as React's server components produced it
(the format React Flight): HTML elements, which are part of the page anyway, and components that run
in the browser, with their properties - often the whole product. Only the properties are kept, each
object under its property name, since rows and positions in the tree differ from page to page. A
value in a row of its own, `"$1f"`, is put in at the first reference to it.
"""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from parser.scripts.states.pushed_blocks import MAX_STREAM_CHARS, dump_json, pushed_values
from parser.scripts.syntax.javascript import parse_json

PUSH = "self.__next_f.push("
PREFIX = "__next_f."
# Bounds against hostile input: assignments of a page, levels of a value, characters of a name.
MAX_ASSIGNMENTS = 300
MAX_LEVELS = 60
MAX_NAME_CHARS = 32
ROW = re.compile(rb"([0-9a-f]{0,8}):(?:([TAOoUSsLlGgMmVCcFDNn])([0-9a-f]{1,8}),)?")
TEXT_ROW = b"T"
REFERENCE = re.compile(r"\$@?([0-9a-f]{1,8})")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# First item of an element, and of every text that is not literal.
ELEMENT = "$"
# Start of the type of a component that runs in the browser.
CLIENT_COMPONENT = "$L"
CHILDREN = "children"
ESCAPED = "$$"


def to_assignments(scripts: Iterable[str]) -> list[str]:
    """Return the properties of a page's components as code of one assignment each.

    >>> row = r'0:[\\"$\\",\\"$L1\\",null,{\\"product\\":{\\"sku\\":\\"A\\"}}]'
    >>> to_assignments([f'self.__next_f.push([1,"{row}"])'])
    ['__next_f.product={"sku":"A"};']
    """
    pieces = []
    for text in scripts:
        for value in pushed_values(text, PUSH):
            pieces.append(_to_bytes(value))
    assignments = _Stream(b"".join(pieces)[:MAX_STREAM_CHARS]).assignments()
    return list(islice(dict.fromkeys(assignments), MAX_ASSIGNMENTS))


def _to_bytes(value: Any) -> bytes:
    """Return a piece of the stream: text, or bytes in base 64."""
    match value:
        case [1, str(text)]:
            return text.encode("utf-8", "replace")
        case [3, str(text)]:
            try:
                return b64decode(text)
            except ValueError:
                return b""
    return b""


class _Stream:
    """The rows of a stream, texts and JSON, by their number."""

    def __init__(self, stream: bytes) -> None:
        self._rows = dict(_rows(stream))
        self._resolved_rows = set[str]()

    def assignments(self) -> Iterator[str]:
        """Yield each client component's properties: objects by name, all scalars as one object."""
        for properties in _component_properties(self._rows.values()):
            plain = {}
            for name, value in properties.items():
                if name != CHILDREN:
                    plain[name] = self._plain(value, 0)
            scalars = {}
            for name, value in plain.items():
                if isinstance(value, str | int | float):
                    scalars[name] = value
                elif value and isinstance(value, dict | list) and NAME.fullmatch(name):
                    yield f"{PREFIX}{name[:MAX_NAME_CHARS]}={dump_json(value)};"
            if scalars:
                names = "_".join(sorted(filter(NAME.fullmatch, scalars)))
                yield f"{PREFIX}{names[:MAX_NAME_CHARS]}={dump_json(scalars)};"

    def _plain(self, value: Any, level: int) -> Any:
        """Return a value with references resolved; None for an element or a value too deep."""
        if isinstance(value, str):
            return self._resolve(value, level)
        if not isinstance(value, dict | list):
            return value
        if level > MAX_LEVELS or _is_element(value):
            return None
        if isinstance(value, dict):
            return {name: self._plain(inner, level + 1) for name, inner in value.items()}
        return [self._plain(inner, level + 1) for inner in value]

    def _resolve(self, text: str, level: int) -> Any:
        """Return a literal text, or the row that it refers to, at the first reference only."""
        if not text.startswith(ELEMENT):
            return text
        if text.startswith(ESCAPED):
            return text[1:]
        reference = REFERENCE.fullmatch(text)
        if reference is None:
            return None
        number = reference[1]
        if number in self._resolved_rows or number not in self._rows:
            return None
        # Once only: rows may refer to each other in cycles.
        self._resolved_rows.add(number)
        row = self._rows[number]
        return row if isinstance(row, str) else self._plain(row, level + 1)


def _rows(stream: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the rows of text or JSON by number; each ends after its stated length or its line."""
    start = 0
    while start < len(stream):
        header = ROW.match(stream, start)
        content_start = header.end() if header else start
        if header and header[3]:
            start = content_start + int(header[3], 16)
        else:
            start = stream.find(b"\n", content_start) + 1 or len(stream)
        if header is None:
            continue
        content = stream[content_start:start].decode("utf-8", "replace")
        if header[2] == TEXT_ROW:
            yield header[1].decode(), content
        elif header[2] is None and content[:1] in ("{", "["):
            yield header[1].decode(), parse_json(content)


def _component_properties(rows: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the properties of the components that run in the browser, in document order."""
    stack = list(rows)[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            if _is_element(value) and value[1].startswith(CLIENT_COMPONENT):
                yield value[3]
            stack.extend(reversed(value))


def _is_element(value: Any) -> bool:
    """Return True if a value is an element: `["$", type, key, properties]`."""
    return (
        isinstance(value, list)
        and len(value) > 3
        and value[0] == ELEMENT
        and isinstance(value[1], str)
        and isinstance(value[3], dict)
    )
