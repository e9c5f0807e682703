"""Data in JavaScript code: objects and lists, and loose `"key": value` pairs.

Code is read once, from left to right. Wherever a brace or bracket opens after a character that can
introduce data (`=`, `(`, `:`, `,` or a line's end), a decoder that stops at the end of its value is
tried: first JSON, then JavaScript (chompjs: single quotes, bare keys, trailing commas). A string
there that holds JSON is decoded, too. A value is named by the code before it. Where only strings
hold data, or much that looks like data is none, the pairs are kept as well. All is capped: a page
may be made to be slow.

The pages of a shop share most of their code. So a `CodeReader` caches the data of a script.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import chompjs
import orjson

from parser.scripts.syntax.js_strings import (
    OPENS_JSON_STRING,
    QUOTED,
    STRING_LITERAL,
    UNKNOWN_TO_JSON,
    json_text_in,
    literal_text,
    to_json_escapes,
)
from parser.scripts.syntax.lenient_json import leading_json, line_from, parse_plain_object

# Bounds against hostile input.
# Places in a script at which a decoder is tried.
MAX_ATTEMPTS = 60
# Characters that failed attempts may scan, as a multiple of the script's length.
MAX_RESCANS = 5
MAX_PAIRS = 500
MAX_JAVASCRIPT_CHARS = 200_000
MAX_JSON_CHARS = 400_000
MAX_DEPTH = 60
# Numbers with a leading zero that are quoted one by one, before the whole text is searched for
# them.
MAX_QUOTED_ZEROS = 8

# Failed attempts from which on a script also yields its pairs.
MANY_ATTEMPTS = 3
# Characters of code that are searched for keywords: a longer value is data.
CODE_SEARCHED = 400
# Characters before a value that are searched for its name, and characters of the name.
NAME_SEARCHED = 120
NAME_LENGTH = 48

# Bounds on the memory of a `CodeReader`.
MAX_CACHED_CHARS = 50_000
MAX_CACHED_RESULTS = 256

# Starts of orjson's messages.
ENDS_TOO_SOON = "unexpected end"
UNREADABLE = ("str is not", "depth limit")
LEADING_ZERO = "number with leading zero"

LINE_END = " \t\r;,)"
CLOSING_BRACKETS = "}]"
OPENS_FIRST = re.compile(r"\s*+([{\[])")
OPENING = rf"[{{\[]|{OPENS_JSON_STRING}"
OPENS = re.compile(rf"[=(:,\[?\n](?:(?<=\n)[^\S\n]*+|(?<!\n)\s*+)({OPENING})")
DIGITS = re.compile(r"\d+")
SPACES = re.compile(r"\s+")
STATEMENT_END = re.compile(r"[;\n{}]")
PAIRED_VALUE = (
    r""""(?:[^"\\\n]|\\.){0,2000}+"|'(?:[^'\\\n]|\\.){0,2000}+'|-?\d{1,15}(?:\.\d{1,6})?\b"""
)
PAIR = re.compile(
    r"""(?:(["'])([\w.$-]{1,60}+)\1\]?+|\b([A-Za-z_$][\w.$]{0,60}+))\s*+[:=]\s*+(?=["'\d-])"""
    rf"({PAIRED_VALUE})"
)
STRING = re.compile(QUOTED)
UP_TO_BRACKET = re.compile(rf"""(?:[^{{}}\[\]"']++|{QUOTED}|["'])*+([{{}}\[\]])""")
LIKE_JSON = re.compile(r"""\{\s*+["}]|\[\s*+["{\[\]\dtfn-]""")
ZERO_FIRST = re.compile(r"[:\[,]\s*+0\d++\s*+[,}\]]")
STRING_OR_ZERO_FIRST = re.compile(rf"""{QUOTED}|(?<![\w.])(0\d++)(?![\w.])""")
# Characters that Python's lenient decoder takes: line breaks in strings, escapes, `NaN`,
# `Infinity`.
LENIENT_CHAR = re.compile(r"[\x00-\x1f\\NI]")
LIKE_DATA = re.compile(r"""[{\[]\s*+(?:(?P<begins>["'\w$-]++\s*+:|["'{\[\d-]|\])|["'\w$-]*+\s*+)""")
CODE = re.compile(r"\b(?:function|return|var|let|const|if|for|new|this)\b|=>|\(\)")
_LENIENT_JSON = json.JSONDecoder(strict=False)

NamedData = tuple[str, Any]


class _Decoded(NamedTuple):
    """The data at a place or None, and its length or that of the text searched for its end."""

    data: Any
    length: int


