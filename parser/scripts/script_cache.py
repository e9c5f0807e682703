"""Caches of decoded code: the pages of a shop share most of their long scripts.

Whoever opens many pages passes one `ScriptCache` to all of them; a page that is opened alone has
its own.
"""

from collections.abc import Iterator
from typing import Any

from parser.scripts.syntax.javascript import CodeReader

# Characters of all scripts in the cache: a bound on memory.
MAX_CACHED_CHARS = 8_000_000

# Characters by which a cached script is found before the texts are compared.
HEAD_LENGTH = 40

# The blocks of one script, by their name, the key and the word that were searched.
KnownBlocks = dict[tuple[str, str, str], Iterator[Any] | None]


class ScriptCache:
    """The results of decoding and of lookups, for scripts that several pages share."""

    def __init__(self) -> None:
        # Two objects, as cached lookups refer to the reader: one object would refer to itself, and
        # only garbage collection could free it.
        self.reader = CodeReader()
        self.lookups = LookupCache()


class LookupCache:
    """The blocks that were looked up in scripts, by the text of the script."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[str, KnownBlocks]] = {}
        self._size = 0

    def known_blocks(self, text: str) -> KnownBlocks | None:
        """Return the blocks known of a script, to be added to; None if it is met first."""
        # Length and head find a candidate without hashing the whole text.
        fingerprint = (len(text), text[:HEAD_LENGTH])
        cached = self._known.get(fingerprint)
        if cached is not None and cached[0] == text:
            return cached[1]
        self._size += len(text)
        if self._size > MAX_CACHED_CHARS:
            self._known.clear()
            self._size = len(text)
        self._known[fingerprint] = (text, {})
        return None
