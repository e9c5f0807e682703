"""HTML pages: decoded as a browser would, parsed by lexbor, and refused where parsing would take
minutes.

Crawler, learner, parser and inspector all open pages here, so they see the same tree. lexbor is as
lenient as a browser, and about three times as fast as lxml. Its time grows with the square of the
attributes of one tag and of the nesting depth, so pages built for that are refused before they are
parsed. 8,000 nested blocks cost a twentieth of a second, so pages with fewer tags are not examined.
Formatting tags that are left open are opened anew in each following paragraph, so 40 KB may take
gigabytes. A page is examined closely, once when it is crawled, only where a coarse count leaves
doubt; a tree that still nests too deep is refused before anybody walks through it. Events are off:
their only effect is to copy the chosen option into `<selectedcontent>`, in time that grows with the
square of the options.
"""

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError
from w3lib.encoding import to_unicode

from catalog.errors import HostilePage
from catalog.page_encoding import UTF8, detect_encoding

# All limits here are bounds against hostile input.

# Attributes of one tag.
MAX_ATTRIBUTES = 5_000
# Tags open at one place.
MAX_DEPTH = 2_000
# Tags of a page.
MAX_TAGS = 200_000
# Tags up to which no nesting costs noticeable time.
UNCHECKED_TAGS = 8_000
# Paragraphs times formatting tags that are opened anew in each.
MAX_REOPENED = 2_000_000
# Tags up to which reopened formatting costs no noticeable time.
UNCHECKED_REOPENING_TAGS = 2_000
# Bytes without a `>` that may be one long tag.
LONG_STRETCH = 80_000
# Bytes from which a page may have a tag with very many attributes.
LARGE_PAGE = 400_000
# Bytes from which no page is trusted.
MAX_TRUSTED_SIZE = 1_000_000

_TOO_DEEP = f"tags nested deeper than {MAX_DEPTH}"
_WITHOUT_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
# Matches a whole page unless one of its tags has too many attributes.
_WITHOUT_LONG_TAG = re.compile(
    rb"""(?:[^<]++|<!--(?:[^-]++|-(?!->))*+|<script\b(?:[^<]++|<(?!/script))*+|<(?![a-z])"""
    rb"""|<[a-z][^\s/>]*+(?:%b){0,%d}+(?!%b))*+""" % (_ATTRIBUTE, MAX_ATTRIBUTES, _ATTRIBUTE),
    re.IGNORECASE,
)
_FORMATTING_TAGS = frozenset(b"b big code em font i s small strike strong tt u".split())
# The first letter is tested on its own: most tags begin with another one.
_FORMATTING = re.compile(
    rb"<(?=[%b])(?:%b)(?=[\s/>])"
    % (bytes({tag[0] for tag in _FORMATTING_TAGS}), b"|".join(sorted(_FORMATTING_TAGS))),
    re.IGNORECASE,
)
# An end tag inside one of these closes no formatting tag outside it.
_SCOPE_TAGS = frozenset(b"td th caption select object applet marquee template".split())
_TAG = re.compile(
    rb"""<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+)|<(?:script|style)\b(?:[^<]++|<(?!/(?:script|style)))*+"""
    rb"""|<(/?[a-z][a-z0-9-]*+)(?:%b)*+""" % _ATTRIBUTE,
    re.IGNORECASE,
)
_VOID_TAGS = b"area base br col embed hr img input link meta source track wbr"
_TAGS_CLOSED_BY_THEIR_LIKE = b"p li option dt dd tr td th thead tbody tfoot"
_TAGS_CLOSED_BY_SLASH = b"path circle ellipse line polygon polyline rect use stop image"
# Tags that do not nest, however often they are opened.
_SHALLOW_TAGS = frozenset(
    _VOID_TAGS.split() + _TAGS_CLOSED_BY_THEIR_LIKE.split() + _TAGS_CLOSED_BY_SLASH.split()
)


def open_html(page: str | bytes, *, trusted: bool = False) -> LexborHTMLParser:
    """Parse a page, given as text or in UTF-8. Raises HostilePage unless the page is `trusted`.

    Pages of a megabyte are never trusted: their parse may take minutes.

    >>> open_html("<p>a<p>b").css("p")[1].text()
    'b'
    >>> open_html("<div>" * 50_000)
    Traceback (most recent call last):
    ...
    catalog.errors.HostilePage: tags nested deeper than 2000
    """
    markup = page.encode("utf-8", "replace") if isinstance(page, str) else page
    if trusted and len(markup) < MAX_TRUSTED_SIZE:
        return _parse(markup)
    _refuse_slow(markup)
    tree = _parse(markup)
    if markup.count(b"<") > UNCHECKED_TAGS:
        _refuse_deep(tree)
    return tree


