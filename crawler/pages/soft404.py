"""Soft 404s: pages that say "not found" with status 200, told by asking once for a page that cannot exist.

One request a crawl: its answer is how this shop says that a page is missing. An answer that uses nearly the same words
under the same title says the same. Words are compared as sets; the shop's menus are in both, and drop out.
"""

import hashlib
import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

WORD = re.compile(r"\w{2,}")
STRAY = 6
SHARE = 0.01


@dataclass(frozen=True)
class Print:
    """A page's title and the words of its text."""

    title: str
    words: frozenset[str]

    @classmethod
    def of(cls, tree: LexborHTMLParser) -> "Print":
        """The print of a page; words that hold a digit are left out, for they may be times and request numbers."""
        title = tree.css_first("title")
        parts = [
            node.text(separator=" ")
            for node in tree.css("body h1, body h2, body h3, body p, body li, body a, body td")
        ]
        words = WORD.findall(" ".join(parts).lower())
        return cls(
            title.text().strip() if title else "",
            frozenset(w for w in words if not any(c.isdigit() for c in w)),
        )

    def same(self, other: "Print") -> bool:
        """Whether both say the same, up to a few words such as the address that was asked for.

        >>> lost = Print("Sorry", frozenset("we could not find that page".split()))
        >>> lost.same(Print("Sorry", lost.words | {"bike"})), lost.same(Print("Blue bike", lost.words))
        (True, False)
        """
        stray = len(self.words ^ other.words)
        return self.title == other.title and stray <= STRAY + SHARE * len(self.words | other.words)


def nonsense(root: str) -> str:
    """A path that no page can have: the same for each crawl of a shop.

    >>> nonsense("https://a.de/") == nonsense("https://a.de/")
    True
    """
    return f"/scout-{hashlib.blake2b(root.encode(), digest_size=6).hexdigest()}-not-a-page"
