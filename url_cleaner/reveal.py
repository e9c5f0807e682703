"""From a text as it stands in a wrapper to the link it means: percent-encoding, base64, and networks' own codes."""

import base64
import binascii
import re

from url_cleaner.link import Link, unescape
from url_cleaner.providers import Wrapper

MAX_ROUNDS = 5
CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "<": ">"}
_ABSOLUTE = re.compile(r"https?:/", re.IGNORECASE)
_BEGINNING = re.compile(r"(?:https?:/+|//|www\.)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:https?:)?/*([^/?#]*)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
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
    plain = _decoded(text, home)
    if plain is None:
        coded = unescape(text)
        return _in_base64(coded) if _BASE64.fullmatch(coded) else None
    if plain is text and "?" not in text and _HIDDEN_QUERY.search(text):
        return unescape(text)
    return plain


def plain_path(text: str) -> str | None:
    """The path that a text holds where it names no host.

    >>> plain_path("%2Fp%2F7"), plain_path("//elsewhere.example/p")
    ('/p/7', None)
    """
    for _ in range(MAX_ROUNDS + 1):
        if text.startswith("/"):
            return None if text.startswith(("//", "/\\")) or "%2f" in text[:4].lower() else text
        text = unescape(text)
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
    """The text after as few rounds of decoding as make it begin with a link whose host can be read."""
    for _ in range(MAX_ROUNDS + 1):
        if text.startswith("[["):
            text = text[2:].partition("]]")[0]
        if _begins(text, home) and "%" not in _authority(text):
            return text
        if (shorter := unescape(text)) == text:
            return None
        text = shorter
    return None


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
    return parts[0] + "".join(character + part for character, part in zip(characters, parts[1:], strict=True))


def _in_base64(text: str) -> str | None:
    """The link in a base64 text: alone, behind Bing's `a1`, or in JSON within JSON, as mail services write it."""
    for coded in (text[2:], text) if text.startswith("a1") else (text,):
        plain = (_base64(coded) or "").replace("\\", "")
        plain = _decoded(plain, None) or plain
        if found := _ABSOLUTE.search(plain):
            closing = CLOSING.get(plain[: found.start()][-1:])
            return plain[found.start() :].partition(closing)[0] if closing else plain[found.start() :]
    return None


def _base64(text: str) -> str | None:
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