class CodeReader:
    """Reads the data in scripts; caches the results for scripts that several pages share."""

    def __init__(self) -> None:
        # No method: a cached method would refer to this reader, which then only garbage collection
        # could free.
        self._decode_cached = lru_cache(MAX_CACHED_RESULTS)(_decode_all)

    def named_data(self, text: str, *, with_pairs: bool = True) -> tuple[NamedData, ...]:
        """Return the data in a script with their names, in document order; the pairs come last.

        >>> CodeReader().named_data("var meta17 = {'a': 1, b: [2]}; push({}); x = 7")
        (('var meta0 =', {'a': 1, 'b': [2]}),)
        >>> CodeReader().named_data("sku = 'A-1'; price: 12.5")
        (('pairs', {'sku': 'A-1', 'price': '12.5'}),)
        """
        is_short = len(text) <= MAX_CACHED_CHARS
        named, is_complete = (self._decode_cached if is_short else _decode_all)(text)
        if is_complete or not with_pairs:
            return named
        return named + (_cached_pairs if is_short else _pairs)(text)


def _decode_all(text: str) -> tuple[tuple[NamedData, ...], bool]:
    """Return the named data of a script, and whether it is all that looks like data."""
    named: list[NamedData] = []
    attempts, scanned = 0, 0
    match = OPENS_FIRST.match(text) or OPENS.search(text)
    while match and attempts < MAX_ATTEMPTS and scanned <= MAX_RESCANS * len(text):
        start = match.start(1)
        decoded = _decode(text, start)
        if isinstance(decoded.data, dict | list) and decoded.data:
            named.append((block_name(text, start), decoded.data))
            # Data in a string counts as many attempts, so that the pairs are kept as well.
            attempts += 1 if text[start] in "{[" else MANY_ATTEMPTS
            position = start + decoded.length
        else:
            attempts += 1
            scanned += decoded.length
            position = start + 1
        match = OPENS.search(text, position)
    return tuple(named), bool(named) and attempts < MANY_ATTEMPTS


def _pairs(text: str) -> tuple[NamedData, ...]:
    """Return the `key: value` pairs of a script as one object; the first value of a key counts."""
    pairs: dict[str, str] = {}
    for match in PAIR.finditer(text, 0, MAX_JAVASCRIPT_CHARS):
        name = match[2] or match[3]
        if name not in pairs and len(pairs) < MAX_PAIRS:
            pairs[name] = literal_text(match[4])
    return (("pairs", pairs),) if pairs else ()


_cached_pairs = lru_cache(maxsize=MAX_CACHED_RESULTS)(_pairs)


def block_name(text: str, start: int) -> str:
    """Return the code before a block, from the end of the last statement, with digits folded.

    It is cut to its length after folding: numbers differ in length from page to page, and would
    move the cut.

    >>> block_name('a(); var meta17 = {"b": 1}', 18)
    'var meta0 ='
    """
    return _name_in(text[max(0, start - NAME_SEARCHED) : start])


@lru_cache(maxsize=4096)
def _name_in(before: str) -> str:
    folded = DIGITS.sub("0", SPACES.sub(" ", STATEMENT_END.split(before)[-1])).strip()
    return folded[-NAME_LENGTH:].lstrip()


def decode_at(text: str, start: int) -> tuple[Any, int] | None:
    """Return the object or list that opens at a place, and its length; None where none does.

    >>> decode_at("x = {'a': [1]}; y", 4)
    ({'a': [1]}, 10)
    """
    decoded = _decode(text, start)
    if not isinstance(decoded.data, dict | list):
        return None
    return decoded.data, decoded.length


def _decode(text: str, start: int) -> _Decoded:
    """Decode the value at a place: a string that holds JSON, JSON, or else JavaScript."""
    if text[start] not in "{[":
        return _decode_string(text, start)
    scanned_to = start + 1
    if LIKE_JSON.match(text, start):
        decoded = _decode_json(text, start)
        if decoded.data is not None:
            return decoded
        scanned_to = start + decoded.length
    return _decode_javascript(text, start, scanned_to)


def _decode_string(text: str, start: int) -> _Decoded:
    """Decode the JSON inside the string at a place."""
    literal = STRING_LITERAL.match(text, start)
    if literal is None:
        return _Decoded(None, len(text) - start)
    data = parse_json(json_text_in(literal[0]))
    if not isinstance(data, dict | list):
        data = None
    return _Decoded(data, len(literal[0]))


