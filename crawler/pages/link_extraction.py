"""Link extraction: links of a page, its base, canonical address, language and other languages.

Scrapy's LinkExtractor takes several times as long as the download of the page. One lexbor parse and
one pass over the few tags that can hold a link give the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from catalog.page_encoding import UTF8
from crawler.pages.languages import language_code, page_language, parse_link_header
from crawler.pages.query_encoding import encode_queries
from url_cleaner.urls.url import join_url

MAX_LINKS = 5_000  # per page; bound against pages built of links
LINK_TAGS = "a[href], area[href], link[href], iframe[src], frame[src], meta[http-equiv], base[href]"
# Content of a meta refresh (HTML Standard, section 4.2.5.3): seconds, a separator, and the address, with
# `url=` before it or not, in quotes or not.
REFRESH = re.compile(
    r"""\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+"""
    r"""(?:"(?P<double>[^"]*)|'(?P<single>[^']*)|(?P<bare>.*))""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class PageLinks:
    """Links of a page: `hrefs` as written, without duplicates; `has_more` if some were left out.

    `pagination` are hints of its head. `alternates` are its versions in other languages, as pairs
    of hreflang code and href; `language` is the code that the page gives for itself.
    """

    base: str
    hrefs: tuple[str, ...]
    canonical: str | None = None
    pagination: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    language: str = ""
    has_more: bool = False


def extract_links(
    tree: LexborHTMLParser,
    url: str,
    encoding: Callable[[], str] = lambda: UTF8,
    link_header: str | None = None,
    content_language: str | None = None,
) -> PageLinks:
    """Extract the links that a visitor could follow, without those marked nofollow.

    Letters in queries are encoded as the page is (`crawler.pages.query_encoding`). The HTTP headers
    `Link` and `Content-Language` fill up the hints of the page's head.

    >>> html = "<base href=/b/><link rel=canonical href=/c><a href=x>x</a><a rel=nofollow href=y>"
    >>> links = extract_links(LexborHTMLParser(html), "https://a.de/p")
    >>> links.base, links.hrefs, links.canonical
    ('https://a.de/b/', ('x',), 'https://a.de/c')
    """
    base, canonical = url, None
    hrefs: dict[str, None] = {}  # a set that keeps the order of the page
    pagination: list[str] = []
    alternates: list[tuple[str, str]] = []
    for node in tree.css(LINK_TAGS):
        get, tag = node.attributes.get, node.tag
        href = (get("href") or get("src") or "").strip()
        rel = (get("rel") or "").lower()
        if tag == "base":
            # As in browsers, the first base that has an address counts.
            if base == url and href:
                base = join_url(url, href) or base
        elif tag == "meta":
            href = _refresh_target(get("http-equiv"), get("content"))
        elif tag == "link":
            relations = rel.split()
            if "canonical" in relations:
                canonical = canonical or href
            elif "next" in relations or "prev" in relations:
                if len(pagination) < MAX_LINKS:
                    pagination.append(href)
            elif (
                "alternate" in relations
                and len(alternates) < MAX_LINKS
                and (code := get("hreflang"))
            ):
                alternates.append((code, href))
            continue
        # One more than are returned shows that some are left out.
        if href and tag != "base" and "nofollow" not in rel and len(hrefs) <= MAX_LINKS:
            hrefs[href] = None
    canonical = "".join(encode_queries([canonical or ""], encoding))
    resolved = join_url(base, canonical) if canonical else None
    header = parse_link_header(link_header)
    if resolved is None and header.canonical:
        resolved = join_url(url, header.canonical)
    encoded = encode_queries([href for _, href in alternates], encoding)
    versions = [(code, href) for (code, _), href in zip(alternates, encoded, strict=True)]
    # The targets of a header are relative to the page's own URL, whatever its base element.
    versions += [(code, join_url(url, href) or "") for code, href in header.alternates]
    return PageLinks(
        base,
        tuple(dict.fromkeys(encode_queries(islice(hrefs, MAX_LINKS), encoding))),
        resolved,
        tuple(encode_queries(pagination, encoding)),
        tuple(versions),
        page_language(tree) or language_code(content_language),
        len(hrefs) > MAX_LINKS,
    )


def _refresh_target(http_equiv: str | None, content: str | None) -> str:
    """Return the URL of a meta refresh; "" for any other meta tag."""
    if (http_equiv or "").lower() != "refresh":
        return ""
    match = REFRESH.match(content or "")
    return (match[match.lastgroup or 0] or "").strip() if match else ""
