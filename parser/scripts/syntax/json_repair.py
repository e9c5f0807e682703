"""Repair of JSON that a template has broken, as found in JSON-LD: `"name": "Lamp 24" wide"`.

The text is repaired where the decoder stops, then decoded again: a quote within a string, a missing
or extra comma, a value without quotes or no value, a bracket missing or one too many. So rules
learnt on a shop's intact pages also read its broken ones. The library json-repair does that, too,
but character by character: on a hostile page it takes a hundred times as long, or exceeds Python's
recursion limit.
"""

import re
from typing import Any

from parser.scripts.syntax.js_strings import to_json_escapes
from parser.scripts.syntax.lenient_json import leading_json

# Bounds against hostile input: each repair decodes the whole text again.
MAX_REPAIRS = 100
MAX_REPAIRED_CHARS = 200_000
# Open brackets up to which a text is worth a repair of its brackets.
MAX_OPEN_BRACKETS = 60
CONTROL_CHAR = re.compile(r"[\x00-\x1f]")
KEY = re.compile(r'"[^"\\]{0,100}"\s*+:')
BARE_VALUE = re.compile(r'(?<=":)\s*+([^"{}\[\]:]{0,100}?)\s*+(?=,\s*+["}]|[}\]])')
EXTRA_COMMA = re.compile(r",(?=\s*+[}\]])")
BETWEEN_VALUES = " ,"
CLOSING = {"{": "}", "[": "]"}
OPENING = {"}": "{", "]": "["}
STRING_OR_BRACKET = re.compile(
    r"""(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+(["{}\[\]])""", re.DOTALL
)
# Behind a closing bracket: a further item of the list that it would close.
FURTHER_ITEM = re.compile(r"\s*+(?:,\s*+[{\[]|\])")
# Behind an object: a further key of it, as one of its closing braces was too many.
FURTHER_KEY = re.compile(r'\s*+,\s*+"[^"\\]{1,100}"\s*+:')
# A value's last comma and the key behind it.
LAST_KEY = re.compile(r'\s*+,\s*+"[^"\\]{1,100}"\s*+')
# Start of another thing.
NEXT_THING = re.compile(r'\{\s*+"@')
NULL_VALUES = ("", "undefined", "NaN")


class _BracketScanner:
    """Finds the brackets that are open at the end of a text.

    It goes on where it was in the text before: most repairs leave all before the fault as it is.
    """

    def __init__(self) -> None:
        self._scanned = ""
        self._opened: list[str] = []

    def opened_in(self, text: str) -> list[str]:
        """Return the brackets open at a text's end; none in a string, or where too many are."""
        if not text.startswith(self._scanned):
            self._scanned, self._opened = "", []
        position = len(self._scanned)
        while (match := STRING_OR_BRACKET.match(text, position)) and match[1] != '"':
            if match[1] in CLOSING:
                self._opened.append(match[1])
            elif self._opened:
                self._opened.pop()
            position = match.end()
        self._scanned = text[:position]
        # A quote: the text ends in a string.
        if match or len(self._opened) > MAX_OPEN_BRACKETS:
            return []
        return list(self._opened)


def repair_leading(text: str) -> tuple[Any, str] | None:
    """Decode the JSON value at the start of a text after the repair of a few faults; return it with
    the text behind it. None where that fails.

    >>> repair_leading('{"name": "Lamp 24" wide", "size": "24"x36"", "price": 12,50, "brand": ,}')
    ({'name': 'Lamp 24" wide', 'size': '24"x36"', 'price': '12,50', 'brand': None}, '')
    >>> repair_leading('{"sku": "A" "tags": [,1,,2,],}')
    ({'sku': 'A', 'tags': [1, 2]}, '')
    >>> repair_leading('{"offers": [{"price": 1}, "sku": "A"')
    ({'offers': [{'price': 1}], 'sku': 'A'}, '')
    """
    if len(text) > MAX_REPAIRED_CHARS:
        return None
    text, brackets = to_json_escapes(CONTROL_CHAR.sub(" ", text)), _BracketScanner()
    for _ in range(MAX_REPAIRS):
        decoded = leading_json(text)
        if isinstance(decoded, tuple):
            data, length = decoded
            if not (isinstance(data, dict) and FURTHER_KEY.match(text, length)):
                return data, text[length:]
            # Keys behind the object: one of its closing braces was too many.
            text = f"{text[: length - 1]}{text[length:]}"
            continue
        repaired = _repair_at(text, decoded.pos, brackets)
        if repaired is None:
            return None
        text = repaired
    return None


