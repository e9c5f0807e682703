"""Links that are no offer pages by their name: carts, logins, redirectors, files.

The names are in `data/links.json`, in many languages. They count only where shops put their
functions: in the first segment of a path, after a language or a shop prefix. So a product called
"Cart" or a category "Out" deeper in the path is still visited.
"""

import json
import re
from pathlib import Path

from crawler.urls.crawl_url import CrawlUrl

NOT_A_PAGE = "not a page"
REDIRECTOR = "redirector"
NAMES = json.loads(Path(__file__).with_name("data").joinpath("links.json").read_text())


def _reason_by_name(group: str) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for reason, names in NAMES[group].items():
        reasons.update(dict.fromkeys(names, reason))
    return reasons


def _representations() -> dict[str, str]:
    """Return the reason by pairs of a query that ask for a page in another form."""
    forms = NAMES["representations"]
    return {f"{key}={value}": forms["reason"] for key in forms["keys"] for value in forms["values"]}


SEGMENTS = _reason_by_name("segments")
# Keys, or pairs of a key and a value. `format=json` is another form of a page, `format=a4` is not.
QUERY_KEYS = _reason_by_name("keys") | _representations()
QUERY_VALUES = _reason_by_name("values")
EXTENSIONS = _reason_by_name("extensions")
PREFIXES = frozenset(NAMES["prefixes"])
FACETS = frozenset(NAMES["facets"])
FACET_PREFIXES = tuple(NAMES["facet_prefixes"])
LOCALE = re.compile(r"^[a-z]{2}[-_][a-z]{2}$")
OPAQUE_ID = re.compile(r"^(?=.*\d)[0-9a-zA-Z_=]{1,64}$")
INNER_URL = re.compile(r"(?:https?:)?//[^/]", re.I)
# Placeholders of templates that the shop forgot to fill.
TEMPLATE_SYNTAX = re.compile(r"\{\{|\}\}|%7b%7b|\[\[|\$\{|<%|javascript:|\bundefined$", re.I)


def refusal_reason(address: CrawlUrl) -> str | None:
    """Return the reason why a link is not visited; None if it may be.

    >>> refusal_reason(CrawlUrl.parse("https://a.de/de/warenkorb/add?id=3"))
    'cart'
    >>> refusal_reason(CrawlUrl.parse("https://a.de/products/cart")) is None
    True
    >>> refusal_reason(CrawlUrl.parse("https://a.de/go/?url=https%3A%2F%2Fb.de%2F"))
    'redirector'
    >>> refusal_reason(CrawlUrl.parse("https://a.de/x.pdf"))
    'not a page'
    """
    if TEMPLATE_SYNTAX.search(address.text):
        return "not a link"
    return _by_extension(address) or _by_segment(address) or _by_query(address)


def is_facet(name: str) -> bool:
    """Return True if a query key only sorts, filters or lays out a list.

    >>> is_facet("sort_by"), is_facet("filter.p.vendor"), is_facet("id")
    (True, True, False)
    """
    name = name.lower().removesuffix("[]")
    return name in FACETS or name.startswith(FACET_PREFIXES)


def _by_extension(address: CrawlUrl) -> str | None:
    if not address.segments:
        return None
    _, dot, extension = address.segments[-1].lower().rpartition(".")
    return EXTENSIONS.get(extension) if dot else None


def _by_segment(address: CrawlUrl) -> str | None:
    segments = [segment.lower() for segment in address.segments]
    while segments and (segments[0] in PREFIXES or LOCALE.match(segments[0])):
        segments.pop(0)
    if not segments:
        return None
    reason = SEGMENTS.get(segments[0].removesuffix(".html"))
    if reason == REDIRECTOR and not _has_target(address, segments[1:]):
        return None
    return reason


def _has_target(address: CrawlUrl, segments: list[str]) -> bool:
    """Return True if a redirector has a query, a URL or a bare id.

    `/go` alone may be a category.
    """
    if address.sorted_query:
        return True
    return any(INNER_URL.match(part) or OPAQUE_ID.match(part) for part in segments)


def _by_query(address: CrawlUrl) -> str | None:
    for name, value in address.sorted_query:
        key, text = name.lower(), value.lower()
        reason = QUERY_KEYS.get(key) or QUERY_VALUES.get(text) or QUERY_KEYS.get(f"{key}={text}")
        if reason:
            return reason
        if INNER_URL.match(value):
            return REDIRECTOR
    return None