def _decode_json(text: str, start: int) -> _Decoded:
    """Decode the JSON at a place."""
    # Most JSON ends with its line, which is much shorter than the text.
    line = line_from(text, start).rstrip(LINE_END)
    result = leading_json(line)
    if not isinstance(result, tuple) and result.msg.startswith(ENDS_TOO_SOON):
        result = leading_json(text[start : start + MAX_JSON_CHARS])
    if isinstance(result, tuple):
        return _Decoded(*result)
    is_lenient = result.msg.startswith(UNREADABLE) or LENIENT_CHAR.match(text, start + result.pos)
    if result.msg.startswith(ENDS_TOO_SOON) or is_lenient:
        return _decode_lenient_json(text, start)
    if result.msg.startswith(LEADING_ZERO) and line[-1:] in CLOSING_BRACKETS:
        data = parse_json(line)
        if data is not None:
            return _Decoded(data, len(line))
    return _Decoded(None, result.pos + 1)


def _decode_lenient_json(text: str, start: int) -> _Decoded:
    """Decode JSON of any length with `NaN` or line breaks in strings.

    Python's decoder gives up at many levels, and at numbers of thousands of digits.
    """
    try:
        data, end = _LENIENT_JSON.raw_decode(text, start)
    except json.JSONDecodeError as error:
        scanned_to = error.pos
        if error.msg.startswith("Unterminated"):
            scanned_to = len(text)
        return _Decoded(None, scanned_to - start)
    except (RecursionError, ValueError):
        return _Decoded(None, len(text) - start)
    return _Decoded(data, end - start)


def _decode_javascript(text: str, start: int, scanned_to: int) -> _Decoded:
    """Decode the JavaScript literal at a place; JSON's decoder has scanned up to `scanned_to`."""
    like = LIKE_DATA.match(text, start)
    if not like or like["begins"] is None:
        return _Decoded(None, scanned_to - start)
    plain = parse_plain_object(text, start)
    if plain is not None and plain[0]:
        return _Decoded(plain[0], plain[1] - start)
    end, is_closed = _closing(text, start)
    data = parse_javascript(text[start:end]) if is_closed else None
    return _Decoded(data, max(scanned_to if data is None else 0, end) - start)


def _closing(text: str, start: int) -> tuple[int, bool]:
    """Return where the bracket at `start` closes, or else where code ends the search; and which."""
    code = _first_code(text, start)
    depth, limit = 0, min(len(text), start + MAX_JAVASCRIPT_CHARS)
    for match in _brackets(text, start, limit):
        if (code is not None and match.start(1) > code) or depth > MAX_DEPTH:
            return match.end(), False
        depth += 1 if match[1] in "{[" else -1
        if depth == 0:
            return match.end(), True
    return limit, False


def _brackets(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the brackets outside strings, each with the text before it."""
    while match := UP_TO_BRACKET.match(text, start, end):
        yield match
        start = match.end()


def parse_javascript(text: str) -> Any:
    """Return the object or list of a JavaScript literal; None where the text is code or neither."""
    like = LIKE_DATA.match(text)
    if not like or like["begins"] is None or _first_code(text, 0) is not None:
        return None
    if UNKNOWN_TO_JSON.search(text):
        text = to_json_escapes(text)
    try:
        return chompjs.parse_js_object(quote_leading_zeros(text), loader=parse_json)
    except (ValueError, RecursionError):
        return None


def _first_code(text: str, start: int) -> int | None:
    """Return where a text starts to read as code, near its beginning and outside strings."""
    code = CODE.search(text, start, start + CODE_SEARCHED)
    if code is None:
        return None
    for string in STRING.finditer(text, start):
        if string.start() > code.start():
            break
        if code.start() < string.end():
            code = CODE.search(text, string.end(), start + CODE_SEARCHED)
            if code is None:
                return None
    return code.start()


def quote_leading_zeros(text: str) -> str:
    """Turn numbers with a leading zero into strings: JSON has none.

    >>> quote_leading_zeros('{"id": 0364, "a": "b: 07,", "c": 0.5}')
    '{"id": "0364", "a": "b: 07,", "c": 0.5}'
    """
    if ZERO_FIRST.search(text) is None:
        return text
    return STRING_OR_ZERO_FIRST.sub(lambda match: f'"{match[1]}"' if match[1] else match[0], text)


def starts_like_data(text: str) -> bool:
    """Return True if a text starts like an object or a list."""
    return text.lstrip()[:1] in ("{", "[")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; None where it is none.

    A few numbers with a leading zero are quoted where the decoder stops: a search through all of
    the text takes longer.
    """
    for _ in range(MAX_QUOTED_ZEROS):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            number = DIGITS.match(text, error.pos) if error.msg.startswith(LEADING_ZERO) else None
        except (ValueError, UnicodeEncodeError):
            number = None
        if number is None:
            break
        text = f'{text[: number.start()]}"{number[0]}"{text[number.end() :]}'
    # As JavaScript does: with line breaks in strings, `NaN` and leading zeros.
    try:
        return json.loads(quote_leading_zeros(text), strict=False)
    except (ValueError, RecursionError):
        return None
