"""The demo shop's routes: offers, listings, content pages, traps, and the 404 page.

Responses are rendered when first requested and cached; parameters that the shop ignores do not make
new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.assortment.offers import Category, Offer
from scout.demo.site import content_pages, robots_sitemaps
from scout.demo.site.discoverability import make_discoverability
from scout.demo.site.listing_page import make_listing_page
from scout.demo.site.offer_view import make_view
from scout.demo.site.page_renderer import BASE, PageRenderer
from scout.demo.site.responses import GZIP, SVG, TEXT, XML, Response, redirect

PARAMETERS = ("variant", "color", "sort", "page", "q")
"""Query parameters that change a page; all others are ignored, tracking among them."""

SITEMAPS = {
    "/sitemaps/artikel.xml.gz": "de",
    "/sitemaps/products.xml": "en",
    "/sitemaps/pages.xml": "",
}
"""Sitemaps with the locale of their offers; the last one holds the other pages."""

CHANGE_DAYS = ("2026-10-02", "2026-10-19", "2026-11-03", "2026-11-12")
"""Days of last change, dealt out to the sitemaps' entries."""

CACHED_RESPONSES = 4096
"""Responses kept in memory: all pages of the shop, about 1,600, with their common filters."""

LOCATION_SAFE = ":/?#&=%+-_.~"
"""Characters of the redirector's target that stay as they are.

Others, line breaks above all, are quoted.
"""

PICKS = 4
"""Offers of each category on the home page."""

GONE_IN_SITEMAP = 2
"""Entries of each offer sitemap that lead to offers that are gone."""

Query = Mapping[str, str]
Route = Callable[[Query], Response | None]
"""Answers a query at one path; None where there is no such page."""


