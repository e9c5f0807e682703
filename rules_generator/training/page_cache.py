"""A page under study: elements that hundreds of selectors ask for are looked up once.

Most candidates are an anchor and a step below it, and many share the anchor. So the elements of an anchor are kept, and
the whole selector is asked within each of them: what it finds first there is what the parser finds first on the page.

What a page costs is added up: the engine counts `:nth-of-type` anew for each of a hundred thousand siblings, and a page
may be made of these.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import TypeVar

from selectolax.lexbor import LexborNode

from catalog.errors import HostilePage
from parser.page.document import Document
from parser.page.texts import text_at
from parser.rules.selector import CONTENT, UNSTRUCK, AnySelector, TextAt, is_of_one

BELOW = re.compile(
    r"""((?:[^"]|"[^"]*")*[^\s>+~,])\s+(?:[\w*.#:-]|\[[\w^*=-]+(?:"[^"\s\\]*")?\]|\([^()\s"]*\))+"""
)
MOST_ANCHORED = 40
LONGEST = 3
MOST_SIBLINGS = 10_000
COUNTED = ":nth"
TOO_SLOW = "selectors take too long on its page"

T = TypeVar("T")


class SlowPage(HostilePage):
    """A page that nothing can be learnt from: what selectors find on it takes too long."""


class Lookup:
    """What selectors find on one page, each element and each text looked up once.

    `spent` is what the engine has taken for that, in seconds; more than three raise SlowPage.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.spent = 0.0
        self._anchored: dict[str, list[LexborNode]] = {}
        self._nodes: dict[str, LexborNode | None] = {}
        self._counts: dict[str, int] = {}
        self._texts: dict[tuple[int, str | bool, bool], str | None] = {}

    def find(self, selector: AnySelector) -> str | None:
        """What `Document.find` gives."""
        if not is_of_one(selector):
            return self._timed(selector.css, lambda: self.document.find(selector))
        node = self.first(selector.css)
        if node is None:
            return None
        detail = selector.own if isinstance(selector, TextAt) else selector.name
        spot = node.mem_id, detail, selector.css.endswith(UNSTRUCK)
        if spot not in self._texts:
            self._texts[spot] = text_at(node, selector)
        return self._texts[spot]

    def first(self, css: str) -> LexborNode | None:
        """What `Document.first` gives."""
        if css not in self._nodes:
            self._nodes[css] = self._timed(css, lambda: self._first(css))
        return self._nodes[css]

    def all(self, css: str) -> list[LexborNode]:
        """What `Document.all` gives."""
        return self._timed(css, lambda: self.document.all(css))

    def count(self, css: str) -> int:
        """How many elements `css` finds."""
        if css not in self._counts:
            self._counts[css] = len(self.all(css))
        return self._counts[css]

    def _first(self, css: str) -> LexborNode | None:
        below = None if CONTENT in css else BELOW.fullmatch(css)
        anchored = self._at(below[1]) if below else []
        if below is None or len(anchored) > MOST_ANCHORED:
            return self.document.first(css)
        return next(
            (found for node in anchored if (found := node.css_first(css)) is not None), None
        )

    def _at(self, anchor: str) -> list[LexborNode]:
        if anchor not in self._anchored:
            self._anchored[anchor] = self.document.all(anchor)[: MOST_ANCHORED + 1]
        return self._anchored[anchor]

    @property
    def is_slow(self) -> bool:
        """Whether it will soon have cost too much, if it has not yet."""
        return 2 * self.spent > LONGEST or self._is_crowded

    @cached_property
    def _is_crowded(self) -> bool:
        """Whether an element has so many others in it that one question for the third of them takes seconds."""
        elements = self.document.all("*")
        if len(elements) <= MOST_SIBLINGS:
            return False
        return (
            max(Counter(one.parent.mem_id for one in elements if one.parent).values())
            > MOST_SIBLINGS
        )

    def _timed(self, css: str, ask: Callable[[], T]) -> T:
        if COUNTED in css and self._is_crowded:
            raise SlowPage(TOO_SLOW)
        begin = perf_counter()
        found = ask()
        self.spent += perf_counter() - begin
        if self.spent > LONGEST:
            raise SlowPage(TOO_SLOW)
        return found
