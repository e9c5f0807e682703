"""Whose data a block is: the page's own product's, or another one's that the page shows beside it.

Themes write the same block of data for the product of a page and for those on the cards below. Where a layout leaves
out the page's own, the first of that name is another product's, and so would be all that is read there. A product
names itself in its data: it is another one where most words of that name are in none of the page's titles, and the
page's address is not its own.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser

from parser.texts import text_of

KEYS_OF_A_PRODUCT = ("handle", "variants", "offers")
TITLES = 'title, h1, meta[property="og:title"]'
MOST_TITLES, LONGEST_TITLE = 5, 400
WORD, STEP = re.compile(r"\w+"), re.compile(r"[/?#]+")


class Owner:
    """The product that a page is about, as its titles and its address tell it."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self._tree, self._url = tree, url
        self._is_own: dict[str, bool] = {}

    def own(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """The blocks without those of other products."""
        return (data for data in blocks if self.another(data) is None)

    def another(self, data: Any) -> str | None:
        """The name of the other product that this is the data of; None for the page's own, and for all other data."""
        if not isinstance(data, dict):
            return None
        name = data.get("title") or data.get("name")
        if not isinstance(name, str) or not any(map(data.__contains__, KEYS_OF_A_PRODUCT)):
            return None
        if name not in self._is_own:
            self._is_own[name] = self._is_about(name) or self._is_at(data.get("handle"))
        return None if self._is_own[name] else name

    def _is_about(self, name: str) -> bool:
        words = _words(name)
        return not self._words or 2 * len(words & self._words) >= len(words)

    def _is_at(self, handle: Any) -> bool:
        return isinstance(handle, str) and handle != "" and handle in STEP.split(unquote(self._url))

    @cached_property
    def _words(self) -> frozenset[str]:
        """The words of the page's titles."""
        nodes = self._tree.css(TITLES)[:MOST_TITLES]
        texts = (node.attributes.get("content") or text_of(node, LONGEST_TITLE) or "" for node in nodes)
        return frozenset().union(*map(_words, texts))


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text[:LONGEST_TITLE].casefold()))
