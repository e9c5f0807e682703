"""Add, list, pause and remove deliveries; addresses are checked before storing."""

import re
import secrets
from collections.abc import Sequence
from urllib.parse import urlsplit

from sqlalchemy.exc import IntegrityError
from sqlmodel import func, select

from catalog.errors import ScoutError, UsageError
from catalog.language.languages import LANGUAGES
from catalog.models import Delivery, DeliveryKind
from catalog.storage.deliveries import get_delivery
from catalog.storage.store import Store
from scout.schedule.cron import CronExpression
from scout.shops.registration import check_name

MAX_ADDRESSES = 50
"""Mail addresses of one delivery."""

MAX_DELIVERIES = 1000
"""Deliveries of one store; bound of the timetable and of the page that lists them."""

# One address without a display name; no line break can get into a header.
_ADDRESS = re.compile(r"[\w.+'-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){0,8}")


def add_delivery(
    store: Store,
    name: str,
    kind: DeliveryKind,
    target: str,
    cron: str,
    *,
    shops: Sequence[str] = (),
    language: str = "en",
    with_report: bool = False,
) -> Delivery:
    """Store a new delivery; a webhook gets a secret that signs its requests.

    Raises UsageError for a wrong address, expression, language or shop, ScoutError where the name
    is taken or the store has MAX_DELIVERIES.
    """
    if kind is DeliveryKind.MAIL:
        target = ",".join(check_addresses(target))
    else:
        target = check_webhook(target)
    CronExpression(cron)
    if language not in LANGUAGES:
        raise UsageError(f"language {language[:40]!r} is none of {', '.join(LANGUAGES)}")
    for shop in shops:
        store.shop(shop)
    delivery = Delivery(
        name=check_name(name),
        kind=kind,
        target=target,
        shops=list(shops),
        cron=cron,
        language=language,
        secret=secrets.token_urlsafe(32) if kind is DeliveryKind.WEBHOOK else None,
        with_report=with_report,
    )
    try:
        with store.write() as session:
            if session.exec(select(func.count()).select_from(Delivery)).one() >= MAX_DELIVERIES:
                raise ScoutError(f"there are {MAX_DELIVERIES} deliveries already: remove one first")
            session.add(delivery)
    except IntegrityError as error:
        raise ScoutError(f"a delivery is called {name!r} already: choose another name") from error
    return delivery


def check_addresses(text: str) -> list[str]:
    """Return mail addresses that are separated by commas. Raises UsageError.

    >>> check_addresses("ada@team.example, bob@team.example")
    ['ada@team.example', 'bob@team.example']
    """
    addresses = [address.strip() for address in text.split(",") if address.strip()]
    if not 1 <= len(addresses) <= MAX_ADDRESSES:
        raise UsageError(f"a delivery needs 1 to {MAX_ADDRESSES} mail addresses")
    for address in addresses:
        if not _ADDRESS.fullmatch(address):
            raise UsageError(f"{address[:80]!r} is no mail address")
    return addresses


def check_webhook(url: str) -> str:
    """Return the URL of a webhook without outer white space. Raises UsageError."""
    stripped = url.strip()
    try:
        parts = urlsplit(stripped)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or not stripped.isprintable() or " " in stripped or len(stripped) > 2000:
        raise UsageError(f"{stripped[:80]!r} is no address of a webhook: give an http(s) URL")
    return stripped


def remove_delivery(store: Store, name: str) -> None:
    """Delete a delivery. Raises UsageError."""
    delivery = get_delivery(store, name)
    with store.write() as session:
        session.delete(session.get_one(Delivery, delivery.id))


def pause_delivery(store: Store, name: str, *, paused: bool) -> None:
    """Pause a delivery, or let it go on. Raises UsageError."""
    delivery = get_delivery(store, name)
    with store.write() as session:
        session.get_one(Delivery, delivery.id).is_paused = paused
