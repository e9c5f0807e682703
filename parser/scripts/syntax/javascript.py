"""The data in a script's code: objects and lists that are assigned, passed or returned, and loose `"key": value` pairs.

Code is read once, from left to right: wherever a brace or bracket opens after something that can introduce data (`=`,
`(`, `:`, `,` or a line's end), a decoder that stops at the end of its value is tried, first JSON, then JavaScript
(chompjs: single quotes, bare keys, trailing commas); or a string there that says JSON. What it finds is named by what
stands before it. Where no such data is found but in strings, or much that looks like it is not, the pairs are kept too.
All is capped: a page may be made to be slow.

A shop's pages share most of their code. So what was found in a script is remembered, and so is what opens at a place
in one, for the scripts that differ from page to page in a few values only.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import chompjs
import orjson

from parser.scripts.syntax.js_strings import (
    OF_JSON,
    QUOTED,
    UNKNOWN_TO_JSON,
    WRITTEN,
    json_in,
    literal,
    with_escapes_of_json,
)
from parser.scripts.syntax.lenient_json import LONGEST_LINE, bare_object, json_in_front

MOST_ATTEMPTS = 60
MOST_LOOKED_AT = 5
MOST_PAIRS = 500
LONGEST_JAVASCRIPT = 200_000
LONGEST_REMEMBERED = 50_000
NAME_LENGTH = 48
BEFORE_NAME = 120
DEEPEST = 60
CODE_SHOWS = 400
ENDS_LINE = " \t\r;,)"
CLOSES = "}]"
LONGEST_JSON = 400_000
ENDS_TOO_SOON = "unexpected end"
UNFIT = ("str is not", "depth limit")
LEADING_ZERO = "number with leading zero"
FEW_ZEROS_FIRST = 8
ENOUGH_ATTEMPTS = 3
HEAD_LENGTH = 40
LONGEST_WORD = 10
MOST_KEPT = 1000
LONGEST_KEPT = 10_000
MOST_SCRIPTS = 200

OPENS_FIRST = re.compile(r"\s*+([{\[])")
OPENING = rf"[{{\[]|{OF_JSON}"
OPENS = re.compile(rf"[=(:,\[?\n](?:(?<=\n)[^\S\n]*+|(?<!\n)\s*+)({OPENING})")
DIGITS = re.compile(r"\d+")
SPACES = re.compile(r"\s+")
STATEMENT = re.compile(r"[;\n{}]")
PAIRED_VALUE = (
    r""""(?:[^"\\\n]|\\.){0,2000}+"|'(?:[^'\\\n]|\\.){0,2000}+'|-?\d{1,15}(?:\.\d{1,6})?\b"""
)
PAIR = re.compile(
    r"""(?:(["'])([\w.$-]{1,60}+)\1\]?+|\b([A-Za-z_$][\w.$]{0,60}+))\s*+[:=]\s*+(?=["'\d-])"""
    rf"({PAIRED_VALUE})"
)
STRING = re.compile(QUOTED)
UP_TO_BRACKET = re.compile(rf"""(?:[^{{}}\[\]"']++|{QUOTED}|(["']))*+([{{}}\[\]])""")
BEGINS_JSON = re.compile(r"""\{\s*+["}]|\[\s*+["{\[\]\dtfn-]""")
ZERO_FIRST = re.compile(r"[:\[,]\s*+0\d++\s*+[,}\]]")
STRING_OR_ZERO_FIRST = re.compile(rf"""{QUOTED}|(?<![\w.])(0\d++)(?![\w.])""")
LOOSE = re.compile(r"[\x00-\x1f\\NI]")
LIKE_DATA = re.compile(r"""[{\[]\s*+(?:(?P<begins>["'\w$-]++\s*+:|["'{\[\d-]|\])|["'\w$-]*+\s*+)""")
CODE = re.compile(r"\b(?:function|return|var|let|const|if|for|new|this)\b|=>|\(\)")
_JSON = json.JSONDecoder(strict=False)

Named = tuple[str, Any]


