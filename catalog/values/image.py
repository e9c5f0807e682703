"""Images: absolute addresses of pictures, equal where only host, size or version differ.

Shops serve one picture under many addresses: resized by suffix (Shopify `_600x`, WooCommerce `-300x300`, BigCommerce
`.500.750`), versioned by query, moved to another host. What stays is the file's name.
"""

import html
import re
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from catalog.values import text

LONGEST_URL = 2048
_SRCSET = re.compile(
    r"\s*(\S+?),?\s+\d+(?:\.\d+)?[wx](?:\s+\d+h)?(?:\s*,|\s*$)"
    r"|\s*([^\s,?]+\.(?:jpe?g|png|gif|webp|avif)(?:\?[^\s,]*)?),\s+(?=\S+\s+\d)",
    re.IGNORECASE,
)
_IN_CSS = re.compile(r"""(?:^|[\s:,])url\(\s*(?:"([^"]+)"|'([^']+)'|([^\s"')]+))\s*\)""")
_ENCODED = re.compile(r"(?:https?%3A)?%2F%2F", re.IGNORECASE)
_UNFILLED = re.compile(r"_(?:\{|%7B)(?:width|size)(?:\}|%7D)x?(?=\.)", re.IGNORECASE)
_EMPTIES = (
    "blank",
    "spacer",
    "pixel",
    "transparent",
    "loading",
    "loader",
    "lazy",
    "dummy",
    "empty",
    "1x1",
)
_EMPTY = "|".join((*_EMPTIES, "kein[-_]?bild"))
_SIZE = r"(?:pico|icon|thumb|small|compact|medium|large|grande|original|master|\d+x\d*|x\d+)"
_PLACEHOLDER = re.compile(
    r"placeholder|(?<![a-z])place[-_]holder|image[-_]?(?:not[-_]?available|coming[-_]?soon)"
    r"|(?<![a-z])no[-_]?(?:image|photo|picture|img|pic)(?![a-z])"
    rf"|^(?:{_EMPTY})(?:[-_.]?(?:{_EMPTY}|{_SIZE}|image|img|gif|product|spinner|bg|[\da-f]{{6,}}|\d{{1,4}}))*+(?:\.[a-z]+)?$"
    r"|^[a-z]{2}-default[-.]"
)
_STAND_IN = ("holder", "image", "photo", "pic", "img", "-default")
_OF_STAND_INS = "/placeholder/"
_BEGINNINGS = (*_EMPTIES, "kein")
_NO_PICTURE = frozenset("html htm js mjs css json xml pdf mp4 webm mp3 woff woff2 ttf zip".split())
_AS_IN_DATA = re.compile(
    r"(https?:)?(//[a-zA-Z\d][a-zA-Z\d.-]*)?/([\w/.~+%-]*)(?:\?[\w=.~+%-]+)?", re.ASCII
)
_REFERENCE = re.compile(r"&(?:\w{2,10}|#\w{1,7});", re.ASCII)
_ORIGIN = re.compile(r"(https?:)(//[a-zA-Z\d][a-zA-Z\d.-]*)/", re.ASCII)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp|tiff?|svg|heic|jxl)$")
_SUFFIX = re.compile(
    rf"(?:_(?:{_SIZE}|\{{width\}}x|\{{size\}})(?:_crop_[a-z]+)?"
    r"|-\d{2,4}x\d{2,4}|-scaled|\.\d{2,4}\.\d{2,4}|@\dx|\.progressive)(?=(?:@\dx|\.progressive)*\.[a-z]+$)"
)
_RESIZED_ONCE_MORE = re.compile(
    rf"([_-](?i:{_SIZE}))(?:_{_SIZE}(?:_crop_[a-z]+)?|-\d{{2,4}}x\d{{2,4}}){{1,3}}(?:@\dx)?(?=\.[a-zA-Z]{{3,5}}(?:\?|$))"
)
_UNNAMED = re.compile(
    r"(?:file|image|image-asset|img|picture|photo|default|main|front|\d{1,2})\.\w+"
)
_RESIZING = re.compile(
    r"\d+(?:x\d+)+|v1|fi(?:t|ll)|crop|[a-z]_\d+|[a-z]{1,4}_[\w.]+(?:,[a-z]{1,7}_[\w.]+)+"
)
FEWEST_DIGITS = 5
_GENERIC = re.compile(
    r"(?:image|img|index|picture|photo|thumb|thumbnail|view|show|get|default|resize|fetch)?(?:\.\w+)?$"
)


def normalise(raw: str, base_url: str | None = None) -> str | None:
    """The absolute address; of a `srcset`, and of CSS, its first one; None for embedded data and stand-ins.

    >>> normalise("//cdn.example/a b.jpg", "https://shop.example/p/1")
    'https://cdn.example/a%20b.jpg'
    >>> normalise("/img/placeholder.png", "https://shop.example/") is None
    True
    >>> normalise("https://cdn.example/lamp_{width}x.jpg"), normalise("background: url('https://cdn.example/lamp.jpg')")
    ('https://cdn.example/lamp.jpg', 'https://cdn.example/lamp.jpg')

    Where the file's own name ends with a size, a size behind that is the shop's: what is left is the file itself.

    >>> normalise("https://cdn.example/lamp_800x800_600x.jpg?v=1"), normalise("https://cdn.example/lamp_600x.jpg")
    ('https://cdn.example/lamp_800x800.jpg?v=1', 'https://cdn.example/lamp_600x.jpg')
    """
    if not raw or len(raw) > 20 * LONGEST_URL or raw.lstrip()[:5].lower() == "data:":
        return None
    known = _as_in_data(raw, base_url)
    found = known if known is not None else _in_any_form(raw, base_url)
    return _as_uploaded(found) if found else None


