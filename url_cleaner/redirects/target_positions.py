"""Positions of a target in a redirect link: in a parameter, after a mark, in the path, in a base64
segment.
"""

import re
from collections.abc import Container, Iterator, Sequence

from url_cleaner.knowledge.networks import load_network_data
from url_cleaner.redirects.decoding import CLOSING_BRACKETS, is_absolute
from url_cleaner.urls.query import Parameter
from url_cleaner.urls.url import Url

# Links behind one another in a path, and base64 segments. Bound against hostile input.
_MAX_TAILS = 5
# Characters before a link in which its parameter's key is looked for.
_KEY_WINDOW = 80

_LINK_START = re.compile(
    r"https?(?::/|%(?:25){0,4}3A)|(?<=[/:=])(?<!:/)(?<!://)www\.", re.IGNORECASE
)
_ENCODED_END = re.compile(r"[/?&]")
_AMPERSAND = re.compile("&")
_BASE64_SEGMENT = re.compile(r"[A-Za-z0-9_-]{16,}={0,2}")
_DELIMITER = re.compile(r"[?&;/#]")


def unencoded_value(
    params: Sequence[Parameter], index: int, network_keys: Container[str] = ()
) -> str:
    """Return a parameter's value, with the parameters behind it that belong to a target that was
    not encoded.

    In `?ued=https://shop.example/p?id=1&color=red&clickref=x` the color is the target's, clickref
    the network's. A key that the network has used before the target, or that follows a
    `?`, is the target's.
    """
    value, following = params[index].value, params[index + 1 :]
    if not following or following[0].delimiter != "?":
        return value
    if "%2f" in value[:300].lower():
        return f"{value}?{following[0].text}"
    used_keys = {param.key for param in params[:index]}
    pieces = [value]
    for param in following:
        is_network_key = param.key in network_keys and param.key not in used_keys
        if is_network_key and param.delimiter != "?":
            break
        pieces += [param.delimiter, param.text]
    return "".join(pieces)


def text_after(text: str, mark: str, end: str = "") -> str | None:
    """Return the text after a mark, up to its end; None where the mark is missing.

    >>> text_after("/click?p(1)url(https://shop.example/a(1))g(2)", "url(", ")")
    'https://shop.example/a(1)'
    """
    _, mark_found, after_mark = text.partition(mark)
    if not mark_found:
        return None
    if end:
        return _up_to_closing(after_mark, end)
    return _up_to_separator(after_mark)


def link_tails(url: Url, in_path: bool = False) -> Iterator[str]:
    """Yield links in the path or behind it without a key: `/dlg/sid/x/https://...`,
    `/?https://...`, `[[https://...]]`; with `in_path`, only those that begin in the path.
    """
    text = url.after_host
    end = len(url.path) if in_path else len(text)
    referrers = load_network_data().referrers
    for count, match in enumerate(_LINK_START.finditer(text)):
        if count == _MAX_TAILS or match.start() >= end:
            return
        before, tail = text[: match.start()], text[match.start() :]
        # A referrer's link is the page that the visitor came from, not the target.
        if before.endswith("=") and _last_key(before) in referrers:
            continue
        if closing := CLOSING_BRACKETS.get(before[-1:]):
            tail = _up_to_closing(tail, closing)
        yield _up_to_separator(tail, in_query="?" in before or "&" in before)


def base64_segments(url: Url) -> Iterator[str]:
    """Yield segments of the path that look like base64."""
    segments = re.split(r"[/.]", url.path)
    encoded = [segment for segment in segments if _BASE64_SEGMENT.fullmatch(segment)]
    yield from encoded[:_MAX_TAILS]


def _last_key(text: str) -> str:
    return _DELIMITER.split(text[-_KEY_WINDOW:-1])[-1].lower()


def _up_to_separator(text: str, in_query: bool = True) -> str:
    """Return the part of a text that belongs to the target it begins with.

    An encoded target ends at the first separator that is not encoded. A plain target goes to the
    end of the text, unless it stands in a query and has none of its own: then the next parameter is
    the wrapper's.
    """
    if not is_absolute(text) and not text.lower().startswith("www."):
        separators = _ENCODED_END if "%2f" in text[:20].lower() else _AMPERSAND
        return separators.split(text, maxsplit=1)[0]
    target, ampersand, _ = text.partition("&")
    if in_query and ampersand and "?" not in target:
        return target
    return text


def _up_to_closing(text: str, end: str) -> str:
    """Return the text up to its end mark; a closing bracket ends it where it closes the one before
    the text.
    """
    opening = None
    for opener, closer in CLOSING_BRACKETS.items():
        # Quotes have no depth: both ends look the same.
        if closer == end and opener != closer:
            opening = opener
    if opening is None or end not in text:
        return text.partition(end)[0]
    depth = 0
    for bracket in re.finditer(rf"[\{opening}\{end}]", text):
        depth += 1 if bracket[0] == opening else -1
        if depth < 0:
            return text[: bracket.start()]
    return text
