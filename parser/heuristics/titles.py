"""The title of a page's offer: its heading, else another element that the page's titles name.

The titles of a page, in its head, mostly have the shop's name before or behind the offer's. That
name is cut off: it is the one that the page or its host states, or a part that the titles of many
pages of the shop share (`SiteTexts`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import normalise
from catalog.values.shop_words import word_key
from catalog.values.text import GAP
from parser.heuristics.markup import meta_content
from parser.heuristics.page_parts import OfferLinks, is_outer
from parser.page.document import Document
from parser.page.texts import element_text

# Characters of a heading that are compared.
MAX_HEADING_CHARS = 400
# Elements that may hold the title where no `h1` does.
OTHER_HEADINGS = (
    "h2, h3, [itemprop=name], div[class*=title i], div[class*=name i], span[class*=title i], "
    "span[class*=name i], p[class*=title i], p[class*=name i], strong[class*=name i]"
)
MAX_OTHER_HEADINGS = 150
# Share of a page's title that another heading than an `h1` has at least.
MIN_COVERAGE = 0.5
# Letters of the shortest title.
MIN_TITLE_CHARS = 2
TITLE_SEPARATOR = re.compile(
    rf"(?<!\s)\s++(?:[|–—·•»«›:/~]|-{{1,2}}|::)\s+|{GAP}[|»«]\s*|{GAP}::\s*"
)
SITE_NAME_METAS = ("og:site_name", "application-name", "twitter:site")
# Characters from which on a part of the host's name is the shop's name.
MIN_HOST_NAME_CHARS = 5
# Share of the longer that the shorter of such a part and the name is at least.
MIN_HOST_NAME_SHARE = 0.769
# Pages, and share of pages, on which a text is one of the shop rather than of an offer.
MIN_SITE_PAGES = 4
SITE_TEXT_SHARE = 0.25


@dataclass(frozen=True)
class SiteTexts:
    """Texts that many pages of a shop share: keys of headings, and of parts of titles."""

    headings: frozenset[str] = frozenset()
    title_parts: frozenset[str] = frozenset()


NO_SITE_TEXTS = SiteTexts()


def find_site_texts(documents: Sequence[Document]) -> SiteTexts:
    """Return the texts that many of a shop's pages share."""
    headings: Counter[str] = Counter()
    title_parts: Counter[str] = Counter()
    for document in documents:
        texts = {text for _, text in _texts_of(document.element_index.headings)}
        headings.update(map(word_key, texts))
        parts: set[str] = set()
        for title in _stated_titles(document):
            pieces = TITLE_SEPARATOR.split(title)
            if len(pieces) > 1:
                parts.update((word_key(pieces[0]), word_key(pieces[-1])))
        title_parts.update(parts)
    limit = max(MIN_SITE_PAGES, SITE_TEXT_SHARE * len(documents))
    return SiteTexts(_frequent(headings, limit), _frequent(title_parts, limit))


def _frequent(counts: Counter[str], limit: float) -> frozenset[str]:
    return frozenset(key for key, count in counts.items() if key and count >= limit)


class ShopName:
    """The shop's name as a page, its host and the other pages of the shop state it."""

    def __init__(self, document: Document, site: SiteTexts) -> None:
        stated = (meta_content(document, name) for name in SITE_NAME_METAS)
        self._keys = {word_key(name) for name in stated if name} | site.title_parts
        host = urlsplit(document.url).hostname if "//" in document.url else ""
        self._host_keys = [word_key(label) for label in (host or "").split(".")[:-1]]

    def is_name(self, text: str) -> bool:
        """Return True if a text is the shop's name."""
        key = word_key(text)
        if not key or key in self._keys:
            return True
        if len(key) < MIN_HOST_NAME_CHARS:
            return False
        return any(name_overlap(key, host) >= MIN_HOST_NAME_SHARE for host in self._host_keys)

    def cut(self, title: str) -> str:
        """Cut the shop's name off the end of a title; a title that is nothing else stays."""
        parts = _title_parts(title)
        while len(parts) > 1 and self.is_name(title[parts[-1]]):
            parts.pop()
        return title[: parts[-1].stop]

    def cut_both_ends(self, title: str) -> str:
        """Cut the shop's name off both ends of a page's title; in a heading, it is the brand."""
        parts = _title_parts(self.cut(title))
        while len(parts) > 1 and self.is_name(title[parts[0]]):
            parts.pop(0)
        return title[parts[0].start : parts[-1].stop]