def _as_uploaded(url: str) -> str:
    resized = _RESIZED_ONCE_MORE.search(url, url.rfind("/"))
    return f"{url[: resized.end(1)]}{url[resized.end() :]}" if resized else url


def _in_any_form(raw: str, base_url: str | None) -> str | None:
    in_css = _IN_CSS.search(raw) if "url(" in raw else None
    raw = in_css[in_css.lastindex or 0] if in_css else raw
    raw = unquote(raw) if _ENCODED.match(raw) else raw
    first = _SRCSET.match(raw)
    url = text.tidy(_unescaped(first[first.lastindex or 0] if first else raw[: LONGEST_URL + 100]))
    if not url or "<" in url or (" " in url and not _PICTURE.search(url.lower().partition("?")[0])):
        return None
    url = url.replace(" ", "%20")
    return _checked(_UNFILLED.sub("", url), base_url)


def _unescaped(url: str) -> str:
    """The address without references: in one, `&region=` and `&copy=` are none.

    >>> _unescaped("/a?x=1&amp;region=2&copy=3&#38;y")
    '/a?x=1&region=2&copy=3&y'
    """
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), url) if "&" in url else url


def _as_in_data(raw: str, base_url: str | None) -> str | None:
    """What `_in_any_form` makes of an address as most are, sooner: nothing at all, or None where it has to be asked."""
    plain = _AS_IN_DATA.fullmatch(raw)
    if plain is None or len(raw) > LONGEST_URL // 2 or "/." in raw or "%7" in raw:
        return None
    scheme, host, path = plain.groups()
    if scheme is None:
        origin = _ORIGIN.match(base_url or "")
        if origin is None or (host is None and raw.startswith("//")):
            return None
        raw = f"{origin[1]}{'' if host else origin[2]}{raw}"
    elif host is None:
        return None
    return "" if (not path.rstrip("/") and "?" not in raw) or _is_none(f"/{path}") else raw


def _is_none(path: str) -> bool:
    """Whether the file at that path is no picture, or one that stands in for a picture.

    >>> _is_none("/No-Image.png"), _is_none("/lamp.PDF"), _is_none("/lamp.png"), _is_none("/placeholder/lamp.png")
    (True, True, False, True)
    """
    low = _last(path).lower()
    return (low.rpartition(".")[2] in _NO_PICTURE and "." in low) or _stands_in(path, low)


def is_stand_in(address: str) -> bool:
    """Whether an address is that of a picture that stands in for one, or for one that is loaded later.

    >>> is_stand_in("//cdn.example/no-image-2048.gif?v=1"), is_stand_in("//cdn.example/placeholder/lamp.png")
    (True, True)
    >>> is_stand_in("//cdn.example/lamp.gif?no-image"), is_stand_in("")
    (False, False)
    """
    path = address.partition("?")[0]
    return _stands_in(path, _last(path).lower())


def _stands_in(path: str, low: str) -> bool:
    if _OF_STAND_INS in path:
        return True
    may_be = low.startswith(_BEGINNINGS) or any(word in low for word in _STAND_IN)
    return may_be and _PLACEHOLDER.search(low) is not None


def _checked(url: str, base_url: str | None) -> str | None:
    try:
        if base_url is not None and not url.startswith(("http://", "https://")):
            url = (
                urljoin(base_url, url)
                if "/" in url or _PICTURE.search(url.lower().partition("?")[0])
                else ""
            )
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    if (
        len(url) > LONGEST_URL
        or not (parts.path.rstrip("/") or parts.query)
        or _is_none(parts.path)
    ):
        return None
    return url


def key(value: str) -> str:
    """The file's name in lower case without size, version and query.

    >>> key("https://cdn.example/files/Lamp_600x_crop_center@2x.JPG?v=1"), key("https://x.example/u/lamp-300x300.jpg")
    ('lamp.jpg', 'lamp.jpg')
    >>> key("https://x.example/_next/image?url=%2Fmedia%2Flamp.jpg&w=640")
    'lamp.jpg'
    >>> key("https://x.example/image.php?id=7")
    'image.php?id=7'

    Where all files are called the same, the step before tells them.

    >>> key("https://x.example/files/1234567/650x750x2/image.jpg")
    '1234567/image.jpg'
    >>> key("https://x.example/media/a1~mv2.jpg/v1/fill/w_50,h_50/file.jpg"), key("https://x.example/media/a1~mv2.jpg")
    ('a1~mv2.jpg', 'a1~mv2.jpg')
    """
    path, _, query = value.partition("#")[0].partition("?")
    name = _name(path)
    if not _PICTURE.search(name) and query:
        inner = (_name(part.partition("?")[0]) for _, part in parse_qsl(query))
        name = next((part for part in inner if _PICTURE.search(part)), name)
    if query and not _PICTURE.search(name) and _GENERIC.match(name):
        return f"{name}?{query.lower()}"
    if _UNNAMED.fullmatch(name):
        name = _told_before(path, name)
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name


def _told_before(path: str, name: str) -> str:
    """A name that tells no pictures apart, with the step of the path before it, sizes aside, that does."""
    steps = (step for step in reversed(path.split("/")[3:-1]) if not _RESIZING.fullmatch(step))
    step = unquote(next(steps, "")).lower()
    if _PICTURE.search(step):
        return step
    return f"{step}/{name}" if sum(map(str.isdigit, step)) >= FEWEST_DIGITS else name


def _name(path: str) -> str:
    return unquote(_last(path)).lower()


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
