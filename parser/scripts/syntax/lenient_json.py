"""Objects of JavaScript that are JSON but for their own keys: `{ product: {"id": 1}, selected: callback, open: true }`.

Shops hand their data to a script's functions like that. The JSON in it is most of the text, and decoding it as JSON is
several times as fast as reading all of it as JavaScript. Whatever else stands in such an object leaves it to those who
read JavaScript.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

MORE_FOLLOWS = "unexpected content after"
LONGEST_LINE = 60_000
MOST_NESTED = 20
DEEPEST = 3
KEY = re.compile(r"""\s*+(?:(\})|(?:([A-Za-z_$][\w$]*+)|"([^"\\]*+)"|'([^'\\\n]*+)')\s*+:\s*+)""")
STRING = r"""("[^"\\\x00-\x1f]*+"|'[^'\\\x00-\x1f]*+')"""
NUMBER = r"(-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?+)(?![\w.])"
NAME = r"(?!(?:function|return|var|let|const|if|for|new|this|NaN|Infinity|undefined)\b)([A-Za-z_$][\w$.]*+)"
LITERAL = re.compile(rf"(?:{STRING}|{NUMBER}|{NAME})(?=\s*+[,}}])")
NEXT = re.compile(r"\s*+(?:,|(?=\}))")
WORDS = {"true": True, "false": False, "null": None}

Found = tuple[Any, int]


def json_in_front(text: str) -> "Found | orjson.JSONDecodeError":
    """The JSON that a text begins with and its length, or why there is none.

    That comes without its traceback, which would hold the frames of those who ask until garbage is collected.
    """
    try:
        return orjson.loads(text), len(text)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(MORE_FOLLOWS):
            return orjson.loads(text[: error.pos]), error.pos
        return error.with_traceback(None)


def bare_object(text: str, start: int) -> Found | None:
    """The object that opens at a place and where it ends; None where it holds more than JSON, literals and names.

    >>> bare_object("f({ product: {'a': 1}, b: {\\"c\\": [2]}, d: callback, e: true }, 7)", 2)
    ({'product': {'a': 1}, 'b': {'c': [2]}, 'd': 'callback', 'e': True}, 60)
    """
    return _object(text, start, 0, iter(range(MOST_NESTED)))


def _object(text: str, start: int, depth: int, tries: Iterator[int]) -> Found | None:
    """The same at some depth; each value that opens a bracket, at whatever depth, takes one of the tries."""
    if depth > DEEPEST or text[start : start + 1] != "{":
        return None
    data: dict[str, Any] = {}
    at = start + 1
    while key := KEY.match(text, at):
        if key[1]:
            return data, key.end()
        found = _value(text, key.end(), depth, tries)
        then = NEXT.match(text, found[1]) if found else None
        if found is None or then is None:
            return None
        data[key[key.lastindex or 0]] = found[0]
        at = then.end()
    return None


def _value(text: str, start: int, depth: int, tries: Iterator[int]) -> Found | None:
    if not text.startswith(("{", "["), start):
        literal = LITERAL.match(text, start)
        return None if literal is None else (_said(literal), literal.end())
    if next(tries, None) is None:
        return None
    found = json_in_front(text[start : start + LONGEST_LINE].partition("\n")[0])
    if isinstance(found, tuple):
        return found[0], start + found[1]
    return _object(text, start, depth + 1, tries)


def _said(literal: re.Match[str]) -> Any:
    """What a literal says; a name says itself, as it does to chompjs."""
    string, number, name = literal.groups()
    if string is not None:
        return string[1:-1]
    return orjson.loads(number) if number is not None else WORDS.get(name, name)
