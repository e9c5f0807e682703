"""The state that React Router (formerly Remix) streams: the data its loaders returned.

Shops built with Hydrogen hand over the whole product that way. The first line of the stream is one
JSON list in which objects and lists hold positions of that list, keys included. The lines behind
it, `P12:[...]`, extend the list and resolve the promise at a position (the format of the library
turbo-stream).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parser.scripts.states.nuxt import resolve_payload
from parser.scripts.states.pushed_blocks import MAX_STREAM_CHARS, dump_json, pushed_values
from parser.scripts.syntax.javascript import parse_json

PUSHES = (
    "window.__reactRouterContext.streamController.enqueue(",
    "window.__remixContext.streamController.enqueue(",
)
STATE = "__reactRouterContext"
PROMISE = re.compile(r"P(\d{1,9}):(.*)", re.DOTALL)
KEY = re.compile(r"_(\d{1,9})")
# Type tags of turbo-stream and the tags that Nuxt's payload has for the same.
NUXT_TAGS = {"S": "Set", "M": "Map", "Z": "Ref", "SingleFetchClassInstance": "Ref"}


def to_assignments(scripts: Iterable[str]) -> list[str]:
    """Return the code that assigns the pushed state.

    Empty where scripts push none, or one that grows too large.

    >>> to_assignments([PUSHES[0] + r'"[{\\"_1\\":2},\\"sku\\",\\"A\\"]\\n");'])
    ['__reactRouterContext={"sku":"A"};']
    """
    stream = "".join(_pushed_texts(scripts))[:MAX_STREAM_CHARS]
    payload, promises = _parse_stream(stream.split("\n"))
    state = resolve_payload([_to_nuxt(value, payload, promises) for value in payload])
    if payload and _fits_in_stream(state):
        return [f"{STATE}={dump_json(state)};"]
    return []


def _pushed_texts(scripts: Iterable[str]) -> Iterator[str]:
    for text in scripts:
        for push in PUSHES:
            for value in pushed_values(text, push):
                if isinstance(value, str):
                    yield value


def _parse_stream(lines: Iterable[str]) -> tuple[list[Any], dict[int, int]]:
    """Return the complete list, and the position of the value of each promise."""
    payload, promises = list[Any](), dict[int, int]()
    for line in lines:
        promise = PROMISE.fullmatch(line)
        value = None
        if promise:
            value = parse_json(promise[2])
            # A promise resolves to a known position, or to the first value that its line adds.
            promises[int(promise[1])] = value if isinstance(value, int) else len(payload)
        elif not payload:
            value = parse_json(line)
        if isinstance(value, list):
            payload += value
    return payload, promises


def _to_nuxt(value: Any, payload: list[Any], promises: Mapping[int, int]) -> Any:
    """Convert a value of the list to Nuxt's format: plain keys, and Nuxt's tags."""
    if isinstance(value, dict):
        return {_plain_key(key, payload): position for key, position in value.items()}
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return value
    tag, *content = value
    if tag == "P":
        position = -1
        if content and isinstance(content[0], int):
            position = promises.get(content[0], -1)
        return ["Ref", position]
    if tag not in NUXT_TAGS:
        return None
    return [NUXT_TAGS[tag], *content]


def _plain_key(key: str, payload: list[Any]) -> str:
    """Return the text at the position that a key names."""
    position = KEY.fullmatch(key)
    if position is None or int(position[1]) >= len(payload):
        return key
    text = payload[int(position[1])]
    if not isinstance(text, str):
        return key
    return text


def _fits_in_stream(state: Any) -> bool:
    """Return True if the resolved state is no longer than a stream may be."""
    budget, stack = MAX_STREAM_CHARS, [state]
    while stack and budget > 0:
        value = stack.pop()
        budget -= len(value) if isinstance(value, str) else 1
        if isinstance(value, dict):
            budget -= sum(map(len, value))
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return budget > 0
