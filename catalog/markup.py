"""Open crawled HTML: decoded as a browser would, and refused where parsing it would take minutes.

Crawler, learner, parser and inspector all open pages here, so they see the same tree. The engine is lexbor: as lenient
as a browser, and about three times as fast as lxml. Its cost grows with the square of the attributes of one tag and of
the depth of nesting, so pages built for that are refused before they are parsed. Both guards cost a tenth of parsing:
a page is looked at closely only where a coarse count leaves room for doubt.
"""

import codecs
import re

import numpy as np
from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import html_to_unicode, http_content_type_encoding

from catalog.errors import HostilePage

MOST_ATTRIBUTES = 5_000
MOST_DEPTH = 2_000
LONG = 40_000
LONG_TAG = re.compile(rb"<[A-Za-z][^<>]{40000}[^<>]*")
QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
TAG = re.compile(rb"<(/?[A-Za-z][A-Za-z0-9-]*)")
_VOID = b"area base br col embed hr img input link meta source track wbr"
_CLOSED_BY_THEIR_LIKE = b"p li option optgroup dt dd tr td th thead tbody tfoot rt rp"
SHALLOW = frozenset(_VOID.split() + _CLOSED_BY_THEIR_LIKE.split())
SAID = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]*)|(encoding)", re.IGNORECASE)
PROLOGUE = 4096
UTF8 = {b"utf-8", b"utf8"}
MARKS_OF_ORDER = (b"\xef", b"\xfe", b"\xff", b"\x00")


def open_html(page: str | bytes) -> LexborHTMLParser:
    """The tree of a page, given as text or in UTF-8. Raises HostilePage.

    >>> open_html("<p>a<p>b").css("p")[1].text()
    'b'
    >>> open_html("<div>" * 50_000)
    Traceback (most recent call last):
    ...
    catalog.errors.HostilePage: tags nested deeper than 2000
    """
    markup = page.encode("utf-8", "replace") if isinstance(page, str) else page
    _refuse_slow(markup)
    return LexborHTMLParser(markup)


def decode(body: bytes, content_type: str | None = None) -> str:
    """The text of a page, by its header, its byte order mark, its own words, or else UTF-8.

    >>> decode("Größe".encode("latin-1"), "text/html; charset=latin-1")
    'Größe'
    """
    return html_to_unicode(content_type, body, default_encoding="utf-8")[1]


def as_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """The page as `decode` reads it, in UTF-8: most pages are that already, and stay as they are.

    >>> as_utf8("Größe".encode("latin-1"), "text/html; charset=latin-1").decode()
    'Größe'
    """
    if _says_utf8(body, content_type):
        try:
            codecs.utf_8_decode(body, "strict", True)
        except UnicodeDecodeError:
            pass
        else:
            return body
    return decode(body, content_type).encode("utf-8", "replace")


def _says_utf8(body: bytes, content_type: str | None) -> bool:
    """Whether header or page name UTF-8, or neither names anything. In doubt, not."""
    if body.startswith(MARKS_OF_ORDER):
        return False
    header = http_content_type_encoding(content_type)
    if header is not None:
        return header == "utf-8"
    return all(said.lower() in UTF8 and not xml for said, xml in SAID.findall(body[:PROLOGUE]))


def _refuse_slow(markup: bytes) -> None:
    if _may_have_long_tag(markup):
        for tag in LONG_TAG.findall(markup):
            if len(QUOTED.sub(b"=", tag).split()) > MOST_ATTRIBUTES or QUOTED.sub(b"", tag).count(b"=") > MOST_ATTRIBUTES:
                raise HostilePage(f"a tag with more than {MOST_ATTRIBUTES} attributes")
    if _start_tags_at_most(markup) > MOST_DEPTH and _is_deep(markup):
        raise HostilePage(f"tags nested deeper than {MOST_DEPTH}")


def _may_have_long_tag(markup: bytes) -> bool:
    """Whether some window of half the length holds no `>`: a tag longer than LONG would hold one such window whole."""
    width = LONG // 2
    return any(markup.find(b">", start, start + width) < 0 for start in range(0, len(markup) - width, width))


def _start_tags_at_most(markup: bytes) -> int:
    """A number of start tags, and so a depth, that is not exceeded."""
    read = np.frombuffer(markup, dtype=np.uint8)
    begins = read[:-1] == ord("<")
    found = int(np.count_nonzero(begins))
    return found if found <= MOST_DEPTH else int(np.count_nonzero(begins & (read[1:] != ord("/"))))


def _is_deep(markup: bytes) -> bool:
    """Whether more tags are open at one place than may be. An end tag closes only what is open under its name."""
    depth, opened = 0, dict[bytes, int]()
    for tag in TAG.findall(markup):
        name = tag.lower()
        if name[:1] == b"/":
            if opened.get(name[1:]):
                opened[name[1:]] -= 1
                depth -= 1
        elif name not in SHALLOW:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            if depth > MOST_DEPTH:
                return True
    return False
