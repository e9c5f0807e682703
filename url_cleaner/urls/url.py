"""The URL value type: an http(s) URL in its parts, put together again byte for byte.

`urllib.parse` does not suffice: it accepts authorities that browsers read as another host
(backslashes, control characters), and it re-encodes on joining, while a shop may tell `%2F` from
`/`. So a URL is split here in one linear pass, after RFC 3986, and only characters that no server
may receive (spaces, controls, non-ASCII letters) are escaped.
"""

import ipaddress
import re
import string
from dataclasses import dataclass
from functools import cached_property
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urljoin

from url_cleaner.errors import BadUrl
from url_cleaner.urls.domains import registrable_domain

# Characters. Bound against hostile input; twice the 8,000 that RFC 9110 asks servers to support.
MAX_URL_LENGTH = 16_384
# Characters of a host name: RFC 1035, section 2.3.4.
MAX_HOST_LENGTH = 253
# First port number that does not exist (16 bits, RFC 9293).
PORT_LIMIT = 65_536
# Characters in which a host name without scheme is looked for; longer than any host name.
HOST_PREFIX_LENGTH = 300
# Characters of a URL that an error message quotes.
QUOTED_LENGTH = 100

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"(https?):/+", re.IGNORECASE)
_SCHEME_AND_WWW = re.compile(r"^https?://(?:www\.)?")
# An absolute path of plain segments, none of them empty or beginning with a dot, with a query and a
# fragment that are not empty; and the start of a URL with a plain host. Joining them changes nothing.
_SEGMENT = r"[\w~%!$&'()*+,=:@-][\w~%!$&'()*+,=:@.-]*+"
_PLAIN_PATH = re.compile(
    rf"/(?:{_SEGMENT}(?:/{_SEGMENT})*+/?+)?+(?:\?[\w~%!$&'()*+,=:@./-]++)?+(?:#[\w~%!$&/.=-]++)?+\Z",
    re.ASCII,
)
_ORIGIN = re.compile(r"https?://[\w.-]++(?::[0-9]++)?+(?=[/?#]|\Z)", re.ASCII)
# Character references for an ampersand, as feeds leave them in XML; repeated where escaped twice.
_AMPERSAND_REFERENCE = re.compile(r"&(?:(?:amp|#0{0,5}38|#x0{0,5}26);)+", re.IGNORECASE)
_VISIBLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_VISIBLE_ESCAPE = re.compile(r"%(?:2[1-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
# Characters that mean the same with and without an escape (RFC 3986, section 2.3).
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_DNS_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
# A host name with a dot, and a port, at the start of a text.
_BARE_HOST = re.compile(r"(?P<name>[\w-]{1,63}(?:\.[\w-]{1,63})+)(?::[0-9]{1,5})?(?=[/?#]|$)")
# Top-level domains that are endings of files as well: `page.do` is a page of the shop.
_FILE_ENDINGS = frozenset({"do", "md", "mov", "ps", "py", "rs", "sh", "zip"})
# Tabs and line breaks inside a URL are dropped, as browsers do (WHATWG URL, section 4.4).
_DROPPED_CONTROLS = {9: None, 10: None, 13: None}


def _characters_by_escape() -> dict[str, str]:
    characters = {}
    for high in "234567":
        for low in "0123456789abcdefABCDEF":
            characters[f"%{high}{low}"] = chr(int(high + low, 16))
    return characters


_CHARACTER_OF_ESCAPE = _characters_by_escape()


@dataclass(frozen=True)
class Url:
    """An http(s) URL in its parts.

    `query` and `fragment` come without their `?` and `#`, and are "" where absent; `port` is None
    where it is the scheme's default.
    """

    scheme: str
    user: str
    host: str
    port: int | None
    path: str
    query: str = ""
    fragment: str = ""

    @classmethod
    def parse(cls, text: str, home: "Url | None" = None) -> Self:
        """Parse an http(s) URL and supply a missing scheme: that of `home`, or https. Without
        scheme the text must begin with the host of `home`, `www.` or a registrable domain.

        Raises BadUrl where the text is no http(s) URL.

        >>> str(Url.parse(" HTTPS://WWW.Shop.example:443/a%2fb?x=1&amp;y=ö# "))
        'https://www.shop.example/a%2fb?x=1&y=%C3%B6'
        >>> str(Url.parse("//shop.example/a")), str(Url.parse("shop.com/a"))
        ('https://shop.example/a', 'https://shop.com/a')
        """
        text = _tidy(text)
        scheme, after_scheme = _split_scheme(text, home)
        authority_end = _authority_end(after_scheme)
        user, host, port = _parse_authority(after_scheme[:authority_end], scheme, text)
        before_fragment, _, fragment = after_scheme[authority_end:].partition("#")
        path, _, query = before_fragment.partition("?")
        url = cls(
            scheme,
            user,
            host,
            port,
            _escape_illegal(path),
            _escape_illegal(query),
            _escape_illegal(fragment),
        )
        # Escapes make a link up to nine times as long; what is clean has to be a link itself.
        if len(url.path) + len(url.query) + len(url.fragment) > MAX_URL_LENGTH // 2:
            _refuse_long(str(url))
        return url

    def __str__(self) -> str:
        return self.root + self.after_host

    @property
    def site(self) -> tuple[str, int | None]:
        """Host without a leading `www.`, and port: equal for all URLs of one shop."""
        return self.host.removeprefix("www."), self.port

    @property
    def root(self) -> str:
        """Scheme and authority, without a path.

        >>> Url.parse("http://shop.example:8080/a?b=1").root
        'http://shop.example:8080'
        """
        return f"{self.scheme}://{self.netloc}"

    @property
    def netloc(self) -> str:
        """User, host and port as they stand in the URL."""
        user = f"{self.user}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        return f"{user}{self.host}{port}"

    @property
    def after_host(self) -> str:
        """Path, query and fragment as they stand in the URL."""
        query = f"?{self.query}" if self.query else ""
        fragment = f"#{self.fragment}" if self.fragment else ""
        return f"{self.path}{query}{fragment}"

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Segments of the path, decoded, without empty ones.

        >>> Url.parse("https://shop.example//a%20b/7/").segments
        ('a b', '7')
        """
        return tuple(unquote(segment) for segment in self.path.split("/") if segment)

    @cached_property
    def sorted_query(self) -> tuple[tuple[str, str], ...]:
        """Decoded keys and values of the query, sorted; bytes that are no UTF-8 as `\\xf6`.

        >>> Url.parse("https://shop.example/?b=1&a=").sorted_query
        (('a', ''), ('b', '1'))
        """
        return tuple(
            sorted(parse_qsl(self.query, keep_blank_values=True, errors="backslashreplace"))
        )

    @cached_property
    def page_key(self) -> str:
        """Key of the page: the same for URLs that differ in scheme, `www.`, order of the query,
        fragment or the spelling of escapes only.

        >>> Url.parse("https://www.shop.example/x?b=1&a=2").page_key == Url.parse("http://shop.example/x?a=2&b=1#top").page_key
        True
        """
        page = f"{self.netloc.removeprefix('www.')}{normalise_escapes(self.path) or '/'}"
        if not self.sorted_query:
            return page
        return f"{page}?{self.sorted_query}"


def join_url(base: str, href: str) -> str | None:
    """Resolve a link against the URL of its page; None where it is malformed.

    Any scheme is allowed.

    >>> join_url("https://shop.example/a/b", "../c"), join_url("https://shop.example", "//[")
    ('https://shop.example/c', None)
    """
    # Most links of a page: the general way takes fifty calls.
    if _PLAIN_PATH.match(href) and (origin := _ORIGIN.match(base)):
        return origin[0] + href
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def url_key(url: str) -> str:
    """Comparison key of a cleaned URL: without the scheme, `www.`, the last slash and differences
    in the spelling of escapes.

    >>> url_key("http://www.shop.example/p/") == url_key("https://shop.example/p")
    True
    >>> url_key("https://shop.example/gr%c3%bcn")
    'shop.example/gr%C3%BCn'
    """
    return normalise_escapes(_SCHEME_AND_WWW.sub("", url).rstrip("/"))


def url_rank(url: str) -> tuple[int, str]:
    """Return a sort key of URLs: the shortest first, equally long ones by code points.

    This order stands for a set of URLs wherever one of them has to be chosen: the order in which
    pages were fetched depends on timing, and collations differ between databases.

    >>> sorted(["https://a.de/bc", "https://a.de/b", "https://a.de/a"], key=url_rank)
    ['https://a.de/a', 'https://a.de/b', 'https://a.de/bc']
    """
    return len(url), url


def unescape(text: str) -> str:
    """Decode percent-escapes of visible ASCII characters, once; all others stay, so that no byte is
    lost.

    >>> unescape("https%3A%2F%2Fshop.example%2Fa%2520b%20%C3%B6")
    'https://shop.example/a%20b%20%C3%B6'
    """
    if "%" not in text:
        return text
    return _VISIBLE_ESCAPE.sub(lambda match: _CHARACTER_OF_ESCAPE[match[0]], text)


def normalise_escapes(text: str) -> str:
    """Write percent-escapes in upper case and decode those of unreserved characters (RFC 3986,
    6.2.2), for comparison only: a shop may insist on the spelling that it sent.

    >>> normalise_escapes("%7euser/gr%c3%bcn%2f")
    '~user/gr%C3%BCn%2F'
    """
    if "%" not in text:
        return text
    return _ESCAPE.sub(_normal_escape, text)


def _normal_escape(match: re.Match[str]) -> str:
    escape = match[0].upper()
    character = chr(int(escape[1:], 16))
    return character if character in _UNRESERVED else escape


def starts_with_host(text: str, home: Url) -> bool:
    """Return True if a lower-case text without scheme begins with the host of `home`."""
    host_and_port = home.host
    if home.port is not None:
        host_and_port = f"{home.host}:{home.port}"
    for name in (host_and_port, home.site[0]):
        # The name must end there: `shop.example.org` does not begin with the host `shop.example`.
        if text.startswith(name) and text[len(name) : len(name) + 1] in ("", "/", "?", "#"):
            return True
    return False


def begins_with_host(text: str) -> bool:
    """Return True if a text without scheme begins with a host name that somebody can own, and not
    with the name of a file.

    >>> [begins_with_host(text) for text in ("shop.com/p", "a.shop.co.uk", "index.html", "page.do?id=7", "p/7", "1.5")]
    [True, True, False, False, False, False]
    """
    match = _BARE_HOST.match(text[:HOST_PREFIX_LENGTH])
    if match is None:
        return False
    name = match["name"].lower()
    is_followed_by_path = text[match.end() : match.end() + 1] == "/"
    if not is_followed_by_path and name.rpartition(".")[2] in _FILE_ENDINGS:
        return False
    return registrable_domain(name) is not None


def _tidy(text: str) -> str:
    _refuse_long(text)
    text = text.strip().translate(_DROPPED_CONTROLS)
    if "&" not in text:
        return text
    return _AMPERSAND_REFERENCE.sub("&", text)


def _refuse_long(text: str) -> None:
    if len(text) > MAX_URL_LENGTH:
        raise BadUrl(
            f"a link of {len(text)} characters is longer than {MAX_URL_LENGTH}: {text[:60]!r}..."
        )


def _split_scheme(text: str, home: Url | None) -> tuple[str, str]:
    """Split off the scheme. Feeds and redirect wrappers often leave it out."""
    if match := _SCHEME.match(text):
        return match[1].lower(), text[match.end() :]
    default_scheme = home.scheme if home else "https"
    if text.startswith("//"):
        return default_scheme, text.lstrip("/")
    start = text[:HOST_PREFIX_LENGTH].lower()
    if start.startswith("www.") or (home and starts_with_host(start, home)):
        return default_scheme, text
    if begins_with_host(text):
        return default_scheme, text
    raise BadUrl(f"not an http(s) link: {text[:QUOTED_LENGTH]!r}")


def _authority_end(after_scheme: str) -> int:
    end = len(after_scheme)
    for delimiter in "/?#":
        position = after_scheme.find(delimiter, 0, end)
        if position >= 0:
            end = position
    return end


def _parse_authority(authority: str, scheme: str, url: str) -> tuple[str, str, int | None]:
    user, _, host_and_port = authority.rpartition("@")
    # The colons of an IPv6 address in brackets do not begin a port.
    if host_and_port.endswith("]"):
        name, colon, digits = host_and_port, "", ""
    else:
        name, colon, digits = host_and_port.rpartition(":")
    if not colon and not name:
        name, digits = digits, ""
    host = _normalise_host(unescape(name).lower().removesuffix("."))
    # Browsers read a backslash as a slash, so the host would be another one for them.
    is_bad_user = _escape_illegal(user) != user or "\\" in user
    if host is None or len(host) > MAX_HOST_LENGTH or is_bad_user:
        raise BadUrl(f"no host that could be asked: {url[:QUOTED_LENGTH]!r}")
    if digits and not _is_port(digits):
        raise BadUrl(f"no such port as {digits[:20]!r}: {url[:QUOTED_LENGTH]!r}")
    port = int(digits) if digits else None
    if port == _DEFAULT_PORTS[scheme]:
        port = None
    return user, host, port


def _is_port(digits: str) -> bool:
    # The length is checked first: int() of a very long number is slow.
    if not digits.isascii() or not digits.isdigit() or len(digits) > 5:
        return False
    return 0 < int(digits) < PORT_LIMIT


def _normalise_host(name: str) -> str | None:
    """Return the host name as DNS knows it; None where it is no host name or IP address."""
    if name.startswith("[") and name.endswith("]"):
        try:
            return f"[{ipaddress.IPv6Address(name[1:-1]).compressed}]"
        except ValueError:
            return None
    if not name.isascii() or "%" in name:
        name = _encode_idna(name)
    if not name:
        return None
    for label in name.split("."):
        if not _DNS_LABEL.fullmatch(label):
            return None
    return name


def _encode_idna(name: str) -> str:
    """Encode an internationalised host name (UTS 46); "" where it is not valid.

    Python's own codec implements IDNA 2003, which writes `straße` as `strasse`: another domain.
    """
    import idna

    try:
        return idna.encode(unquote(name, errors="strict"), uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ""


def _escape_illegal(text: str) -> str:
    """Percent-encode, as UTF-8, every character that must not stand in a URL."""
    return quote(text, _VISIBLE_ASCII, "utf-8", "surrogatepass")
