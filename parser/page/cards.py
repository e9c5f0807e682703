"""Cards: parts of a page that show the offer of another page, as related products and upsells do.

An element inside a link to another page, or made up of one, belongs to that page. So does an
element of a card: one of several like elements, each with a picture or heading that links to a page
of its own.
"""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

from catalog.models import Attribute
from parser.page.ancestors import ancestors_or_self
from url_cleaner.urls.url import join_url, url_key

# Attributes that cards show as well.
CARD_ATTRIBUTES = frozenset({Attribute.TITLE, Attribute.PRICE, Attribute.IMAGE})
# Elements around one that are looked at, and those that may be a card.
MAX_LEVELS = 14
MAX_CARD_LEVELS = 5
# Links of a card, and siblings on each side that are compared: bounds against hostile input.
MAX_LINKS = 20
MAX_SIBLINGS = 20
MAX_HREF_CHARS = 2_000
# A link to a picture enlarges it.
PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?![a-z0-9])", re.IGNORECASE)
INDEX_FILE = re.compile(r"/index\.\w+\Z")
# Elements of a card's link that make it the link to the card's offer.
SHOWN_IN_LINK = "img, h2, h3, h4, h5"
HEADINGS = frozenset({"h2", "h3", "h4", "h5"})

# The comparison key of a URL without its query, and the query's parameters.
SplitUrl = tuple[str, dict[str, str]]


class Cards:
    """Tells which elements of a page belong to other pages; `url` is that it was fetched from."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self._tree = tree
        self._url = url
        self._contained: dict[int, bool] = {}
        self._cards: dict[int, bool] = {}

    # Few pages have links in question, and URLs cost.
    @cached_property
    def _base(self) -> str:
        return base_url(self._tree, self._url)

    @cached_property
    def _own_urls(self) -> list[SplitUrl]:
        """The page's own URLs: the one it was fetched from, and its canonical one."""
        link = self._tree.css_first('link[rel="canonical"]')
        href = link.attributes.get("href") if link is not None else None
        canonical = join_url(self._base, href) if href else None
        return [_split_url(url) for url in (self._url, canonical) if url]

    def contains(self, node: LexborNode) -> bool:
        """Return True if the element is inside a link to another page, or in a card."""
        if node.mem_id not in self._contained:
            self._contained[node.mem_id] = self._is_contained(node)
        return self._contained[node.mem_id]

    def _is_contained(self, node: LexborNode) -> bool:
        parent = node.parent
        # The head has no links, and meta elements are read from most pages.
        if parent is not None and parent.tag == "head":
            return False
        link = only_link(node)
        if link is not None and self.target(link) is not None:
            return True
        # No card holds the page's own heading.
        may_be_card = True
        for level, element in enumerate(ancestors_or_self(node, MAX_LEVELS)):
            tag = element.tag
            if tag == "a":
                return self.target(element) is not None
            may_be_card = may_be_card and tag != "h1" and level < MAX_CARD_LEVELS
            if may_be_card and self._is_card(element):
                return True
        return False

    def _is_card(self, element: LexborNode) -> bool:
        if element.mem_id not in self._cards:
            self._cards[element.mem_id] = self._looks_like_card(element)
        return self._cards[element.mem_id]

    def _looks_like_card(self, element: LexborNode) -> bool:
        # An element without content has no links.
        if element.first_child is None:
            return False
        target = None
        for sibling in _like_siblings(element):
            if target is None:
                target = self._card_target(element)
                if target is None or element.css_first("h1") is not None:
                    return False
            sibling_target = self._card_target(sibling)
            if sibling_target is not None and sibling_target != target:
                return True
        return False

    def _card_target(self, element: LexborNode) -> str | None:
        """Return the page that a picture or heading of the element links to."""
        for link in element.css("a[href]")[:MAX_LINKS]:
            parent = link.parent
            is_heading = parent is not None and parent.tag in HEADINGS
            if is_heading or link.css_first(SHOWN_IN_LINK) is not None:
                target = self.target(link)
                if target is not None:
                    return target
        return None

    def resolve(self, link: LexborNode) -> str | None:
        """Return the URL of a link; None for a part of the page, or for another scheme."""
        href = (link.attributes.get("href") or "").strip()
        if not href or len(href) > MAX_HREF_CHARS or href.startswith("#"):
            return None
        url = join_url(self._base, href) or ""
        return url if url.startswith(("https://", "http://")) else None

    def target(self, link: LexborNode) -> str | None:
        """Return the URL of another page that a link leads to; None for the page itself."""
        # A link to a picture leads to no other page. The pattern goes first: resolving a URL costs
        # more.
        if PICTURE.search(link.attrs.get("href") or ""):
            return None
        url = self.resolve(link)
        if url is None:
            return None
        path, query = _split_url(url)
        for own_path, own_query in self._own_urls:
            if path == own_path:
                shared = query.keys() & own_query.keys()
                return url if any(query[name] != own_query[name] for name in shared) else None
        # Shops show one offer in several folders.
        name = _last_segment(path)
        own_names = [_last_segment(own_path) for own_path, _ in self._own_urls]
        return None if name and name in own_names else url


def base_url(tree: LexborHTMLParser, url: str) -> str:
    """Return the URL that links resolve against: `<base href>`, else the page's own."""
    element = None if tree.head is None else tree.head.css_first("base[href]")
    if element is None:
        return url
    base = join_url(url, (element.attrs.get("href") or "").strip()) or ""
    return base if base.startswith(("https://", "http://")) else url


def only_link(node: LexborNode) -> LexborNode | None:
    """Return the link that makes up an element, as in `<h3><a>...</a></h3>`."""
    current: LexborNode | None = node
    for _ in range(MAX_CARD_LEVELS):
        current = None if current is None else _only_child(current)
        if current is None or current.tag == "a":
            return current
    return None


def _only_child(node: LexborNode) -> LexborNode | None:
    """Return the only child of an element but for blank texts; None without a single one."""
    only = None
    child = node.first_child
    while child is not None:
        if child.is_element_node or (child.text_content or "").strip():
            if only is not None:
                return None
            only = child
        child = child.next
    return only


def _split_url(url: str) -> SplitUrl:
    address, _, query = url.partition("#")[0].partition("?")
    return INDEX_FILE.sub("", url_key(address)), dict(parse_qsl(query)) if query else {}


def _last_segment(path: str) -> str:
    return path.partition("/")[2].rpartition("/")[2]


def _like_siblings(element: LexborNode) -> Iterator[LexborNode]:
    """Yield the nearest siblings with the element's tag and classes; texts between count."""
    tag = element.tag
    classes = element.attributes.get("class") or ""
    for step in ("prev", "next"):
        sibling = getattr(element, step)
        for _ in range(MAX_SIBLINGS):
            if sibling is None:
                break
            if sibling.tag == tag and (sibling.attributes.get("class") or "") == classes:
                yield sibling
            sibling = getattr(sibling, step)
