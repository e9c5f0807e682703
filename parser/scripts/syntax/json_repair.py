"""Repair of JSON that a template has broken, as found in JSON-LD: `"name": "Lamp 24" wide"`.

The text is repaired where the decoder stops, then decoded again: a quote within a string, a missing
or extra comma, a value without quotes or no value. So rules learnt on a shop's intact pages also
read its broken ones. The library json-repair does that, too, but character by character: on a
hostile page it takes a hundred times as long, or exceeds Python's recursion limit.
"""

import re
from typing import Any

from parser.scripts.syntax.js_strings import to_json_escapes
from parser.scripts.syntax.lenient_json import leading_json

# Bounds against hostile input: each repair decodes the whole text again.
MAX_REPAIRS = 100
MAX_REPAIRED_CHARS = 200_000
CONTROL_CHAR = re.compile(r"[\x00-\x1f]")
KEY = re.compile(r'"[^"\\]{0,100}"\s*+:')
BARE_VALUE = re.compile(r'(?<=":)\s*+([^"{}\[\]:]{0,100}?)\s*+(?=,\s*+["}]|[}\]])')
EXTRA_COMMA = re.compile(r",(?=\s*+[}\]])")
BETWEEN_VALUES = " ,"
NULL_VALUES = ("", "undefined", "NaN")


def repair_json(text: str) -> Any:
    """Decode JSON after the repair of a few faults; None where that fails.

    >>> repair_json('{"name": "Lamp 24" wide", "size": "24"x36"", "price": 12,50, "brand": ,}')
    {'name': 'Lamp 24" wide', 'size': '24"x36"', 'price': '12,50', 'brand': None}
    >>> repair_json('{"sku": "A" "tags": [,1,,2,],}')
    {'sku': 'A', 'tags': [1, 2]}
    """
    if len(text) > MAX_REPAIRED_CHARS:
        return None
    text = to_json_escapes(CONTROL_CHAR.sub(" ", text))
    for _ in range(MAX_REPAIRS):
        decoded = leading_json(text)
        if isinstance(decoded, tuple):
            return decoded[0]
        repaired = _repair_at(text, decoded.pos)
        if repaired is None:
            return None
        text = repaired
    return None


def _repair_at(text: str, position: int) -> str | None:
    """Return the text without the fault at which the decoder stopped; None for an unknown fault."""
    before, char = text[:position].rstrip(), text[position : position + 1]
    if EXTRA_COMMA.match(text, position) or (char == "," and before.endswith((",", "{", "["))):
        return text[:position] + text[position + 1 :]
    bare = BARE_VALUE.match(text, before.rfind(":") + 1)
    if bare and bare.end() >= position:
        value = "null" if bare[1] in NULL_VALUES else f'"{bare[1]}"'
        return f"{text[: bare.start()]}{value}{text[bare.end() :]}"
    if KEY.match(text, position) or (char in ("{", "[") and before.endswith(("}", "]"))):
        return f"{text[:position]},{text[position:]}"
    return _escape_last_quote(text, before.rstrip(BETWEEN_VALUES))


def _escape_last_quote(text: str, before: str) -> str | None:
    """Escape the quote at the end of `before`: it belongs to the string that it closed."""
    if not before.endswith('"') or before.endswith('\\"'):
        return None
    quote = len(before) - 1
    return f"{text[:quote]}\\{text[quote:]}"
