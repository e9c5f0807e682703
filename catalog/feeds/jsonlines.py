"""JSON Lines, and JSON files that hold one list of offers, bare or in an object."""

import io
from pathlib import Path
from typing import Any

from catalog.errors import UnreadableFeed
from catalog.feeds.files import LONGEST_LINE, encoding_of, opened
from catalog.feeds.rows import Row, Rows, Unread, flat, from_json

LARGEST_WHOLE = 256 * 1024**2
SAMPLE = 40
LISTS = ("offers", "items", "data", "results", "products", "entries", "records", "rows")


def read(path: Path) -> Rows:
    """The rows of a file of either kind. Raises UnreadableFeed."""
    encoding = encoding_of(path)
    with opened(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace")
        if _is_lines(path, encoding):
            yield from _lines(stream)
        else:
            yield from _whole(stream, path)


def items_of(value: Any) -> list[Any] | None:
    """The list of offers in a JSON value: itself, or under one of the usual names, at most two objects deep.

    >>> items_of({"data": {"items": [1, 2]}}), items_of({"offers": []}), items_of({"error": "no"})
    ([1, 2], [], None)
    """
    for _ in range(3):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            return None
        value = next(
            (value[name] for name in LISTS if isinstance(value.get(name), list | dict)), None
        )
    return None


def row(line: int, item: Any, raw: str = "") -> Row | Unread:
    """An item of a list as a row."""
    return (
        Row(line, flat(item), raw)
        if isinstance(item, dict)
        else Unread(line, "is no JSON object", raw or str(item))
    )


def _is_lines(path: Path, encoding: str) -> bool:
    """Whether the first line, or more than one of the first, is an object of its own and not one around a list."""
    with opened(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace")
        read = (stream.readline(LONGEST_LINE) for _ in range(SAMPLE))
        lines = [line.strip() for line in read if line.strip()]
    if not lines or lines[0].startswith("["):
        return False
    values = [_parsed(line) for line in lines]
    objects = [value for value in values if isinstance(value, dict)]
    return len(objects) > 1 or (
        values[0] in objects and not (len(lines) == 1 and items_of(values[0]))
    )


def _parsed(text: str) -> Any:
    try:
        return from_json(text)
    except (ValueError, RecursionError):
        return None


def _lines(stream: io.TextIOWrapper) -> Rows:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE and not line.endswith("\n"):
            while (more := stream.readline(LONGEST_LINE)) and not more.endswith("\n"):
                pass
            yield Unread(number, f"is longer than {LONGEST_LINE:,} characters", line)
            continue
        if not line.strip():
            continue
        try:
            yield row(number, from_json(line), line)
        except ValueError as error:
            yield Unread(number, f"is no JSON: {error}", line)
        except RecursionError:
            yield Unread(number, "is no JSON: nested too deeply", line)


def _whole(stream: io.TextIOWrapper, path: Path) -> Rows:
    content = stream.read(LARGEST_WHOLE)
    if len(content) == LARGEST_WHOLE:
        raise UnreadableFeed(
            f"{path} is one JSON value of more than 256 MB: write it as JSON Lines, one offer a line"
        )
    try:
        items = items_of(from_json(content))
    except (ValueError, RecursionError) as error:
        raise UnreadableFeed(f"{path} is no JSON: {error}") from error
    if items is None:
        raise UnreadableFeed(
            f"{path} holds no list of offers: a list is needed, bare or under one of {', '.join(LISTS)}"
        )
    yield from (row(position, item) for position, item in enumerate(items, 1))
