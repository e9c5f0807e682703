"""A page under study: elements that hundreds of selectors look for are looked up once.

Most candidates are an anchor and a step below it, and many share the anchor. So the elements of an
anchor are cached, and the whole selector runs within each of them: its first match there is its
first match on the page.

The engine's processor time per page is added up: it counts `:nth-of-type` anew for each of a
hundred thousand siblings, and a page may be made of these.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from time import thread_time
from typing import TypeVar

from selectolax.lexbor import LexborNode

from catalog.errors import HostilePage
from parser.page.document import Document
from parser.page.texts import selected_text
from parser.rules.selector import CONTENT, AnySelector, TextAt, reads_one_element

# An anchor (group 1) and one compound selector below it.
ANCHORED_SELECTOR = re.compile(
    r"""((?:[^"]|"[^"]*")*[^\s>+~,])\s+(?:[\w*.#:-]|\[[\w^*=-]+(?:"[^"\s\\]*")?\]|\([^()\s"]*\))+"""
)
# Cap: an anchor with more elements saves nothing.
MAX_ANCHORED = 40
# Seconds of processor time that selectors may take on one page: bound against hostile input.
MAX_SECONDS = 3
# Siblings from which on positional selectors take seconds each: bound against hostile input.
MAX_SIBLINGS = 10_000
POSITIONAL = ":nth"
TOO_SLOW = "selectors take too long on its page"

T = TypeVar("T")


class SlowPage(HostilePage):
    """A page that nothing can be learnt from: selectors take too long on it."""


class PageCache:
    """Elements and texts that selectors find on one page, each looked up once.

    `spent` is the processor time of the selector engine in seconds; more than three raise SlowPage.
    `paths` has the selectors that were made of elements, by their memory ids.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.spent = 0.0
        self.paths: dict[int, list[str]] = {}
        self._anchored: dict[str, list[LexborNode]] = {}
        self._nodes: dict[str, LexborNode | None] = {}
        self._counts: dict[str, int] = {}
        self._texts: dict[tuple[int, str | bool], str | None] = {}

    def find(self, selector: AnySelector) -> str | None:
        """Return the text at a selector, as `Document.find` does."""
        if not reads_one_element(selector):
            return self._timed(selector.css, lambda: self.document.find(selector))
        node = self.first(selector.css)
        if node is None:
            return None
        detail = selector.own if isinstance(selector, TextAt) else selector.name
        cache_key = node.mem_id, detail
        if cache_key not in self._texts:
            self._texts[cache_key] = selected_text(node, selector)
        return self._texts[cache_key]

    def first(self, css: str) -> LexborNode | None:
        """Return the first element at a selector, as `Document.first` does."""
        if css not in self._nodes:
            self._nodes[css] = self._timed(css, lambda: self._first(css))
        return self._nodes[css]

    def all(self, css: str) -> list[LexborNode]:
        """Return all elements at a selector, as `Document.all` does."""
        return self._timed(css, lambda: self.document.all(css))

    def count(self, css: str) -> int:
        """Count the elements at a selector."""
        if css not in self._counts:
            self._counts[css] = len(self.all(css))
        return self._counts[css]

    def _first(self, css: str) -> LexborNode | None:
        below = None if CONTENT in css else ANCHORED_SELECTOR.fullmatch(css)
        anchored = self._anchor_nodes(below[1]) if below else []
        if below is None or len(anchored) > MAX_ANCHORED:
            return self.document.first(css)
        for anchor in anchored:
            node = anchor.css_first(css)
            if node is not None:
                return node
        return None

    def _anchor_nodes(self, anchor: str) -> list[LexborNode]:
        if anchor not in self._anchored:
            self._anchored[anchor] = self.document.all(anchor)[: MAX_ANCHORED + 1]
        return self._anchored[anchor]

    @property
    def is_slow(self) -> bool:
        """Return True if the page has used half of its time, or will by its markup."""
        return 2 * self.spent > MAX_SECONDS or self._is_crowded

    @cached_property
    def _is_crowded(self) -> bool:
        """Return True if an element has too many children for positional selectors."""
        elements = self.document.all("*")
        if len(elements) <= MAX_SIBLINGS:
            return False
        children = Counter(node.parent.mem_id for node in elements if node.parent)
        return max(children.values()) > MAX_SIBLINGS

    def _timed(self, css: str, query: Callable[[], T]) -> T:
        if POSITIONAL in css and self._is_crowded:
            raise SlowPage(TOO_SLOW)
        begin = thread_time()
        # Elements are looked up below others as well, without the tree that marks its page.
        self.document.mark()
        result = query()
        self.spent += thread_time() - begin
        if self.spent > MAX_SECONDS:
            raise SlowPage(TOO_SLOW)
        return result