def data_in_code(text: str, pairs: bool = True) -> tuple[Named, ...]:
    """The data in a script's code with their names, in the order in which they stand; the pairs come last.

    >>> data_in_code("var meta17 = {'a': 1, b: [2]}; push({}); x = 7")
    (('var meta0 =', {'a': 1, 'b': [2]}),)
    >>> data_in_code("sku = 'A-1'; price: 12.5")
    (('pairs', {'sku': 'A-1', 'price': '12.5'}),)
    """
    short = len(text) <= LONGEST_REMEMBERED
    found, certain = _opened_before(text) if short else _opened(text)
    loose = () if certain or not pairs else _paired_before(text) if short else _paired(text)
    return found + loose


class _Stop(NamedTuple):
    """How far a script has been read: what was found before `position`, which the text up to `decided_by` decides."""

    position: int = 0
    decided_by: int = 0
    found: tuple[Named, ...] = ()
    attempts: int = 0
    looked_at: int = 0


def opened_at(text: str, start: int) -> Any:
    """The data that opens at a place; None where none does."""
    return _memory.opening(text, start).data


def _opened(text: str) -> tuple[tuple[Named, ...], bool]:
    """The named data, and whether they are all that looks like data."""
    here, stops, sure = _memory.resume(text), list[_Stop](), True
    match = (
        OPENS.search(text, here.position)
        if here.position
        else OPENS_FIRST.match(text) or OPENS.search(text)
    )
    while match and here.attempts < MOST_ATTEMPTS and here.looked_at <= MOST_LOOKED_AT * len(text):
        opening = _memory.opening(text, match.start(1))
        here = _after(here, opening, text, match.start(1))
        sure = sure and opening.sure is not None and here.decided_by <= len(text)
        if sure:
            stops.append(here)
        match = OPENS.search(text, here.position)
    _memory.keep(text, stops)
    return here.found, bool(here.found) and here.attempts < ENOUGH_ATTEMPTS


def _after(here: _Stop, opening: "_Opening", text: str, start: int) -> _Stop:
    decided_by = max(here.decided_by, start + (opening.sure or 0))
    if isinstance(opening.data, dict | list) and opening.data:
        found = (*here.found, (block_name(text, start), opening.data))
        attempts = here.attempts + (1 if text[start] in "{[" else ENOUGH_ATTEMPTS)
        return _Stop(start + opening.length, decided_by, found, attempts, here.looked_at)
    return _Stop(
        start + 1, decided_by, here.found, here.attempts + 1, here.looked_at + opening.length
    )


def _paired(text: str) -> tuple[Named, ...]:
    pairs: dict[str, str] = {}
    for match in PAIR.finditer(text, 0, LONGEST_JAVASCRIPT):
        name = match[2] or match[3]
        if name not in pairs and len(pairs) < MOST_PAIRS:
            pairs[name] = literal(match[4])
    return (("pairs", pairs),) if pairs else ()


_opened_before = lru_cache(maxsize=256)(_opened)
_paired_before = lru_cache(maxsize=256)(_paired)


def block_name(text: str, start: int) -> str:
    """What stands before a block, from the last statement's end on, digits folded.

    It is cut to its length after that: numbers are not equally long on all pages, and what stands before them would not
    be cut at one place.

    >>> block_name('a(); var meta17 = {"b": 1}', 18)
    'var meta0 ='
    """
    return _name_in(text[max(0, start - BEFORE_NAME) : start])


@lru_cache(maxsize=4096)
def _name_in(before: str) -> str:
    folded = DIGITS.sub("0", SPACES.sub(" ", STATEMENT.split(before)[-1])).strip()
    return folded[-NAME_LENGTH:].lstrip()


@dataclass(frozen=True)
class _Opening:
    """What opens at a place: its data, or None; how long it is, or how far was looked for it.

    `sure` is the length of the text that decides it, whatever follows; None where that is not known.
    """

    data: Any
    length: int
    sure: int | None = None


