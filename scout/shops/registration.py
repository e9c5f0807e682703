"""Registration of shops: names, addresses and crawl limits are checked before they are stored.

One clear line at once is better than a failed crawl later.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, update

from catalog.errors import ScoutError, UsageError
from catalog.models import Shop
from catalog.storage.store import Store
from url_cleaner.urls.public_address import is_public

SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([kmgt])?b?")
"""A number of bytes with a unit; the digits are limited as a bound against hostile input."""

SIZE_UNITS = " kmgt"
"""Units of sizes, each 1000 times the one before."""

MAX_CRAWLERS = 32
"""Crawlers of one shop: more share too few pages in flight each."""

MAX_NAME_LENGTH = 100
"""Characters of a shop's name: it has to fit into a table's column."""


def add_shop(store: Store, shop: Shop) -> None:
    """Store a new shop. Raises ScoutError where the name is taken."""
    try:
        with store.write() as session:
            session.add(shop)
    except IntegrityError as error:
        raise ScoutError(
            f"a shop is called {shop.name!r} already: choose another name, or remove that one"
        ) from error


def update_shop(store: Store, shop: Shop, columns: Mapping[str, object]) -> None:
    """Set columns of a stored shop. Raises UsageError where none are given."""
    if not columns:
        raise UsageError("nothing to change: see 'scout shop set --help'")
    with store.write() as session:
        session.exec(update(Shop).where(col(Shop.id) == shop.id).values(**columns))


def check_name(name: str) -> str:
    """Return the name without outer white space if it can be typed and printed. Raises ScoutError.

    Letters with marks are composed: one name does not look like another.

    >>> check_name(" garden tools "), len(check_name("cafe\u0301"))
    ('garden tools', 4)
    """
    stripped = unicodedata.normalize("NFC", name.strip())
    is_valid = (
        stripped
        and stripped.isprintable()
        and len(stripped) <= MAX_NAME_LENGTH
        # A leading dash would be taken for an option, a slash would split the path of the shop's
        # web page.
        and not stripped.startswith("-")
        and "/" not in stripped
    )
    if not is_valid:
        raise ScoutError(
            f"{name!r} cannot be a shop's name: take 1 to 100 letters, digits, spaces; "
            "no '/', no '-' first"
        )
    return stripped


def crawl_limits(
    max_pages: int | None = None,
    max_bytes: str | None = None,
    max_minutes: float | None = None,
    window: str | None = None,
    delay: float | None = None,
    sitemaps: Sequence[str] | None = None,
    crawlers: int | None = None,
) -> dict[str, Any]:
    """Convert the given crawl limits to columns of a shop; None leaves a column out.

    Raises ScoutError.

    A limit of 0, or a window of `always`, removes the limit.

    >>> crawl_limits(max_pages=50, max_bytes="0", window="always")
    {'max_pages': 50, 'max_bytes': None, 'window': None}
    """
    columns: dict[str, Any] = {}
    if max_pages is not None:
        columns["max_pages"] = max_pages
    if max_bytes is not None:
        columns["max_bytes"] = parse_size(max_bytes or "0") or None
    if max_minutes is not None:
        columns["max_minutes"] = max_minutes or None
    if window is not None:
        columns["window"] = parse_hours(window)
    if delay is not None:
        columns["delay"] = delay
    if sitemaps:
        columns["sitemaps"] = [check_url(sitemap) for sitemap in sitemaps]
    if crawlers is not None:
        columns["crawlers"] = crawlers
    return columns


def parse_size(text: str) -> int:
    """Parse a number of bytes, with units in powers of 1000. Raises ScoutError.

    >>> parse_size("500 MB"), parse_size("1.5g"), parse_size("0")
    (500000000, 1500000000, 0)
    """
    match = SIZE.fullmatch(text.strip().lower())
    if not match:
        raise ScoutError(f"{text!r} is no number of bytes: it has to look like 500MB or 2GB")
    return int(float(match[1]) * 1000 ** SIZE_UNITS.index(match[2] or " "))


def parse_hours(text: str) -> str | None:
    """Parse hours of the day into the form that is stored; None for `always`. Raises ScoutError.

    >>> parse_hours("22:00 - 6:00"), parse_hours("always")
    ('22:00-06:00', None)
    """
    from crawler.frontier.budget import Window

    if text.strip().lower() in ("always", ""):
        return None
    hours = Window.parse(text)
    return f"{hours.start:%H:%M}-{hours.end:%H:%M}"


def check_url(url: str) -> str:
    """Return an http(s) URL with a host, without outer white space. Raises ScoutError."""
    stripped = url.strip()
    if not _is_web_url(stripped) or not stripped.isprintable() or " " in stripped:
        raise ScoutError(f"{url!r} is no URL of a shop: it has to look like https://shop.example/")
    return stripped


def _is_web_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # A password in a URL would be stored and printed; `port` raises ValueError above 65535.
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not parts.username
            and parts.port != 0
        )
    except ValueError:
        return False


def normalize_root(url: str, allow_private: bool) -> str:
    """Normalize a shop's root URL: no query, no fragment.

    Raises ScoutError, also for a private address not allowed.

    >>> normalize_root("https://shop.example?utm_source=x", False)
    'https://shop.example/'
    """
    parts = urlsplit(check_url(url))
    if not allow_private and _is_private(parts.hostname or ""):
        raise ScoutError(
            f"{url} is an address of a private network: add --allow-private if that is meant"
        )
    return parts._replace(path=parts.path or "/", query="", fragment="").geturl()


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ip_address(host)
    except ValueError:
        # Not an IP address; the crawler checks the addresses that the name resolves to.
        return False
    return not is_public(host)
