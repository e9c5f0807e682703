"""The state that Nuxt hands its pages, written out: it names each value once, and points to it from wherever it stands.

Nuxt 2 passes what it repeats to a function, `window.__NUXT__=(function(a,b){return {name:a,...}}("Lamp",null))`. Nuxt 3
writes one list of JSON in which objects and lists hold places in that list (the format of the library devalue).
"""

import re
from collections.abc import Mapping
from typing import Any

from parser.scripts.syntax.js_strings import QUOTED

CALL = "window.__NUXT__"
STATE = 'script[id="__NUXT_DATA__"]'
CALLED = re.compile(
    r"window\.__NUXT__\s*+=\s*+\(function\s*+\(([\w$,\s]*+)\)\s*+\{[^{}]{0,2000}?\breturn\s*+(?=\{)"
)
VALUE = re.compile(rf"""{QUOTED}|(?<=[:,\[])([A-Za-z_$][\w$]*+)(?=[,\]}}])""")
ARGUMENT = re.compile(
    rf"""\s*+({QUOTED}|[^\s"'(){{}}\[\],]++(?:\s[^\s"'(){{}}\[\],]++)*+|\{{\}}|\[\])\s*+(,|\)|\Z)"""
)
HANDS_OVER = "}("
NOTHING = frozenset({"void 0", "undefined", "NaN", "Infinity", "-Infinity"})
WRAPPED = frozenset(
    {
        "Reactive",
        "ShallowReactive",
        "Ref",
        "ShallowRef",
        "EmptyRef",
        "EmptyShallowRef",
        "Object",
        "NuxtError",
    }
)
LONGEST_WRITTEN = 3_000_000
MOST_WRITTEN = 300_000
MOST_LEVELS = 60
MOST_ENDS = 8


def without_call(text: str) -> str:
    """A script of Nuxt 2's with the object that its function returns, its arguments put in; any other as it is.

    >>> without_call('window.__NUXT__=(function(a,b){return {name:a,price:b,tags:["a",a]}}("Lamp",void 0));')
    'window.__NUXT__={name:"Lamp",price:null,tags:["a","Lamp"]};'
    """
    called = CALLED.match(text)
    if called is None:
        return text
    names = [name.strip() for name in called[1].split(",")]
    handed = _handed(text, len(names))
    if handed is None:
        return text
    end, values = handed
    written = _written(text[called.end() : end], dict(zip(names, values, strict=True)))
    return text if written is None else f"{CALL}={written};"


def _written(code: str, meant: Mapping[str, str]) -> str | None:
    """The code with its names' values in their places; None where that grows beyond measure."""
    pieces, size, done = list[str](), 0, 0
    for found in VALUE.finditer(code):
        value = meant.get(found[1]) if found[1] else None
        if value is not None:
            pieces += code[done : found.start()], value
            size += len(pieces[-2]) + len(value)
            done = found.end()
        if size > LONGEST_WRITTEN:
            return None
    return "".join([*pieces, code[done:]])


def _handed(text: str, count: int) -> tuple[int, list[str]] | None:
    """Where the function's body ends, and so many arguments as JSON: those behind the last `}(` that has them."""
    end = text.rfind(HANDS_OVER)
    for _ in range(MOST_ENDS):
        arguments = _arguments(text, end + len(HANDS_OVER)) if end >= 0 else None
        if arguments is not None and len(arguments) == count:
            return end, arguments
        end = text.rfind(HANDS_OVER, 0, max(end, 0))
    return None


def _arguments(text: str, start: int) -> list[str] | None:
    found = []
    while argument := ARGUMENT.match(text, start):
        said = argument[1]
        found.append("null" if said in NOTHING else said)
        start = argument.end()
        if argument[2] == ")":
            return found
    return None


def written_out(data: Any) -> Any:
    """Nuxt 3's list as the object that it stands for; as it is, where that would grow beyond measure.

    >>> written_out([["Reactive", 1], {"name": 2, "tags": 3}, "Lamp", [2, -1]])
    {'name': 'Lamp', 'tags': ['Lamp', None]}
    """
    if not isinstance(data, list) or not data:
        return data
    payload = _Payload(data)
    written = payload.at(0, 0)
    return written if payload.sizes[0] <= MOST_WRITTEN else data


class _Payload:
    """The list, each of its places written out once; a place within itself is nothing.

    `sizes` says how many values each would be if those it shares with others were its own: what reads data counts on
    its being no larger than its text.
    """

    def __init__(self, places: list[Any]) -> None:
        self._places = places
        self._known: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}

    def at(self, place: Any, level: int) -> Any:
        """What stands at a place; None where it is none."""
        if (
            not isinstance(place, int)
            or isinstance(place, bool)
            or not 0 <= place < len(self._places)
        ):
            return None
        if place not in self._known:
            self._known[place], self.sizes[place] = None, 1
            said, within = self._places[place], list[Any]()
            if level < MOST_LEVELS:
                within = _within(said)
                self._known[place] = _made(said, [self.at(one, level + 1) for one in within])
            self.sizes[place] += sum(
                self.sizes.get(one, 1) for one in within if isinstance(one, int)
            )
        return self._known[place]


def _within(said: Any) -> list[Any]:
    """The places that an object, a list or a tagged value points to."""
    if isinstance(said, Mapping):
        return list(said.values())
    if not isinstance(said, list):
        return []
    return said if not said or not isinstance(said[0], str) else said[1:]


def _made(said: Any, within: list[Any]) -> Any:
    """The value, with what stands within it."""
    if isinstance(said, Mapping):
        return dict(zip(said, within, strict=True))
    if not isinstance(said, list):
        return said
    if not said or not isinstance(said[0], str) or said[0] == "Set":
        return within
    if said[0] == "Map":
        return {str(name): value for name, value in zip(within[::2], within[1::2], strict=False)}
    if said[0] == "Date":
        return next(iter(said[1:]), None)
    return within[0] if said[0] in WRAPPED and within else None
