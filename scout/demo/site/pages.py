"""The demo shop's pages as HTML. A redesigned shop takes a template from `templates/redesigned/` where there is one."""

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from scout.demo.assortment.demo_shop import Demo
from scout.demo.assortment.offers import Category, Offer, money

HERE = Path(__file__).parent
BASE = "https://base.invalid"
CURRENCIES = {"de": "EUR", "en": "USD"}


class Pages:
    """The templates of one demo shop, with what all pages of a locale share rendered once.

    Links that must be absolute begin with BASE, for the server to put its own address there.
    """

    def __init__(self, demo: Demo) -> None:
        folders = [HERE / "templates" / "redesigned", HERE / "templates"]
        self._templates = Environment(
            loader=FileSystemLoader(folders if demo.redesigned else folders[1:]),
            autoescape=select_autoescape(["html", "svg"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(money=money, base=BASE)
        css = self._templates.get_template("style.css").render()
        self.phrases = {locale: _phrases(locale) for locale in CURRENCIES}
        self._shared = {locale: self._share(demo, locale, Markup(css)) for locale in CURRENCIES}  # noqa: S704

    def page(
        self, template: str, locale: str, title: str, canonical: str | None, **rest: Any
    ) -> str:
        """A whole page of the shop."""
        summary = f"{title} - {self.phrases[locale].slogan}"
        known = {**self._shared[locale], "title": title, "summary": summary, "canonical": canonical}
        return self._templates.get_template(template).render({**known, **rest})

    def picture(self, offer: Offer, second: bool) -> str:
        """The offer's picture, drawn from its category's icon."""
        category = offer.category
        turn = "translate(300 0) scale(-1 1)" if second else ""
        return self._templates.get_template("picture.svg").render(
            hue=(category.hue + 7 * (offer.number % 9)) % 360,
            depth=18 + offer.number % 40,
            icon=Markup(category.icon),  # noqa: S704
            turn=turn,
            label=f"{offer.brand} {offer.model}",
        )

    def _share(self, demo: Demo, locale: str, css: Markup) -> dict[str, Any]:
        t = self.phrases[locale]
        own = [category for category in demo.categories if category.locale == locale]
        week = next(offer for offer in demo.offers if offer.locale == locale and offer.old_price)
        words = {
            "t": t,
            "css": css,
            "currency": CURRENCIES[locale],
            "categories": own,
            "menu": _menu(own),
            "week": week,
            "zero": money(Decimal(0), locale),
            "other_home": "/en/" if locale == "de" else "/de/",
            "popular": [category.name.split()[0].lower() for category in own[:4]],
        }
        shell = {
            part: self._templates.get_template(f"shell_{part}.html").render(words)
            for part in ("head", "foot")
        }
        markup = {part: Markup(html) for part, html in shell.items()}  # noqa: S704
        return {**words, "shell": SimpleNamespace(**markup)}


def _phrases(locale: str) -> SimpleNamespace:
    said = tomllib.loads((HERE / "phrases.toml").read_text("utf-8"))[locale]
    return SimpleNamespace(locale=locale, **said)


def _menu(categories: Sequence[Category]) -> dict[str, list[Category]]:
    menu: dict[str, list[Category]] = {}
    for category in categories:
        menu.setdefault(category.parent, []).append(category)
    return menu
