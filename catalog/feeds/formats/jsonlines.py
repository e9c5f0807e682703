"""JSON Lines, and JSON files that hold one list of offers, bare or in an object."""

import io
from pathlib import Path
from typing import Any

from catalog.errors import UnreadableFeed
from catalog.feeds.files import MAX_LINE_LENGTH, detect_encoding, open_feed
from catalog.feeds.rows import Row, Rows, UnreadableRow, flatten, parse_json

# Characters of a file that is one JSON value: it is held in memory.
MAX_VALUE_LENGTH = 256 * 1024**2
# Characters that are read at a time.
READ_SIZE = 1024**2
# Lines that show which of both kinds a file is.
SAMPLE_LINES = 40
# Objects around a list of offers.
MAX_WRAPPERS = 2
# Usual names of a list of offers in an object.
LIST_NAMES = ("offers", "items", "data", "results", "products", "entries", "records", "rows")


def read(path: Path) -> Rows:
    """Yield the rows of a file of either kind. Raises UnreadableFeed."""
    encoding = detect_encoding(path)
    with open_feed(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace")
        if _is_json_lines(path, encoding):
            yield from _read_lines(stream)
        else:
            yield from _read_value(stream, path)


def find_items(value: Any) -> list[Any] | None:
    """Find the list of offers in a JSON value: itself, or under a usual name, at most two objects
    deep.

    >>> find_items({"data": {"items": [1, 2]}}), find_items({"offers": []}), find_items({"error": "no"})
    ([1, 2], [], None)
    """
    for _ in range(MAX_WRAPPERS + 1):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            return None
        value = _named_list(value)
    return None


def make_row(line: int, item: Any, raw: str = "") -> Row | UnreadableRow:
    """Turn an item of a list into a row."""
    if not isinstance(item, dict):
        return UnreadableRow(line, "is no JSON object", raw or str(item))
    return Row(line, flatten(item), raw)


def _named_list(value: dict[str, Any]) -> Any:
    for name in LIST_NAMES:
        if isinstance(value.get(name), list | dict):
            return value[name]
    return None


def _is_json_lines(path: Path, encoding: str) -> bool:
    """Return True if the first line, or several of the first lines, are objects and not one around
    a list.
    """
    lines: list[str] = []
    with open_feed(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace")
        for _ in range(SAMPLE_LINES):
            line = stream.readline(MAX_LINE_LENGTH).strip()
            if line:
                lines.append(line)
    if not lines or lines[0].startswith("["):
        return False
    values = [_parse_or_none(line) for line in lines]
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) > 1:
        return True
    is_one_list = len(lines) == 1 and find_items(values[0])
    return values[0] in objects and not is_one_list


def _parse_or_none(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None


def _read_lines(stream: io.TextIOWrapper) -> Rows:
    number = 0
    while line := stream.readline(MAX_LINE_LENGTH):
        number += 1
        if len(line) >= MAX_LINE_LENGTH and not line.endswith("\n"):
            _skip_line(stream)
            yield UnreadableRow(number, f"is longer than {MAX_LINE_LENGTH:,} characters", line)
            continue
        if not line.strip():
            continue
        try:
            yield make_row(number, parse_json(line), line)
        except ValueError as error:
            yield UnreadableRow(number, f"is no JSON: {error}", line)
        except RecursionError:
            yield UnreadableRow(number, "is no JSON: nested too deeply", line)


def _skip_line(stream: io.TextIOWrapper) -> None:
    """Read to the end of the current line."""
    while chunk := stream.readline(MAX_LINE_LENGTH):
        if chunk.endswith("\n"):
            return


def _read_all(stream: io.TextIOWrapper) -> str:
    """Read a text, at most a little more than MAX_VALUE_LENGTH.

    A stream that is asked for all of that at once takes the memory for it at once.
    """
    parts: list[str] = []
    length = 0
    while length <= MAX_VALUE_LENGTH and (part := stream.read(READ_SIZE)):
        parts.append(part)
        length += len(part)
    return "".join(parts)


def _read_value(stream: io.TextIOWrapper, path: Path) -> Rows:
    content = _read_all(stream)
    if len(content) > MAX_VALUE_LENGTH:
        raise UnreadableFeed(
            f"{path} is one JSON value of more than 256 MB: write it as JSON Lines, one offer a "
            f"line"
        )
    try:
        items = find_items(parse_json(content))
    except (ValueError, RecursionError) as error:
        raise UnreadableFeed(f"{path} is no JSON: {error}") from error
    if items is None:
        raise UnreadableFeed(
            f"{path} holds no list of offers: a list is needed, bare or under one of "
            f"{', '.join(LIST_NAMES)}"
        )
    for position, item in enumerate(items, 1):
        yield make_row(position, item)
