"""The state of Nuxt's pages: Nuxt writes each value once, and refers to it elsewhere.

Nuxt 2 passes repeated values to a function, `window.__NUXT__=(function(a,b){return
{name:a,...}}("Lamp",null))`. Nuxt 3 writes one JSON list in which objects and lists hold positions
of that list (the format of the library devalue).
"""

import re
from collections.abc import Mapping
from typing import Any

from parser.scripts.syntax.js_strings import QUOTED

CALL = "window.__NUXT__"
STATE = 'script[id="__NUXT_DATA__"]'
CALL_HEAD = re.compile(
    r"window\.__NUXT__\s*+=\s*+\(function\s*+\(([\w$,\s]*+)\)\s*+\{[^{}]{0,2000}?\breturn\s*+(?=\{)"
)
VALUE = re.compile(rf"""{QUOTED}|(?<=[:,\[])([A-Za-z_$][\w$]*+)(?=[,\]}}])""")
ARGUMENT = re.compile(
    rf"""\s*+({QUOTED}|[^\s"'(){{}}\[\],]++(?:\s[^\s"'(){{}}\[\],]++)*+|\{{\}}|\[\])\s*+(,|\)|\Z)"""
)
# Between the body of the function and its arguments.
CALL_OPENING = "}("
NULL_VALUES = frozenset({"void 0", "undefined", "NaN", "Infinity", "-Infinity"})
# Tags of devalue and Vue around a single value.
WRAPPER_TAGS = frozenset(
    "Reactive ShallowReactive Ref ShallowRef EmptyRef EmptyShallowRef Object NuxtError".split()
)
# Bounds against hostile input: a value that is repeated may grow without limit when it is written
# out.
MAX_RESOLVED_CHARS = 3_000_000
MAX_RESOLVED_VALUES = 300_000
MAX_LEVELS = 60
MAX_CALL_OPENINGS = 8


def resolve_call(text: str) -> str:
    """Return a script of Nuxt 2 with the function call replaced by its result.

    Any other script unchanged.

    >>> call = '(function(a,b){return {name:a,price:b,tags:["a",a]}}("Lamp",void 0))'
    >>> resolve_call(f"window.__NUXT__={call};")
    'window.__NUXT__={name:"Lamp",price:null,tags:["a","Lamp"]};'
    """
    head = CALL_HEAD.match(text)
    if head is None:
        return text
    parameters = [name.strip() for name in head[1].split(",")]
    call = _find_call(text, len(parameters))
    if call is None:
        return text
    body_end, arguments = call
    values = dict(zip(parameters, arguments, strict=True))
    state = _substitute(text[head.end() : body_end], values)
    if state is None:
        return text
    return f"{CALL}={state};"


def _substitute(code: str, values: Mapping[str, str]) -> str | None:
    """Return code with parameters replaced by their values; None beyond the bound on its size."""
    pieces, size, position = list[str](), 0, 0
    for match in VALUE.finditer(code):
        value = values.get(match[1]) if match[1] else None
        if value is not None:
            unchanged = code[position : match.start()]
            pieces += unchanged, value
            size += len(unchanged) + len(value)
            position = match.end()
        if size > MAX_RESOLVED_CHARS:
            return None
    return "".join([*pieces, code[position:]])


def _find_call(text: str, count: int) -> tuple[int, list[str]] | None:
    """Return where the function's body ends, and the arguments of its last call with `count`."""
    opening = text.rfind(CALL_OPENING)
    for _ in range(MAX_CALL_OPENINGS):
        if opening < 0:
            return None
        arguments = _arguments(text, opening + len(CALL_OPENING))
        if arguments is not None and len(arguments) == count:
            return opening, arguments
        opening = text.rfind(CALL_OPENING, 0, opening)
    return None


def _arguments(text: str, start: int) -> list[str] | None:
    arguments = []
    while match := ARGUMENT.match(text, start):
        argument = match[1]
        arguments.append("null" if argument in NULL_VALUES else argument)
        start = match.end()
        if match[2] == ")":
            return arguments
    return None


def resolve_payload(data: Any) -> Any:
    """Return the object that Nuxt 3's list encodes.

    The list itself where the object would grow beyond the bound.

    >>> resolve_payload([["Reactive", 1], {"name": 2, "tags": 3}, "Lamp", [2, -1]])
    {'name': 'Lamp', 'tags': ['Lamp', None]}
    """
    if not isinstance(data, list) or not data:
        return data
    payload = _Payload(data)
    resolved = payload.value_at(0, 0)
    if payload.sizes[0] > MAX_RESOLVED_VALUES:
        return data
    return resolved


class _Payload:
    """The list, each of its positions resolved once; a position within itself is None.

    `sizes` counts the values of each position without sharing: readers of the data rely on its
    being no larger than its text.
    """

    def __init__(self, encoded: list[Any]) -> None:
        self._encoded = encoded
        self._resolved: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}

    def value_at(self, position: Any, level: int) -> Any:
        """Return the resolved value at a position; None for anything else."""
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        if not 0 <= position < len(self._encoded):
            return None
        if position not in self._resolved:
            self._resolved[position], self.sizes[position] = None, 1
            if level < MAX_LEVELS:
                self._resolve(position, level)
        return self._resolved[position]

    def _resolve(self, position: int, level: int) -> None:
        encoded = self._encoded[position]
        positions = _inner_positions(encoded)
        values = [self.value_at(inner, level + 1) for inner in positions]
        self._resolved[position] = _with_values(encoded, values)
        inner_positions = [inner for inner in positions if isinstance(inner, int)]
        self.sizes[position] += sum(self.sizes.get(inner, 1) for inner in inner_positions)


def _inner_positions(encoded: Any) -> list[Any]:
    """Return the positions that an object, a list or a tagged value refers to."""
    if isinstance(encoded, Mapping):
        return list(encoded.values())
    if not isinstance(encoded, list):
        return []
    if encoded and isinstance(encoded[0], str):
        return encoded[1:]
    return encoded


def _with_values(encoded: Any, values: list[Any]) -> Any:
    """Return an encoded value with its positions replaced by their values."""
    if isinstance(encoded, Mapping):
        return dict(zip(encoded, values, strict=True))
    if not isinstance(encoded, list):
        return encoded
    tag = encoded[0] if encoded else None
    if not isinstance(tag, str) or tag == "Set":
        return values
    if tag == "Map":
        pairs = zip(values[::2], values[1::2], strict=False)
        return {str(key): value for key, value in pairs}
    if tag == "Date":
        return next(iter(encoded[1:]), None)
    return values[0] if tag in WRAPPER_TAGS and values else None
