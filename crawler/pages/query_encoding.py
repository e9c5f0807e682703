"""Letters in the queries of links, encoded as a browser does it: in the encoding of the page.

A shop whose pages are in windows-1252 expects `größe` as `gr%F6%DFe` (URL Standard, "query state");
paths are always UTF-8.
"""

import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

from catalog.page_encoding import UTF8

_LETTERS = re.compile(r"[^\x00-\x7f]+")
# ASCII bytes inside letters of East Asian encodings that stay as they are in a query.
_SAFE = "!$%&()*+,/:;=?@[\\]^`{|}"


def encode_queries(hrefs: Iterable[str], encoding: Callable[[], str]) -> list[str]:
    """Percent-encode letters in the queries of hrefs; `encoding` is asked only where there are any.

    >>> encode_queries(["q?f=größe", "größe", "a?b=1"], lambda: "cp1252")
    ['q?f=gr%F6%DFe', 'größe', 'a?b=1']
    """
    return [href if href.isascii() else _encode(href, encoding) for href in hrefs]


def _encode(href: str, encoding: Callable[[], str]) -> str:
    before, has_query, query = href.partition("?")
    # A question mark behind the `#` begins no query.
    if not has_query or "#" in before:
        return href
    query, hash_mark, fragment = query.partition("#")
    if query.isascii():
        return href
    name = encoding()
    if name == UTF8 or name.startswith("utf-16"):
        return href
    encoded = _LETTERS.sub(lambda letters: _quoted(letters[0], name), query)
    return f"{before}?{encoded}{hash_mark}{fragment}"


def _quoted(letters: str, encoding: str) -> str:
    """Quote letters; letters that the encoding lacks become character references, as in browsers.

    >>> _quoted("ö€", "iso8859-2")
    '%F6%26%238364%3B'
    """
    try:
        return quote(letters.encode(encoding), _SAFE)
    except UnicodeError:
        pass
    quoted = []
    for letter in letters:
        try:
            quoted.append(quote(letter.encode(encoding), _SAFE))
        except UnicodeError:
            quoted.append(f"%26%23{ord(letter)}%3B")
    return "".join(quoted)
