"""What every reader of a feed gives: rows of named texts, and rows that could not be read, each with its line."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Texts = dict[str, list[str]]
Notice = Callable[[str], None]
MOST_COLUMNS = 1000
DEEPEST = 4
MOST_TEXTS = 200
LONGEST_NAME = 100


@dataclass(frozen=True)
class Row:
    """A row as its column names with their texts; `line` is where it began, counted from 1."""

    line: int
    texts: Texts
    raw: str = ""


@dataclass(frozen=True)
class Unread:
    """A row that could not be read, why, and what stood there."""

    line: int
    reason: str
    raw: str


Rows = Iterator[Row | Unread]


def flat(values: Mapping[str, Any]) -> Texts:
    """The texts of a nested object by their dotted names; lists of objects give lists of texts.

    >>> flat({"id": 7, "price": {"value": 1.299, "currency": "EUR"}, "images": [{"src": "a"}, {"src": "b"}], "x": None})
    {'id': ['7'], 'price.value': ['1.2990'], 'price.currency': ['EUR'], 'images.src': ['a', 'b']}
    """
    found: Texts = {}
    for name, value in values.items():
        _gather(found, str(name)[:LONGEST_NAME], value, DEEPEST)
    return found


def _gather(found: Texts, name: str, value: Any, depth: int) -> None:
    if value is None or value == "" or depth == 0:
        return
    if isinstance(value, Mapping):
        for inner, item in value.items():
            _gather(found, f"{name}.{str(inner)[:LONGEST_NAME]}", item, depth - 1)
    elif isinstance(value, list | tuple | set):
        for item in list(value)[:MOST_TEXTS]:
            _gather(found, name, item, depth - 1)
    elif len(found) < MOST_COLUMNS and len(texts := found.setdefault(name, [])) < MOST_TEXTS:
        texts.append(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return (
            number(repr(value))
            if math.isfinite(value) and not value.is_integer()
            else f"{value:.0f}"
        )
    return value if isinstance(value, str) else str(value)


def number(literal: str) -> str:
    """A number's literal so that its point can be no thousands separator.

    >>> number("1.299"), number("1.29"), number("12")
    ('1.2990', '1.29', '12')
    """
    _, point, fraction = literal.partition(".")
    return literal + "0" if point and len(fraction) == 3 and fraction.isdigit() else literal


def from_json(text: str | bytes) -> Any:
    """A JSON value with its numbers as they are written. Raises ValueError, RecursionError."""
    return json.loads(text, parse_float=number, parse_int=str, parse_constant=lambda _: None)