class _Memory:
    """What was read where a text began with the same characters: decoded once, found again by comparing the texts."""

    def __init__(self) -> None:
        self._openings: dict[str, tuple[str, _Opening]] = {}
        self._scripts: dict[str, tuple[str, list[_Stop]]] = {}

    def opening(self, text: str, start: int) -> _Opening:
        """What opens at `start`."""
        head = text[start : start + HEAD_LENGTH]
        seen = self._openings.get(head)
        if seen is not None and text.startswith(seen[0], start):
            return seen[1]
        made = _opening(text, start)
        if made.sure and made.sure <= LONGEST_KEPT and start + made.sure <= len(text):
            if len(self._openings) >= MOST_KEPT:
                self._openings.clear()
            self._openings[head] = (text[start : start + made.sure], made)
        return made

    def resume(self, text: str) -> _Stop:
        """How far a script has been read already that begins as this one does."""
        before, stops = self._scripts.get(text[:HEAD_LENGTH], ("", []))
        for stop in reversed(stops):
            same = text.startswith(before[: stop.decided_by]) and len(text) >= stop.decided_by
            if same and stop.looked_at <= MOST_LOOKED_AT * len(text):
                return stop
        return _Stop()

    def keep(self, text: str, stops: list[_Stop]) -> None:
        """Keep how far a script was read; one that was resumed stays as it was kept."""
        if stops and stops[0].attempts == 1 and len(text) <= LONGEST_REMEMBERED:
            if len(self._scripts) >= MOST_SCRIPTS:
                self._scripts.clear()
            self._scripts[text[:HEAD_LENGTH]] = (text, stops)


_memory = _Memory()


def _opening(text: str, start: int) -> _Opening:
    """What opens at a place: a string that says JSON, JSON, or else JavaScript."""
    if text[start] not in "{[":
        return _in_string(text, start)
    json_there = _json_opening(text, start) if BEGINS_JSON.match(text, start) else _Opening(None, 1)
    return (
        json_there
        if json_there.data is not None
        else _javascript_opening(text, start, start + json_there.length)
    )


def _in_string(text: str, start: int) -> _Opening:
    """The data that the string at a place says."""
    string = WRITTEN.match(text, start)
    if string is None:
        return _Opening(None, len(text) - start)
    data = as_json(json_in(string[0]))
    return _Opening(data if isinstance(data, dict | list) else None, len(string[0]), len(string[0]))


def _json_opening(text: str, start: int) -> _Opening:
    """The JSON that opens at a place; most ends its line."""
    line = text[start : start + LONGEST_LINE].partition("\n")[0].rstrip(ENDS_LINE)
    found = _json_in_front(line)
    if _ends_too_soon(found):
        found = _json_in_front(text[start : start + LONGEST_JSON])
    if isinstance(found, _Opening):
        return found
    if _ends_too_soon(found) or found.msg.startswith(UNFIT) or LOOSE.match(text, start + found.pos):
        return _loose_json_opening(text, start)
    data = as_json(line) if found.msg.startswith(LEADING_ZERO) and line[-1:] in CLOSES else None
    return _Opening(None, found.pos + 1) if data is None else _Opening(data, len(line), len(line))


def _json_in_front(text: str) -> "_Opening | orjson.JSONDecodeError":
    found = json_in_front(text)
    return _Opening(*found, sure=found[1]) if isinstance(found, tuple) else found


def _ends_too_soon(found: "_Opening | orjson.JSONDecodeError") -> bool:
    return not isinstance(found, _Opening) and found.msg.startswith(ENDS_TOO_SOON)


def _loose_json_opening(text: str, start: int) -> _Opening:
    """The same of JSON with `NaN` or with line breaks in strings, and however long it is; none where Python gives up.

    It does at many levels, and at numbers of thousands of digits.
    """
    try:
        data, end = _JSON.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return _Opening(
            None, (len(text) if error.msg.startswith("Unterminated") else error.pos) - start
        )
    except (RecursionError, ValueError):
        return _Opening(None, len(text) - start)
    return _Opening(data, end - start, end - start)


def _javascript_opening(text: str, start: int, looked: int) -> _Opening:
    like = LIKE_DATA.match(text, start)
    if not like or like["begins"] is None:
        seen = max(looked, like.end() if like else start + 1)
        return _Opening(None, looked - start, seen + LONGEST_WORD - start)
    plain = bare_object(text, start)
    if plain is not None and plain[0]:
        return _Opening(plain[0], plain[1] - start, plain[1] - start)
    end, closed, strays = _closing(text, start)
    looked_at = max(looked, end) - start
    sure = None
    if (closed or (end < len(text) and end - start < LONGEST_JAVASCRIPT)) and not strays:
        sure = max(looked + LONGEST_WORD - start, end - start, 0 if closed else CODE_SHOWS)
    data = javascript(text[start:end]) if closed else None
    return _Opening(data, looked_at if data is None else end - start, sure)


