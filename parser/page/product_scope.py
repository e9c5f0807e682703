"""Whose data a block is: the page's own product's, or another one's that the page shows beside it.

Themes write the same block of data for the product of a page and for those on the cards below. Where a layout leaves
out the page's own, the first of that name is another product's, and so would be all that is read there. A product
names itself in its data: it is another one where half of that name's words or more are in none of the page's titles,
no title is a part of it, and the page's address is not its own. Titles that have no word of that address tell nothing:
they may be the same on all pages of the shop.
"""

import re
from collections.abc import Iterable, Iterator, KeysView
from itertools import filterfalse
from typing import Any
from urllib.parse import unquote

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

from catalog.values.text import words
from parser.page.element_index import Seen
from parser.page.texts import text_of

KEYS_OF_A_PRODUCT = ("handle", "variants", "offers")
FOR_OTHERS = 'meta[property="og:title"]'
LONGEST_TITLE = 400
NAMING = re.compile(r"[^\W\d_]{3,}")
STEP = re.compile(r"[/?#]+")
END_OF_PATH = re.compile(r"[?#]")


class Owner:
    """The product that a page is about, as its titles and its address tell it."""

    def __init__(self, tree: LexborHTMLParser, seen: Seen, url: str) -> None:
        self._tree, self._seen, self._url = tree, seen, url
        self._is_named_here: dict[str, bool] = {}

    def own(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """The blocks without those of other products."""
        return filterfalse(self.another, blocks)

    def another(self, data: Any) -> str | None:
        """The name of the other product that this is the data of; None for the page's own, and for all other data."""
        if not isinstance(data, dict):
            return None
        name = data.get("title") or data.get("name")
        if not isinstance(name, str) or data.keys().isdisjoint(KEYS_OF_A_PRODUCT):
            return None
        if name not in self._is_named_here:
            self._is_named_here[name] = self._is_about(name)
        return None if self._is_named_here[name] or self._is_at(data.get("handle")) else name

    def _is_about(self, name: str) -> bool:
        """Whether a title of the page and the name are in one another, or most of its words are in the titles.

        The first that is asked mostly holds it.
        """
        said = set[str]()
        for title in filter(None, self._titles()):
            if name in title:
                return True
            in_name, in_title = _words(name), _words(title)
            said |= in_title
            if in_title <= in_name or 2 * len(in_name & said) > len(in_name):
                return True
        return said.isdisjoint(self._in_address)

    def _is_at(self, handle: Any) -> bool:
        return isinstance(handle, str) and handle != "" and handle in STEP.split(unquote(self._url))

    @cached_property
    def _in_address(self) -> frozenset[str]:
        """The words of the last step of the page's path."""
        path = END_OF_PATH.split(unquote(self._url), maxsplit=1)[0]
        return frozenset(NAMING.findall(path.rstrip("/").rpartition("/")[2].casefold()))

    def _titles(self) -> Iterator[str]:
        """The page's titles, those first that are found soonest."""
        yield _title_of(self._seen.first(FOR_OTHERS)[1])
        yield self._title
        yield from self._headings

    @cached_property
    def _title(self) -> str:
        return _title_of(self._tree.head and self._tree.head.css_first("title"))

    @cached_property
    def _headings(self) -> list[str]:
        return [_title_of(node) for node in self._seen.headings]


def _title_of(node: LexborNode | None) -> str:
    return (
        "" if node is None else node.attributes.get("content") or text_of(node, LONGEST_TITLE) or ""
    )


def _words(text: str) -> KeysView[str]:
    return words(text[:LONGEST_TITLE]).keys()
