"""Decoding of a target as it stands in a redirect link: percent-encoding, base64, and networks' own
codes.
"""

import base64
import binascii
import re

from url_cleaner.knowledge.networks import WrapperFormat
from url_cleaner.urls.url import Url, begins_with_host, unescape

# Rounds of decoding, and wrappers within wrappers. Bound against hostile input.
MAX_ROUNDS = 5
# Characters at the start of a text that decide how many rounds of decoding it needs.
_HEAD_LENGTH = 1_000

CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "<": ">"}
_ABSOLUTE = re.compile(r"https?:/", re.IGNORECASE)
_LINK_START = re.compile(r"(?:https?:/+|//|www\.)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:https?:)?/*([^/?#]*)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
# An escape of an ASCII character in a host name: the name is encoded once more.
_ESCAPED_ASCII = re.compile(r"%(?![89A-F][0-9A-F])", re.IGNORECASE)
# A parameter behind an encoded separator, its equals sign plain.
_ESCAPED_PARAMETER = re.compile(r"%26[a-z_][a-z0-9_-]*=", re.IGNORECASE)
_ESCAPED_QUERY = re.compile(r"%3F|%26", re.IGNORECASE)


def is_absolute(text: str) -> bool:
    """Return True if the text begins with a scheme that is not encoded."""
    return _ABSOLUTE.match(text) is not None


def begins_with_link(text: str) -> bool:
    """Return True if the text begins with a scheme, maybe encoded, or is in base64 that does.

    >>> [begins_with_link(text) for text in ("https%253A%252F%252Fshop.com", "aHR0cHM6Ly9zaG9wLmNvbQ", "shop.com")]
    [True, True, False]
    """
    link = decode_link(text, None)
    return link is not None and is_absolute(link)


def decode_link(text: str, home: Url | None) -> str | None:
    """Decode a text in as few rounds, at most five, as make it begin with a link; None where it
    never does.

    >>> decode_link("http%253A%252F%252Fshop.example%252Fa%253Fb%253D1", None)
    'http://shop.example/a?b=1'
    >>> decode_link("a1aHR0cHM6Ly9zaG9wLmV4YW1wbGUvcA", None)
    'https://shop.example/p'
    """
    text = _strip_padding(text)
    decoded = _decode_percent(text, home)
    if decoded is None:
        if not _BASE64.match(unescape(text[:_HEAD_LENGTH])):
            return None
        return _link_in_base64(unescape(text))
    # The scheme is plain but the query is encoded, or its separators are: decode once more.
    if decoded is text and _has_escaped_query(text):
        return unescape(text)
    return decoded


def _has_escaped_query(text: str) -> bool:
    """Return True if the query of a plain link, or each separator of its parameters, is encoded.

    >>> _has_escaped_query("https://shop.com/p%3Fa=1"), _has_escaped_query("https://shop.com/p?a=1%26b=2")
    (True, True)
    >>> _has_escaped_query("https://shop.com/p?brand=A%26B"), _has_escaped_query("https://shop.com/p?a=1&b=2%26c=3")
    (False, False)
    """
    if "?" not in text:
        return _ESCAPED_QUERY.search(text) is not None
    return "&" not in text and _ESCAPED_PARAMETER.search(text) is not None


def decode_bare_link(text: str) -> str | None:
    """Decode a text in as few rounds, at most five, as make it begin with a host name that somebody
    can own; None where it never does. The scheme stays missing.

    >>> decode_bare_link("%5B%5Bshop.com%2Fp%3Fa%3D1%5D%5D"), decode_bare_link("p/7"), decode_bare_link("index.php?id=7")
    ('shop.com/p?a=1', None, None)
    """
    text = _strip_padding(text)
    head = text[:_HEAD_LENGTH]
    for rounds in range(MAX_ROUNDS + 1):
        head = _strip_brackets(head)
        if begins_with_host(head):
            return _unescape_times(rounds, text)
        decoded = unescape(head)
        if decoded == head:
            return None
        head = decoded
    return None


def decode_path(text: str) -> str | None:
    """Decode a text to an absolute path; None where it is none, or names a host.

    >>> decode_path("%2Fp%2F7"), decode_path("//elsewhere.example/p")
    ('/p/7', None)
    """
    head = text[:_HEAD_LENGTH]
    for rounds in range(MAX_ROUNDS + 1):
        if head.startswith("/"):
            # Browsers read `/\` and a second slash alike: a host follows.
            names_host = head.startswith(("//", "/\\")) or "%2f" in head[:4].lower()
            return None if names_host else _unescape_times(rounds, text)
        head = unescape(head)
    return None


def decode_network_code(text: str, after_host: str, wrapper: WrapperFormat) -> str:
    """Translate a network's own code to percent-encoding; texts of other networks stay
    unchanged.
    """
    if wrapper.code == "proofpoint":
        return text.replace("-", "%").replace("_", "/")
    if wrapper.code == "stars" and "*" in text:
        replacements = after_host.partition("__;")[2].partition("!!")[0]
        return _fill_stars(text, replacements)
    if wrapper.tail:
        decoded = _decode_percent(text, None) or ""
        without_tail = decoded.rpartition(wrapper.tail)[0]
        return without_tail if "://" in without_tail else text
    return text


def _decode_percent(text: str, home: Url | None) -> str | None:
    """Decode in as few rounds as make the text begin with a link whose host can be read; None where
    none does.
    """
    # The head decides, so that a long text that is no link costs nothing.
    rounds = _rounds_needed(text[:_HEAD_LENGTH], home)
    if rounds is None:
        return None
    return _unescape_times(rounds, text)


def _rounds_needed(head: str, home: Url | None) -> int | None:
    for rounds in range(MAX_ROUNDS + 1):
        head = _strip_brackets(head)
        if _begins_with_link(head, home) and not _ESCAPED_ASCII.search(_authority(head)):
            return rounds
        decoded = unescape(head)
        if decoded == head:
            return None
        head = decoded
    return None


def _unescape_times(rounds: int, text: str) -> str:
    for _ in range(rounds):
        text = unescape(_strip_brackets(text))
    return _strip_brackets(text)


def _strip_brackets(text: str) -> str:
    if not text.startswith("[["):
        return text
    return text[2:].partition("]]")[0]


def _strip_padding(text: str) -> str:
    """Remove the encoded spaces that careless feeds put around a target."""
    for _ in range(MAX_ROUNDS):
        text = text.removeprefix("%20").removesuffix("%20").removeprefix("+").removesuffix("+")
    return text


def _begins_with_link(text: str, home: Url | None) -> bool:
    if _LINK_START.match(text):
        return True
    if home is None:
        return False
    site_host, port = home.site
    home_name = site_host if port is None else f"{site_host}:{port}"
    return _authority(text).lower().removeprefix("www.") == home_name


def _authority(text: str) -> str:
    match = _AUTHORITY.match(text)
    return match[1] if match else ""


def _fill_stars(text: str, replacements: str) -> str:
    """Decode Proofpoint's third format: each `*` stands for the next character of a base64 list
    behind the link.
    """
    characters = _decode_base64(replacements) or ""
    if text.count("*") != len(characters):
        return ""
    first, *parts = text.split("*")
    pieces = [first]
    for character, part in zip(characters, parts, strict=True):
        pieces += [character, part]
    return "".join(pieces)


def _link_in_base64(text: str) -> str | None:
    """Return the link in a base64 text: alone, behind Bing's `a1`, or in JSON within JSON, as mail
    services write it.
    """
    if not _BASE64.fullmatch(text):
        return None
    encodings = [text]
    if text.startswith("a1"):
        encodings.insert(0, text[2:])
    for encoded in encodings:
        decoded = (_decode_base64(encoded) or "").replace("\\u0026", "&").replace("\\", "")
        decoded = _decode_percent(decoded, None) or decoded
        if start := _ABSOLUTE.search(decoded):
            before, link = decoded[: start.start()], decoded[start.start() :]
            closing = CLOSING_BRACKETS.get(before[-1:])
            return link.partition(closing)[0] if closing else link
    return None


def _decode_base64(text: str) -> str | None:
    """Decode base64, standard or URL-safe, with or without padding; None where it is no UTF-8
    text.
    """
    standard = text.rstrip("=").replace("-", "+").replace("_", "/")
    padding = "=" * (-len(standard) % 4)
    try:
        return base64.b64decode(standard + padding, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
