"""The data a page carries: JSON and JavaScript objects in scripts, JSON in attributes.

A script is read once, from left to right: wherever a brace or bracket opens after something that can introduce data
(`=`, `(`, `:`, `,` or nothing), a decoder that stops at the end of its value is tried, first JSON, then JavaScript
(chompjs: single quotes, bare keys, trailing commas). The block is named by what stands before it. Of a script that
holds no such block, the `"key": value` and `name = value` pairs are kept. All is capped: a page may be made to be slow.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import chompjs
from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_BLOCKS = 200
MOST_ATTEMPTS = 60
LONGEST_SCRIPT = 3_000_000
LONGEST_JAVASCRIPT = 200_000
NAME_LENGTH = 48
DEEPEST = 60

OPENS = re.compile(r"[=(:,\[?]\s*([{\[])|^\s*([{\[])", re.MULTILINE)
DIGITS = re.compile(r"\d+")
SPACES = re.compile(r"\s+")
STATEMENT = re.compile(r"[;\n{}]")
WRAPPING_START = re.compile(r"^\s*(?:<!--|/\*[^*]{0,200}\*/|//\s*<!\[CDATA\[)")
WRAPPING_END = re.compile(r"[\s;]*(?:-->|//\s*\]\]>|;)$")
PAIR = re.compile(
    r"""(?:(["'])([\w.$-]{1,60})\1|\b([A-Za-z_$][\w.$]{0,60}))\s*[:=]\s*"""
    r"""("(?:[^"\\\n]|\\.){0,2000}"|'(?:[^'\\\n]|\\.){0,2000}'|-?\d{1,15}(?:\.\d{1,6})?\b)"""
)
MARKS = re.compile(r"""[{}\[\]]|"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
LIKE_DATA = re.compile(r"""[{\[]\s*(?:["'\w$-]+\s*:|["'{\[\d-]|\])""")
CODE = re.compile(r"\b(?:function|return|var|let|const|if|for|new|this)\b|=>|\(\)")
_JSON = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Block:
    """A value of JSON or JavaScript on a page: the CSS selector of its element, its name, its data."""

    css: str
    name: str
    data: Any


def script_blocks(tree: LexborHTMLParser) -> list[Block]:
    """All blocks in the scripts of a page, in document order, at most 200."""
    return list(islice(_in_scripts(tree), MOST_BLOCKS))


def attribute_blocks(nodes: Iterable[LexborNode], name: str) -> list[Block]:
    """The JSON that stands in the attribute `name` of these elements."""
    found = []
    for node in islice(nodes, MOST_BLOCKS):
        data = attribute_data(node.attributes.get(name))
        if data is not None:
            found.append(Block(f"[{name}]", f"@{name}", data))
    return found


def attribute_data(value: str | None) -> Any:
    """The object or list that an attribute's value holds as JSON; None where it holds none.

    >>> attribute_data(' {"a": 1}')
    {'a': 1}
    """
    if not value or value.lstrip()[:1] not in ("{", "[") or len(value) > LONGEST_SCRIPT:
        return None
    data = _json(value)
    return data if isinstance(data, dict | list) else None


def _in_scripts(tree: LexborHTMLParser) -> Iterator[Block]:
    for script in tree.css("script"):
        text = script.text()
        if text and not text.isspace() and len(text) <= LONGEST_SCRIPT:
            yield from _in_script(script, text)


def _in_script(script: LexborNode, text: str) -> Iterator[Block]:
    attributes = script.attributes
    kind = (attributes.get("type") or "").lower()
    if "ld+json" in kind:
        yield from _schema_org(text)
    elif "json" in kind:
        data = _json(text.strip())
        if data is not None:
            yield Block(_script_css(attributes), "", data)
    else:
        yield from _in_code(text)


def _script_css(attributes: dict[str, str | None]) -> str:
    name = attributes.get("id")
    if name and not DIGITS.search(name):
        return f'script[id="{css_string(name)}"]'
    marks = [key for key in attributes if key.startswith("data-") and not DIGITS.search(key)]
    if marks:
        return f"script[{marks[0]}]"
    return f'script[type="{css_string(attributes.get("type") or "")}"]'


def css_string(text: str) -> str:
    """`text` as it may stand between double quotes in a CSS selector.

    >>> css_string('a"b')
    'a\\\\"b'
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")


def _schema_org(text: str) -> Iterator[Block]:
    data = _json(_uncommented(text))
    if data is None:
        data = _javascript(text)
    for thing in _things(data):
        yield Block('script[type="application/ld+json"]', f"ld+json {_type_of(thing)}".strip(), thing)


def _uncommented(text: str) -> str:
    """Without the comment marks and the stray semicolon that some shops put around JSON-LD."""
    return WRAPPING_END.sub("", WRAPPING_START.sub("", text, count=1).rstrip(), count=1)


def _things(data: Any) -> Iterator[dict[str, Any]]:
    for thing in data if isinstance(data, list) else [data]:
        if isinstance(thing, dict):
            graph = thing.get("@graph")
            yield from (inner for inner in graph if isinstance(inner, dict)) if isinstance(graph, list) else [thing]


def _type_of(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    first = kind[0] if isinstance(kind, list) and kind else kind
    return str(first)[:40] if first else ""


def _in_code(text: str) -> Iterator[Block]:
    position, attempts, found = 0, 0, False
    while attempts < MOST_ATTEMPTS and (match := OPENS.search(text, position)):
        start = match.start(1) if match[1] else match.start(2)
        attempts += 1
        data, end = _decode_at(text, start)
        if isinstance(data, dict | list) and data:
            found = True
            yield Block("script", block_name(text, start), data)
            position = end
        else:
            position = start + 1
    pairs = _pairs(text) if not found or attempts >= 3 else {}
    if pairs:
        yield Block("script", "pairs", pairs)


def block_name(text: str, start: int) -> str:
    """What stands before a block, from the last statement's end on, digits folded.

    >>> block_name('a(); var meta17 = {"b": 1}', 18)
    'var meta0 ='
    """
    before = text[max(0, start - NAME_LENGTH) : start]
    return DIGITS.sub("0", SPACES.sub(" ", STATEMENT.split(before)[-1])).strip()


def _decode_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = _closing(text, start)
        return (_javascript(text[start:end]), end) if end else (None, start)


def _closing(text: str, start: int) -> int | None:
    """The end of the bracket that opens at `start`, strings skipped; None where it has none in reach."""
    depth = 0
    for match in MARKS.finditer(text, start, min(len(text), start + LONGEST_JAVASCRIPT)):
        mark = match[0]
        if mark in "{[":
            depth += 1
            if depth > DEEPEST:
                return None
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _javascript(text: str) -> Any:
    if not LIKE_DATA.match(text) or CODE.search(text[:400]):
        return None
    try:
        return chompjs.parse_js_object(text, loader_kwargs={"strict": False})
    except (ValueError, RecursionError):
        return None


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for match in PAIR.finditer(text[:LONGEST_JAVASCRIPT]):
        name, value = match[2] or match[3], match[4]
        if name not in pairs and len(pairs) < 500:
            pairs[name] = _literal(value)
    return pairs


def _literal(value: str) -> str:
    if value[0] == '"':
        read = _json(value)
        return read if isinstance(read, str) else value[1:-1]
    return value[1:-1].replace("\\'", "'").replace("\\/", "/") if value[0] == "'" else value
