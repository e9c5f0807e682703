"""Lookup of data in a page's scripts by name, without reading all of the code.

A page holds a hundred kilobytes of code, and a rule needs one object of it. The object's name, `var
meta =`, is the code before it. So the name is searched as text, and only the value behind it is
decoded. Loose pairs are searched by their key, schema.org things by their type. Every block that
`Document.blocks` lists is found here under its name, and so are values inside a larger block. Each
script of JSON is decoded at most once, and each place in code once for a name.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, tee
from typing import Any, NamedTuple

from propcache.api import cached_property

from parser.scripts.blocks import CODE, SCHEMA_ORG, Scripts
from parser.scripts.schema_org import TYPED, thing_name
from parser.scripts.script_cache import KnownBlocks, ScriptCache
from parser.scripts.states import apollo
from parser.scripts.syntax.javascript import (
    OPENING,
    PAIRED_VALUE,
    CodeReader,
    block_name,
    decode_at,
)
from parser.scripts.syntax.js_strings import literal_text
from parser.scripts.syntax.jsonpath import path_keys

# Bounds against hostile input: blocks per query, occurrences of a word that are examined.
MAX_BLOCKS = 20
MAX_OCCURRENCES = 2_000
# Characters from which on a script is worth a look into the cache of other pages' scripts.
MIN_CACHED_CHARS = 1_000
ESCAPED = re.compile(
    r"\\(?:[ux]0*(?:3\d|[46][1-9a-f]|[57][\da]|5f)|[^\"\\/bfnrtux])", re.IGNORECASE
)
ZEROS = re.compile(r"0+")
# Patterns of all texts that fold to a character of a name.
FOLDS = {"0": r"\d+", " ": r"\s+"}
FOLDED = re.compile(r"[0\s]+")
WORD = re.compile(r"\w+", re.ASCII)
BARE_KEY = re.compile(r"[A-Za-z_$][\w.$]*")
KEY_CHAR = re.compile(r"[\w.$]")
# Name of the block of loose pairs.
PAIRS = "pairs"


class DataQuery(NamedTuple):
    """The kind of script, the name of a block, and a key of it where the name does not suffice."""

    css: str
    name: str
    key: str


class ScriptIndex:
    """The data in a page's scripts, each block found when it is first needed."""

    def __init__(self, scripts: Scripts, cache: ScriptCache | None = None) -> None:
        self._search = _ScriptSearch(scripts, cache or ScriptCache())
        # Each result is a `tee` that stays at its first item: items are decoded once, when needed.
        self._results: dict[DataQuery, Iterator[Any]] = {}

    def lookup(self, query: DataQuery) -> Iterator[Any]:
        """Return the data that a query matches, in document order; decoded lazily."""
        result = self._results.get(query)
        if result is None:
            result = islice(self._search.find(*query), MAX_BLOCKS)
        self._results[query], matches = tee(result)
        return matches


class _ScriptSearch:
    """Searches the scripts of a page.

    Results refer to the search, and it refers to no result. So a page is freed as soon as it is
    read; waiting for garbage collection took a twelfth of the time.
    """

    def __init__(self, scripts: Scripts, cache: ScriptCache) -> None:
        self._scripts = scripts
        self._cache = cache
        self._decoded: dict[int, list[tuple[str, Any]]] = {}

    def find(self, css: str, name: str, key: str) -> Iterator[Any]:
        """Yield the data of a name, in document order."""
        if css != CODE:
            yield from self._find_in_json(css, name)
            return
        for word in (key,) if name == PAIRS else search_words(name):
            matches = self._find_in_code(name, key, word)
            first = next(matches, None)
            if first is not None:
                yield first
                yield from matches
                return

    def _find_in_code(self, name: str, key: str, word: str) -> Iterator[Any]:
        """Yield the data of a name in all code."""
        query, reader = (name, key, word), self._cache.reader
        for text, known_blocks in self._code:
            if known_blocks is None:
                start = text.find(word)
                if start >= 0:
                    yield from blocks_in(text, reader, name, key, word, start)
                continue
            if query not in known_blocks:
                is_there = word in text
                known_blocks[query] = blocks_in(text, reader, *query) if is_there else None
            known = known_blocks[query]
            if known is None:
                continue
            known_blocks[query], blocks = tee(known)
            try:
                yield from blocks
            except Exception:
                # A search that was interrupted, as by a time limit, must not be cached as complete.
                del known_blocks[query]
                raise

    @cached_property
    def _code(self) -> list[tuple[str, KnownBlocks | None]]:
        """The scripts of code, and the blocks known of other pages; None for new or short."""
        scripts: list[tuple[str, KnownBlocks | None]] = []
        for text in self._scripts.code:
            is_long = len(text) >= MIN_CACHED_CHARS
            scripts.append((text, self._cache.lookups.known_blocks(text) if is_long else None))
        return scripts

    def _find_in_json(self, css: str, name: str) -> Iterator[Any]:
        kind = ""
        if css == SCHEMA_ORG:
            # Stored rules may name the type by its URL.
            name = thing_name(name.removeprefix(TYPED).strip())
            kind = name.removeprefix(TYPED).strip()
        for script in self._scripts.candidates_for(css):
            if not script.is_at(css):
                continue
            decoded = self._decoded.get(id(script))
            if decoded is None:
                # The name of a type stands in its script, unless a character is escaped.
                is_absent = kind.isalpha() and kind not in script.text
                if is_absent and ESCAPED.search(script.text) is None:
                    continue
                decoded = [(block.name, block.data) for block in script.blocks()]
                self._decoded[id(script)] = decoded
            for block_key, data in decoded:
                if block_key == name:
                    yield data


