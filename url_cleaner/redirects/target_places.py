"""Where in a link another link can stand: in a parameter, after a mark, in the path, in a segment of base64."""

import re
from collections.abc import Container, Iterator, Sequence

from url_cleaner.knowledge.providers import knowledge
from url_cleaner.redirects.reveal import CLOSING, is_absolute
from url_cleaner.urls.link import Link
from url_cleaner.urls.query import Parameter

_START = re.compile(r"https?(?::/|%(?:25){0,4}3A)|(?<=[/:=])(?<!:/)(?<!://)www\.", re.IGNORECASE)
_ENCODED_END = re.compile(r"[/?&]")
_SEGMENT = re.compile(r"[A-Za-z0-9_-]{16,}={0,2}")
_MAX_TAILS = 5


def with_rest(params: Sequence[Parameter], at: int, own: Container[str]) -> str:
    """A parameter's value, and what follows it where the target was put in without encoding it.

    In `?ued=https://shop.example/p?id=1&color=red&clickref=x` color is the target's, clickref the network's.
    """
    value, following = params[at].value, params[at + 1 :]
    if not following or following[0].mark != "?":
        return value
    if "%2f" in value[:300].lower():
        return f"{value}?{following[0].text}"
    kept = [value]
    for param in following:
        if param.key in own:
            break
        kept += [param.mark, param.text]
    return "".join(kept)


def text_after(rest: str, mark: str, end: str = "") -> str | None:
    """The text after a mark, up to its end.

    >>> text_after("/click?p(1)url(https://shop.example/a(1))g(2)", "url(", ")")
    'https://shop.example/a(1)'
    """
    _, found, text = rest.partition(mark)
    if not found:
        return None
    return _closed(text, end) if end else _until_the_end(text)


def tails(link: Link) -> Iterator[str]:
    """Links in the path, or behind it without a key: `/dlg/sid/x/https://...`, `/?https://...`, `[[https://...]]`."""
    rest = link.rest
    for count, found in enumerate(_START.finditer(rest)):
        if count == _MAX_TAILS:
            return
        before, text = rest[: found.start()], rest[found.start() :]
        if (
            before.endswith("=")
            and re.split(r"[?&;/#]", before[-80:-1])[-1].lower() in knowledge().referrers
        ):
            continue
        if closing := CLOSING.get(before[-1:]):
            text = _closed(text, closing)
        yield _until_the_end(text, in_query="?" in before or "&" in before)


def base64_segments(link: Link) -> Iterator[str]:
    """Segments of the path that look like base64."""
    segments = [segment for segment in re.split(r"[/.]", link.path) if _SEGMENT.fullmatch(segment)]
    yield from segments[:_MAX_TAILS]


def _until_the_end(text: str, in_query: bool = True) -> str:
    """What belongs to a target of which only the beginning is known.

    Where it is encoded, the first separator that is not ends it. Where it is plain, all the rest belongs to it, unless
    it stands in a query and has none of its own: then the next parameter is the wrapper's.
    """
    if not is_absolute(text) and not text.lower().startswith("www."):
        separators = _ENCODED_END if "%2f" in text[:20].lower() else re.compile("&")
        return separators.split(text, maxsplit=1)[0]
    target, ampersand, _ = text.partition("&")
    return target if in_query and ampersand and "?" not in target else text


def _closed(text: str, end: str) -> str:
    """The text up to its end mark; up to the bracket that closes it where the end is a bracket."""
    opener = next((a for a, b in CLOSING.items() if b == end and a != b), None)
    if opener is None or end not in text:
        return text.partition(end)[0]
    depth = 0
    for bracket in re.finditer(rf"[\{opener}\{end}]", text):
        depth += 1 if bracket[0] == opener else -1
        if depth < 0:
            return text[: bracket.start()]
    return text