def name_overlap(first: str, second: str) -> float:
    """Return the share of the longer of two names that the shorter one is; 0 if it is no part."""
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) / len(longer) if shorter and shorter in longer else 0.0


def _title_parts(title: str) -> list[slice]:
    """Return where the parts of a title between its separators stand."""
    parts = []
    start = 0
    for match in TITLE_SEPARATOR.finditer(title):
        parts.append(slice(start, match.start()))
        start = match.end()
    return [*parts, slice(start, len(title))]


def page_title(document: Document, site: SiteTexts = NO_SITE_TEXTS) -> str | None:
    """Return the title of a page's offer; None where nothing names it.

    It is the first `h1` that is a part of the page's titles; else another heading or element named
    a title that makes up most of one; else the only `h1`; else OpenGraph's title, else that of the
    page, without the shop's name.
    """
    shop_name = ShopName(document, site)
    stated = [shop_name.cut_both_ends(title) for title in _stated_titles(document)]
    folded = " ".join(stated).casefold()
    links = OfferLinks(document)
    main_headings = [
        text
        for node, text in _texts_of(document.element_index.headings)
        if word_key(text) not in site.headings and not _is_logo(node, text, links, shop_name)
    ]
    matching = [text for text in main_headings if text.casefold() in folded]
    candidates = matching or list(_other_headings(document, stated, links))
    if not candidates and len(main_headings) == 1:
        candidates = main_headings
    if not candidates:
        candidates = [title for title in stated if not shop_name.is_name(title)]
    if not candidates:
        return None
    return normalise(Attribute.TITLE, candidates[0])


def _stated_titles(document: Document) -> list[str]:
    """Return the titles in a page's head: OpenGraph's, Twitter's, and its own."""
    titles = [meta_content(document, name) for name in ("og:title", "twitter:title")]
    element = document.first("title")
    if element is not None:
        titles.append(element_text(element, MAX_HEADING_CHARS))
    normalised = []
    for title in titles:
        value = normalise(Attribute.TITLE, title or "")
        if value:
            normalised.append(value)
    return normalised


def _texts_of(nodes: Sequence[LexborNode]) -> Iterator[tuple[LexborNode, str]]:
    for node in nodes:
        text = element_text(node, MAX_HEADING_CHARS)
        if text and len(text) >= MIN_TITLE_CHARS:
            yield node, text


def _is_logo(node: LexborNode, text: str, links: OfferLinks, shop_name: ShopName) -> bool:
    """Return True if a heading is the shop's name or a link to another page."""
    return shop_name.is_name(text) or links.leads_home(node) or links.leads_elsewhere(node)


def _other_headings(document: Document, stated: Sequence[str], links: OfferLinks) -> Iterator[str]:
    """Yield the element's text that makes up most of one of the page's titles, if there is any."""
    best, best_coverage = None, 0.0
    for node, text in _texts_of(document.all(OTHER_HEADINGS)[:MAX_OTHER_HEADINGS]):
        coverage = max((_coverage(text, title) for title in stated), default=0.0)
        if coverage < MIN_COVERAGE or coverage <= best_coverage:
            continue
        if links.leads_elsewhere(node) or node.css_first("a[href]") is not None or is_outer(node):
            continue
        best, best_coverage = text, coverage
    if best is not None:
        yield best


def _coverage(text: str, title: str) -> float:
    """Return the share of a title that a text makes up; 0 if it is no part of it."""
    key, title_key = word_key(text), word_key(title)
    if not key or not title_key or key not in title_key:
        return 0.0
    return len(key) / len(title_key)