@lru_cache(maxsize=4096)
def data_query(css: str, name: str, path: str) -> DataQuery:
    """Return the query for a block, with a key of the path if the name is not searchable."""
    is_searchable = css != CODE or (name != PAIRS and search_words(name)[0])
    if is_searchable:
        return DataQuery(css, name, "")
    if name == PAIRS:
        return DataQuery(css, name, _first_key(path))
    return DataQuery(css, name, _longest_word(path))


def _first_key(path: str) -> str:
    """Return the first key of a path; empty where it matches all keys.

    >>> _first_key("$.sku"), _first_key("$..sku")
    ('sku', '')
    """
    return next(iter(path_keys(path)), "")


def _longest_word(path: str) -> str:
    """Return the longest word among the keys of a path.

    >>> _longest_word("$['*']['js/code'].offers")
    'offers'
    """
    return max((word for key in path_keys(path) for word in WORD.findall(key)), key=len, default="")


def blocks_in(
    text: str, reader: CodeReader, name: str, key: str = "", word: str | None = None, start: int = 0
) -> Iterator[Any]:
    """Yield the data of a name in a script's code.

    `key` is the key of a pair, or a word that the script must hold. The name is searched by a
    `word` of it, which does not occur before the place `start`.
    """
    blocks: Iterable[Any] = ()
    if name == PAIRS and key:
        value = find_pair(text, key, start)
        if value is not None:
            blocks = ({key: value},)
    elif name != PAIRS and search_words(name)[0]:
        blocks = named_blocks(text, name, word, start)
    elif not key or key in text or ESCAPED.search(text):
        # The name has no word to search for: all of the code is read.
        named_data = reader.named_data(text, with_pairs=name == PAIRS)
        blocks = [data for block_key, data in named_data if block_key == name]
    for data in blocks:
        yield apollo.resolve_cache(data, 0)


def named_blocks(text: str, name: str, word: str | None = None, start: int = 0) -> Iterator[Any]:
    """Yield the objects and lists in code that have a name, in document order.

    >>> text = "var meta17 = {'a': 1}; var meta2 = [3]; var x = {'b': 1}"
    >>> list(named_blocks(text, "var meta0 ="))
    [{'a': 1}, [3]]
    """
    for place in _openings(text, name, search_words(name)[-1] if word is None else word, start):
        if block_name(text, place) == name:
            decoded = decode_at(text, place)
            if decoded is not None and decoded[0]:
                yield decoded[0]


def _openings(text: str, name: str, word: str, start: int) -> Iterator[int]:
    """Yield where a value opens, in brackets or in a string, behind the end of a name."""
    name_end = _name_end(name, word)
    for place in islice(_occurrences(text, word, start), MAX_OCCURRENCES):
        match = name_end.match(text, place)
        if match:
            yield match.end() - 1


@lru_cache(maxsize=4096)
def _name_end(name: str, word: str) -> re.Pattern[str]:
    """Return the pattern of the name from a word on, up to the opening of the value."""
    unfolded = (FOLDS.get(char) or re.escape(char) for char in name[name.find(word) :])
    return re.compile(rf"{''.join(unfolded)}\s*(?:{OPENING})")


@lru_cache(maxsize=4096)
def search_words(name: str) -> tuple[str, ...]:
    """Return the longest literal parts of a folded name: with single blanks, and without any.

    The longer one is searched first, as it is rarer; it occurs on nearly all pages that hold the
    block.

    >>> search_words("var meta0 ="), search_words("meta0 ="), search_words("0")
    (('var meta', 'meta'), ('meta',), ('',))
    """
    longest = (max(folded.split(name), key=len).strip() for folded in (ZEROS, FOLDED))
    return tuple(dict.fromkeys(longest))


def find_pair(text: str, key: str, start: int = 0) -> str | None:
    """Return the value of the first loose pair with that key.

    >>> find_pair("total.sku = 'B'; sku: 'A-1'", "sku")
    'A-1'
    """
    pattern = _pair_pattern(key)
    for place in islice(_occurrences(text, key, start), MAX_OCCURRENCES):
        match = pattern.match(text, place)
        if match and _is_whole_key(text[place - 1 : place], match[1], key):
            return literal_text(match[2])
    return None


def _occurrences(text: str, word: str, start: int) -> Iterator[int]:
    place = text.find(word, start)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _is_whole_key(before: str, quote_after: str, key: str) -> bool:
    """Return True if a key is not part of a longer one: between two equal quotes, or a bare name.

    A bare name may follow a quote: that of a string before it, or of one around the pair.
    """
    if quote_after:
        return before == quote_after
    return BARE_KEY.fullmatch(key) is not None and KEY_CHAR.match(before) is None


@lru_cache(maxsize=4096)
def _pair_pattern(key: str) -> re.Pattern[str]:
    return re.compile(
        rf"""{re.escape(key)}(["']?)(?:(?<=["'])\])?+\s*+[:=]\s*+(?=["'\d-])({PAIRED_VALUE})"""
    )
