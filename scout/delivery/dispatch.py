"""Sending of a delivery, with its result stored: the time, or the reason of the failure."""

from catalog.errors import ScoutError
from catalog.language.languages import load_language
from catalog.models import Delivery, DeliveryKind, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.delivery.digest import Digest, make_digest, render_digest, report_files
from scout.delivery.mail import make_mail, send_mail
from scout.delivery.webhook import post_digest

MAX_ATTACHED = 15_000_000
"""Most bytes of all reports of one mail: servers take 25 MB, a third of it encoding."""

MAX_ERROR = 500
"""Characters of a reason that are stored."""


def send_delivery(settings: Settings, store: Store, delivery: Delivery) -> None:
    """Send the digest of a delivery now. Raises ScoutError; the reason is stored as well."""
    error: ScoutError | None = None
    try:
        _send(settings, store, delivery)
    except ScoutError as failure:
        error = failure
    with store.write() as session:
        stored = session.get(Delivery, delivery.id)
        if stored is not None:
            stored.last_error = str(error)[:MAX_ERROR] if error else None
            if error is None:
                stored.last_sent_at = utc_now()
    if error is not None:
        raise error


def _send(settings: Settings, store: Store, delivery: Delivery) -> None:
    digest = make_digest(store, delivery, settings.public_url)
    if delivery.kind == DeliveryKind.WEBHOOK:
        post_digest(
            delivery.target,
            delivery.secret or "",
            digest.as_json(),
            allows_private=settings.private_webhooks,
        )
        return
    attachments = report_files(store, digest, MAX_ATTACHED) if delivery.with_report else []
    message = make_mail(
        settings,
        delivery.target.split(","),
        _subject(digest),
        render_digest(digest, "digest.txt"),
        render_digest(digest, "digest.html"),
        attachments,
    )
    send_mail(settings, message)


def _subject(digest: Digest) -> str:
    language = load_language(digest.language)
    text = language.gettext("Scout, {name}: {notices} notices, {missing} offers missing")
    return text.format(
        name=digest.name,
        notices=language.count(len(digest.notices)),
        missing=language.count(digest.missing),
    )
