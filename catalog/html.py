"""Open crawled HTML: decoded as a browser would, and refused where parsing it would take minutes.

Crawler, learner, parser and inspector all open pages here, so they see the same tree. The engine is lexbor: as lenient
as a browser, and about three times as fast as lxml. Its cost grows with the square of the attributes of one tag and of
the depth of nesting, so pages built for that are refused before they are parsed; eight thousand blocks in one another
cost a twentieth of a second, so pages of fewer tags are not looked at. Formatting that is left open is opened anew in
each paragraph behind it, so forty kilobytes may take gigabytes. A page is looked at closely, once when it is crawled,
only where a coarse count leaves room for doubt; what still nests too deep once it is parsed is refused then, before
anybody walks through it. Its events are off: all they do is to copy the chosen option into `<selectedcontent>`, at a
cost that grows with the square of the options.
"""

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError
from w3lib.encoding import html_to_unicode, http_content_type_encoding

from catalog.errors import HostilePage

MOST_ATTRIBUTES = 5_000
MOST_DEPTH = 2_000
TOO_DEEP = f"tags nested deeper than {MOST_DEPTH}"
FEW_TAGS = 8_000
MOST_TAGS = 200_000
LONG = 80_000
LARGE = 400_000
LARGEST_TRUSTED = 1_000_000
WITHOUT_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
UP_TO_LONG_TAG = re.compile(
    rb"""(?:[^<]++|<!--(?:[^-]++|-(?!->))*+|<script\b(?:[^<]++|<(?!/script))*+|<(?![a-z])"""
    rb"""|<[a-z][^\s/>]*+(?:%b){0,%d}+(?!%b))*+""" % (ATTRIBUTE, MOST_ATTRIBUTES, ATTRIBUTE),
    re.IGNORECASE,
)
FORMATS = frozenset(b"b big code em font i s small strike strong tt u".split())
FORMATTING = re.compile(rb"<(?:%b)(?=[\s/>])" % b"|".join(sorted(FORMATS)), re.IGNORECASE)
APART = frozenset(b"td th caption select object applet marquee template".split())
FEW_REOPENED = 2_000
MOST_REOPENED = 2_000_000
TAG = re.compile(
    rb"""<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+)|<(?:script|style)\b(?:[^<]++|<(?!/(?:script|style)))*+"""
    rb"""|<(/?[a-z][a-z0-9-]*+)(?:%b)*+""" % ATTRIBUTE,
    re.IGNORECASE,
)
_VOID = b"area base br col embed hr img input link meta source track wbr"
_CLOSED_BY_THEIR_LIKE = b"p li option dt dd tr td th thead tbody tfoot"
_CLOSED_BY_A_SLASH = b"path circle ellipse line polygon polyline rect use stop image"
SHALLOW = frozenset(_VOID.split() + _CLOSED_BY_THEIR_LIKE.split() + _CLOSED_BY_A_SLASH.split())
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
    if trusted and len(markup) < LARGEST_TRUSTED:
        return _parsed(markup)
    _refuse_slow(markup)
    tree = _parsed(markup)
    if markup.count(b"<") > FEW_TAGS:
        _refuse_deep(tree)
    return tree


def _parsed(markup: bytes) -> LexborHTMLParser:
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
    reopened = MOST_REOPENED // max(tags, 1)
    if (
        tags > FEW_REOPENED
        and len(FORMATTING.findall(markup)) > reopened
        and _left_open(markup) > reopened
    ):
        raise HostilePage("formatting that is left open, and opened anew in each paragraph")
    if tags <= FEW_TAGS:
        return
    tags -= markup.count(b"</")
    if tags > MOST_TAGS:
        raise HostilePage(f"more than {MOST_TAGS} tags")
    if tags > FEW_TAGS and _is_deep(markup):
        raise HostilePage(TOO_DEEP)


def _refuse_deep(tree: LexborHTMLParser) -> None:
    """What end tags really end, only the tree tells: those in a `<select>` or an `<object>` may end nothing."""
    depth, node = 0, tree.root
    while node is not None:
        if node.first_child is not None:
            depth, node = depth + 1, node.first_child
            if depth > MOST_DEPTH:
                raise HostilePage(TOO_DEEP)
            continue
        while node is not None and node.next is None:
            depth, node = depth - 1, node.parent if depth > 0 else None
        node = None if node is None else node.next


def _may_have_long_tag(markup: bytes) -> bool:
    """Whether the page is large, or some stretch of it holds no `>`.

    In quotes a `>` does not end a tag, so only size rules it out; as many attributes as a page of 400 KB can hold cost
    seconds, not hours.
    """
    stretches = range(0, len(markup) - LONG, LONG)
    return len(markup) > LARGE or any(
        markup.find(b">", start, start + LONG) < 0 for start in stretches
    )


def _left_open(markup: bytes) -> int:
    """How many more tags of formatting open than close: each paragraph behind them holds them all once more.

    An end tag closes what is open in its own cell, list of options or embedded object, and nothing around that.
    """
    left, opened = 0, Counter[bytes]()
    for tag in _tags(markup):
        name = tag.removeprefix(b"/")
        if name in APART:
            left, opened = left + opened.total(), Counter[bytes]()
        elif name in FORMATS:
            opened[name] = max(0, opened[name] + (1 if name == tag else -1))
    return left + opened.total()


def _is_deep(markup: bytes) -> bool:
    """Whether more tags are open at one place than may be. An end tag closes only what is open under its name."""
    depth, opened, meant = 0, dict[bytes, int](), dict[bytes, tuple[bytes, int]]()
    for tag in _tags(markup):
        name, step = meant.get(tag) or meant.setdefault(tag, _meant(tag))
        there = opened.get(name, 0)
        if step and there + step >= 0:
            opened[name] = there + step
            depth += step
            if depth > MOST_DEPTH:
                return True
    return False


def _tags(markup: bytes) -> Iterator[bytes]:
    """The names of tags, ends with their slash: none of those that comments, scripts and attributes only mention."""
    return (tag.lower() for tag in TAG.findall(markup) if tag)


def _meant(tag: bytes) -> tuple[bytes, int]:
    """A tag's name, and by how much it deepens the page."""
    name = tag.removeprefix(b"/")
    return name, 0 if name in SHALLOW else -1 if tag.startswith(b"/") else 1
