"""What two cleaned links to one shop have in common: the whole address, the path, or the last word of the path.

The url_cleaner has taken trackers and redirectors off; what remains differs in scheme, `www.`, a final slash or a
file suffix, or leads to the same offer through another category (`/sale/p/lamp`, `/p/lamp`). A fragment counts only
where the parser has told variants apart by it, because the shop gives them no addresses of their own.
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

MOST_CHARACTERS = 2000
VARIANT = "variant-"
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?|jsp)$")


@dataclass(frozen=True)
class Address:
    """A link's parts that can be evidence; empty where there is no link."""

    whole: str = ""
    path: str = ""
    last: str = ""
    query: bool = False


def address(url: str | None) -> Address:
    """The comparable parts of a cleaned link.

    >>> address("https://www.Shop.example/p/Lamp%20A.html?id=7")
    Address(whole='shop.example/p/Lamp A?id=7', path='shop.example/p/Lamp A', last='lamp a', query=True)
    >>> address("http://[broken"), address(None) == Address()
    (Address(whole='', path='', last='', query=False), True)
    """
    try:
        parts = urlsplit((url or "").strip()[:MOST_CHARACTERS])
    except ValueError:
        return Address()
    host = parts.netloc.casefold().removeprefix("www.")
    if not host:
        return Address()
    path = _SUFFIX.sub("", unquote(parts.path).rstrip("/"))
    told = parts.fragment if parts.fragment.startswith(VARIANT) else ""
    query = told or "&".join(
        f"{name}={value}" for name, value in sorted(parse_qsl(parts.query, keep_blank_values=True))
    )
    return Address(
        f"{host}{path}?{query}" if query else host + path, host + path, _last(path), bool(query)
    )


def _last(path: str) -> str:
    last = path.rsplit("/", 1)[-1].casefold()
    return last if len(last) >= 4 and any(c.isalpha() for c in last) else ""
