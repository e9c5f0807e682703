"""The data in a page's scripts by its name: looked for where the name stands, not by reading all of the code.

A page holds a hundred kilobytes of code, and a rule asks for one object in it. Its name, `var meta =`, is what stands
before it, so it is searched for as text, and only what opens behind it is decoded. The same goes for loose pairs by
their key, and for schema.org things by their type. Whatever `Document.blocks` lists is found here under its name; what
stands inside a larger block is found too. Each script of JSON and each place in code is decoded at most once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any

from propcache.api import cached_property

from parser.rules.selector import JsonAt
from parser.scripts.blocks import CODE, SCHEMA_ORG, Scripts
from parser.scripts.states import apollo
from parser.scripts.syntax.javascript import (
    HEAD_LENGTH,
    OPENING,
    PAIRED_VALUE,
    block_name,
    data_in_code,
    opened_at,
)
from parser.scripts.syntax.js_strings import literal
from parser.scripts.syntax.jsonpath import keys_of

MOST_PLACES = 20
MOST_OCCURRENCES = 2_000
WORTH_REMEMBERING = 1_000
MOST_REMEMBERED = 8_000_000
ESCAPED = re.compile(
    r"\\(?:[ux]0*(?:3\d|[46][1-9a-f]|[57][\da]|5f)|[^\"\\/bfnrtux])", re.IGNORECASE
)
ZEROS = re.compile(r"0+")
FOLDED = re.compile(r"[0\s]+")
WORD = re.compile(r"\w+", re.ASCII)
BARE_KEY = re.compile(r"[A-Za-z_$][\w.$]*")
WORD_END = re.compile(r"[\w.$]")
Wanted = tuple[str, str, str]
Known = dict[str, Iterable[Any]]
NOWHERE = (None, 0)
PAIRS = "pairs"
TYPED = "ld+json"


class Sought:
    """The data of a page's scripts, each found when it is first asked for."""

    def __init__(self, scripts: Scripts) -> None:
        self._searched = _Searched(scripts)
        self._found: dict[Wanted, Met] = {}

    def data(self, selector: JsonAt) -> Iterable[Any]:
        """The data that the selector's path starts from, in document order; looked for as far as they are asked for."""
        return self.of(wanted(selector.css, selector.block, selector.path))

    def of(self, what: Wanted) -> Iterable[Any]:
        """The same for what a selector wants."""
        found = self._found.get(what)
        if found is None:
            found = self._found[what] = Met(islice(self._searched.look(*what), MOST_PLACES))
        return found


class _Searched:
    """The scripts of a page as they are searched.

    What is found holds on to it, and it to nothing that is found: so a page is gone as soon as it is read, without
    waiting for garbage to be collected, which took a twelfth of the time.
    """

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._opened: dict[int, list[tuple[str, Any]]] = {}

    def look(self, css: str, name: str, key: str) -> Iterator[Any]:
        """The data of that name, in document order."""
        if css != CODE:
            yield from self._in_json(css, name)
            return
        for word in (key,) if name == PAIRS else words_of(name):
            found = self._in_texts(name, key, word)
            first = next(found, None)
            if first is not None:
                yield first
                yield from found
                return

    def _in_texts(self, name: str, key: str, word: str) -> Iterator[Any]:
        """The data of a name in all code; what breaks off, as when time is up, is not remembered as all there is."""
        asked = "\n".join((name, key, word))
        code = self._code
        new = code.new_with(word)
        number, first = next(new, NOWHERE)
        for at, text, known in code.known if number is None else code.texts:
            if known is None:
                if at == number:
                    yield from in_code(text, name, key, word, first)
                    number, first = next(new, NOWHERE)
                continue
            found = known.get(asked)
            if found is None:
                found = known[asked] = Met(in_code(text, name, key, word)) if word in text else ()
            if not found:
                continue
            try:
                yield from found
            except Exception:
                del known[asked]
                raise

    @cached_property
    def _code(self) -> "_Code":
        return _Code(self._scripts.code)

    def _in_json(self, css: str, name: str) -> Iterator[Any]:
        kind = name.removeprefix(TYPED).strip() if css == SCHEMA_ORG else ""
        for script in self._scripts.of(css):
            if script.is_at(css) and (id(script) in self._opened or _may_hold(script.text, kind)):
                if id(script) not in self._opened:
                    self._opened[id(script)] = [
                        (block.name, block.data) for block in script.blocks()
                    ]
                yield from (data for other, data in self._opened[id(script)] if other == name)


