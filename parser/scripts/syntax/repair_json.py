"""JSON that a template has broken, which nobody notices in JSON-LD: `"name": "Lamp 24" wide"`.

Where the decoder stops, what is nearest at hand is mended, and it is asked again: a quote within a string, a comma too
few or too many, a value without quotes or none at all. So the rules that were learnt on a shop's whole pages read its
broken ones. json-repair does that, too, but reads character by character: on a page made to be slow it would take a
hundred times as long, or more levels than Python has.
"""

import re
from typing import Any

from parser.scripts.syntax.js_strings import with_escapes_of_json
from parser.scripts.syntax.lenient_json import json_in_front

MOST_MENDED = 100
LONGEST_MENDED = 200_000
CONTROL = re.compile(r"[\x00-\x1f]")
KEY = re.compile(r'"[^"\\]{0,100}"\s*+:')
VALUE = re.compile(r'(?<=":)\s*+([^"{}\[\]:]{0,100}?)\s*+(?=,\s*+["}]|[}\]])')
SPARE = re.compile(r",(?=\s*+[}\]])")
BETWEEN = " ,"
NOTHING = ("", "undefined", "NaN")


def mended(text: str) -> Any:
    """What a text says as JSON once a few faults are mended; None where that does not do.

    >>> mended('{"name": "Lamp 24" wide", "size": "24"x36"", "price": 12,50, "brand": , "sku": "A" "tags": [,1,,2,],}')
    {'name': 'Lamp 24" wide', 'size': '24"x36"', 'price': '12,50', 'brand': None, 'sku': 'A', 'tags': [1, 2]}
    """
    if len(text) > LONGEST_MENDED:
        return None
    text = with_escapes_of_json(CONTROL.sub(" ", text))
    for _ in range(MOST_MENDED):
        found = json_in_front(text)
        if isinstance(found, tuple):
            return found[0]
        changed = _mended_at(text, found.pos)
        if changed is None:
            break
        text = changed
    return None


def _mended_at(text: str, at: int) -> str | None:
    """The text without the fault at which the decoder stopped."""
    before, char = text[:at].rstrip(), text[at : at + 1]
    if SPARE.match(text, at) or (char == "," and before.endswith((",", "{", "["))):
        return text[:at] + text[at + 1 :]
    value = VALUE.match(text, before.rfind(":") + 1)
    if value and value.end() >= at:
        said = "null" if value[1] in NOTHING else f'"{value[1]}"'
        return f"{text[: value.start()]}{said}{text[value.end() :]}"
    if KEY.match(text, at) or (char in ("{", "[") and before.endswith(("}", "]"))):
        return f"{text[:at]},{text[at:]}"
    return _with_quote_escaped(text, before.rstrip(BETWEEN))


def _with_quote_escaped(text: str, before: str) -> str | None:
    """The text with the quote before a place taken for a sign in a string."""
    quote = len(before) - 1
    return (
        f"{text[:quote]}\\{text[quote:]}"
        if before.endswith('"') and not before.endswith('\\"')
        else None
    )