def _repair_at(text: str, position: int, brackets: _BracketScanner) -> str | None:
    """Return the text without the fault at which the decoder stopped; None for an unknown fault."""
    before, char = text[:position].rstrip(), text[position : position + 1]
    if not text[position:].strip():
        return _close_all(before, brackets)
    if EXTRA_COMMA.match(text, position) or (char == "," and before.endswith((",", "{", "["))):
        return text[:position] + text[position + 1 :]
    bare = BARE_VALUE.match(text, before.rfind(":") + 1)
    if bare and bare.end() >= position:
        value = "null" if bare[1] in NULL_VALUES else f'"{bare[1]}"'
        return f"{text[: bare.start()]}{value}{text[bare.end() :]}"
    if char in CLOSING or char in OPENING or char == ":":
        repaired = _repair_bracket(text, position, before, brackets)
        if repaired is not None:
            return repaired
    if KEY.match(text, position):
        return f"{text[:position]},{text[position:]}"
    return _escape_last_quote(text, before.rstrip(BETWEEN_VALUES))


def _repair_bracket(text: str, position: int, before: str, brackets: _BracketScanner) -> str | None:
    """Repair a missing or extra bracket at a bracket or a colon; None where none is at fault."""
    char = text[position]
    opened = brackets.opened_in(before)
    if not opened:
        return None
    if char == ":":
        return _close_list_before_key(text, before) if opened[-1] == "[" else None
    if char in OPENING:
        return _repair_closing(text, position, opened) if before[-1:] not in ":," else None
    if opened[-1] == "{" and NEXT_THING.match(text, position):
        # The next thing begins: this one was not closed.
        return f"{text[:position]}{_closing_of(opened)}{text[position:]}"
    if opened[-1] == "[" and before.endswith(("}", "]")):
        return f"{text[:position]},{text[position:]}"
    return None


def _close_list_before_key(text: str, before: str) -> str | None:
    """Close a list before the key at the end of `before`: it was not closed."""
    comma = before.rfind(",", 0, before.rfind('"', 0, len(before) - 1) + 1)
    if comma < 0 or not LAST_KEY.fullmatch(before, comma):
        return None
    return f"{text[:comma]}]{text[comma:]}"


def _repair_closing(text: str, position: int, opened: list[str]) -> str | None:
    """Drop a closing bracket that is one too many, or insert the one that is missing before it."""
    char, innermost = text[position], opened[-1]
    if OPENING[char] == innermost:
        return None
    if OPENING[char] not in opened or (char == "}" and FURTHER_ITEM.match(text, position + 1)):
        return text[:position] + text[position + 1 :]
    return f"{text[:position]}{CLOSING[innermost]}{text[position:]}"


def _close_all(before: str, brackets: _BracketScanner) -> str | None:
    """Close the brackets that are open at the end of a text; None where it ends within a string."""
    opened = brackets.opened_in(before)
    if not opened:
        return None
    value = "null" if before.endswith(":") else ""
    return f"{before.rstrip(BETWEEN_VALUES)}{value}{_closing_of(opened)}"


def _closing_of(opened: list[str]) -> str:
    return "".join(CLOSING[bracket] for bracket in reversed(opened))


def _escape_last_quote(text: str, before: str) -> str | None:
    """Escape the quote at the end of `before`: it belongs to the string that it closed."""
    if not before.endswith('"') or before.endswith('\\"'):
        return None
    quote = len(before) - 1
    return f"{text[:quote]}\\{text[quote:]}"