class _Closing(NamedTuple):
    """Where a bracket closes around data, or how far was looked; and whether quotes stand alone in between."""

    end: int
    closed: bool
    strays: bool


def _closing(text: str, start: int) -> _Closing:
    """Where the bracket at `start` closes, strings skipped."""
    code = _first_code(text, start)
    depth, reach, strays = 0, min(len(text), start + LONGEST_JAVASCRIPT), False
    for match in _brackets(text, start, reach):
        stray, mark = match.groups()
        strays = strays or stray is not None
        if (code is not None and match.start(2) > code) or depth > DEEPEST:
            return _Closing(match.end(), False, strays)
        depth += 1 if mark in "{[" else -1
        if depth == 0:
            return _Closing(match.end(), True, strays)
    return _Closing(reach, False, strays)


def _brackets(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The brackets in a part of a text, but for those in strings; each with what stands before it."""
    while match := UP_TO_BRACKET.match(text, start, end):
        yield match
        start = match.end()


def by_braces(text: str, steps: Sequence[int]) -> Any:
    """The data in the block that a path of braces leads to, counted from one (Hübscher 2018, 2.8); None where none is.

    >>> by_braces("var a = {'x': 1}; f({'y': {'z': 2}})", [2, 1])
    {'z': 2}
    """
    block: str | None = f"{{{text}}}"
    for step in steps:
        block = next(islice(_braced(block[1:-1]), step - 1, None), None) if block and step else None
    if not steps or block is None:
        return None
    data = as_json(block)
    return javascript(block) if data is None else data


def _braced(text: str) -> Iterator[str]:
    """The blocks in braces that stand side by side in a text."""
    depth, start = 0, 0
    for match in _brackets(text, 0, len(text)):
        if match[2] == "{":
            start = start if depth else match.start(2)
            depth += 1
        elif match[2] == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : match.end()]


def javascript(text: str) -> Any:
    """The object or list that a text writes as JavaScript does; None where it is code or neither."""
    like = LIKE_DATA.match(text)
    if not like or like["begins"] is None or _first_code(text, 0) is not None:
        return None
    if UNKNOWN_TO_JSON.search(text):
        text = with_escapes_of_json(text)
    try:
        return chompjs.parse_js_object(without_zeros_first(text), loader=as_json)
    except (ValueError, RecursionError):
        return None


def _first_code(text: str, start: int) -> int | None:
    """Where a text begins to read as code, if it soon does; what strings say is none."""
    code = CODE.search(text, start, start + CODE_SHOWS)
    strings = STRING.finditer(text, start) if code else iter(())
    for string in strings:
        if code is None or string.start() > code.start():
            break
        if code.start() < string.end():
            code = CODE.search(text, string.end(), start + CODE_SHOWS)
    return None if code is None else code.start()


def without_zeros_first(text: str) -> str:
    """The text with numbers that begin with a zero as strings: JSON has none, and to JavaScript they are octal.

    >>> without_zeros_first('{"id": 0364, "a": "b: 07,", "c": 0.5}')
    '{"id": "0364", "a": "b: 07,", "c": 0.5}'
    """
    if ZERO_FIRST.search(text) is None:
        return text
    return STRING_OR_ZERO_FIRST.sub(lambda match: f'"{match[1]}"' if match[1] else match[0], text)


def opens(text: str) -> bool:
    """Whether a text begins as an object or a list does."""
    return text.lstrip()[:1] in ("{", "[")


def as_json(text: str) -> Any:
    """What a text says as JSON; None where it is none.

    A few numbers with a zero first are mended where they make it no JSON: to look through all of the text takes longer.
    """
    for _ in range(FEW_ZEROS_FIRST):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            number = DIGITS.match(text, error.pos) if error.msg.startswith(LEADING_ZERO) else None
        except (ValueError, UnicodeEncodeError):
            number = None
        if number is None:
            break
        text = f'{text[: number.start()]}"{number[0]}"{text[number.end() :]}'
    return _as_loose_json(text)


def _as_loose_json(text: str) -> Any:
    """The same with line breaks in strings, with `NaN` and with zeros first, as JavaScript takes them."""
    try:
        return json.loads(without_zeros_first(text), strict=False)
    except (ValueError, RecursionError):
        return None
