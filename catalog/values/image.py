"""Images: absolute URLs, equal where only host, size or version differ.

Shops serve one image under many URLs: resized by suffix (Shopify `_600x`, WooCommerce `-300x300`,
BigCommerce `.500.750`), versioned by query, moved to another host. The file's name stays the same.
"""

import html
import re
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from catalog.values import text

# Characters of an image's URL, and of a raw text (a `srcset`) that holds one.
MAX_URL_LENGTH = 2_048
MAX_RAW_LENGTH = 20 * MAX_URL_LENGTH

# The first image of a `srcset`: a URL with a width or density, or one image URL before another.
_SRCSET = re.compile(
    r"\s*(\S+?),?\s+\d+(?:\.\d+)?[wx](?:\s+\d+h)?(?:\s*,|\s*$)"
    r"|\s*([^\s,?]+\.(?:jpe?g|png|gif|webp|avif)(?:\?[^\s,]*)?),\s+(?=\S+\s+\d)",
    re.IGNORECASE,
)
_CSS_URL = re.compile(r"""(?:^|[\s:,])url\(\s*(?:"([^"]+)"|'([^']+)'|([^\s"')]+))\s*\)""")
_ENCODED_START = re.compile(r"(?:https?%3A)?%2F%2F", re.IGNORECASE)
# A size to be filled in by a script.
_UNFILLED_SIZE = re.compile(r"_(?:\{|%7B)(?:width|size)(?:\}|%7D)x?(?=\.)", re.IGNORECASE)
_EMPTY_NAMES = (
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
_EMPTY_NAME = "|".join((*_EMPTY_NAMES, "kein[-_]?bild"))
_SIZE = r"(?:pico|icon|thumb|small|compact|medium|large|grande|original|master|\d+x\d*|x\d+)"
# File names of images that stand for a missing one, or for one that is loaded later.
_PLACEHOLDER = re.compile(
    r"placeholder|(?<![a-z])place[-_]holder|image[-_]?(?:not[-_]?available|coming[-_]?soon)"
    r"|(?<![a-z])no[-_]?(?:image|photo|picture|img|pic)(?![a-z])"
    rf"|^(?:{_EMPTY_NAME})(?:[-_.]?(?:{_EMPTY_NAME}|{_SIZE}|image|img|gif|product|spinner|bg"
    rf"|[\da-f]{{6,}}|\d{{1,4}}))*+(?:\.[a-z]+)?$"
    r"|^[a-z]{2}-default[-.]"
)
# One of these is in every name that the pattern above matches: a cheap test first.
_PLACEHOLDER_PARTS = ("holder", "image", "photo", "pic", "img", "-default")
_PLACEHOLDER_FOLDER = "/placeholder/"
_PLACEHOLDER_STARTS = (*_EMPTY_NAMES, "kein")
# Endings of files that are no images.
_OTHER_ENDINGS = frozenset(
    "html htm js mjs css json xml pdf mp4 webm mp3 woff woff2 ttf zip".split()
)
# URLs as most are: no character in need of treatment.
_PLAIN_URL = re.compile(
    r"(https?:)?(//[a-zA-Z\d][a-zA-Z\d.-]*)?/([\w/.~+%-]*)(?:\?[\w=.~+%-]+)?", re.ASCII
)
_REFERENCE = re.compile(r"&(?:\w{2,10}|#\w{1,7});", re.ASCII)
_ORIGIN = re.compile(r"(https?:)(//[a-zA-Z\d][a-zA-Z\d.-]*)/", re.ASCII)
_IMAGE_ENDING = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp|tiff?|svg|heic|jxl)$")
# The size, version or crop at the end of a file's name.
_SIZE_SUFFIX = re.compile(
    rf"(?:_(?:{_SIZE}|\{{width\}}x|\{{size\}})(?:_crop_[a-z]+)?"
    r"|-\d{2,4}x\d{2,4}|-scaled|\.\d{2,4}\.\d{2,4}|@\dx|\.progressive)(?=(?:@\dx"
    r"|\.progressive)*\.[a-z]+$)"
)
# The shop's own size behind one that is part of the file's name.
_SECOND_SIZE = re.compile(
    rf"([_-](?i:{_SIZE}))(?:_{_SIZE}(?:_crop_[a-z]+)?"
    rf"|-\d{{2,4}}x\d{{2,4}}){{1,3}}(?:@\dx)?(?=\.[a-zA-Z]{{3,5}}(?:\?|$))"
)
# Names that many files of a shop share.
_GENERIC_FILE = re.compile(
    r"(?:file|image|image-asset|img|picture|photo|default|main|front|\d{1,2})\.\w+"
)
# Segments of a path that resize an image.
_SIZE_SEGMENT = re.compile(
    r"\d+(?:x\d+)+|v1|fi(?:t|ll)|crop|[a-z]_\d+|[a-z]{1,4}_[\w.]+(?:,[a-z]{1,7}_[\w.]+)+"
)
# Digits from which a segment of a path is an id.
MIN_ID_DIGITS = 5
# Names of scripts that serve images by query.
_GENERIC_SCRIPT = re.compile(
    r"(?:image|img|index|picture|photo|thumb|thumbnail|view|show|get|default|resize"
    r"|fetch)?(?:\.\w+)?$"
)


