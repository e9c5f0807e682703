"""What a person says of a new shop, checked before it is stored: better one line now than a failed crawl later."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, update

from catalog.errors import ScoutError, UsageError
from catalog.models import Shop
from catalog.store import Store


def add(store: Store, shop: Shop) -> None:
    """Store a new shop. Raises ScoutError where one of that name is there."""
    try:
        with store.write() as session:
            session.add(shop)
    except IntegrityError as error:
        raise ScoutError(f"a shop is called {shop.name!r} already: choose another name, or remove that one") from error


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


def checked_url(url: str) -> str:
    """An http(s) URL with a host. Raises ScoutError."""
    try:
        parts = urlsplit(url.strip())
        fits = parts.scheme in ("http", "https") and parts.hostname and not parts.username and parts.port != 0
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
        raise ScoutError(f"{url} is an address of a private network: add --allow-private if that is meant")
    return parts._replace(path=parts.path or "/", query="", fragment="").geturl()


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False
