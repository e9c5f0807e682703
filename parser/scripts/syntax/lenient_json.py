"""Objects of JavaScript that are JSON except for their own keys: `{ product: {"id": 1} }`.

Shops pass their data to functions like that. Most of the text is the inner JSON, and decoding it as
JSON is several times as fast as reading all of it as JavaScript. An object with anything else is
left to the JavaScript reader.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

# Start of orjson's message for a valid value that is followed by other text.
TRAILING_CONTENT = "unexpected content after"
# Bounds against hostile input: characters of a line, nested values that are tried, levels of
# nesting.
MAX_LINE_CHARS = 60_000
MAX_NESTED_VALUES = 20
MAX_DEPTH = 3
KEY = re.compile(r"""\s*+(?:(\})|(?:([A-Za-z_$][\w$]*+)|"([^"\\]*+)"|'([^'\\\n]*+)')\s*+:\s*+)""")
STRING = r"""("[^"\\\x00-\x1f]*+"|'[^'\\\x00-\x1f]*+')"""
NUMBER = r"(-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?+)(?![\w.])"
NO_NAME = r"(?:function|return|var|let|const|if|for|new|this|NaN|Infinity|undefined)\b"
NAME = rf"(?!{NO_NAME})([A-Za-z_$][\w$.]*+)"
LITERAL = re.compile(rf"(?:{STRING}|{NUMBER}|{NAME})(?=\s*+[,}}])")
SEPARATOR = re.compile(r"\s*+(?:,|(?=\}))")
KEYWORDS = {"true": True, "false": False, "null": None}

# A value and its length, or its end within the text.
Decoded = tuple[Any, int]


def leading_json(text: str) -> "Decoded | orjson.JSONDecodeError":
    """Return the JSON value at the start of a text and its length, or the error of the decoder.

    The error comes without its traceback, which would keep the callers' frames alive until garbage
    collection.
    """
    try:
        return orjson.loads(text), len(text)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(TRAILING_CONTENT):
            return orjson.loads(text[: error.pos]), error.pos
        return error.with_traceback(None)


def line_from(text: str, start: int) -> str:
    """Return the text from a place to the end of its line, at most 60,000 characters."""
    end = text.find("\n", start, start + MAX_LINE_CHARS)
    return text[start : end if end >= 0 else start + MAX_LINE_CHARS]


def parse_plain_object(text: str, start: int) -> Decoded | None:
    """Return the object at a position and its end.

    None where it holds more than JSON, literals and names.

    >>> parse_plain_object("f({ a: {'b': 1}, c: {\\"d\\": [2]}, e: callback, f: true }, 7)", 2)
    ({'a': {'b': 1}, 'c': {'d': [2]}, 'e': 'callback', 'f': True}, 54)
    """
    return _object(text, start, 0, iter(range(MAX_NESTED_VALUES)))


def _object(text: str, start: int, depth: int, tries: Iterator[int]) -> Decoded | None:
    """Parse an object; each nested value, at any depth, takes one of the shared `tries`."""
    if depth > MAX_DEPTH or text[start : start + 1] != "{":
        return None
    data: dict[str, Any] = {}
    position = start + 1
    while key := KEY.match(text, position):
        if key[1]:
            return data, key.end()
        value = _value(text, key.end(), depth, tries)
        if value is None:
            return None
        separator = SEPARATOR.match(text, value[1])
        if separator is None:
            return None
        data[key[key.lastindex or 0]] = value[0]
        position = separator.end()
    return None


def _value(text: str, start: int, depth: int, tries: Iterator[int]) -> Decoded | None:
    if not text.startswith(("{", "["), start):
        literal = LITERAL.match(text, start)
        if literal is None:
            return None
        string, number, name = literal.groups()
        if string is not None:
            return string[1:-1], literal.end()
        # A name stands for itself, as in chompjs.
        data = orjson.loads(number) if number is not None else KEYWORDS.get(name, name)
        return data, literal.end()
    if next(tries, None) is None:
        return None
    # JSON inside such objects is written on one line.
    decoded = leading_json(line_from(text, start))
    if isinstance(decoded, tuple):
        return decoded[0], start + decoded[1]
    return _object(text, start, depth + 1, tries)
