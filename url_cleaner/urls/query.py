"""Parameters of a query or fragment, split so that joining them gives the very same text.

A query may hold a second `?`, where `?pid=96` was glued to a URL that had a query already (Hübscher
2018, 2.11). Browsers take it for a part of the value before it; here it begins a parameter, judged
like the others.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from url_cleaner.urls.url import unescape

_DELIMITER = re.compile(r"([&?])")


class Parameter(NamedTuple):
    """One parameter as it stands in the URL; `key` is decoded and in lower case."""

    delimiter: str
    text: str
    key: str
    value: str


@lru_cache(maxsize=32)
def parse_query(query: str) -> tuple[Parameter, ...]:
    """Split a query into its parameters.

    >>> [(p.delimiter, p.key, p.value) for p in parse_query("partner=portal?amp;UTM%5Fsource[]=a=b&x")]
    [('&', 'partner', 'portal'), ('?', 'utm_source', 'a=b'), ('&', 'x', '')]
    """
    if not query:
        return ()
    parts = ["&", *_DELIMITER.split(query)]
    return tuple(map(_parameter, parts[::2], parts[1::2]))


# Hostile queries repeat one parameter thousands of times.
@lru_cache(maxsize=1024)
def _parameter(delimiter: str, text: str) -> Parameter:
    key, _, value = text.partition("=")
    # `amp;` is left of an ampersand that was escaped for HTML and cut at its `&`; `[]` marks a list
    # in PHP.
    key = unescape(key).lower().lstrip("?").removeprefix("amp;").removesuffix("[]")
    return Parameter(delimiter, text, key, value)


def join_parameters(params: Sequence[Parameter], is_retained: Sequence[bool]) -> str:
    """Join the retained parameters to a query.

    Delimiters stay as they were, except that a parameter behind a removed one begins with `&`.

    >>> join_parameters(parse_query("id=1?utm_source=x?size=5&b?c"), [True, False, True, True, True])
    'id=1&size=5&b?c'
    """
    pieces: list[str] = []
    follows_removed = False
    for param, retained in zip(params, is_retained, strict=True):
        if retained:
            pieces += ["&" if follows_removed else param.delimiter, param.text]
        follows_removed = not retained
    query = "".join(pieces[1:])
    # A query of delimiters only says nothing.
    if not query.strip("&?"):
        return ""
    return query