def normalise_image(raw: str, base_url: str | None = None) -> str | None:
    """Return the absolute URL of an image; of a `srcset` or CSS, its first one.

    None for embedded data, placeholders, and files that are no images.

    >>> normalise_image("//cdn.example/a b.jpg", "https://shop.example/p/1")
    'https://cdn.example/a%20b.jpg'
    >>> normalise_image("/img/placeholder.png", "https://shop.example/") is None
    True
    >>> normalise_image("https://cdn.example/lamp_{width}x.jpg")
    'https://cdn.example/lamp.jpg'
    >>> normalise_image("background: url('https://cdn.example/lamp.jpg')")
    'https://cdn.example/lamp.jpg'

    Where the file's own name ends with a size, a second size is the shop's, and is removed.

    >>> normalise_image("https://cdn.example/lamp_800x800_600x.jpg?v=1"), normalise_image("https://cdn.example/lamp_600x.jpg")
    ('https://cdn.example/lamp_800x800.jpg?v=1', 'https://cdn.example/lamp_600x.jpg')
    """
    if not raw or len(raw) > MAX_RAW_LENGTH or raw.lstrip()[:5].lower() == "data:":
        return None
    # None means that the plain form does not apply, "" that there is no image.
    url = _read_plain(raw, base_url)
    if url is None:
        url = _read_any(raw, base_url)
    return _without_second_size(url) if url else None


def is_placeholder_image(url: str) -> bool:
    """Return True if a URL is that of a placeholder for a missing image, or for one that is loaded
    later.

    >>> is_placeholder_image("//cdn.example/no-image-2048.gif?v=1"), is_placeholder_image("//cdn.example/placeholder/lamp.png")
    (True, True)
    >>> is_placeholder_image("//cdn.example/lamp.gif?no-image"), is_placeholder_image("")
    (False, False)
    """
    path = url.partition("?")[0]
    return _is_placeholder(path, _last_segment(path).lower())


# The votes of a page for its image are compared with each other.
@lru_cache(maxsize=256)
def image_key(value: str) -> str:
    """Comparison key: the file's name in lower case without size, version and query.

    >>> image_key("https://cdn.example/files/Lamp_600x_crop_center@2x.JPG?v=1"), image_key("https://x.example/u/lamp-300x300.jpg")
    ('lamp.jpg', 'lamp.jpg')
    >>> image_key("https://x.example/_next/image?url=%2Fmedia%2Flamp.jpg&w=640")
    'lamp.jpg'
    >>> image_key("https://x.example/image.php?id=7")
    'image.php?id=7'

    Where all files have the same name, the segment before it distinguishes them.

    >>> image_key("https://x.example/files/1234567/650x750x2/image.jpg")
    '1234567/image.jpg'
    >>> image_key("https://x.example/media/a1~mv2.jpg/v1/fill/w_50,h_50/file.jpg"), image_key("https://x.example/media/a1~mv2.jpg")
    ('a1~mv2.jpg', 'a1~mv2.jpg')
    """
    path, _, query = value.partition("#")[0].partition("?")
    name = _file_name(path)
    if query and not _IMAGE_ENDING.search(name):
        name = _image_in_query(query) or name
        if not _IMAGE_ENDING.search(name) and _GENERIC_SCRIPT.match(name):
            return f"{name}?{query.lower()}"
    if _GENERIC_FILE.fullmatch(name):
        name = _distinguish(path, name)
    while (shorter := _SIZE_SUFFIX.sub("", name)) != name:
        name = shorter
    return name


def _image_in_query(query: str) -> str | None:
    """Return the name of an image file that a parameter holds."""
    for _, value in parse_qsl(query):
        name = _file_name(value.partition("?")[0])
        if _IMAGE_ENDING.search(name):
            return name
    return None


