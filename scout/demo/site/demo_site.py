"""Which address of the demo shop answers what: offers, lists, texts, traps, and what is not there.

Answers are made when first asked for, and kept; parameters that mean nothing to the shop do not make new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from scout.demo.assortment.demo_shop import Demo
from scout.demo.assortment.offers import Offer
from scout.demo.site import extras, robots_sitemaps
from scout.demo.site.category_page import make_shelf
from scout.demo.site.discoverability import make_reach
from scout.demo.site.offer_view import make_view
from scout.demo.site.pages import BASE, Pages
from scout.demo.site.responses import GZIP, SVG, TEXT, XML, Answer, redirect

MEANT = ("variant", "color", "sort", "page", "q")
MAPS = {"/sitemaps/artikel.xml.gz": "de", "/sitemaps/products.xml": "en", "/sitemaps/pages.xml": ""}
DAYS = ("2026-10-02", "2026-10-19", "2026-11-03", "2026-11-12")
Query = Mapping[str, str]
Route = Callable[[Query], Answer | None]


class Site:
    """The demo shop as a function from request targets to answers."""

    def __init__(self, demo: Demo) -> None:
        self.demo, self._pages = demo, Pages(demo)
        self._reach = make_reach(demo.seed, demo.offers)
        self._numbers = {offer.number: offer for offer in demo.offers}
        self._skus = {offer.image: offer for offer in demo.offers}
        self._shelved = [offer for offer in demo.offers if offer.path in self._reach.shelved]
        self._routes = (
            self._offer_routes()
            | self._list_routes()
            | self._text_routes()
            | self._machine_routes()
        )
        self._kept = lru_cache(maxsize=4096)(self._make)

    def answer(self, target: str) -> Answer:
        """The answer to a request for `target`, a path with its query."""
        parts = urlsplit(target)
        said = parse_qsl(parts.query)
        if parts.path == "/out":
            return redirect(quote(dict(said).get("to", "/"), safe=":/?#&=%+-_.~"), 302)
        return self._kept(
            unquote(parts.path), tuple((key, value) for key, value in said if key in MEANT)
        )

    def targets(self) -> list[str]:
        """All addresses with a page of their own, without filters and traps: what is worth making ahead."""
        variants = [
            f"{offer.path}?variant={choice.id}"
            for offer in self.demo.offers
            for choice in offer.variants
        ]
        return [
            *self._routes,
            *variants,
            *(offer.path for offer in self.demo.offers if offer.family),
        ]

    def _make(self, path: str, query: tuple[tuple[str, str], ...]) -> Answer:
        route = self._routes.get(path)
        made = route(dict(query)) if route else self._elsewhere(path)
        return made or extras.not_found(self._pages, path, self._shelved)

    def _elsewhere(self, path: str) -> Answer | None:
        if path.startswith("/events/"):
            return extras.events(self._pages, path)
        if path.startswith("/img/"):
            offer = self._skus.get(path.replace("-2.svg", "-1.svg"))
            return (
                Answer(200, self._pages.picture(offer, path.endswith("-2.svg")), SVG)
                if offer
                else None
            )
        return redirect(f"{path}/", 301) if f"{path}/" in self._routes else None

    def _offer_routes(self) -> dict[str, Route]:
        paths = {
            path
            for offer in self.demo.offers
            for path in (urlsplit(offer.path).path, *offer.alternates)
        }
        return {path: partial(self._offer, path) for path in sorted(paths)}

    def _offer(self, path: str, query: Query) -> Answer | None:
        variant = query.get("variant", "")
        offer = self.demo.offer_at(f"{path}?variant={variant}" if variant else path)
        if offer is None:
            return None
        near = [
            other
            for other in self.demo.offers
            if other.category is offer.category and self._linked(other)
        ]
        t = self._pages.phrases[offer.locale]
        view = make_view(offer, near, self._numbers, t.praise, variant)
        template = f"offer_{offer.category.template}.html"
        return Answer(
            200,
            self._pages.page(template, t.locale, offer.title, offer.path, offer=offer, view=view),
        )

    def _linked(self, offer: Offer) -> bool:
        return offer.family is not None or offer.path in self._reach.shelved

    def _list_routes(self) -> dict[str, Route]:
        routes: dict[str, Route] = {}
        for category in self.demo.categories:
            own = [offer for offer in self._shelved if offer.category == category]
            routes[category.path] = partial(
                self._list, category.path, category.name, category.locale, own, True
            )
        for locale, t in self._pages.phrases.items():
            own = [offer for offer in self._shelved if offer.locale == locale]
            reduced = [offer for offer in own if offer.old_price]
            routes[t.deals] = partial(self._list, t.deals, t.w_deals, locale, reduced, False)
            routes[t.search] = partial(extras.search, self._pages, locale, own)
        return routes

    def _list(
        self, path: str, title: str, locale: str, offers: Sequence[Offer], below: bool, query: Query
    ) -> Answer | None:
        shelf = make_shelf(path, offers, query, self._pages.phrases[locale].sorts)
        if shelf is None:
            return None
        shelf = shelf if below else replace(shelf, links={})
        canonical = path if shelf.filtered or shelf.page == 1 else f"{path}?page={shelf.page}"
        return Answer(200, self._pages.page("shelf.html", locale, title, canonical, shelf=shelf))

    def _text_routes(self) -> dict[str, Route]:
        pages, demo = self._pages, self.demo
        routes: dict[str, Route] = {
            path: partial(_same, answer)
            for answers in (
                extras.articles(pages, self._reach.told, self._shelved),
                extras.legal(pages),
                extras.private(pages, self._shelved),
            )
            for path, answer in answers.items()
        }
        for locale, t in pages.phrases.items():
            own = [category for category in demo.categories if category.locale == locale]
            picks = [
                (category, [o for o in self._shelved if o.category == category][:4])
                for category in own
            ]
            routes[t.home] = partial(_same, extras.home(pages, locale, picks))
        routes["/"] = partial(_same, extras.door(pages))
        for offer in (demo.gone[0], demo.gone[-1]):
            routes[offer.path] = partial(_same, redirect(offer.category.path, 301))
        return routes

    def _machine_routes(self) -> dict[str, Route]:
        answers = {
            "/robots.txt": Answer(200, robots_sitemaps.robots(BASE), TEXT),
            "/sitemap.xml": Answer(200, robots_sitemaps.sitemap_index(BASE, MAPS), XML),
            "/favicon.svg": Answer(200, extras.ICON, SVG),
        }
        for name, locale in MAPS.items():
            paths = self._mapped(locale) if locale else self._general()
            days = {path: DAYS[len(path) % len(DAYS)] for path in paths}
            answers[name] = Answer(
                200, robots_sitemaps.sitemap(BASE, days), GZIP if name.endswith(".gz") else XML
            )
        return {path: partial(_same, answer) for path, answer in answers.items()}

    def _mapped(self, locale: str) -> list[str]:
        offers = [offer.path for offer in self.demo.offers if offer.locale == locale]
        gone = [offer.path for offer in self.demo.gone if offer.locale == locale]
        return [path for path in offers if path in self._reach.mapped] + gone[:2]

    def _general(self) -> list[str]:
        texts = [
            t.blog + article["slug"] for t in self._pages.phrases.values() for article in t.articles
        ]
        return ["/de/", "/en/", *(category.path for category in self.demo.categories), *texts]


def _same(answer: Answer, _query: Query) -> Answer:
    """A route that answers the same, whatever is asked."""
    return answer
