"""Deliveries: digests by mail or webhook, added, paused, sent at once and removed."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form
from pydantic import BaseModel
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import Delivery, DeliveryKind
from catalog.storage.deliveries import get_delivery, list_deliveries
from scout.delivery.deliveries import add_delivery, pause_delivery, remove_delivery
from scout.delivery.dispatch import send_delivery
from scout.schedule.words import describe_cron
from scout.web.access.guard import Editor, page_router
from scout.web.context import Message
from scout.web.plain_text import FormText, PlainText, ShortText
from scout.web.rendering import read_language

router = page_router()

_PATH = "/deliveries"


class DeliveryForm(BaseModel):
    """A new delivery; `shops` are names separated by commas, empty for all."""

    name: ShortText
    kind: ShortText
    target: PlainText
    cron: ShortText
    shops: PlainText = ""
    language: ShortText = "en"
    with_report: bool = False


@dataclass(frozen=True)
class DeliveryLine:
    """A delivery with its plan in words."""

    delivery: Delivery
    words: str


@router.get("/deliveries")
def show_deliveries(context: Editor) -> Response:
    """Show the deliveries, and a form for a new one."""
    language = read_language(context.language)
    lines = [
        DeliveryLine(delivery, describe_cron(delivery.cron, language))
        for delivery in list_deliveries(context.store)
    ]
    has_mail = bool(context.settings.smtp_host and context.settings.mail_from)
    return context.render(
        "deliveries.html", lines=lines, kinds=tuple(DeliveryKind), has_mail=has_mail
    )


@router.post("/deliveries")
def add(context: Editor, form: Annotated[DeliveryForm, Form()]) -> Response:
    """Add a delivery; the secret of a webhook is shown once."""
    if form.kind not in set(DeliveryKind):
        raise UsageError(f"{form.kind[:40]!r} is none of {', '.join(DeliveryKind)}")
    delivery = add_delivery(
        context.store,
        form.name,
        DeliveryKind(form.kind),
        form.target,
        form.cron.strip(),
        shops=[name.strip() for name in form.shops.split(",") if name.strip()],
        language=form.language,
        with_report=form.with_report,
    )
    context.audit("delivery added", delivery=delivery.name, kind=str(delivery.kind))
    text = context.gettext("The delivery is added.")
    if delivery.secret:
        secret = context.gettext("Its requests are signed by this secret, shown once: {secret}")
        text = f"{text} {secret.format(secret=delivery.secret)}"
    return context.redirect(_PATH, Message(text))


@router.post("/deliveries/send")
def send(context: Editor, name: FormText) -> Response:
    """Send a delivery now."""
    send_delivery(context.settings, context.store, get_delivery(context.store, name))
    context.audit("delivery sent", delivery=name)
    return context.redirect(_PATH, Message(context.gettext("The digest is sent.")))


@router.post("/deliveries/pause")
def pause(context: Editor, name: FormText) -> Response:
    """Pause a delivery."""
    pause_delivery(context.store, name, paused=True)
    context.audit("delivery paused", delivery=name)
    return context.redirect(_PATH)


@router.post("/deliveries/continue")
def go_on(context: Editor, name: FormText) -> Response:
    """Let a paused delivery go on."""
    pause_delivery(context.store, name, paused=False)
    context.audit("delivery continued", delivery=name)
    return context.redirect(_PATH)


@router.post("/deliveries/remove")
def remove(context: Editor, name: FormText) -> Response:
    """Remove a delivery."""
    remove_delivery(context.store, name)
    context.audit("delivery removed", delivery=name)
    return context.redirect(_PATH)
