"""The demo shop's pages besides offers and listings.

Articles, search results, legal pages, an endless calendar, pages not meant for crawlers, and the
404 page.
"""

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scout.demo.assortment.offers import Offer
from scout.demo.site.page_renderer import PageRenderer
from scout.demo.site.responses import Response

EVENT_PATH = re.compile(r"/events/(\d{4})/(\d{2})/(?:(\d{2})/)?")
"""The calendar's paths: year, month and maybe day."""

FIRST_YEAR = 1000
"""First year of the calendar: all years, also of the next month, have four digits."""

LAST_YEAR = 9998

MAX_SEARCH_RESULTS = 24
"""Offers on a page of search results."""

GONE_LINKS = {
    "de": "/de/artikel/casoletto-perla-em-110-espressokocher-99031.html",
    "en": "/en/products/oakmere-paper-boats",
}
"""Links in articles to offers that are long gone."""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17504a"/>'
    '<text x="16" y="23" font-family="Georgia,serif" font-size="20" text-anchor="middle" fill="#fff">B</text></svg>'
)
"""The shop's favicon."""


def articles(
    pages: PageRenderer, article_only: Mapping[str, Offer], offers: Sequence[Offer]
) -> dict[str, Response]:
    """Make the journal of both locales.

    Articles have prices in prose, two offers below, and a link to an offer long gone.

    The first article of each locale links to the offer that no other page links to.
    """
    responses = {}
    for locale, phrases in pages.phrases.items():
        for index, article in enumerate(phrases.articles):
            mentioned = [offer for offer in offers if offer.category.slug == article["about"]]
            linked = article_only[locale] if index == 0 else mentioned[0]
            links = [
                (phrases.read_more, f"{linked.path}?utm_source=journal&utm_medium=article"),
                (linked.title, linked.path),
                (phrases.archive, GONE_LINKS[locale]),
            ]
            path = f"{phrases.blog}{article['slug']}"
            responses[path] = _text_page(
                pages,
                locale,
                path,
                article["title"],
                article["text"],
                links=links,
                offers=mentioned[4:6],
            )
        index_links = [
            (article["title"], f"{phrases.blog}{article['slug']}") for article in phrases.articles
        ]
        responses[phrases.blog] = _text_page(
            pages, locale, phrases.blog, phrases.w_blog, [phrases.slogan], links=index_links
        )
    return responses


def legal_pages(pages: PageRenderer) -> dict[str, Response]:
    """Make the imprint and the terms, the latter with questions and answers."""
    responses = {}
    partner = "/out?to=https%3A%2F%2Fwarranty.example%2Fbirkenhall&from=terms"
    for locale, phrases in pages.phrases.items():
        responses[phrases.imprint] = _text_page(
            pages, locale, phrases.imprint, phrases.w_imprint, phrases.about
        )
        responses[phrases.terms] = _text_page(
            pages,
            locale,
            phrases.terms,
            phrases.w_terms,
            phrases.about,
            links=[("warranty.example", partner)],
            faq=True,
        )
    return responses


def disallowed_pages(pages: PageRenderer, offers: Sequence[Offer]) -> dict[str, Response]:
    """Make the disallowed pages: basket, account, and a staff sale that looks like a listing."""
    responses = {
        "/private/": _text_page(
            pages, "en", "/private/", "Staff sale", ["For employees only."], offers=offers[:3]
        ),
        "/private/account": _text_page(pages, "en", None, "Login", ["Please log in."]),
    }
    for path in ("/checkout", "/checkout/add", "/checkout/newsletter"):
        responses[path] = _text_page(pages, "en", None, "Basket", ["Your basket is empty."])
    return responses


def search_results(
    pages: PageRenderer, locale: str, offers: Iterable[Offer], query: Mapping[str, str]
) -> Response:
    """Make the results of a search in titles and category names; an empty query has none."""
    phrases, terms = pages.phrases[locale], query.get("q", "")
    hits = []
    if terms:
        hits = [offer for offer in offers if terms.lower() in _searched_text(offer)]
    hits = hits[:MAX_SEARCH_RESULTS]
    title = f"{phrases.results} {terms}"
    return _text_page(pages, locale, None, title, [f"{len(hits)} {phrases.items}"], offers=hits)


def _searched_text(offer: Offer) -> str:
    return f"{offer.title} {offer.category.name}".lower()


def not_found_page(pages: PageRenderer, path: str, offers: Sequence[Offer]) -> Response:
    """Make the 404 page, with other offers; for English offers a soft 404, with status 200."""
    locale = "en" if path.startswith("/en/") else "de"
    phrases = pages.phrases[locale]
    is_soft = path.startswith("/en/") and "/products/" in path
    candidates = [
        offer for offer in offers if offer.locale == locale and offer.available and not offer.family
    ]
    page = _text_page(
        pages,
        locale,
        None,
        phrases.not_found,
        [phrases.not_found_text],
        offers=candidates[3:11:2],
    )
    return Response(200 if is_soft else 404, page.body)


def calendar_page(pages: PageRenderer, path: str) -> Response | None:
    """Make a page of the endless calendar: every month links to the next and to its days.

    None for no date.
    """
    match = EVENT_PATH.fullmatch(path)
    if not match:
        return None
    year, month = int(match[1]), int(match[2])
    if not 1 <= month <= 12 or not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    if match[3]:
        day = path.removeprefix("/events/").removesuffix("/")
        paragraphs = ["No events are planned for this day."]
        return _text_page(pages, "en", path, f"Events on {day}", paragraphs)
    before, before_name = _month_link(year, month - 1)
    after, after_name = _month_link(year, month + 1)
    html = pages.render_page(
        "month.html",
        "en",
        f"Events in {_month_link(year, month)[1]}",
        path,
        path=path,
        weeks=calendar.Calendar().monthdayscalendar(year, month),
        before=before,
        before_name=before_name,
        after=after,
        after_name=after_name,
    )
    return Response(200, html)


def _month_link(year: int, month: int) -> tuple[str, str]:
    """Return path and name of a month.

    Month 0 is December of the year before, 13 January of the next.
    """
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return f"/events/{year}/{month:02d}/", f"{calendar.month_name[month]} {year}"


def language_page(pages: PageRenderer) -> Response:
    """Make the page at the root path, where visitors choose their language."""
    links = []
    for phrases in pages.phrases.values():
        links.append((f"Birkenhall - {phrases.slogan}", phrases.home))
    return _text_page(pages, "en", "/", "Birkenhall", ["Willkommen. Welcome."], links=links)


def home_page(pages: PageRenderer, locale: str, picks: Sequence[Any]) -> Response:
    """Make the home page of a locale; `picks` are categories, each with some of its offers."""
    phrases = pages.phrases[locale]
    html = pages.render_page("home.html", locale, phrases.w_home, phrases.home, picks=picks)
    return Response(200, html)


def _text_page(
    pages: PageRenderer,
    locale: str,
    path: str | None,
    title: str,
    paragraphs: Sequence[str],
    **values: Any,
) -> Response:
    """Make a page of text.

    `values` may add links (label and path), offers, and questions and answers.
    """
    defaults: dict[str, Any] = {"links": [], "offers": [], "faq": False}
    context = {**defaults, **values, "paragraphs": paragraphs}
    return Response(200, pages.render_page("text.html", locale, title, path, **context))
