"""URL shapes: which links are of one kind, and which paths can only be traps.

Months of a calendar, pages of a list and values of a facet differ in digits and query values only.
Folding those leaves a shape; links of one shape are judged together (`crawler.filters.traps`). All
functions map text to text.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from url_cleaner.urls.url import normalise_escapes

MAX_URL_LENGTH = 2_000  # characters; bound against paths that grow with each visit
MAX_PATH_DEPTH = 12  # segments; same
MAX_REPEATS = 3  # occurrences of one segment in a path; relative links that append to themselves
TOKEN_SEGMENTS = 2  # leading segments in which shops put session ids

DIGITS = re.compile(r"\d+")
LETTER = re.compile(r"[^\W\d_]")
SESSION_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sid|sessionid)=[^/?#;]*|/\([A-Za-z]\([a-z0-9]{24}\)\)", re.I
)
SESSION_KEY = re.compile(
    r"^(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|oscsid|zenid)$",
    re.I,
)
TOKEN = re.compile(
    r"^(?:[a-z]{1,12}[-_=.~])?(?=[0-9a-z]*\d)(?=[0-9a-z]*[a-z])[0-9a-z]{16,64}$", re.I
)
HEX = re.compile(r"^[0-9a-f]{16,}$", re.I)
# Query keys and path segments that number the pages of a list, in the languages of many shops.
PAGE_KEY = re.compile(
    r"^(?:p|pg|page|paged|pageno|page_?num(?:ber)?|page_?id?x"
    r"|seite|pagina|pagine|stranka|strona|sida|side|sivu|sayfa"
    r"|start|offset|from|cursor|after|currentpage|product-page)$",
    re.I,
)
PAGE_PATH = re.compile(
    r"/(?:page|seite|pagina|strona|stranka|sida|side|sivu|sayfa)[-/]?\d+(?=/|\.\w+$|$)", re.I
)


@dataclass(frozen=True)
class Address:
    """A cleaned URL; its parts are computed once, when first needed."""

    url: str

    @cached_property
    def parts(self) -> SplitResult:
        """Scheme, host, path and query."""
        return urlsplit(self.url)

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The path's segments, decoded, without empty ones."""
        return tuple(unquote(part) for part in self.parts.path.split("/") if part)

    @cached_property
    def token_positions(self) -> tuple[int, ...]:
        """Positions of leading segments that may be a session id.

        >>> Address("https://a.de/0123456789abcdef/p/7").token_positions
        (0,)
        >>> Address("https://a.de/bikes/7").token_positions
        ()
        """
        leading = self.segments[:TOKEN_SEGMENTS]
        return tuple(index for index, segment in enumerate(leading) if TOKEN.match(segment))

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """Keys and values of the query, sorted; bytes that are no UTF-8 as `\\xf6`."""
        pairs = parse_qsl(self.parts.query, keep_blank_values=True, errors="backslashreplace")
        return tuple(sorted(pairs))

    @cached_property
    def key(self) -> str:
        """Identity of the page: host without `www.`, path, sorted query, escapes spelt alike.

        >>> Address("https://www.a.de/x?b=1&a=2").key == Address("http://a.de/x?a=2&b=1#top").key
        True
        >>> Address("https://a.de/gr%c3%bcn").key == Address("https://a.de/gr%C3%BCn").key
        True
        """
        host = self.parts.netloc.lower().removeprefix("www.")
        path = normalise_escapes(self.parts.path) or "/"
        return f"{host}{path}?{self.query}" if self.query else f"{host}{path}"

    @cached_property
    def shape(self) -> str:
        """The path and query with their digits folded to 0.

        >>> Address("https://a.de/cal/2026/05?day=3").shape
        '/cal/0/0?day=0'
        """
        path = _fold_digits(self.parts.path or "/")
        if not self.query:
            return path
        return path + "?" + "&".join(f"{name}={_fold_digits(value)}" for name, value in self.query)

    @cached_property
    def is_variable(self) -> bool:
        """True if other addresses can have the same shape; False for plain names."""
        return bool(self.query) or "0" in self.shape

    @cached_property
    def family(self) -> str:
        """The path up to its first varying segment: shared by all pages of a trap.

        >>> Address("https://a.de/cal/2026/05/01").family, Address("https://a.de/cal?m=5").family
        ('/cal/', '/cal?')
        """
        path = _fold_digits(self.parts.path or "/")
        if "0" in path:
            return path[: path.index("0")].rpartition("/")[0] + "/"
        return path + "?"

    def is_numeric_variant(self, address: "Address") -> bool:
        """Return True if two addresses differ in numbers only, as months and days of a calendar do.

        >>> month = Address("https://a.de/cal/2026/05")
        >>> month.is_numeric_variant(Address("https://a.de/cal/2026/05/01"))
        True
        >>> month.is_numeric_variant(Address("https://a.de/cal/2026/show-7"))
        False
        """
        if self.family != address.family or _keys(self) != _keys(address):
            return False
        return not (_has_letters_in_tail(self) or _has_letters_in_tail(address))

    @cached_property
    def is_pagination(self) -> bool:
        """True if the query or path numbers the pages of a list.

        >>> Address("https://a.de/c?page=2").is_pagination
        True
        >>> Address("https://a.de/c/page/2/").is_pagination
        True
        """
        if any(PAGE_KEY.match(name) for name, _ in self.query):
            return True
        return PAGE_PATH.search(self.parts.path) is not None


def strip_session_ids(url: str) -> str:
    """Remove session ids from path and query.

    >>> strip_session_ids("https://a.de/x;jsessionid=0A1B?b=1&PHPSESSID=abc&sid=0123456789abcdef")
    'https://a.de/x?b=1'
    """
    head, mark, query = url.partition("?")
    head = SESSION_PATH.sub("", head)
    if not mark:
        return head
    pairs = [pair for pair in query.split("&") if pair and not _is_session_pair(pair)]
    return head + "?" + "&".join(pairs) if pairs else head


def trap_reason(address: Address) -> str | None:
    """Return the reason why an address must be a trap; None if it may be a page.

    >>> trap_reason(Address("https://a.de/a/b/a/b/a/b/"))
    'trap: endless a'
    """
    if len(address.url) > MAX_URL_LENGTH:
        return "trap: URL too long"
    segments = address.segments
    if len(segments) > MAX_PATH_DEPTH:
        return "trap: path too deep"
    for segment in segments:
        # Numbers repeat without a trap: /2024/2024/2024 may be a date and an article.
        if segments.count(segment) >= MAX_REPEATS and not segment.isdigit():
            return f"trap: endless {segment[:40]}"
    return None


def _is_session_pair(pair: str) -> bool:
    name, _, value = pair.partition("=")
    if SESSION_KEY.match(name):
        return True
    # Short keys have other meanings too: only a long hexadecimal value is a session id.
    return name.lower() in ("sid", "s", "session") and HEX.match(value) is not None


def _keys(address: Address) -> list[str]:
    return [name for name, _ in address.query]


def _has_letters_in_tail(address: Address) -> bool:
    return LETTER.search(address.parts.path[len(address.family) :]) is not None


def _fold_digits(text: str) -> str:
    return DIGITS.sub("0", text)
