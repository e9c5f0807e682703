"""The shop's own site: from a link as it stands in a page to an address that may be requested, or the reason why not.

Every address is cleaned before anything else looks at it (`url_cleaner.clean`), carries the shop's own scheme and host,
and has neither fragment nor session id, so that one page is one row and no visit is ever a click.
"""

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urldefrag, urljoin, urlsplit

from w3lib.url import safe_url_string

from crawler.urls.url_rules import refusal
from crawler.urls.url_shape import Address, endless, without_session
from url_cleaner.clean import clean, same_site
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.lists import load
from url_cleaner.urls.link import absolute

FORGET = 20_000
SILENT = ("#", "javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "about:", "blob:")


class Site:
    """A shop's root and what is known of its addresses; `origin` is where the root really answers.

    `own` are tracking keys of this shop: links differ by them, pages do not. `lists` are files of the user's.
    """

    def __init__(self, home: str, own: Sequence[str] = (), lists: Sequence[str] = ()) -> None:
        self.home, self.own, self.lists = home, tuple(own), tuple(lists)
        self._lists = load(lists) if lists else None
        self.origin = _origin(home)
        self.read = lru_cache(FORGET)(self._read)
        self._join = lru_cache(FORGET)(self._joined)

    @property
    def root(self) -> str:
        """The shop's first page, at its own scheme and host."""
        parts = urlsplit(self.home)
        return self.origin + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def moved(self, url: str) -> bool:
        """Take the origin of `url`, which is of the same site, for the shop's own; tells whether it was another."""
        before, self.origin = self.origin, _origin(url)
        self.read.cache_clear()
        self._join.cache_clear()
        return before != self.origin

    def owns(self, url: str) -> bool:
        """Whether a URL is on the shop's own host and port."""
        return same_site(url, self.home)

    def follow(self, href: str, base: str) -> Address | str | None:
        """The address of a link that stands in a page, the reason why it is not visited, or None where it is no link.

        >>> Site("https://a.de/").follow("../x?utm_source=b#c", "https://a.de/d/e/").url
        'https://a.de/d/x'
        >>> Site("https://a.de/").follow("//b.de/x", "https://a.de/"), Site("https://a.de/").follow("tel:1", "https://a.de/")
        ('other host', None)
        """
        href = href.strip()
        if not href or href[:20].lower().startswith(SILENT):
            return None
        return self._join(href, base if href.startswith("?") else base.rpartition("/")[0] + "/")

    def _joined(self, href: str, base: str) -> Address | str:
        return self.read(absolute(base, href) or "")

    def _read(self, link: str) -> Address | str:
        address = self.locate(link)
        return (
            address if isinstance(address, str) else endless(address) or refusal(address) or address
        )

    def locate(self, link: str) -> Address | str:
        """The cleaned address of a link to this site, whatever it is called; a reason where it leads elsewhere."""
        try:
            cleaned = clean(link, home=self.home, own=self.own, lists=self._lists).url
            if cleaned is None or not self.owns(cleaned):
                return "other host" if urlsplit(link).scheme in ("http", "https") else "not a link"
            url = safe_url_string(without_session(urldefrag(cleaned).url))
            path = "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"
            return Address(urljoin(self.origin + "/", self.origin + path))
        except (BadUrl, ValueError):
            return "not a link"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}"
