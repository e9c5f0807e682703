"""From a text as it stands in a wrapper to the link it means: percent-encoding, base64, and networks' own codes."""

import base64
import binascii
import re

from url_cleaner.knowledge.providers import Wrapper
from url_cleaner.urls.link import Link, unescape

MAX_ROUNDS = 5
_HEAD = 1_000
CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "<": ">"}
_ABSOLUTE = re.compile(r"https?:/", re.IGNORECASE)
_BEGINNING = re.compile(r"(?:https?:/+|//|www\.)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:https?:)?/*([^/?#]*)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_HIDDEN_NAME = re.compile(r"%(?![89A-F][0-9A-F])", re.IGNORECASE)
_HIDDEN_QUERY = re.compile(r"%3F|%26", re.IGNORECASE)


def is_absolute(text: str) -> bool:
    """Does the text begin with a scheme that is not encoded?"""
    return _ABSOLUTE.match(text) is not None


def plain_link(text: str, home: Link | None) -> str | None:
    """The link that a text begins with, after as few rounds of decoding as it takes, at most five.

    >>> plain_link("http%253A%252F%252Fshop.example%252Fa%253Fb%253D1", None)
    'http://shop.example/a?b=1'
    >>> plain_link("a1aHR0cHM6Ly9zaG9wLmV4YW1wbGUvcA", None)
    'https://shop.example/p'
    """
    text = _unpadded(text)
    plain = _decoded(text, home)
    if plain is None:
        return _in_base64(unescape(text)) if _BASE64.match(unescape(text[:_HEAD])) else None
    if plain is text and "?" not in text and _HIDDEN_QUERY.search(text):
        return unescape(text)
    return plain


def plain_path(text: str) -> str | None:
    """The path that a text holds where it names no host.

    >>> plain_path("%2Fp%2F7"), plain_path("//elsewhere.example/p")
    ('/p/7', None)
    """
    head = text[:_HEAD]
    for rounds in range(MAX_ROUNDS + 1):
        if head.startswith("/"):
            named = head.startswith(("//", "/\\")) or "%2f" in head[:4].lower()
            return None if named else _times(rounds, text)
        head = unescape(head)
    return None


def own_code(text: str, rest: str, wrapper: Wrapper) -> str:
    """The text in plain percent-encoding, where its network has a code of its own."""
    if wrapper.code == "proofpoint":
        return text.replace("-", "%").replace("_", "/")
    if wrapper.code == "stars" and "*" in text:
        return _stars(text, rest.partition("__;")[2].partition("!!")[0])
    if wrapper.tail:
        decoded = _decoded(text, None) or ""
        shorter = decoded.rpartition(wrapper.tail)[0]
        return shorter if "://" in shorter else text
    return text


def _decoded(text: str, home: Link | None) -> str | None:
    """The text after as few rounds of decoding as make it begin with a link whose host can be read.

    Its head tells how many that are, so that a long text which is no link costs nothing.
    """
    rounds = _rounds(text[:_HEAD], home)
    if rounds is None:
        return None
    return _times(rounds, text)


def _rounds(text: str, home: Link | None) -> int | None:
    for rounds in range(MAX_ROUNDS + 1):
        text = _bare(text)
        if _begins(text, home) and not _HIDDEN_NAME.search(_authority(text)):
            return rounds
        if (shorter := unescape(text)) == text:
            return None
        text = shorter
    return None


def _times(rounds: int, text: str) -> str:
    for _ in range(rounds):
        text = unescape(_bare(text))
    return _bare(text)


def _bare(text: str) -> str:
    return text[2:].partition("]]")[0] if text.startswith("[[") else text


def _unpadded(text: str) -> str:
    """The text without the encoded spaces that careless feeds put around a target."""
    for _ in range(MAX_ROUNDS):
        text = text.removeprefix("%20").removesuffix("%20").removeprefix("+").removesuffix("+")
    return text


def _begins(text: str, home: Link | None) -> bool:
    if _BEGINNING.match(text):
        return True
    if home is None:
        return False
    name = _authority(text).lower().removeprefix("www.")
    return name == (home.site[0] if home.port is None else f"{home.site[0]}:{home.port}")


def _authority(text: str) -> str:
    found = _AUTHORITY.match(text)
    return found[1] if found else ""


def _stars(text: str, replaced: str) -> str:
    """Proofpoint's third format: every `*` stands for the next of the characters listed in base64 behind the link."""
    characters = _base64(replaced) or ""
    if text.count("*") != len(characters):
        return ""
    parts = text.split("*")
    return parts[0] + "".join(
        character + part for character, part in zip(characters, parts[1:], strict=True)
    )


def _in_base64(text: str) -> str | None:
    """The link in a base64 text: alone, behind Bing's `a1`, or in JSON within JSON, as mail services write it."""
    if not _BASE64.fullmatch(text):
        return None
    for coded in (text[2:], text) if text.startswith("a1") else (text,):
        plain = (_base64(coded) or "").replace("\\u0026", "&").replace("\\", "")
        plain = _decoded(plain, None) or plain
        if found := _ABSOLUTE.search(plain):
            closing = CLOSING.get(plain[: found.start()][-1:])
            return (
                plain[found.start() :].partition(closing)[0] if closing else plain[found.start() :]
            )
    return None


def _base64(text: str) -> str | None:
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
