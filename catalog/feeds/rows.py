"""Rows of a feed, as every reader yields them: named texts, or the reason why a row is
unreadable.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Texts of a row by column name.
Texts = dict[str, list[str]]
# Called with a message where a reader has repaired its input.
RepairNotice = Callable[[str], None]

# Bounds against hostile input: columns of a row, nesting of objects, texts of a column, characters
# of a name.
MAX_COLUMNS = 1_000
MAX_DEPTH = 4
MAX_TEXTS = 200
MAX_NAME_LENGTH = 100


def no_notice(message: str) -> None:
    """Ignore a slip: stands in where nobody counts them."""


@dataclass(frozen=True)
class Row:
    """A row as texts by column name; `line` is its first line, counted from 1, `raw` its source
    text.
    """

    line: int
    texts: Texts
    raw: str = ""


@dataclass(frozen=True)
class UnreadableRow:
    """A row that could not be read, with the reason and its source text."""

    line: int
    reason: str
    raw: str


Rows = Iterator[Row | UnreadableRow]


def flatten(values: Mapping[str, Any]) -> Texts:
    """Flatten a nested object to texts by dotted name; lists of objects become lists of texts.

    >>> flatten({"id": 7, "price": {"value": 1.299, "currency": "EUR"}, "images": [{"src": "a"}, {"src": "b"}], "x": None})
    {'id': ['7'], 'price.value': ['1.2990'], 'price.currency': ['EUR'], 'images.src': ['a', 'b']}
    """
    texts: Texts = {}
    for name, value in values.items():
        column = str(name)[:MAX_NAME_LENGTH]
        # Most values are texts in columns of their own.
        if type(value) is str and column not in texts and len(texts) < MAX_COLUMNS:
            if value:
                texts[column] = [value]
        else:
            _collect(texts, column, value, MAX_DEPTH)
    return texts


def unambiguous_number(literal: str) -> str:
    """Rewrite a number's literal so that its point cannot be taken for a thousands separator.

    >>> unambiguous_number("1.299"), unambiguous_number("1.29"), unambiguous_number("12")
    ('1.2990', '1.29', '12')
    """
    _, point, fraction = literal.partition(".")
    if point and len(fraction) == 3 and fraction.isdigit():
        return literal + "0"
    return literal


def parse_json(text: str | bytes) -> Any:
    """Parse JSON with its numbers as they are written. Raises ValueError, RecursionError."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if text.startswith("\ufeff"):
        raise ValueError("unexpected byte order mark")
    return _DECODER.decode(text)


_DECODER = json.JSONDecoder(
    parse_float=unambiguous_number, parse_int=str, parse_constant=lambda _: None
)


def _collect(texts: Texts, name: str, value: Any, depth: int) -> None:
    if value is None or value == "" or depth == 0:
        return
    if isinstance(value, dict | Mapping):
        for inner_name, inner in value.items():
            _collect(texts, f"{name}.{str(inner_name)[:MAX_NAME_LENGTH]}", inner, depth - 1)
    elif isinstance(value, list | tuple | set):
        for item in list(value)[:MAX_TEXTS]:
            _collect(texts, name, item, depth - 1)
    elif len(texts) < MAX_COLUMNS:
        column = texts.setdefault(name, [])
        if len(column) < MAX_TEXTS:
            column.append(_to_text(value))


def _to_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if math.isfinite(value) and not value.is_integer():
            return unambiguous_number(repr(value))
        return f"{value:.0f}"
    return str(value)
