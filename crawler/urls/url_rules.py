"""Links that are no pages of offers by their very name: carts, logins, redirectors, files.

The words stand in `data/links.json`, in many languages. They count only where a shop puts its functions - the first
segment of a path, after a language or a shop prefix - so that a product called "Cart" or a category "Out" deeper in the
path is still visited.
"""

import json
import re
from pathlib import Path

from crawler.urls.url_shape import Address

NO_PAGE = "not a page"
WORDS = json.loads(Path(__file__).with_name("data").joinpath("links.json").read_text())
SEGMENTS: dict[str, str] = {
    word: reason for reason, words in WORDS["segments"].items() for word in words
}
KEYS: dict[str, str] = {word: reason for reason, words in WORDS["keys"].items() for word in words}
VALUES: dict[str, str] = {
    word: reason for reason, words in WORDS["values"].items() for word in words
}
EXTENSIONS: dict[str, str] = {
    word: reason for reason, words in WORDS["extensions"].items() for word in words
}
PREFIXES = frozenset(WORDS["prefixes"])
FACETS = frozenset(WORDS["facets"])
FACET_PREFIXES = tuple(WORDS["facet_prefixes"])
LOCALE = re.compile(r"^[a-z]{2}[-_][a-z]{2}$")
OPAQUE = re.compile(r"^(?=.*\d)[0-9a-zA-Z_=]{1,64}$")
INNER_URL = re.compile(r"(?:https?:)?//[^/]", re.I)
UNDEFINED = re.compile(r"\{\{|\}\}|%7b%7b|\[\[|\$\{|<%|javascript:|\bundefined$", re.I)


def refusal(address: Address) -> str | None:
    """Why a link is not to be visited; None where it may be.

    >>> refusal(Address("https://a.de/de/warenkorb/add?id=3")), refusal(Address("https://a.de/products/cart"))
    ('cart', None)
    >>> refusal(Address("https://a.de/go/?url=https%3A%2F%2Fb.de%2F")), refusal(Address("https://a.de/x.pdf"))
    ('redirector', 'not a page')
    """
    if UNDEFINED.search(address.url):
        return "not a link"
    return _by_extension(address) or _by_segment(address) or _by_query(address)


def is_facet(name: str) -> bool:
    """Whether a query key only sorts, filters or lays out a list anew.

    >>> is_facet("sort_by"), is_facet("filter.p.vendor"), is_facet("id")
    (True, True, False)
    """
    name = name.lower().removesuffix("[]")
    return name in FACETS or name.startswith(FACET_PREFIXES)


def _by_extension(address: Address) -> str | None:
    last = address.segments[-1].lower() if address.segments else ""
    _, dot, extension = last.rpartition(".")
    return EXTENSIONS.get(extension) if dot else None


def _by_segment(address: Address) -> str | None:
    rest = [segment.lower() for segment in address.segments]
    while rest and (rest[0] in PREFIXES or LOCALE.match(rest[0])):
        rest.pop(0)
    reason = SEGMENTS.get(rest[0].removesuffix(".html")) if rest else None
    if reason == "redirector" and not _leads_away(address, rest):
        return None
    return reason


def _leads_away(address: Address, rest: list[str]) -> bool:
    """A word such as `go` alone may be a category; with a query, a target or a bare id behind it, it redirects."""
    return bool(address.query) or any(
        INNER_URL.match(part) or OPAQUE.match(part) for part in rest[1:]
    )


def _by_query(address: Address) -> str | None:
    for name, value in address.query:
        if reason := KEYS.get(name.lower()) or VALUES.get(value.lower()):
            return reason
        if INNER_URL.match(value):
            return "redirector"
    return None
