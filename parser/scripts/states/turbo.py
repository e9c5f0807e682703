"""The state that React Router, Remix once, streams to its pages, written out: what the routes' loaders have loaded.

Hydrogen's shops hand the whole product over so. The stream's first line is one list of JSON in which objects and lists
hold places, keys included; the lines behind it, `P12:[...]`, go on with that list and say what the promise at a place
was for (the format of the library turbo-stream).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parser.scripts.states.nuxt import written_out as in_place
from parser.scripts.states.pushed_blocks import LONGEST_STREAM, as_text, pieces
from parser.scripts.syntax.javascript import as_json

PUSHES = (
    "window.__reactRouterContext.streamController.enqueue(",
    "window.__remixContext.streamController.enqueue(",
)
STATE = "__reactRouterContext"
PROMISE = re.compile(r"P(\d{1,9}):(.*)", re.DOTALL)
KEY = re.compile(r"_(\d{1,9})")
ALSO = {"S": "Set", "M": "Map", "Z": "Ref", "SingleFetchClassInstance": "Ref"}


def written_out(scripts: Iterable[str]) -> list[str]:
    """The code that assigns the state which scripts push; none where they push none, or one of no end.

    >>> written_out([PUSHES[0] + r'"[{\\"_1\\":2},\\"sku\\",\\"A\\"]\\n");'])
    ['__reactRouterContext={"sku":"A"};']
    """
    stream = "".join(_pushed(scripts))[:LONGEST_STREAM]
    places, kept = _places(stream.split("\n"))
    state = in_place([_placed(one, places, kept) for one in places])
    return [f"{STATE}={as_text(state)};"] if places and _is_short(state) else []


def _pushed(scripts: Iterable[str]) -> Iterator[str]:
    for text in scripts:
        for start in PUSHES:
            yield from (piece for piece in pieces(text, start) if isinstance(piece, str))


def _places(lines: Iterable[str]) -> tuple[list[Any], dict[int, int]]:
    """The list with all that goes on with it, and at which place is what each promise was for."""
    places, kept = list[Any](), dict[int, int]()
    for line in lines:
        promise = PROMISE.fullmatch(line)
        more = as_json(promise[2] if promise else line) if promise or not places else None
        if promise:
            kept[int(promise[1])] = more if isinstance(more, int) else len(places)
        places += more if isinstance(more, list) else []
    return places, kept


def _placed(said: Any, places: list[Any], kept: Mapping[int, int]) -> Any:
    """A place of the list as Nuxt's has it: keys that are none of its places, and words for what is no plain data."""
    if isinstance(said, dict):
        return {_key(name, places): place for name, place in said.items()}
    if not isinstance(said, list) or not said or not isinstance(said[0], str):
        return said
    kind, *within = said
    if kind == "P":
        return ["Ref", kept.get(within[0] if within and isinstance(within[0], int) else -1, -1)]
    return [ALSO[kind], *within] if kind in ALSO else None


def _key(name: str, places: list[Any]) -> str:
    place = KEY.fullmatch(name)
    said = places[int(place[1])] if place and int(place[1]) < len(places) else name
    return said if isinstance(said, str) else name


def _is_short(state: Any) -> bool:
    """Whether a state is no longer than a stream may be: one long text may stand at many places."""
    left, waiting = LONGEST_STREAM, [state]
    while waiting and left > 0:
        value = waiting.pop()
        left -= len(value) if isinstance(value, str) else 1
        if isinstance(value, dict):
            left -= sum(map(len, value))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return left > 0
