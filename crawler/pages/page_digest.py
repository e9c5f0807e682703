"""What a page tells by its bytes alone: its links, cleaned, its title, its marks of an offer, whether it is one at all.

Nothing of it needs the crawl, only the shop's root; so where pages come fast it is done in another process, on another
core (`crawler.store.page_processor`). What the crawl makes of it is the sieve's business.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from catalog.errors import HostilePage
from catalog.html import as_utf8, open_html
from catalog.storage.bodies import name_of
from crawler.pages.extract_links import page_links
from crawler.pages.offer_signals import offer_marks
from crawler.pages.soft404 import Print
from crawler.urls.site import Site
from crawler.urls.url_shape import Address


@dataclass(frozen=True)
class Digest:
    """A page, digested. `links` and `alternates` are addresses of the shop's, each once; `refused` are hrefs with the
    reason why they are not followed; `missing` says that it shows what a missing page shows."""

    body: str = ""
    size: int = 0
    title: str = ""
    marks: int = 0
    canonical: str | None = None
    links: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    missing: bool = False
    hostile: bool = False

    def as_json(self) -> dict[str, Any]:
        """As it travels between processes."""
        return asdict(self)

    @classmethod
    def from_json(cls, words: dict[str, Any]) -> "Digest":
        """What `as_json` gave, after a journey through JSON.

        >>> import json
        >>> sent = Digest("a1", links=("https://a.de/x",), refused=(("/cart", "cart"),))
        >>> Digest.from_json(json.loads(json.dumps(sent.as_json()))) == sent
        True
        """
        refused = tuple((href, reason) for href, reason in words["refused"])
        return cls(
            **{
                **words,
                "links": tuple(words["links"]),
                "alternates": tuple(words["alternates"]),
                "refused": refused,
            }
        )


class Digester:
    """Digests the pages of one shop; `shows` is what the shop shows in place of a missing page, where it says 200."""

    def __init__(self, site: Site, shows: Print | None = None) -> None:
        self._site, self.shows = site, shows

    def digest(self, body: bytes, content_type: str | None, url: str) -> Digest:
        """All that a page tells. A page built to be slow tells nothing."""
        try:
            tree = open_html(as_utf8(body, content_type))
        except HostilePage:
            return Digest(hostile=True)
        found = page_links(tree, url)
        refused: dict[str, str] = {}
        canonical = self._site.read(found.canonical) if found.canonical else None
        return Digest(
            body=name_of(body),
            size=len(body),
            title=_title(tree),
            marks=offer_marks(body),
            canonical=canonical.url if isinstance(canonical, Address) else None,
            links=self._follow((*found.hrefs, *found.turns), found.base, refused),
            alternates=self._follow(found.alternates, found.base, refused),
            refused=tuple(refused.items()),
            missing=self.shows is not None and Print.of(tree).same(self.shows),
        )

    def _follow(self, hrefs: Iterable[str], base: str, refused: dict[str, str]) -> tuple[str, ...]:
        links: dict[str, None] = {}
        for href in hrefs:
            address = self._site.follow(href, base)
            if isinstance(address, Address):
                links[address.url] = None
            elif address:
                refused[href] = address
        return tuple(links)


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return title.text().strip()[:200] if title else ""