class DemoSite:
    """The demo shop as a function from request targets to responses."""

    def __init__(self, shop: DemoShop) -> None:
        self.shop, self._pages = shop, PageRenderer(shop)
        self._discoverability = make_discoverability(shop.seed, shop.offers)
        self._by_number = {offer.number: offer for offer in shop.offers}
        self._by_image = {offer.image: offer for offer in shop.offers}
        self._listed = [
            offer for offer in shop.offers if offer.path in self._discoverability.listed
        ]
        self._routes = (
            self._offer_routes()
            | self._listing_routes()
            | self._content_routes()
            | self._machine_routes()
        )
        self._cached_response = lru_cache(maxsize=CACHED_RESPONSES)(self._respond)

    def answer(self, target: str) -> Response:
        """Answer a request for `target`, a path with its query."""
        parts = urlsplit(target)
        query = parse_qsl(parts.query)
        if parts.path == "/out":
            # Not cached: any number of targets may be requested.
            return redirect(quote(dict(query).get("to", "/"), safe=LOCATION_SAFE), 302)
        relevant = tuple((key, value) for key, value in query if key in PARAMETERS)
        return self._cached_response(unquote(parts.path), relevant)

    def targets(self) -> list[str]:
        """Return all targets worth rendering ahead: no filters, no traps."""
        targets = list(self._routes)
        for offer in self.shop.offers:
            targets += [f"{offer.path}?variant={choice.id}" for choice in offer.variants]
        targets += [offer.path for offer in self.shop.offers if offer.family]
        return targets

    def _respond(self, path: str, query: tuple[tuple[str, str], ...]) -> Response:
        route = self._routes.get(path)
        response = route(dict(query)) if route else self._respond_by_pattern(path)
        return response or content_pages.not_found_page(self._pages, path, self._listed)

    def _respond_by_pattern(self, path: str) -> Response | None:
        """Answer at paths without routes: the calendar, pictures, paths without a final slash."""
        if path.startswith("/events/"):
            return content_pages.calendar_page(self._pages, path)
        if path.startswith("/img/"):
            return self._picture(path)
        if f"{path}/" in self._routes:
            return redirect(f"{path}/", 301)
        return None

    def _picture(self, path: str) -> Response | None:
        offer = self._by_image.get(path.replace("-2.svg", "-1.svg"))
        if offer is None:
            return None
        is_second = path.endswith("-2.svg")
        return Response(200, self._pages.render_picture(offer, mirrored=is_second), SVG)

    def _offer_routes(self) -> dict[str, Route]:
        paths: set[str] = set()
        for offer in self.shop.offers:
            paths |= {urlsplit(offer.path).path, *offer.alternates}
        return {path: partial(self._offer_page, path) for path in sorted(paths)}

    def _offer_page(self, path: str, query: Query) -> Response | None:
        variant = query.get("variant", "")
        offer = self.shop.offer_at(f"{path}?variant={variant}" if variant else path)
        if offer is None:
            return None
        phrases = self._pages.phrases[offer.locale]
        neighbours = self._linkable_offers(offer.category)
        view = make_view(offer, neighbours, self._by_number, phrases.praise, variant)
        html = self._pages.render_page(
            f"offer_{offer.category.template}.html",
            phrases.locale,
            offer.title,
            offer.path,
            offer=offer,
            view=view,
        )
        return Response(200, html)

    def _linkable_offers(self, category: Category) -> list[Offer]:
        """Return a category's offers that other pages may link to: none meant to be hidden."""
        linkable = []
        for offer in self.shop.offers:
            # Compared by identity, as this runs for every offer of the shop on every offer's page.
            if offer.category is not category:
                continue
            if offer.family is not None or offer.path in self._discoverability.listed:
                linkable.append(offer)
        return linkable

    def _listing_routes(self) -> dict[str, Route]:
        routes: dict[str, Route] = {}
        for category in self.shop.categories:
            offers = [offer for offer in self._listed if offer.category == category]
            routes[category.path] = partial(
                self._listing, category.path, category.name, category.locale, offers, True
            )
        for locale, phrases in self._pages.phrases.items():
            offers = [offer for offer in self._listed if offer.locale == locale]
            reduced = [offer for offer in offers if offer.old_price]
            routes[phrases.deals] = partial(
                self._listing, phrases.deals, phrases.w_deals, locale, reduced, False
            )
            routes[phrases.search] = partial(
                content_pages.search_results, self._pages, locale, offers
            )
        return routes

    def _listing(
        self,
        path: str,
        title: str,
        locale: str,
        offers: Sequence[Offer],
        has_alternates: bool,
        query: Query,
    ) -> Response | None:
        listing = make_listing_page(path, offers, query, self._pages.phrases[locale].sorts)
        if listing is None:
            return None
        if not has_alternates:
            listing = replace(listing, links={})
        # Filtered and sorted lists name the whole list as canonical, as search engines advise.
        canonical = path
        if not listing.filtered and listing.page > 1:
            canonical = f"{path}?page={listing.page}"
        html = self._pages.render_page("listing.html", locale, title, canonical, listing=listing)
        return Response(200, html)

    def _content_routes(self) -> dict[str, Route]:
        pages = self._pages
        responses = (
            content_pages.articles(pages, self._discoverability.article_only, self._listed)
            | content_pages.legal_pages(pages)
            | content_pages.disallowed_pages(pages, self._listed)
        )
        for locale, phrases in pages.phrases.items():
            responses[phrases.home] = content_pages.home_page(pages, locale, self._picks(locale))
        responses["/"] = content_pages.language_page(pages)
        # Two former offers are redirected to their category; the others are not found.
        for offer in (self.shop.gone[0], self.shop.gone[-1]):
            responses[offer.path] = redirect(offer.category.path, 301)
        return _fixed_routes(responses)

    def _picks(self, locale: str) -> list[tuple[Category, list[Offer]]]:
        """Return the categories of a locale, each with its first listed offers."""
        picks = []
        for category in self.shop.categories:
            if category.locale == locale:
                offers = [offer for offer in self._listed if offer.category == category]
                picks.append((category, offers[:PICKS]))
        return picks

    def _machine_routes(self) -> dict[str, Route]:
        responses = {
            "/robots.txt": Response(200, robots_sitemaps.robots_txt(BASE), TEXT),
            "/sitemap.xml": Response(200, robots_sitemaps.sitemap_index(BASE, SITEMAPS), XML),
            "/favicon.svg": Response(200, content_pages.ICON, SVG),
        }
        for name, locale in SITEMAPS.items():
            paths = self._offer_entries(locale) if locale else self._page_entries()
            days = {path: CHANGE_DAYS[len(path) % len(CHANGE_DAYS)] for path in paths}
            content_type = GZIP if name.endswith(".gz") else XML
            responses[name] = Response(200, robots_sitemaps.sitemap(BASE, days), content_type)
        return _fixed_routes(responses)

    def _offer_entries(self, locale: str) -> list[str]:
        """Return the paths of a locale's offers in the sitemap, with some offers that are gone."""
        in_sitemap = self._discoverability.in_sitemap
        offers = [offer.path for offer in self.shop.offers if offer.locale == locale]
        gone = [offer.path for offer in self.shop.gone if offer.locale == locale]
        return [path for path in offers if path in in_sitemap] + gone[:GONE_IN_SITEMAP]

    def _page_entries(self) -> list[str]:
        """Return the paths of home pages, categories and articles."""
        paths = ["/de/", "/en/", *(category.path for category in self.shop.categories)]
        for phrases in self._pages.phrases.values():
            paths += [phrases.blog + article["slug"] for article in phrases.articles]
        return paths


def _fixed_routes(responses: Mapping[str, Response]) -> dict[str, Route]:
    """Make routes that give the same response to any query."""
    return {path: partial(_fixed_response, response) for path, response in responses.items()}


def _fixed_response(response: Response, _query: Query) -> Response:
    return response
