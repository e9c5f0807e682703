"""The parameters of a query or fragment, cut so that putting them together again gives the very same text.

A query may hold a second `?`: somebody glued `?pid=96` to a link that had a query already (Hübscher 2018, 2.11).
Browsers take it for a part of the value before it; here it begins a parameter of its own, judged like the others.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from url_cleaner.urls.link import unescape

_MARKS = re.compile(r"([&?])")


class Parameter(NamedTuple):
    """One parameter as it stands in the link, with the mark before it; the key decoded and in small letters."""

    mark: str
    text: str
    key: str
    value: str


@lru_cache(maxsize=32)
def parameters(query: str) -> tuple[Parameter, ...]:
    """The parameters of a query.

    >>> [(p.mark, p.key, p.value) for p in parameters("partner=idealo?amp;UTM%5Fsource[]=a=b&x")]
    [('&', 'partner', 'idealo'), ('?', 'utm_source', 'a=b'), ('&', 'x', '')]
    """
    if not query:
        return ()
    parts = ["&", *_MARKS.split(query)]
    return tuple(map(_parameter, parts[::2], parts[1::2]))


@lru_cache(maxsize=1024)
def _parameter(mark: str, text: str) -> Parameter:
    key, _, value = text.partition("=")
    return Parameter(
        mark, text, unescape(key).lower().lstrip("?").removeprefix("amp;").removesuffix("[]"), value
    )


def joined(params: Sequence[Parameter], kept: Sequence[bool]) -> str:
    """The query that remains of the parameters: as it was, but what follows a removed one is never left glued.

    >>> joined(parameters("id=1?utm_source=x?size=5&b?c"), [True, False, True, True, True])
    'id=1&size=5&b?c'
    """
    out: list[str] = []
    gap = False
    for param, keep in zip(params, kept, strict=True):
        if keep:
            out += ["&" if gap else param.mark, param.text]
        gap = not keep
    text = "".join(out[1:])
    return text if text.strip("&?") else ""
