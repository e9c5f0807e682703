"""The shop's site: turns links of pages into addresses to request, or reasons against them.

Each address is cleaned first (`url_cleaner.cleaner`), put on the shop's own scheme and host, and
stripped of fragment and session id. So one page is one row, and no visit counts as a click.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from w3lib.url import safe_url_string

from catalog.runtime.code_version import code_version
from catalog.storage.fingerprints import Digest
from crawler.urls.crawl_url import CrawlUrl, strip_session_ids, trap_reason
from crawler.urls.url_rules import refusal_reason
from url_cleaner.cleaner import clean_url, is_same_site
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.filter_lists import load_filter_lists
from url_cleaner.urls.url import join_url

CACHE_SIZE = 20_000  # bound: addresses kept in memory; a shop's menus repeat on each page
MAX_CACHED_LENGTH = 2_000  # characters of a link; bound: longer ones would fill the memory
# Schemes of links that are no pages, ignored without a reason.
IGNORED_PREFIXES = (
    "#",
    "javascript:",
    "mailto:",
    "tel:",
    "data:",
    "sms:",
    "whatsapp:",
    "about:",
    "blob:",
)
# A link that leads to the same page from all pages of a host.
FROM_ROOT = re.compile(r"/|https?://[^/?#]")
# Packages whose code the links of a page depend on.
LINKING_PACKAGES = ("catalog", "crawler", "url_cleaner")
OTHER_HOST = "other host"
NOT_A_LINK = "not a link"


class Site:
    """A shop's root and the rules for its addresses; `origin` is the scheme and host that answers.

    `tracking_keys` are query keys of this shop that differ between links, not pages; `link_lists`
    are files of further tracking rules.
    """

    def __init__(
        self, home: str, tracking_keys: Sequence[str] = (), link_lists: Sequence[str] = ()
    ) -> None:
        self.home = home
        self.tracking_keys = tuple(tracking_keys)
        self.link_lists = tuple(link_lists)
        self._lists = load_filter_lists(link_lists) if link_lists else None
        self.origin = _origin(home)
        self._cached_check = lru_cache(CACHE_SIZE)(self._check)
        self._cached_join = lru_cache(CACHE_SIZE)(self._join_and_check)

    @property
    def root(self) -> str:
        """The shop's home page on its origin."""
        parts = urlsplit(self.home)
        query = f"?{parts.query}" if parts.query else ""
        return self.origin + (parts.path or "/") + query

    def digest_key(self) -> str:
        """Return a digest of everything but the page that the links found on it depend on."""
        lists = [blake2b(Path(file).read_bytes()).hexdigest() for file in self.link_lists]
        code = code_version(*LINKING_PACKAGES)
        return Digest(code, self.home, self.origin, self.tracking_keys, lists).hexdigest()

    def move_to(self, url: str) -> bool:
        """Make the origin of `url`, a page of the same site, the shop's origin.

        Returns False if it was already.
        """
        before = self.origin
        self.origin = _origin(url)
        self._cached_check.cache_clear()
        self._cached_join.cache_clear()
        return before != self.origin

    def contains(self, url: str) -> bool:
        """Return True if a URL is on the shop's host and port."""
        return is_same_site(url, self.home)

    def resolve(self, href: str, base: str) -> CrawlUrl | str | None:
        """Turn a link's href into an address, or a reason against visiting it.

        None for hrefs that are no pages, such as telephone numbers.

        >>> site = Site("https://a.de/")
        >>> site.resolve("../x?utm_source=b#c", "https://a.de/d/e/").text
        'https://a.de/d/x'
        >>> site.resolve("//b.de/x", "https://a.de/"), site.resolve("tel:1", "https://a.de/")
        ('other host', None)
        """
        href = href.strip()
        if not href or href[:20].lower().startswith(IGNORED_PREFIXES):
            return None
        if FROM_ROOT.match(href):
            # Only scheme and host of the base matter, so all pages share the cache.
            base = "/".join(base.split("/", 3)[:3]) + "/"
        elif not href.startswith("?") and base.count("/") > 2:
            # Only the folder of the base matters, so pages of one folder share the cache. A base
            # without a path has no folder.
            base = base.rpartition("/")[0] + "/"
        is_short = len(base) + len(href) <= MAX_CACHED_LENGTH
        return (self._cached_join if is_short else self._join_and_check)(href, base)

    def check(self, link: str) -> CrawlUrl | str:
        """Normalize a link and refuse traps and the shop's functions."""
        return (self._cached_check if len(link) <= MAX_CACHED_LENGTH else self._check)(link)

    def normalize(self, link: str) -> CrawlUrl | str:
        """Clean a link to this site; returns a reason if it leads elsewhere."""
        try:
            cleaned = clean_url(
                link, home=self.home, shop_keys=self.tracking_keys, lists=self._lists
            ).url
            if cleaned is None or not self.contains(cleaned):
                is_web = urlsplit(link).scheme in ("http", "https")
                return OTHER_HOST if is_web else NOT_A_LINK
            url = safe_url_string(strip_session_ids(urldefrag(cleaned).url))
            path = "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"
            return CrawlUrl.parse(urljoin(self.origin + "/", self.origin + path))
        except (BadUrl, ValueError):
            return NOT_A_LINK

    def _join_and_check(self, href: str, base: str) -> CrawlUrl | str:
        return self.check(join_url(base, href) or "")

    def _check(self, link: str) -> CrawlUrl | str:
        address = self.normalize(link)
        if isinstance(address, str):
            return address
        return trap_reason(address) or refusal_reason(address) or address


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}"
