"""The renderer of the demo shop's HTML pages.

A redesigned shop has templates of its own in `templates/redesigned/`.
"""

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.assortment.offers import Category, Offer, format_price

FOLDER = Path(__file__).parent

BASE = "https://base.invalid"
"""Placeholder of the shop's root URL in absolute links; the server puts its own address in."""

CURRENCIES = {"de": "EUR", "en": "USD"}
"""Currency of each locale."""


class PageRenderer:
    """Renders the pages of one demo shop.

    The parts that all pages of a locale share are rendered once.

    `phrases` are the texts of each locale, from `phrases.toml`.
    """

    def __init__(self, shop: DemoShop) -> None:
        folders = [FOLDER / "templates" / "redesigned", FOLDER / "templates"]
        self._templates = Environment(
            loader=FileSystemLoader(folders if shop.redesigned else folders[1:]),
            autoescape=select_autoescape(["html", "svg"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(money=format_price, base=BASE)
        css = Markup(self._templates.get_template("style.css").render())  # noqa: S704
        self.phrases = {locale: _load_phrases(locale) for locale in CURRENCIES}
        self._shared = {locale: self._share(shop, locale, css) for locale in CURRENCIES}

    def render_page(
        self, template: str, locale: str, title: str, canonical: str | None, **values: Any
    ) -> str:
        """Render a page; `canonical` is the path of its canonical link, None for none."""
        page = {
            "title": title,
            "summary": f"{title} - {self.phrases[locale].slogan}",
            "canonical": canonical,
        }
        context = {**self._shared[locale], **page, **values}
        return self._templates.get_template(template).render(context)

    def render_picture(self, offer: Offer, mirrored: bool) -> str:
        """Render the offer's picture as SVG, drawn from its category's icon."""
        category = offer.category
        return self._templates.get_template("picture.svg").render(
            hue=(category.hue + 7 * (offer.number % 9)) % 360,
            depth=18 + offer.number % 40,
            icon=Markup(category.icon),  # noqa: S704
            turn="translate(300 0) scale(-1 1)" if mirrored else "",
            label=f"{offer.brand} {offer.model}",
        )

    def _share(self, shop: DemoShop, locale: str, css: Markup) -> dict[str, Any]:
        """Return the template values shared by all pages of a locale, with header and footer."""
        categories = [category for category in shop.categories if category.locale == locale]
        reduced = (offer for offer in shop.offers if offer.locale == locale and offer.old_price)
        shared = {
            "t": self.phrases[locale],
            "css": css,
            "currency": CURRENCIES[locale],
            "categories": categories,
            "menu": _menu(categories),
            "week": next(reduced),
            "zero": format_price(Decimal(0), locale),
            "other_home": "/en/" if locale == "de" else "/de/",
            "popular": [category.name.split()[0].lower() for category in categories[:4]],
        }
        shell = {}
        for part in ("head", "foot"):
            html = self._templates.get_template(f"shell_{part}.html").render(shared)
            shell[part] = Markup(html)  # noqa: S704
        return {**shared, "shell": SimpleNamespace(**shell)}


def _load_phrases(locale: str) -> SimpleNamespace:
    phrases = tomllib.loads((FOLDER / "phrases.toml").read_text("utf-8"))[locale]
    return SimpleNamespace(locale=locale, **phrases)


def _menu(categories: Sequence[Category]) -> dict[str, list[Category]]:
    menu: dict[str, list[Category]] = {}
    for category in categories:
        menu.setdefault(category.parent, []).append(category)
    return menu
