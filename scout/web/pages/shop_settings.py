"""Shops are added, their crawl limits changed, and removed."""

from typing import Annotated, Any

from fastapi import Form
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import Shop
from scout.maintenance import shop_removal
from scout.shops import registration
from scout.web.access.guard import Admin, Editor, page_router
from scout.web.api.models import MAX_CRAWL_MINUTES, MAX_DELAY_SECONDS, MAX_PAGES
from scout.web.context import Message
from scout.web.plain_text import FormText, ShortText, UrlText
from scout.web.rendering import path_part

router = page_router()


class LimitsForm(BaseModel):
    """Limits of a shop's crawls as a form sends them: texts, empty for none."""

    max_pages: ShortText = ""
    max_bytes: ShortText = ""
    max_minutes: ShortText = ""
    window: ShortText = ""
    delay: ShortText = ""
    crawlers: ShortText = ""
    javascript: bool = False

    def columns(self) -> dict[str, Any]:
        """Return the columns of a shop. Raises ScoutError that names the wrong field."""
        columns = registration.crawl_limits(
            max_bytes=self.max_bytes,
            max_minutes=_parse("minutes", self.max_minutes, MAX_CRAWL_MINUTES),
            window=self.window,
            delay=_parse("delay", self.delay, MAX_DELAY_SECONDS),
        )
        columns["javascript"] = self.javascript
        pages = _parse("pages", self.max_pages, MAX_PAGES)
        if pages:
            columns["max_pages"] = int(pages)
        crawlers = _parse("crawlers", self.crawlers, registration.MAX_CRAWLERS)
        if crawlers:
            columns["crawlers"] = max(1, int(crawlers))
        return columns


class NewShopForm(LimitsForm):
    """A shop to add."""

    name: ShortText
    url: UrlText
    allow_private: bool = False


def _parse(field: str, text: str, most: float) -> float:
    """Return a number of a form, 0 where it is empty. Raises UsageError."""
    if not text.strip():
        return 0.0
    try:
        number = float(text.strip()[:20])
    except ValueError as error:
        raise UsageError(f"{field}: {text[:40]!r} is no number") from error
    if not 0 <= number <= most:
        raise UsageError(f"{field}: a number from 0 to {most:g} is needed, not {text[:40]!r}")
    return number


@router.get("/add-shop")
def show_new_shop(context: Editor) -> Response:
    """Show the form for a new shop."""
    return context.render("shop_form.html", shop=None)


@router.post("/shops")
def add_shop(context: Editor, form: Annotated[NewShopForm, Form()]) -> Response:
    """Add a shop, and go on to the import of its feed."""
    if form.allow_private and not context.may("admin"):
        raise HTTPException(403, "only an admin may let the crawler reach private addresses")
    shop = Shop(
        name=registration.check_name(form.name),
        url=registration.normalize_root(form.url, form.allow_private),
        allow_private=form.allow_private,
        **form.columns(),
    )
    name = shop.name
    registration.add_shop(context.store, shop)
    context.audit("shop added", name)
    text = context.gettext("{shop} is added. Next, import the offers that the catalog lists.")
    return context.redirect(f"/shops/{path_part(name)}/imports", Message(text.format(shop=name)))


@router.get("/shops/{name}/settings")
def show_settings(name: str, context: Editor) -> Response:
    """Show the crawl limits of a shop."""
    return context.render("shop_form.html", shop=context.shop(name))


@router.post("/shops/{name}/settings")
def change_settings(name: str, context: Editor, form: Annotated[LimitsForm, Form()]) -> Response:
    """Change the crawl limits of a shop, from the next crawl on."""
    shop = context.shop(name)
    registration.update_shop(context.store, shop, form.columns())
    context.audit("shop changed", shop.name)
    message = Message(context.gettext("Saved: the next crawl keeps to it."))
    return context.redirect(f"/shops/{path_part(shop.name)}/settings", message)


@router.post("/shops/{name}/remove")
def remove_shop(name: str, context: Admin, confirmed: FormText = "") -> Response:
    """Remove a shop with all its data; its name has to be typed to confirm it."""
    shop = context.shop(name)
    if confirmed.strip() != shop.name:
        raise UsageError("type the name of the shop to confirm that all its data is removed")
    shop_removal.remove_shop(context.settings, context.store, shop)
    context.audit("shop removed", shop.name)
    text = context.gettext("{shop} is removed with all its data.")
    return context.redirect("/", Message(text.format(shop=shop.name)))
