"""What scripts push piece by piece, and what is found in it as code again."""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from parser.scripts.syntax.lenient_json import json_in_front

LONGEST_STREAM = 3_000_000
MOST_PUSHES = 100


def pieces(text: str, push: str) -> Iterator[Any]:
    """What a script hands, as JSON, to the first hundred calls of `push`.

    >>> list(pieces('a.push([1,"x"]);a.push("y");a.push(z)', "a.push("))
    [[1, 'x'], 'y']
    """
    start = text.find(push)
    for _ in range(MOST_PUSHES):
        if start < 0:
            break
        start += len(push)
        found = json_in_front(text[start:])
        if isinstance(found, tuple):
            yield found[0]
            start += found[1]
        start = text.find(push, start)


def as_text(data: Any) -> str:
    """Data as JSON; numbers and characters that orjson refuses, too."""
    try:
        return orjson.dumps(data).decode()
    except TypeError:
        return json.dumps(data)
