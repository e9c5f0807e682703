"""A page under study: elements that hundreds of selectors ask for are looked up once.

Most candidates are an anchor and a step below it, and many share the anchor. So the elements of an anchor are kept, and
the whole selector is asked within each of them: what it finds first there is what the parser finds first on the page.
"""

import re

from selectolax.lexbor import LexborNode

from parser.document import Document
from parser.selector import CONTENT, UNSTRUCK, AnySelector, TextAt, is_of_one
from parser.texts import text_at

BELOW = re.compile(r"""((?:[^"]|"[^"]*")*[^\s>+~,])\s+(?:[\w*.#:-]|\[[\w^*=-]+(?:"[^"\s\\]*")?\]|\([^()\s"]*\))+""")
MOST_ANCHORED = 40


class Lookup:
    """What selectors find on one page, each element and each text looked up once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._anchored: dict[str, list[LexborNode]] = {}
        self._nodes: dict[str, LexborNode | None] = {}
        self._counts: dict[str, int] = {}
        self._texts: dict[tuple[int, str | bool, bool], str | None] = {}

    def find(self, selector: AnySelector) -> str | None:
        """What `Document.find` gives."""
        if not is_of_one(selector):
            return self.document.find(selector)
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
            self._nodes[css] = self._first(css)
        return self._nodes[css]

    def count(self, css: str) -> int:
        """How many elements `css` finds."""
        if css not in self._counts:
            self._counts[css] = len(self.document.all(css))
        return self._counts[css]

    def _first(self, css: str) -> LexborNode | None:
        below = None if CONTENT in css else BELOW.fullmatch(css)
        anchored = self._at(below[1]) if below else []
        if below is None or len(anchored) > MOST_ANCHORED:
            return self.document.first(css)
        return next((found for node in anchored if (found := node.css_first(css)) is not None), None)

    def _at(self, anchor: str) -> list[LexborNode]:
        if anchor not in self._anchored:
            self._anchored[anchor] = self.document.all(anchor)[: MOST_ANCHORED + 1]
        return self._anchored[anchor]
