"""The state that Next's app router streams to its pages, written out: what the page's components are handed.

The router writes no state of its own into a page. It pushes pieces of one text, `self.__next_f.push([1,"..."])`, whose
rows are the page as React's server components left it (the format React Flight): elements of HTML, which stand in
the page anyway, and components that the browser runs, with all that they are handed - often the whole product. Only
that is kept, each object under the name that it is handed under, since rows and places in the tree differ from page to
page. What stands in a row of its own, `"$1f"`, is put in where it is first pointed at.
"""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from parser.scripts.states.pushed_blocks import LONGEST_STREAM, as_text, pieces
from parser.scripts.syntax.javascript import as_json

PUSH = "self.__next_f.push("
HANDED = "__next_f."
MOST_HANDED = 300
MOST_LEVELS = 60
LONGEST_NAME = 32
ROW = re.compile(rb"([0-9a-f]{0,8}):(?:([TAOoUSsLlGgMmVCcFDNn])([0-9a-f]{1,8}),)?")
POINTS = re.compile(r"\$@?([0-9a-f]{1,8})")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
ELEMENT = "$"
BROWSER_RUNS = "$L"
CHILDREN = "children"
ESCAPED = "$$"


def written_out(scripts: Iterable[str]) -> list[str]:
    """What the page's components are handed by scripts that push pieces, as the code of as many assignments.

    >>> written_out([r'self.__next_f.push([1,"0:[\\"$\\",\\"$L1\\",null,{\\"product\\":{\\"sku\\":\\"A\\"}}]"])'])
    ['__next_f.product={"sku":"A"};']
    """
    stream = b"".join(_bytes(pushed) for text in scripts for pushed in pieces(text, PUSH))
    assignments = _Stream(stream[:LONGEST_STREAM]).assignments()
    return list(islice(dict.fromkeys(assignments), MOST_HANDED))


def _bytes(pushed: Any) -> bytes:
    """A piece of the stream: text, or in base 64 what is none."""
    match pushed:
        case [1, str(text)]:
            return text.encode("utf-8", "replace")
        case [3, str(text)]:
            return _decoded(text)
    return b""


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text)
    except ValueError:
        return b""


class _Stream:
    """The rows of a stream: texts and JSON by their number."""

    def __init__(self, stream: bytes) -> None:
        self._rows = dict(_rows(stream))
        self._put_in = set[str]()

    def assignments(self) -> Iterator[str]:
        """What each component that the browser runs is handed: objects by their names, all else as one object."""
        for handed in _handed(self._rows.values()):
            plain = {
                name: self._plain(value, 0) for name, value in handed.items() if name != CHILDREN
            }
            for name, value in plain.items():
                if value and isinstance(value, dict | list) and NAME.fullmatch(name):
                    yield f"{HANDED}{name[:LONGEST_NAME]}={as_text(value)};"
            said = {
                name: value for name, value in plain.items() if isinstance(value, str | int | float)
            }
            if said:
                yield f"{HANDED}{'_'.join(sorted(filter(NAME.fullmatch, said)))[:LONGEST_NAME]}={as_text(said)};"

    def _plain(self, value: Any, level: int) -> Any:
        """A value without elements, and with what it points at; None for what cannot be told or lies too deep."""
        if isinstance(value, str):
            return self._meant(value, level)
        if not isinstance(value, dict | list):
            return value
        if level > MOST_LEVELS or _is_element(value):
            return None
        if isinstance(value, dict):
            return {name: self._plain(one, level + 1) for name, one in value.items()}
        return [self._plain(one, level + 1) for one in value]

    def _meant(self, text: str, level: int) -> Any:
        if not text.startswith(ELEMENT):
            return text
        if text.startswith(ESCAPED):
            return text[1:]
        row = POINTS.fullmatch(text)
        if row is None or row[1] in self._put_in or row[1] not in self._rows:
            return None
        self._put_in.add(row[1])
        found = self._rows[row[1]]
        return found if isinstance(found, str) else self._plain(found, level + 1)


def _rows(stream: bytes) -> Iterator[tuple[str, Any]]:
    """The rows that are text or JSON; a row ends where its length says, or with its line."""
    start = 0
    while start < len(stream):
        row = ROW.match(stream, start)
        begins = row.end() if row else start
        line_ends = stream.find(b"\n", begins) + 1 or len(stream)
        start = begins + int(row[3], 16) if row and row[3] else line_ends
        said = stream[begins:start].decode("utf-8", "replace")
        if row and row[2] == b"T":
            yield row[1].decode(), said
        elif row and row[2] is None and said[:1] in ("{", "["):
            yield row[1].decode(), as_json(said)


def _handed(rows: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """What the components that the browser runs are handed, in document order."""
    waiting = list(rows)[::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            if _is_element(value) and value[1].startswith(BROWSER_RUNS):
                yield value[3]
            waiting.extend(reversed(value))


def _is_element(value: Any) -> bool:
    """Whether a value is an element: `["$", type, key, {what it is handed}]`."""
    return (
        isinstance(value, list)
        and len(value) > 3
        and value[0] == ELEMENT
        and isinstance(value[1], str)
        and isinstance(value[3], dict)
    )
