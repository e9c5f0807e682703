"""What a person says of a new shop, checked before it is stored: better one line now than a failed crawl later."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, update

from catalog.errors import ScoutError, UsageError
from catalog.models import Shop
from catalog.storage.store import Store

SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([kmgt])?b?")


def add(store: Store, shop: Shop) -> None:
    """Store a new shop. Raises ScoutError where one of that name is there."""
    try:
        with store.write() as session:
            session.add(shop)
    except IntegrityError as error:
        raise ScoutError(
            f"a shop is called {shop.name!r} already: choose another name, or remove that one"
        ) from error


def change(store: Store, shop: Shop, columns: Mapping[str, object]) -> None:
    """Set columns of a stored shop. Raises UsageError where there is none to set."""
    if not columns:
        raise UsageError("nothing to change: see 'scout shop set --help'")
    with store.write() as session:
        session.exec(update(Shop).where(col(Shop.id) == shop.id).values(**columns))


def checked_name(name: str) -> str:
    """A name that can be typed and printed. Raises ScoutError.

    >>> checked_name(" garden tools ")
    'garden tools'
    """
    kept = name.strip()
    if not kept or not kept.isprintable() or len(kept) > 100 or kept.startswith("-") or "/" in kept:
        raise ScoutError(
            f"{name!r} cannot be a shop's name: take 1 to 100 letters, digits, spaces; no '/', no '-' first"
        )
    return kept


def limits(
    max_pages: int | None = None,
    max_bytes: str | None = None,
    max_minutes: float | None = None,
    window: str | None = None,
    delay: float | None = None,
    sitemaps: Sequence[str] | None = None,
) -> dict[str, Any]:
    """How a shop may be crawled, as columns, as far as it is said; nought takes a limit away. Raises ScoutError.

    >>> limits(max_pages=50, max_bytes="0", window="always")
    {'max_pages': 50, 'max_bytes': None, 'window': None}
    """
    said = {
        "max_pages": (max_pages, max_pages),
        "max_bytes": (max_bytes, checked_size(max_bytes or "0") or None),
        "max_minutes": (max_minutes, max_minutes or None),
        "window": (window, checked_hours(window or "")),
        "delay": (delay, delay),
        "sitemaps": (sitemaps or None, [checked_url(one) for one in sitemaps or ()]),
    }
    return {name: value for name, (given, value) in said.items() if given is not None}


def checked_size(text: str) -> int:
    """A number of bytes, in powers of 1000. Raises ScoutError.

    >>> checked_size("500 MB"), checked_size("1.5g"), checked_size("0")
    (500000000, 1500000000, 0)
    """
    found = SIZE.fullmatch(text.strip().lower())
    if not found:
        raise ScoutError(f"{text!r} is no number of bytes: it has to look like 500MB or 2GB")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2] or " "))


def checked_hours(text: str) -> str | None:
    """Hours of the day as they are stored; None for `always`. Raises ScoutError.

    >>> checked_hours("22:00 - 6:00"), checked_hours("always")
    ('22:00-06:00', None)
    """
    from crawler.frontier.budget import Window

    if text.strip().lower() in ("always", ""):
        return None
    hours = Window.read(text)
    return f"{hours.start:%H:%M}-{hours.end:%H:%M}"


def checked_url(url: str) -> str:
    """An http(s) URL with a host. Raises ScoutError."""
    try:
        parts = urlsplit(url.strip())
        fits = (
            parts.scheme in ("http", "https")
            and parts.hostname
            and not parts.username
            and parts.port != 0
        )
    except ValueError:
        fits = False
    if not fits or not url.strip().isprintable() or " " in url.strip():
        raise ScoutError(f"{url!r} is no URL of a shop: it has to look like https://shop.example/")
    return url.strip()


def checked_root(url: str, allow_private: bool) -> str:
    """A shop's root URL, without query and fragment. Raises ScoutError, also for a private address not allowed.

    >>> checked_root("https://shop.example?utm_source=x", False)
    'https://shop.example/'
    """
    parts = urlsplit(checked_url(url))
    if not allow_private and _is_private(parts.hostname or ""):
        raise ScoutError(
            f"{url} is an address of a private network: add --allow-private if that is meant"
        )
    return parts._replace(path=parts.path or "/", query="", fragment="").geturl()


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False
