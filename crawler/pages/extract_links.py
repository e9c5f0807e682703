"""The links of a page, and what the page says of itself: its base, its canonical address, its other languages.

Scrapy's LinkExtractor spends several times the page's download on this; one lexbor parse and one pass over the few
tags that can hold a link do the same.
"""

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from url_cleaner.urls.link import absolute

MOST = 5_000
HOLDERS = "a[href], area[href], link[href], iframe[src], frame[src], meta[http-equiv], base[href]"
REFRESH = re.compile(r"url\s*=\s*['\"]?([^'\"]+)", re.I)


@dataclass(frozen=True)
class PageLinks:
    """What a page links to: `hrefs` as they stand, each once; all else are hints of the page on itself."""

    base: str
    hrefs: tuple[str, ...]
    canonical: str | None = None
    turns: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()


def page_links(tree: LexborHTMLParser, url: str) -> PageLinks:
    """The links that a visitor of the page could follow; those marked nofollow are left out.

    >>> html = "<base href=/b/><link rel=canonical href=/c><a href=x>x</a><a rel=nofollow href=y>y</a>"
    >>> found = page_links(LexborHTMLParser(html), "https://a.de/p")
    >>> found.base, found.hrefs, found.canonical
    ('https://a.de/b/', ('x',), 'https://a.de/c')
    """
    base, canonical = url, None
    hrefs: dict[str, None] = {}
    turns: list[str] = []
    alternates: list[str] = []
    for node in tree.css(HOLDERS):
        get, tag = node.attrs.get, node.tag
        href = (get("href") or get("src") or "").strip()
        rel = (get("rel") or "").lower()
        if tag == "base":
            base = absolute(url, href) or base if base == url and href else base
        elif tag == "meta":
            href = _refresh(get("http-equiv"), get("content"))
        elif tag == "link":
            canonical = canonical or (href if rel == "canonical" else None)
            turns += [href] if rel in ("next", "prev") else []
            alternates += [href] if rel == "alternate" and get("hreflang") else []
            continue
        if href and tag != "base" and "nofollow" not in rel and len(hrefs) < MOST:
            hrefs[href] = None
    resolved = absolute(base, canonical) if canonical else None
    return PageLinks(base, tuple(hrefs), resolved, tuple(turns), tuple(alternates))


def _refresh(what: str | None, content: str | None) -> str:
    found = REFRESH.search(content or "") if (what or "").lower() == "refresh" else None
    return found[1].strip() if found else ""
