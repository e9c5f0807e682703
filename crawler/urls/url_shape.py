"""Shapes of URLs: which links are of one kind, and which could go on for ever.

A calendar's months, a list's pages and a facet's values differ in digits and query values only. Folding those leaves
a shape; links of one shape are judged together (see `crawler.filters.traps`). All of it is text to text.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

LONGEST = 2_000
DEEPEST = 12
REPEATS = 3

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
PLACES = 2
HEX = re.compile(r"^[0-9a-f]{16,}$", re.I)
PAGE_KEY = re.compile(
    r"^(?:p|pg|page|paged|pageno|page_?num(?:ber)?|page_?id?x|seite|pagina|pagine|stranka|strona|sida|side|sivu|sayfa"
    r"|start|offset|from|cursor|after|currentpage|product-page)$",
    re.I,
)
PAGE_PATH = re.compile(
    r"/(?:page|seite|pagina|strona|stranka|sida|side|sivu|sayfa)[-/]?\d+(?=/|\.\w+$|$)", re.I
)


@dataclass(frozen=True)
class Address:
    """A cleaned URL taken apart once, for all questions that are asked of it."""

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
    def ids(self) -> tuple[int, ...]:
        """Which of its first segments may be a session's id.

        >>> Address("https://a.de/0123456789abcdef/p/7").ids, Address("https://a.de/bikes/7").ids
        ((0,), ())
        """
        return tuple(
            place for place, segment in enumerate(self.segments[:PLACES]) if TOKEN.match(segment)
        )

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """Keys and values of the query, sorted."""
        return tuple(sorted(parse_qsl(self.parts.query, keep_blank_values=True)))

    @cached_property
    def key(self) -> str:
        """What makes two addresses the same page: host without `www.`, path, sorted query.

        >>> Address("https://www.a.de/x?b=1&a=2").key == Address("http://a.de/x?a=2&b=1#top").key
        True
        """
        host = self.parts.netloc.lower().removeprefix("www.")
        return (
            f"{host}{self.parts.path or '/'}?{self.query}"
            if self.query
            else f"{host}{self.parts.path or '/'}"
        )

    @cached_property
    def shape(self) -> str:
        """The address with its digits and query values folded.

        >>> Address("https://a.de/cal/2026/05?day=3").shape
        '/cal/0/0?day=0'
        """
        query = "&".join(f"{name}={_fold(value)}" for name, value in self.query)
        return DIGITS.sub("0", self.parts.path or "/") + ("?" + query if query else "")

    @cached_property
    def varies(self) -> bool:
        """Whether other addresses of the same shape can exist; false for plain names."""
        return bool(self.query) or "0" in self.shape

    @cached_property
    def stem(self) -> str:
        """The path up to where it begins to vary: the family that a trap's pages share.

        >>> Address("https://a.de/cal/2026/05/01").stem, Address("https://a.de/cal?m=5").stem
        ('/cal/', '/cal?')
        """
        path = DIGITS.sub("0", self.parts.path or "/")
        if "0" in path:
            return path[: path.index("0")].rpartition("/")[0] + "/"
        return path + "?"

    def is_kin(self, other: "Address") -> bool:
        """Whether both differ in numbers only, as a calendar's months and days do.

        >>> month = Address("https://a.de/cal/2026/05")
        >>> month.is_kin(Address("https://a.de/cal/2026/05/01")), month.is_kin(Address("https://a.de/cal/2026/show-7"))
        (True, False)
        """
        if self.stem != other.stem or [name for name, _ in self.query] != [
            name for name, _ in other.query
        ]:
            return False
        return all(
            not LETTER.search(address.parts.path[len(address.stem) :]) for address in (self, other)
        )

    @cached_property
    def turns_page(self) -> bool:
        """Whether it says by its query or path that it is the next page of a list.

        >>> Address("https://a.de/c?page=2").turns_page, Address("https://a.de/c/page/2/").turns_page
        (True, True)
        """
        return any(PAGE_KEY.match(name) for name, _ in self.query) or bool(
            PAGE_PATH.search(self.parts.path)
        )


def without_session(url: str) -> str:
    """The URL without session ids.

    >>> without_session("https://a.de/x;jsessionid=0A1B?b=1&PHPSESSID=abc&sid=0123456789abcdef0123")
    'https://a.de/x?b=1'
    """
    head, mark, query = url.partition("?")
    head = SESSION_PATH.sub("", head)
    kept = [
        pair for pair in query.split("&") if pair and not _is_session(*pair.partition("=")[::2])
    ]
    return head + ("?" + "&".join(kept) if kept else "") if mark else head


def endless(address: Address) -> str | None:
    """Why an address must be part of a trap by its looks alone; None where it need not be.

    >>> endless(Address("https://a.de/a/b/a/b/a/b/"))
    'trap: endless a'
    """
    if len(address.url) > LONGEST:
        return "trap: URL too long"
    segments = address.segments
    if len(segments) > DEEPEST:
        return "trap: path too deep"
    for segment in segments:
        if segments.count(segment) >= REPEATS and not segment.isdigit():
            return f"trap: endless {segment[:40]}"
    return None


def _is_session(name: str, value: str) -> bool:
    return bool(SESSION_KEY.match(name)) or (
        name.lower() in ("sid", "s", "session") and bool(HEX.match(value))
    )


def _fold(value: str) -> str:
    return DIGITS.sub("0", value)