def _without_second_size(url: str) -> str:
    match = _SECOND_SIZE.search(url, url.rfind("/"))
    if match is None:
        return url
    return f"{url[: match.end(1)]}{url[match.end() :]}"


def _read_plain(raw: str, base_url: str | None) -> str | None:
    """Return the result of `_read_any` for a URL as most are, faster.

    "" means that it is no image, None that the URL needs `_read_any`.
    """
    plain = _PLAIN_URL.fullmatch(raw)
    if plain is None or len(raw) > MAX_URL_LENGTH // 2 or "/." in raw or "%7" in raw:
        return None
    scheme, host, path = plain.groups()
    if scheme is None:
        origin = _ORIGIN.match(base_url or "")
        if origin is None or (host is None and raw.startswith("//")):
            return None
        base = origin[1] if host else f"{origin[1]}{origin[2]}"
        raw = f"{base}{raw}"
    elif host is None:
        return None
    is_empty = not path.rstrip("/") and "?" not in raw
    if is_empty or _is_no_image(f"/{path}"):
        return ""
    return raw


def _read_any(raw: str, base_url: str | None) -> str | None:
    if "url(" in raw and (css_url := _CSS_URL.search(raw)):
        raw = css_url[css_url.lastindex or 0]
    if _ENCODED_START.match(raw):
        raw = unquote(raw)
    first_of_srcset = _SRCSET.match(raw)
    if first_of_srcset:
        url = first_of_srcset[first_of_srcset.lastindex or 0]
    else:
        # References make a raw URL longer.
        url = raw[: MAX_URL_LENGTH + 100]
    url = _tidy_url(url)
    if not url or "<" in url or (" " in url and not _has_image_ending(url)):
        return None
    url = _UNFILLED_SIZE.sub("", url.replace(" ", "%20"))
    return _make_absolute(url, base_url)


def _tidy_url(url: str) -> str:
    """Resolve the character references of a URL and tidy it, until neither changes it.

    Either may leave a reference to the next time: `&amp;#38;`, or a ligature within one.
    """
    tidied = text.tidy(_resolve_references(url))
    while tidied != url:
        url, tidied = tidied, text.tidy(_resolve_references(tidied))
    return url


def _resolve_references(url: str) -> str:
    """Resolve the character references of a URL, in which `&region=` and `&copy=` are parameters.

    >>> _resolve_references("/a?x=1&amp;region=2&copy=3&#38;y")
    '/a?x=1&region=2&copy=3&y'
    """
    if "&" not in url:
        return url
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), url)


def _make_absolute(url: str, base_url: str | None) -> str | None:
    try:
        if base_url is not None and not url.startswith(("http://", "https://")):
            # A single word is no URL, unless it ends like an image.
            if "/" not in url and not _has_image_ending(url):
                return None
            url = urljoin(base_url, url)
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    if len(url) > MAX_URL_LENGTH or not (parts.path.rstrip("/") or parts.query):
        return None
    if _is_no_image(parts.path):
        return None
    return url


def _is_no_image(path: str) -> bool:
    """Return True if the file at that path is no image, or a placeholder.

    >>> _is_no_image("/No-Image.png"), _is_no_image("/lamp.PDF"), _is_no_image("/lamp.png"), _is_no_image("/placeholder/lamp.png")
    (True, True, False, True)
    """
    name = _last_segment(path).lower()
    if "." in name and name.rpartition(".")[2] in _OTHER_ENDINGS:
        return True
    return _is_placeholder(path, name)


def _is_placeholder(path: str, name: str) -> bool:
    if _PLACEHOLDER_FOLDER in path:
        return True
    # Cheap tests first: the pattern is slow, and most names are those of products.
    may_be = name.startswith(_PLACEHOLDER_STARTS) or any(
        part in name for part in _PLACEHOLDER_PARTS
    )
    return may_be and _PLACEHOLDER.search(name) is not None


def _distinguish(path: str, name: str) -> str:
    """Add the segment before a generic name that distinguishes images, if there is one."""
    segment = ""
    for candidate in reversed(path.split("/")[3:-1]):
        if not _SIZE_SEGMENT.fullmatch(candidate):
            segment = unquote(candidate).lower()
            break
    if _IMAGE_ENDING.search(segment):
        return segment
    if sum(map(str.isdigit, segment)) >= MIN_ID_DIGITS:
        return f"{segment}/{name}"
    return name


def _has_image_ending(url: str) -> bool:
    return _IMAGE_ENDING.search(url.lower().partition("?")[0]) is not None


def _file_name(path: str) -> str:
    return unquote(_last_segment(path)).lower()


def _last_segment(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
