"""What a shop has besides offers: articles, search, legal pages, an endless calendar, pages not meant for crawlers."""

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scout.demo.assortment.offers import Offer
from scout.demo.site.pages import Pages
from scout.demo.site.responses import Answer

DAY = re.compile(r"/events/(\d{4})/(\d{2})/(?:(\d{2})/)?")
DEAD = {
    "de": "/de/artikel/casoletto-perla-em-110-espressokocher-99031.html",
    "en": "/en/products/oakmere-paper-boats",
}

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17504a"/>'
    '<text x="16" y="23" font-family="Georgia,serif" font-size="20" text-anchor="middle" fill="#fff">B</text></svg>'
)


def articles(pages: Pages, told: Mapping[str, Offer], offers: Sequence[Offer]) -> dict[str, Answer]:
    """The journal of both locales: prices in prose, two offers below, and a link to an offer long gone."""
    made = {}
    for locale, t in pages.phrases.items():
        for place, article in enumerate(t.articles):
            near = [offer for offer in offers if offer.category.slug == article["about"]]
            named = told[locale] if place == 0 else near[0]
            tracked = f"{named.path}?utm_source=journal&utm_medium=article"
            links = [(t.read_more, tracked), (named.title, named.path), (t.archive, DEAD[locale])]
            below = near[4:6]
            path = f"{t.blog}{article['slug']}"
            made[path] = _text(
                pages, locale, path, article["title"], article["text"], links=links, offers=below
            )
        index = [(article["title"], f"{t.blog}{article['slug']}") for article in t.articles]
        made[t.blog] = _text(pages, locale, t.blog, t.w_blog, [t.slogan], links=index)
    return made


def legal(pages: Pages) -> dict[str, Answer]:
    """Imprint, and terms with their questions."""
    made = {}
    for locale, t in pages.phrases.items():
        partner = "/out?to=https%3A%2F%2Fwarranty.example%2Fbirkenhall&from=terms"
        made[t.imprint] = _text(pages, locale, t.imprint, t.w_imprint, t.about)
        made[t.terms] = _text(
            pages,
            locale,
            t.terms,
            t.w_terms,
            t.about,
            links=[("warranty.example", partner)],
            faq=True,
        )
    return made


def private(pages: Pages, offers: Sequence[Offer]) -> dict[str, Answer]:
    """Where robots.txt lets nobody in: basket, account, and a sale for the staff that looks like any list of offers."""
    staff = _text(
        pages, "en", "/private/", "Staff sale", ["For employees only."], offers=offers[:3]
    )
    made = {
        "/private/": staff,
        "/private/account": _text(pages, "en", None, "Login", ["Please log in."]),
    }
    for path in ("/checkout", "/checkout/add", "/checkout/newsletter"):
        made[path] = _text(pages, "en", None, "Basket", ["Your basket is empty."])
    return made


def search(pages: Pages, locale: str, offers: Iterable[Offer], query: Mapping[str, str]) -> Answer:
    """Offers whose title or category holds the words asked for."""
    t, words = pages.phrases[locale], query.get("q", "")
    wanted = words.lower()
    hits = [
        offer
        for offer in offers
        if wanted and wanted in f"{offer.title} {offer.category.name}".lower()
    ][:24]
    return _text(
        pages, locale, None, f"{t.results} {words}", [f"{len(hits)} {t.items}"], offers=hits
    )


def not_found(pages: Pages, path: str, offers: Sequence[Offer]) -> Answer:
    """404 in the shop's clothes; the English half says 200 where an offer was asked for."""
    locale = "en" if path.startswith("/en/") else "de"
    t = pages.phrases[locale]
    soft = path.startswith("/en/") and "/products/" in path
    some = [
        offer for offer in offers if offer.locale == locale and offer.available and not offer.family
    ][3:11:2]
    body = _text(pages, locale, None, t.not_found, [t.not_found_text], offers=some).body
    return Answer(200 if soft else 404, body)


def events(pages: Pages, path: str) -> Answer | None:
    """The calendar: every month leads to the next and to its days, for as long as years have four digits."""
    found = DAY.fullmatch(path)
    if not found or not 1 <= int(found[2]) <= 12 or not 1000 <= int(found[1]) <= 9998:
        return None
    year, month = int(found[1]), int(found[2])
    if found[3]:
        return _text(
            pages, "en", path, f"Events on {path[8:-1]}", ["No events are planned for this day."]
        )
    (before, before_name), (after, after_name) = _month(year, month - 1), _month(year, month + 1)
    weeks = calendar.Calendar().monthdayscalendar(year, month)
    around = {
        "before": before,
        "before_name": before_name,
        "after": after,
        "after_name": after_name,
    }
    title = f"Events in {_month(year, month)[1]}"
    return Answer(
        200, pages.page("month.html", "en", title, path, path=path, weeks=weeks, **around)
    )


def _month(year: int, month: int) -> tuple[str, str]:
    """Path and name of a month, counted on over the turn of the year."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return f"/events/{year}/{month:02d}/", f"{calendar.month_name[month]} {year}"


def _text(
    pages: Pages, locale: str, path: str | None, title: str, paragraphs: Sequence[str], **rest: Any
) -> Answer:
    shown: dict[str, Any] = {
        "paragraphs": paragraphs,
        "links": [],
        "offers": [],
        "faq": False,
        **rest,
    }
    return Answer(200, pages.page("text.html", locale, title, path, **shown))


def door(pages: Pages) -> Answer:
    """The address without a path: where the visitor chooses the language."""
    links = [(f"Birkenhall - {t.slogan}", t.home) for t in pages.phrases.values()]
    return _text(pages, "en", "/", "Birkenhall", ["Willkommen. Welcome."], links=links)


def home(pages: Pages, locale: str, picks: Sequence[Any]) -> Answer:
    """The first page of a locale."""
    t = pages.phrases[locale]
    return Answer(200, pages.page("home.html", locale, t.w_home, t.home, picks=picks))
