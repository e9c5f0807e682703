"""Comparable parts of an offer's link: the whole address, the path, or the last path segment.

The url_cleaner has removed trackers and redirects. Two links to one offer still differ in scheme,
`www.`, a final slash or a file suffix, or lead through another category (`/sale/p/lamp`,
`/p/lamp`).
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

# Characters of a link that are read; cap against hostile input.
MAX_CHARACTERS = 2000
# The parser gives variants of one page such fragments if the shop has no addresses for them.
VARIANT_PREFIX = "variant-"
# Characters of a last path segment; shorter ones (`en`, `7`) do not identify an offer.
MIN_SLUG = 4
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?|jsp)$")


@dataclass(frozen=True)
class LinkKeys:
    """Parts of a link that can identify an offer; empty if there is no link.

    `address` is host, path and sorted query, `path` host and path, `slug` the last path segment.
    """

    address: str = ""
    path: str = ""
    slug: str = ""
    has_query: bool = False


def parse_link(url: str | None) -> LinkKeys:
    """Split a cleaned link into comparable parts; a broken or relative link has none.

    >>> parse_link("https://www.Shop.example/p/Lamp%20A.html?id=7").address
    'shop.example/p/Lamp A?id=7'
    >>> parse_link("https://www.Shop.example/p/Lamp%20A.html?id=7").slug
    'lamp a'
    >>> parse_link("http://[broken") == parse_link(None) == LinkKeys()
    True
    """
    try:
        parts = urlsplit((url or "").strip()[:MAX_CHARACTERS])
    except ValueError:
        return LinkKeys()
    host = parts.netloc.casefold().removeprefix("www.")
    if not host:
        return LinkKeys()
    path = _SUFFIX.sub("", unquote(parts.path).rstrip("/"))
    if parts.fragment.startswith(VARIANT_PREFIX):
        query = parts.fragment
    else:
        parameters = sorted(parse_qsl(parts.query, keep_blank_values=True))
        query = "&".join(f"{name}={value}" for name, value in parameters)
    address = f"{host}{path}?{query}" if query else host + path
    return LinkKeys(address, host + path, _slug(path), bool(query))


def _slug(path: str) -> str:
    segment = path.rsplit("/", 1)[-1].casefold()
    # Numbers alone are often category or page numbers.
    if len(segment) >= MIN_SLUG and any(c.isalpha() for c in segment):
        return segment
    return ""
