"""Soft 404s: "not found" pages with status 200, detected by a page that cannot exist.

A crawl requests one such page (`crawler.fetch.probe`); its fingerprint is the shop's soft 404. A
page with the same title and nearly the same words is missing too. Words are compared as sets: the
shop's menus are on both pages and drop out.
"""

import hashlib
import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from catalog.errors import HostilePage
from catalog.html import open_html, to_utf8

WORD = re.compile(r"\w{2,}")
TEXT_TAGS = "body h1, body h2, body h3, body p, body li, body a, body td"
MAX_TEXT_CHARS = 2_000_000  # of all elements; bound: each one that is nested repeats its text
DIFFERENT_WORDS = 6  # words on one page only, such as those of the requested path
DIFFERENT_SHARE = 0.01  # further ones, as a share of all words of the two pages


@dataclass(frozen=True)
class PageFingerprint:
    """Fingerprint of a page: its title and the set of its words."""

    title: str
    words: frozenset[str]

    @classmethod
    def of(cls, tree: LexborHTMLParser) -> "PageFingerprint":
        """Compute the fingerprint of a page.

        Words with a digit are left out: times and request numbers change."""
        title = tree.css_first("title")
        texts: list[str] = []
        remaining = MAX_TEXT_CHARS
        for node in tree.css(TEXT_TAGS):
            if remaining <= 0:
                break
            texts.append(node.text(separator=" ")[:remaining])
            remaining -= len(texts[-1])
        page_words = set(WORD.findall(" ".join(texts).lower()))
        stable = frozenset(word for word in page_words if not _has_digit(word))
        return cls(title.text().strip() if title else "", stable)

    def is_similar(self, page: "PageFingerprint") -> bool:
        """Return True if two pages have one title and the same words but for a few.

        >>> lost = PageFingerprint("Sorry", frozenset("we could not find that page".split()))
        >>> lost.is_similar(PageFingerprint("Sorry", lost.words | {"bike"}))
        True
        >>> lost.is_similar(PageFingerprint("Blue bike", lost.words))
        False
        """
        different = len(self.words ^ page.words)
        tolerated = DIFFERENT_WORDS + DIFFERENT_SHARE * len(self.words | page.words)
        return self.title == page.title and different <= tolerated


def page_fingerprint(body: bytes, content_type: str | None) -> PageFingerprint | None:
    """Compute the fingerprint of a page from its bytes; None if the page is hostile."""
    try:
        return PageFingerprint.of(open_html(to_utf8(body, content_type)))
    except HostilePage:
        return None


def nonexistent_path(root: str) -> str:
    """Build a path that no page can have; it is the same in each crawl of a shop.

    >>> nonexistent_path("https://a.de/") == nonexistent_path("https://a.de/")
    True
    """
    return f"/scout-{hashlib.blake2b(root.encode(), digest_size=6).hexdigest()}-not-a-page"


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)
