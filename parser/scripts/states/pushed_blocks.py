"""Values that scripts push one by one, and data written back as JSON."""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from parser.scripts.syntax.lenient_json import leading_json

# Bounds against hostile input: characters of all pushed text, pushes of a script.
MAX_STREAM_CHARS = 3_000_000
MAX_PUSHES = 100


def pushed_values(text: str, push: str) -> Iterator[Any]:
    """Yield the JSON arguments of the first hundred calls of `push` in a script.

    >>> list(pushed_values('a.push([1,"x"]);a.push("y");a.push(z)', "a.push("))
    [[1, 'x'], 'y']
    """
    start = text.find(push)
    for _ in range(MAX_PUSHES):
        if start < 0:
            break
        start += len(push)
        decoded = leading_json(text[start:])
        if isinstance(decoded, tuple):
            yield decoded[0]
            start += decoded[1]
        start = text.find(push, start)


def dump_json(data: Any) -> str:
    """Return data as JSON, including the numbers and characters that orjson refuses."""
    try:
        return orjson.dumps(data).decode()
    except TypeError:
        return json.dumps(data)
