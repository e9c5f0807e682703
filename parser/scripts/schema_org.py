"""schema.org things in JSON-LD, decoded as leniently as search engines do.

A script may hold several values, `{...}{...}` or `{...}, {...};`, stand between comment marks or in
a CDATA section, be escaped as HTML, or lack a bracket. Names with the vocabulary's URL are cut to
their short form, and the prices of an offer are told apart (`parser.scripts.price_specifications`),
so that a path means the same on every page.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from catalog.html_references import unescape_references
from parser.scripts.price_specifications import separate_prices
from parser.scripts.syntax.javascript import decode_at, parse_json
from parser.scripts.syntax.json_repair import FURTHER_KEY, repair_leading

SCHEMA_ORG = 'script[type="application/ld+json"]'
# Start of the name of a block that is a schema.org thing.
TYPED = "ld+json"
# Bounds against hostile input: values of a script, values of it that cannot be repaired, times that
# it was escaped as HTML, levels of nested lists and graphs, levels of a thing, characters of a
# type. Longer types come from broken templates.
MAX_VALUES = 100
MAX_LOST_VALUES = 5
MAX_ESCAPES = 4
MAX_LEVELS = 4
MAX_THING_LEVELS = 40
MAX_TYPE_CHARS = 40

_VOCABULARY = re.compile(r"(?:https?://(?:www\.)?schema\.org/|schema:)")
# Slashes are escaped by PHP, and written as code points by some JavaScript libraries. The pattern
# begins with the letters that are rare: a search for the quote before them takes longer.
_PREFIXED_KEY = re.compile(r"""schema(?:\.org(?:\\?/|\\u002[fF])|:)\w++["']\s*+:""")
# Marks around JSON-LD: of HTML comments, JavaScript comments and CDATA sections.
_START_MARKS = re.compile(
    r"(?:\s++|\ufeff|<!--|<!\[CDATA\[|/\*[^*]{0,200}\*/|//[ \t]*(?:<!--|<!\[CDATA\[)"
    r"|//[^\n{}\[\]]{0,200}\n)*+"
)
_END_MARKS = re.compile(r"(?:/\*\s*)?(?://[ \t]*)?(?:-->|\]\]>)(?:\s*\*/)?\Z")
_ESCAPED_QUOTE = r"&(?:amp;){0,4}(?:quot|\#0{0,5}34|\#x0{0,5}22);"
_STARTS_ESCAPED = re.compile(
    rf"(?:[{{\[\s]|&(?:amp;){{0,4}}(?:\#123|\#91|lbrace|lcub|lbrack|lsqb);)*+{_ESCAPED_QUOTE}"
)
# Tags and quotes that editors of texts put into a script: `{<br />“@type”: “Product”}`.
_EDITOR_TAG = re.compile(r"</?(?:p|br)\s*/?>", re.IGNORECASE)
_STARTS_WITH_CURLY_QUOTE = re.compile(r"[{\[\s]*+[“”„″]")
_CURLY_QUOTE = re.compile("[“”„″]")
_STRUCTURAL_TAG = re.compile(r"""[{\[,:]\s*+</?(?:p|br)\s*/?>""", re.IGNORECASE)
_NEXT_VALUE = re.compile(r"[{\[]")
# Behind a value that cannot be repaired: the next thing.
_NEXT_THING = re.compile(r'[}\]]\s*+[,;]?+\s*+(?=\{\s*+"@)')


def short_name(name: str) -> str:
    """Cut the URL or the prefix of the vocabulary off a schema.org name.

    >>> short_name("https://schema.org/Product"), short_name("schema:Product")
    ('Product', 'Product')
    >>> short_name("Product")
    'Product'
    """
    return _VOCABULARY.sub("", name, count=1) if _VOCABULARY.match(name) else name


@lru_cache(maxsize=1024)
def thing_name(kind: str) -> str:
    """Return the name of the block of a thing of that type."""
    return f"{TYPED} {short_name(kind)[:MAX_TYPE_CHARS]}".strip()


def schema_org_things(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the things in a script of JSON-LD, each with the name of its block.

    >>> script = '{"@type": "Brand"}\\n{"@type": "Product", "sku": "A"};'
    >>> for name, thing in schema_org_things(script):
    ...     print(name, thing)
    ld+json Brand {'@type': 'Brand'}
    ld+json Product {'@type': 'Product', 'sku': 'A'}
    """
    values = [parse_json(text)]
    if isinstance(values[0], str):
        # JSON that was encoded twice.
        text = values[0]
        values = [parse_json(text)]
    elif values[0] is None:
        text = _clean_faulty(text)
        values = _sequence(text)
    # Searched in the text that was decoded: names and quotes may be escaped in that of the page.
    has_prefixes = _PREFIXED_KEY.search(text) is not None
    has_specifications = "priceSpecification" in text
    for value in values:
        data = _without_prefixes(value, MAX_THING_LEVELS) if has_prefixes else value
        if has_specifications:
            separate_prices(data)
        for thing in _things(data, MAX_LEVELS):
            yield thing_name(_type_of(thing)), thing


def _clean_faulty(text: str) -> str:
    """Return a script that is no JSON without its marks, unescaped and with plain quotes."""
    text = _END_MARKS.sub("", _START_MARKS.sub("", text, count=1).rstrip(" \t\r\n;")).rstrip()
    for _ in range(MAX_ESCAPES):
        if not _STARTS_ESCAPED.match(text):
            break
        text = unescape_references(text)
    if _STRUCTURAL_TAG.search(text):
        text = _EDITOR_TAG.sub("", text)
    if _STARTS_WITH_CURLY_QUOTE.match(text):
        text = _CURLY_QUOTE.sub('"', text)
    return text


def _sequence(text: str) -> list[Any]:
    """Decode the objects and lists of a text in order, without those that cannot be repaired."""
    values: list[Any] = []
    lost = 0
    while len(values) < MAX_VALUES and (start := _NEXT_VALUE.search(text)):
        text = text[start.start() :]
        decoded = _leading_value(text)
        if decoded is not None:
            values.append(decoded[0])
            text = decoded[1]
            continue
        following = _NEXT_THING.search(text)
        lost += 1
        if following is None or lost == MAX_LOST_VALUES:
            break
        text = text[following.end() :]
    return values


def _leading_value(text: str) -> tuple[Any, str] | None:
    """Decode the value at the start of a text; return it with the text behind it."""
    decoded = decode_at(text, 0)
    if decoded is None:
        return repair_leading(text)
    data, length = decoded
    repaired = None
    if isinstance(data, dict) and FURTHER_KEY.match(text, length):
        repaired = repair_leading(text[: length - 1] + text[length:])
    return repaired or (data, text[length:])


def _things(data: Any, levels: int) -> Iterator[dict[str, Any]]:
    """Yield the things of a value: those of a list, and those of a graph in place of itself."""
    if isinstance(data, list):
        for item in data if levels else ():
            yield from _things(item, levels - 1)
    elif isinstance(data, dict):
        graph = data.get("@graph")
        if not isinstance(graph, list | dict):
            yield data
        elif levels:
            yield from _things(graph, levels - 1)


def _type_of(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    return str(kind or "")


def _without_prefixes(data: Any, levels: int) -> Any:
    """Return data with the short names of keys."""
    if not levels:
        return data
    if isinstance(data, list):
        return [_without_prefixes(item, levels - 1) for item in data]
    if isinstance(data, dict):
        return {
            short_name(name): _without_prefixes(value, levels - 1) for name, value in data.items()
        }
    return data