class _Code:
    """The texts of a page's code, numbered, each with what is known of it where other pages had it as well.

    All others are looked through in one, which takes less than through each: most names stand in none of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts: list[tuple[int, str, Known | None]] = []
        self.known: list[tuple[int, str, Known | None]] = []
        self._numbers, new = list[int](), list[str]()
        for number, text in enumerate(texts):
            known = _memory.of(text) if len(text) >= WORTH_REMEMBERING else None
            self.texts.append((number, text, known))
            if known is None:
                self._numbers.append(number)
                new.append(text)
            else:
                self.known.append(self.texts[-1])
        self._starts = [0, *accumulate(map(len, new))]
        self._new = "".join(new)

    def new_with(self, word: str) -> Iterator[tuple[int, int]]:
        """The number of each new text in which a word stands, and from where on it is to be looked for there."""
        after = 0
        while (
            after < len(self._numbers) and (place := self._new.find(word, self._starts[after])) >= 0
        ):
            after = bisect_right(self._starts, place, hi=len(self._numbers))
            yield self._numbers[after - 1], place - self._starts[after - 1]


class Met:
    """What an iterator gives, again and again, but asked of it only once and no sooner than needed."""

    def __init__(self, more: Iterator[Any]) -> None:
        self._more, self._met = more, list[Any]()

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while at < len(self._met) or self._meets_another():
            yield self._met[at]
            at += 1

    def _meets_another(self) -> bool:
        for one in self._more:
            self._met.append(one)
            return True
        return False


@lru_cache(maxsize=4096)
def wanted(css: str, name: str, path: str) -> Wanted:
    """The kind of script, the name and, where the name alone does not find it, a key of the data that a path is for."""
    named_enough = css != CODE or (name != PAIRS and words_of(name)[0])
    return css, name, "" if named_enough else _key(path, whole=name == PAIRS)


def _may_hold(text: str, kind: str) -> bool:
    """False only where a script surely holds no thing of that type."""
    return not kind.isalpha() or kind in text or ESCAPED.search(text) is not None


def _key(path: str, *, whole: bool) -> str:
    """The key of a pair that a path asks for, or the longest word among a path's keys; nothing where it asks for all.

    >>> _key("$.sku", whole=True), _key("$['*']['js/code'].offers", whole=False), _key("$..sku", whole=True)
    ('sku', 'offers', '')
    """
    keys = keys_of(path)
    if whole:
        return next(iter(keys), "")
    return max((word for key in keys for word in WORD.findall(key)), key=len, default="")


class _Memory:
    """What was looked for in long scripts: most are the same on all pages of a shop, and soon seen to be."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[str, Known]] = {}
        self._size = 0

    def of(self, text: str) -> Known | None:
        """What was found in this very script, by name and key; to be added to. None where it is met the first time."""
        like = (len(text), text[:HEAD_LENGTH])
        known = self._known.get(like)
        if known is not None and known[0] == text:
            return known[1]
        self._size += len(text)
        if self._size > MOST_REMEMBERED:
            self._known.clear()
            self._size = len(text)
        self._known[like] = (text, {})
        return None


_memory = _Memory()


def in_code(
    text: str, name: str, key: str = "", word: str | None = None, first: int = 0
) -> Iterator[Any]:
    """The data of that name in a script's code; `key` is the key of a pair, or a word that it has to hold.

    A name is looked for by a `word` of it, which stands nowhere before the place `first`.
    """
    found: Iterable[Any] = ()
    if name == PAIRS and key:
        value = pair(text, key, first)
        found = () if value is None else ({key: value},)
    elif name != PAIRS and words_of(name)[0]:
        found = named(text, name, word, first)
    elif not key or key in text or ESCAPED.search(text):
        found = (data for other, data in data_in_code(text, name == PAIRS) if other == name)
    for data in found:
        yield apollo.written_out(data, 0)


def named(text: str, name: str, word: str | None = None, first: int = 0) -> Iterator[Any]:
    """The objects and lists in code before which a name stands, in the order in which they stand.

    >>> list(named("var meta17 = {'a': 1}; var meta2 = [3]; var x = {'b': 1}", "var meta0 ="))
    [{'a': 1}, [3]]
    """
    for start in _openings(text, name, words_of(name)[-1] if word is None else word, first):
        if block_name(text, start) == name:
            data = opened_at(text, start)
            if isinstance(data, dict | list) and data:
                yield data


def _openings(text: str, name: str, word: str, first: int) -> Iterator[int]:
    """Where data open, in brackets or in a string, behind a word of the name and what follows that in the name."""
    rest = _sought(name, word)
    for place in islice(_places(text, word, first), MOST_OCCURRENCES):
        match = rest.match(text, place)
        if match:
            yield match.end() - 1


@lru_cache(maxsize=4096)
def _sought(name: str, word: str) -> re.Pattern[str]:
    return re.compile(_unfolded(name[name.find(word) :]) + rf"\s*(?:{OPENING})")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The longest part of a folded name that stands in code as it is, with single blanks, and that without any.

    Code is looked through sooner for the longer one, and it is there on nearly all pages.

    >>> words_of("var meta0 ="), words_of("meta0 ="), words_of("0")
    (('var meta', 'meta'), ('meta',), ('',))
    """
    return tuple(
        dict.fromkeys(max(folded.split(name), key=len).strip() for folded in (ZEROS, FOLDED))
    )


def _unfolded(name: str) -> str:
    folds = {"0": r"\d+", " ": r"\s+"}
    return "".join(folds.get(char, re.escape(char)) for char in name)


def pair(text: str, key: str, first: int = 0) -> str | None:
    """The value of the first loose pair with that key.

    >>> pair("total.sku = 'B'; sku: 'A-1'", "sku")
    'A-1'
    """
    rest = _paired_with(key)
    for place in islice(_places(text, key, first), MOST_OCCURRENCES):
        match = rest.match(text, place)
        if match and _is_whole(text[place - 1 : place], match[1], key):
            return literal(match[2])
    return None


def _places(text: str, word: str, first: int) -> Iterator[int]:
    place = text.find(word, first)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _is_whole(before: str, after: str, key: str) -> bool:
    """Whether a key stands alone: between two quotes, or as a name of which nothing stands before it."""
    if before and before in "\"'":
        return before == after
    return not after and BARE_KEY.fullmatch(key) is not None and WORD_END.match(before) is None


@lru_cache(maxsize=4096)
def _paired_with(key: str) -> re.Pattern[str]:
    return re.compile(
        rf"""{re.escape(key)}(["']?)(?:(?<=["'])\])?+\s*+[:=]\s*+(?=["'\d-])({PAIRED_VALUE})"""
    )
