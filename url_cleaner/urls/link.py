"""A link taken apart and put together again, byte for byte where nothing is wrong with it.

`urllib.parse` is not enough here: it accepts authorities that browsers read as another host (backslashes, control
characters), and re-encodes what it joins, while a shop may tell `%2F` from `/`. So a link is cut by hand, in one linear
pass, and only what no server may see (spaces, controls, non-ASCII letters) is escaped.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin

from url_cleaner.errors import BadUrl

MAX_LENGTH = 16_384
_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"(https?):/+", re.IGNORECASE)
_WAYS = re.compile(r"^https?://(?:www\.)?")
_ENTITY = re.compile(r"&(?:(?:amp|#0{0,5}38|#x0{0,5}26);)+", re.IGNORECASE)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_ESCAPE = re.compile(r"%(?:2[1-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])")
_PLAIN = {f"%{a}{b}": chr(int(a + b, 16)) for a in "234567" for b in "0123456789abcdefABCDEF"}
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")


@dataclass(frozen=True)
class Link:
    """An http(s) link in its parts; `query` and `fragment` come without their marks, and are "" where absent."""

    scheme: str
    user: str
    host: str
    port: int | None
    path: str
    query: str = ""
    fragment: str = ""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        query = f"?{self.query}" if self.query else ""
        fragment = f"#{self.fragment}" if self.fragment else ""
        return f"{self.scheme}://{user}{self.host}{port}{self.path}{query}{fragment}"

    @property
    def site(self) -> tuple[str, int | None]:
        """What makes two links lead to one shop: the host without a leading `www.`, and an unusual port."""
        return self.host.removeprefix("www."), self.port

    @property
    def rest(self) -> str:
        """All that stands behind the host, as it stands in the link."""
        return str(self)[len(str(Link(self.scheme, self.user, self.host, self.port, ""))) :]


def read_link(text: str, home: Link | None = None) -> Link:
    """The link that a text holds, with its missing scheme supplied; BadUrl where it is none.

    >>> str(read_link(" HTTPS://WWW.Shop.example:443/a%2fb?x=1&amp;y=ö# "))
    'https://www.shop.example/a%2fb?x=1&y=%C3%B6'
    >>> str(read_link("//shop.example/a"))
    'https://shop.example/a'
    """
    text = _tidy(text)
    scheme, rest = _scheme(text, home)
    end = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    user, host, port = _authority(rest[:end], scheme, text)
    before, _, fragment = rest[end:].partition("#")
    path, _, query = before.partition("?")
    return Link(scheme, user, host, port, _legal(path), _legal(query), _legal(fragment))


def absolute(base: str, href: str) -> str | None:
    """The URL that a link on a page stands for, whatever its scheme; None where it is none, as pages may say anything.

    >>> absolute("https://shop.example/a/b", "../c"), absolute("https://shop.example", "//[")
    ('https://shop.example/c', None)
    """
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def bare_url(url: str) -> str:
    """A cleaned URL without what shops and feeds write now this way, now that: scheme, `www.`, the last slash.

    >>> bare_url("http://www.shop.example/p/") == bare_url("https://shop.example/p")
    True
    """
    return _WAYS.sub("", url).rstrip("/")


def unescape(text: str) -> str:
    """One round of percent-decoding of visible ASCII characters; all other bytes stay escaped, so nothing can get lost.

    >>> unescape("https%3A%2F%2Fshop.example%2Fa%2520b%20%C3%B6")
    'https://shop.example/a%20b%20%C3%B6'
    """
    return _ESCAPE.sub(_character, text) if "%" in text else text


def _character(found: re.Match[str]) -> str:
    return _PLAIN[found[0]]


def _tidy(text: str) -> str:
    if len(text) > MAX_LENGTH:
        raise BadUrl(
            f"a link of {len(text)} characters is longer than {MAX_LENGTH}: {text[:60]!r}..."
        )
    text = text.strip().translate({9: None, 10: None, 13: None})
    return _ENTITY.sub("&", text) if "&" in text else text


def _scheme(text: str, home: Link | None) -> tuple[str, str]:
    """The scheme and all behind it; links that lack it are common in feeds and in wrappers."""
    if found := _SCHEME.match(text):
        return found[1].lower(), text[found.end() :]
    default = home.scheme if home else "https"
    if text.startswith("//"):
        return default, text.lstrip("/")
    lowered = text[:300].lower()
    if lowered.startswith("www.") or (home and starts_with_host(lowered, home)):
        return default, text
    raise BadUrl(f"not an http(s) link: {text[:100]!r}")


def starts_with_host(text: str, home: Link) -> bool:
    """Does a text in small letters begin with the shop's host, scheme missing?"""
    name = home.host if home.port is None else f"{home.host}:{home.port}"
    return any(
        text.startswith(n) and text[len(n) : len(n) + 1] in ("", "/", "?", "#")
        for n in (name, home.site[0])
    )


def _authority(text: str, scheme: str, link: str) -> tuple[str, str, int | None]:
    user, _, place = text.rpartition("@")
    name, colon, number = (place, "", "") if place.endswith("]") else place.rpartition(":")
    if not colon and not name:
        name, number = number, ""
    host = _host(unescape(name).lower().removesuffix("."))
    if host is None or len(host) > 253 or _legal(user) != user or "\\" in user:
        raise BadUrl(f"no host that could be asked: {link[:100]!r}")
    if number and (
        not number.isascii()
        or not number.isdigit()
        or len(number) > 5
        or not 0 < int(number) < 65_536
    ):
        raise BadUrl(f"no such port as {number[:20]!r}: {link[:100]!r}")
    port = int(number) if number else None
    return user, host, None if port == _PORTS[scheme] else port


def _host(name: str) -> str | None:
    """The host in the form that DNS is asked for; None where it is none."""
    if name.startswith("[") and name.endswith("]"):
        try:
            return f"[{ipaddress.IPv6Address(name[1:-1]).compressed}]"
        except ValueError:
            return None
    if not name.isascii() or "%" in name:
        name = _international(name)
    return name if name and all(_LABEL.fullmatch(label) for label in name.split(".")) else None


def _international(name: str) -> str:
    """The name in letters that DNS knows, or ""; `idna` because Python's own codec writes straße as strasse."""
    import idna

    try:
        return idna.encode(unquote(name, errors="strict"), uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ""


def _legal(text: str) -> str:
    """The text with every character that may not stand in a link escaped as UTF-8."""
    return quote(text, _VISIBLE, "utf-8", "surrogatepass")
