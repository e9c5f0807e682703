"""Languages of a page: its own, and the versions in other languages that it names (hreflang).

A page names its versions in link elements of its head, in the HTTP header `Link` (RFC 8288), or in
a sitemap. Codes are those of BCP 47 in lower case, and `x-default` for all other languages.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawler.urls.crawl_url import MAX_URL_LENGTH, CrawlUrl
from crawler.urls.site import Site
from url_cleaner.urls.url import join_url

MAX_ALTERNATES = 100  # versions of a page; bound: real shops name up to 60
MAX_HEADER_LENGTH = 32_000  # characters of a Link header; bound
CODE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}|x-default")
LINK_VALUE = re.compile(r"<([^<>]*)>([^<]*)")
LINK_PARAMETER = re.compile(r";\s*(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\";,]+))")


class HeaderLinks(NamedTuple):
    """Links of an HTTP header: the canonical one, and pairs of hreflang code and address."""

    canonical: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()


def language_code(text: str | None) -> str:
    """Return a language code in its normal form; "" if the text is none.

    >>> language_code(" de_AT "), language_code("en-US, fr"), language_code("German (Austria)")
    ('de-at', 'en-us', '')
    """
    code = (text or "").partition(",")[0].strip().lower().replace("_", "-")
    return code if CODE.fullmatch(code) else ""


def page_language(tree: LexborHTMLParser) -> str:
    """Return the language that a page gives for itself; "" if it gives none.

    >>> page_language(LexborHTMLParser("<html lang=de-DE><title>Lampe</title>"))
    'de-de'
    """
    root = tree.css_first("html")
    if root is not None:
        code = language_code(root.attrs.get("lang") or root.attrs.get("xml:lang"))
        if code:
            return code
    for selector in ('meta[http-equiv="content-language" i]', 'meta[property="og:locale"]'):
        meta = tree.css_first(selector)
        if meta is not None and (code := language_code(meta.attrs.get("content"))):
            return code
    return ""


def parse_link_header(value: str | None) -> HeaderLinks:
    """Parse an HTTP `Link` header.

    >>> parse_link_header('<https://a.de/en/x>; rel="alternate"; hreflang="en", </x>; rel=canonical')
    HeaderLinks(canonical='/x', alternates=(('en', 'https://a.de/en/x'),))
    """
    canonical: str | None = None
    alternates: list[tuple[str, str]] = []
    for target, parameters in LINK_VALUE.findall((value or "")[:MAX_HEADER_LENGTH]):
        named: dict[str, str] = {}
        for name, quoted, bare in LINK_PARAMETER.findall(parameters):
            named.setdefault(name.lower(), quoted or bare)
        relations = named.get("rel", "").lower().split()
        if "canonical" in relations:
            canonical = canonical or target.strip()
        if "alternate" in relations and named.get("hreflang"):
            alternates.append((named["hreflang"], target.strip()))
    return HeaderLinks(canonical, tuple(alternates))


def resolve_alternates(
    alternates: Iterable[tuple[str, str]], base: str, site: Site
) -> dict[str, str]:
    """Map language codes to the URLs of a page's versions, those on other hosts included.

    A code with several URLs is dropped: no page has two versions in one language.

    >>> site = Site("https://a.de/")
    >>> resolve_alternates([("en", "/en/x?utm_source=b"), ("fr", "//a.fr/x")], "https://a.de/x", site)
    {'en': 'https://a.de/en/x', 'fr': 'https://a.fr/x'}
    """
    urls_by_code: dict[str, set[str]] = defaultdict(set)
    for text, href in alternates:
        code = language_code(text)
        if not code or (len(urls_by_code) >= MAX_ALTERNATES and code not in urls_by_code):
            continue
        if href.strip() and (url := _absolute_url(href, base, site)):
            urls_by_code[code].add(url)
    return {code: min(urls) for code, urls in urls_by_code.items() if len(urls) == 1}


def _absolute_url(href: str, base: str, site: Site) -> str | None:
    """Return the cleaned URL of one of the shop's pages, or the absolute URL of another one."""
    address = site.resolve(href, base)
    if isinstance(address, CrawlUrl):
        return address.text
    url = join_url(base, href)
    if not url or len(url) > MAX_URL_LENGTH or not url.startswith(("http://", "https://")):
        return None
    return url
