"""Page digest: a page's links, title, offer signals and soft-404 test, from its bytes alone.

A digest depends on the shop's site, not on the crawl. So pages that arrive fast are digested in a
second process (`crawler.store.page_processor`); `crawler.filters.link_filter` then decides on the
links.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from catalog.errors import HostilePage
from catalog.html import open_html, to_utf8
from catalog.page_encoding import detect_encoding
from catalog.storage.bodies import body_hash
from crawler.pages.languages import resolve_alternates
from crawler.pages.link_extraction import MAX_LINKS, extract_links
from crawler.pages.offer_signals import count_offer_signals
from crawler.pages.soft404 import PageFingerprint
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site

TOO_MANY_LINKS = f"page with more than {MAX_LINKS} links"  # reason: the others are not visited
MAX_TITLE_LENGTH = 200  # characters; bound: titles are kept in memory


@dataclass(frozen=True)
class PageDigest:
    """Digest of a page. `links` and `alternates` are the shop's own URLs, without duplicates.

    `language` is the page's language code, `versions` maps such codes to the URLs of the page in
    other languages (hreflang), on any host. `refused` pairs hrefs with the reason against visiting
    them, and the page's own URL with `TOO_MANY_LINKS`. `is_missing` marks soft 404s; `is_hostile` a
    page that was not parsed because parsing would take too long.
    """

    body: str = ""
    size: int = 0
    title: str = ""
    offer_signals: int = 0
    canonical: str | None = None
    links: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    language: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()
    is_missing: bool = False
    is_hostile: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the digest as a dict for JSON, to send it between processes."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "PageDigest":
        """Rebuild the digest from `as_json`, whose tuples JSON has turned into lists.

        >>> import json
        >>> sent = PageDigest("a1", links=("https://a.de/x",), refused=(("/cart", "cart"),))
        >>> PageDigest.from_json(json.loads(json.dumps(sent.as_json()))) == sent
        True
        """
        tuples = {
            "links": tuple(fields["links"]),
            "alternates": tuple(fields["alternates"]),
            "refused": tuple((href, reason) for href, reason in fields["refused"]),
        }
        return cls(**{**fields, **tuples})


class PageDigester:
    """Digests the pages of one shop.

    `missing_page` is the fingerprint of its soft 404s, None if it sends real ones.
    """

    def __init__(self, site: Site, missing_page: PageFingerprint | None = None) -> None:
        self._site = site
        self.missing_page = missing_page

    def digest(
        self,
        body: bytes,
        content_type: str | None,
        url: str,
        link_header: str | None = None,
        content_language: str | None = None,
    ) -> PageDigest:
        """Digest a page; a hostile page gives an empty digest that says so."""
        try:
            tree = open_html(to_utf8(body, content_type))
        except HostilePage:
            return PageDigest(is_hostile=True)
        links = extract_links(
            tree,
            url,
            lambda: detect_encoding(body, content_type).name,
            link_header,
            content_language,
        )
        refused = {url: TOO_MANY_LINKS} if links.has_more else {}
        return PageDigest(
            body=body_hash(body),
            size=len(body),
            title=_title(tree),
            offer_signals=count_offer_signals(body),
            canonical=self._canonical_url(links.canonical),
            links=self._resolve((*links.hrefs, *links.pagination), links.base, refused),
            alternates=self._resolve((href for _, href in links.alternates), links.base, refused),
            language=links.language,
            versions=resolve_alternates(links.alternates, links.base, self._site),
            refused=tuple(refused.items()),
            is_missing=self._is_missing(tree),
        )

    def _canonical_url(self, canonical: str | None) -> str | None:
        if not canonical:
            return None
        address = self._site.check(canonical)
        return address.text if isinstance(address, CrawlUrl) else None

    def _is_missing(self, tree: LexborHTMLParser) -> bool:
        if self.missing_page is None:
            return False
        return PageFingerprint.of(tree).is_similar(self.missing_page)

    def _resolve(self, hrefs: Iterable[str], base: str, refused: dict[str, str]) -> tuple[str, ...]:
        """Resolve hrefs to URLs of the shop; adds the others to `refused`."""
        links: dict[str, None] = {}
        for href in hrefs:
            address = self._site.resolve(href, base)
            if isinstance(address, CrawlUrl):
                links[address.text] = None
            elif address:
                refused[href] = address
        return tuple(links)


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return title.text().strip()[:MAX_TITLE_LENGTH] if title else ""
