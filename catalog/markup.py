"""Open crawled HTML: decoded as a browser would, and refused where parsing it would take minutes.

Crawler, learner, parser and inspector all open pages here, so they see the same tree. The engine is lexbor: as lenient
as a browser, and about three times as fast as lxml. Its cost grows with the square of the attributes of one tag and of
the depth of nesting, so pages built for that are refused before they are parsed.
"""

import re

from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import html_to_unicode

from catalog.errors import HostilePage

MOST_ATTRIBUTES = 5_000
MOST_DEPTH = 2_000
LONG = 40_000
LONG_TAG = re.compile(r"<[A-Za-z][^<>]{40000}[^<>]*")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


def open_html(text: str) -> LexborHTMLParser:
    """The tree of a page. Raises HostilePage.

    >>> open_html("<p>a<p>b").css("p")[1].text()
    'b'
    >>> open_html("<div>" * 50_000)
    Traceback (most recent call last):
    ...
    catalog.errors.HostilePage: tags nested deeper than 2000
    """
    _refuse_slow(text)
    return LexborHTMLParser(text)


def decode(body: bytes, content_type: str | None = None) -> str:
    """The text of a page, by its header, its byte order mark, its own words, or else UTF-8.

    >>> decode("Größe".encode("latin-1"), "text/html; charset=latin-1")
    'Größe'
    """
    return html_to_unicode(content_type, body, default_encoding="utf-8")[1]


def _refuse_slow(text: str) -> None:
    unbroken = max(map(len, text.split(">")))
    for tag in LONG_TAG.findall(text) if unbroken > LONG else ():
        if len(QUOTED.sub("=", tag).split()) > MOST_ATTRIBUTES or QUOTED.sub("", tag).count("=") > MOST_ATTRIBUTES:
            raise HostilePage(f"a tag with more than {MOST_ATTRIBUTES} attributes")
    closing = text.count("</")
    if text.count("<") - 2 * closing > MOST_DEPTH and _depth(text) > MOST_DEPTH:
        raise HostilePage(f"tags nested deeper than {MOST_DEPTH}")


def _depth(text: str) -> int:
    depth = deepest = 0
    for closes, name in TAG.findall(text):
        if name.lower() not in VOID:
            depth = max(0, depth - 1) if closes else depth + 1
            deepest = max(deepest, depth)
    return deepest