def decode_html(body: bytes, content_type: str | None = None) -> str:
    """Decode a page as a browser would: by its byte order mark, its header, the encoding it names,
    or else as UTF-8 or windows-1252.

    >>> decode_html("Größe".encode("latin-1"), "text/html; charset=latin-1")
    'Größe'
    """
    encoding = detect_encoding(body, content_type)
    return to_unicode(body[encoding.bom_length :], encoding.name)


def to_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """Convert a page to UTF-8 as `decode_html` reads it; most pages are UTF-8 already and stay
    unchanged.

    In those, invalid bytes are replaced when lexbor returns a text, as `decode_html` would have
    done.

    >>> to_utf8("Größe".encode("latin-1"), "text/html; charset=latin-1").decode()
    'Größe'
    """
    encoding = detect_encoding(body, content_type)
    markup = body[encoding.bom_length :]
    if encoding.name == UTF8:
        return markup
    return to_unicode(markup, encoding.name).encode(UTF8, "replace")


def _parse(markup: bytes) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(markup, options=_WITHOUT_EVENTS)
    except SelectolaxError as error:
        raise HostilePage(f"the engine gives up: {error}") from error


def _refuse_slow(markup: bytes) -> None:
    if _may_have_long_tag(markup) and not _WITHOUT_LONG_TAG.fullmatch(markup):
        raise HostilePage(f"a tag with more than {MAX_ATTRIBUTES} attributes")
    brackets = markup.count(b"<")
    # The coarse count comes first: the exact one walks through all tags.
    max_left_open = MAX_REOPENED // max(brackets, 1)
    if (
        brackets > UNCHECKED_REOPENING_TAGS
        and len(_FORMATTING.findall(markup)) > max_left_open
        and _count_left_open(markup) > max_left_open
    ):
        raise HostilePage("formatting that is left open, and opened anew in each paragraph")
    if brackets <= UNCHECKED_TAGS:
        return
    start_tags = brackets - markup.count(b"</")
    if start_tags > MAX_TAGS:
        raise HostilePage(f"more than {MAX_TAGS} tags")
    if start_tags > UNCHECKED_TAGS and _is_deep(markup):
        raise HostilePage(_TOO_DEEP)


def _refuse_deep(tree: LexborHTMLParser) -> None:
    """Measure the depth of the tree itself: end tags inside a `<select>` or an `<object>` may close
    nothing.
    """
    depth, node = 0, tree.root
    while node is not None:
        if node.first_child is not None:
            depth, node = depth + 1, node.first_child
            if depth > MAX_DEPTH:
                raise HostilePage(_TOO_DEEP)
            continue
        while node is not None and node.next is None:
            depth, node = depth - 1, node.parent if depth > 0 else None
        node = None if node is None else node.next


def _may_have_long_tag(markup: bytes) -> bool:
    """Return True if the page is large, or has a long stretch without `>`.

    In quotes a `>` does not end a tag, so only the size rules one out: as many attributes as 400 KB
    can hold cost seconds, not hours.
    """
    if len(markup) > LARGE_PAGE:
        return True
    for start in range(0, len(markup) - LONG_STRETCH, LONG_STRETCH):
        if markup.find(b">", start, start + LONG_STRETCH) < 0:
            return True
    return False


def _count_left_open(markup: bytes) -> int:
    """Count the formatting tags that are left open: each following paragraph opens all of them
    again.

    An end tag closes only tags in its own cell, option list or embedded object.
    """
    left_open = 0
    open_in_scope = Counter[bytes]()
    for tag in _tag_names(markup):
        name = tag.removeprefix(b"/")
        if name in _SCOPE_TAGS:
            left_open += open_in_scope.total()
            open_in_scope = Counter[bytes]()
        elif name in _FORMATTING_TAGS:
            step = 1 if name == tag else -1
            open_in_scope[name] = max(0, open_in_scope[name] + step)
    return left_open + open_in_scope.total()


def _is_deep(markup: bytes) -> bool:
    """Return True if more tags are open at one place than allowed.

    An end tag closes only tags of its own name.
    """
    depth = 0
    open_tags: dict[bytes, int] = {}
    # Pages repeat few different tags: each is taken apart once.
    steps: dict[bytes, tuple[bytes, int]] = {}
    for tag in _tag_names(markup):
        name, step = steps.get(tag) or steps.setdefault(tag, _name_and_step(tag))
        open_before = open_tags.get(name, 0)
        if step and open_before + step >= 0:
            open_tags[name] = open_before + step
            depth += step
            if depth > MAX_DEPTH:
                return True
    return False


def _tag_names(markup: bytes) -> Iterator[bytes]:
    """Yield the names of tags, end tags with their slash; none that comments, scripts and
    attributes mention.
    """
    return (tag.lower() for tag in _TAG.findall(markup) if tag)


def _name_and_step(tag: bytes) -> tuple[bytes, int]:
    """Return a tag's name and its change of the depth: 1, 0 or -1."""
    name = tag.removeprefix(b"/")
    if name in _SHALLOW_TAGS:
        return name, 0
    return name, -1 if tag.startswith(b"/") else 1
