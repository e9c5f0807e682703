"""Open crawled HTML: decoded as a browser would, and refused where parsing it would take minutes.

Crawler, learner, parser and inspector all open pages here, so they see the same tree. The engine is lexbor: as lenient
as a browser, and about three times as fast as lxml. Its cost grows with the square of the attributes of one tag and of
the depth of nesting, so pages built for that are refused before they are parsed; eight thousand blocks in one another
cost a twentieth of a second, so pages of fewer tags are not looked at. Formatting that is left open is opened anew in
each paragraph behind it, so forty kilobytes may take gigabytes. The guards cost a third of parsing, once for each page
crawled: a page is looked at closely only where a coarse count leaves room for doubt. Its events are off: all they do is
to copy the chosen option into `<selectedcontent>`, at a cost that grows with the square of the options.
"""

import re

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError
from w3lib.encoding import html_to_unicode, http_content_type_encoding

from catalog.errors import HostilePage

MOST_ATTRIBUTES = 5_000
MOST_DEPTH = 2_000
FEW_TAGS, MOST_TAGS = 8_000, 200_000
LONG, LARGE, LARGEST_TRUSTED = 80_000, 400_000, 1_000_000
WITHOUT_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
UP_TO_LONG_TAG = re.compile(
    rb"""(?:[^<]++|<!--(?:[^-]++|-(?!->))*+|<script\b(?:[^<]++|<(?!/script))*+|<(?![a-z])"""
    rb"""|<[a-z][^\s/>]*+(?:%b){0,%d}+(?!%b))*+""" % (ATTRIBUTE, MOST_ATTRIBUTES, ATTRIBUTE),
    re.IGNORECASE,
)
FORMATTING = re.compile(rb"<(/?)(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)
FEW_REOPENED, MOST_REOPENED = 2_000, 2_000_000
TAG = re.compile(rb"<(/?[A-Za-z][A-Za-z0-9-]*)")
_VOID = b"area base br col embed hr img input link meta source track wbr"
_CLOSED_BY_THEIR_LIKE = b"p li option dt dd tr td th thead tbody tfoot"
SHALLOW = frozenset(_VOID.split() + _CLOSED_BY_THEIR_LIKE.split())
SAID = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]*)")
PROLOGUE = 4096
UTF8 = {b"utf-8", b"utf8"}
MARKS_OF_ORDER = (b"\xef", b"\xfe", b"\xff", b"\x00")


def open_html(page: str | bytes, *, trusted: bool = False) -> LexborHTMLParser:
    """The tree of a page, given as text or in UTF-8. Raises HostilePage unless the page is `trusted`.

    A page of a megabyte is trusted by nobody: its parse may take minutes.

    >>> open_html("<p>a<p>b").css("p")[1].text()
    'b'
    >>> open_html("<div>" * 50_000)
    Traceback (most recent call last):
    ...
    catalog.errors.HostilePage: tags nested deeper than 2000
    """
    markup = page.encode("utf-8", "replace") if isinstance(page, str) else page
    if not trusted or len(markup) >= LARGEST_TRUSTED:
        _refuse_slow(markup)
    try:
        return LexborHTMLParser(markup, options=WITHOUT_EVENTS)
    except SelectolaxError as error:
        raise HostilePage(f"the engine gives up: {error}") from error


def decode(body: bytes, content_type: str | None = None) -> str:
    """The text of a page, by its header, its byte order mark, its own words, or else UTF-8.

    >>> decode("Größe".encode("latin-1"), "text/html; charset=latin-1")
    'Größe'
    """
    return html_to_unicode(content_type, body, default_encoding="utf-8")[1]


def as_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """The page as `decode` reads it, in UTF-8: most pages are that already, and stay as they are.

    Of such a page, bytes that are no UTF-8 are replaced when the engine gives out a text, as `decode` would have done.

    >>> as_utf8("Größe".encode("latin-1"), "text/html; charset=latin-1").decode()
    'Größe'
    """
    if _says_utf8(body, content_type):
        return body
    return decode(body, content_type).encode("utf-8", "replace")


def _says_utf8(body: bytes, content_type: str | None) -> bool:
    """Whether header or page name UTF-8, or neither names anything. In doubt, not."""
    if body.startswith(MARKS_OF_ORDER):
        return False
    header = http_content_type_encoding(content_type)
    if header is not None:
        return header == "utf-8"
    start = body[:PROLOGUE].lower()
    return b"encoding" not in start and all(said in UTF8 for said in SAID.findall(start))


def _refuse_slow(markup: bytes) -> None:
    if _may_have_long_tag(markup) and not UP_TO_LONG_TAG.fullmatch(markup):
        raise HostilePage(f"a tag with more than {MOST_ATTRIBUTES} attributes")
    tags = markup.count(b"<")
    if tags > FEW_REOPENED and _left_open(markup) * tags > MOST_REOPENED:
        raise HostilePage("formatting that is left open, and opened anew in each paragraph")
    if tags <= FEW_TAGS:
        return
    tags -= markup.count(b"</")
    if tags > MOST_TAGS:
        raise HostilePage(f"more than {MOST_TAGS} tags")
    if tags > FEW_TAGS and _is_deep(markup):
        raise HostilePage(f"tags nested deeper than {MOST_DEPTH}")


def _may_have_long_tag(markup: bytes) -> bool:
    """Whether the page is large, or some stretch of it holds no `>`.

    In quotes a `>` does not end a tag, so only size rules it out; as many attributes as a page of 400 KB can hold cost
    seconds, not hours.
    """
    stretches = range(0, len(markup) - LONG, LONG)
    return len(markup) > LARGE or any(markup.find(b">", start, start + LONG) < 0 for start in stretches)


def _left_open(markup: bytes) -> int:
    """How many more tags of formatting open than close: each paragraph behind them holds them all once more."""
    found = FORMATTING.findall(markup)
    return len(found) - 2 * found.count(b"/")


def _is_deep(markup: bytes) -> bool:
    """Whether more tags are open at one place than may be. An end tag closes only what is open under its name."""
    depth, opened, meant = 0, dict[bytes, int](), dict[bytes, tuple[bytes, int]]()
    for tag in TAG.findall(markup):
        name, step = meant.get(tag) or meant.setdefault(tag, _meant(tag))
        there = opened.get(name, 0)
        if step and there + step >= 0:
            opened[name] = there + step
            depth += step
            if depth > MOST_DEPTH:
                return True
    return False


def _meant(tag: bytes) -> tuple[bytes, int]:
    """A tag's name, and by how much it deepens the page."""
    name = tag.removeprefix(b"/").lower()
    return name, 0 if name in SHALLOW else -1 if tag.startswith(b"/") else 1
