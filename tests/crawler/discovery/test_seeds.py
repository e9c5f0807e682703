"""Canonical rules of a shop whose sale repeats most offers and has some of its own."""

from collections.abc import Callable

import pytest

from catalog.models import PageState, Shop
from catalog.storage.frontier import FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store
from crawler.config import DEFAULT_CONFIG
from crawler.discovery import seeds
from crawler.filters.link_filter import SAME_AS_CANONICAL, LinkFilter
from crawler.urls.rule_verification import RETRIED_SOURCE
from crawler.urls.site import Site
from tests.crawler.conftest import Bench
from tests.crawler.server import Reply, Route, Visit, page, raw

TRIALS = DEFAULT_CONFIG.rule_trials
TWICE = 30
ONLY = 9
CANONICAL = '<link rel="canonical" href="{root}%s">'


def sorry(visit: Visit) -> Reply:
    """A soft 404."""
    return page("/", title="Sorry", text="There is no such page")(visit)


def home(visit: Visit) -> Reply:
    """A missing page that redirects to the home page."""
    return 302, {"Location": "/"}, b""


def home_from_products(visit: Visit) -> Reply:
    """The same, but for pages of a name that no product can have."""
    return home(visit) if visit.path.startswith("/only-") else (404, {}, b"")


def back(visit: Visit) -> Reply:
    """A product that is on sale leads there."""
    return (
        (301, {"Location": f"/sale{visit.path}"}, b"")
        if visit.path.startswith("/only-")
        else (404, {}, b"")
    )


def offer(name: str, canonical: str) -> Route:
    return page(
        "/", title=f"The {name} of the sale", text="9,99 &euro;", head=CANONICAL % canonical
    )


@pytest.mark.parametrize("missing", [raw(b"", status=404), sorry, home, home_from_products, back])
def test_no_offer_is_lost_to_its_canonical(
    make_bench: Callable[..., Bench], missing: Route
) -> None:
    """If a canonical address is missing in any way, the original link is fetched."""
    made = make_bench()
    twice, only = [f"offer-{n}" for n in range(TWICE)], [f"only-{n}" for n in range(ONLY)]
    made.server.routes |= {
        "/": page("/all", "/sale", title="Shop"),
        "/all": page(*(f"/{name}" for name in twice), title="All"),
        "/sale": page(*(f"/sale/{name}" for name in [*twice, *only]), title="Sale"),
        **{f"/{name}": offer(name, f"/{name}") for name in twice},
        **{f"/sale/{name}": offer(name, f"/{name}") for name in twice},
        **{f"/sale/{name}": offer(name, f"/sale/{name}") for name in only},
        "/robots.txt": raw(b"", status=404),
    }
    made.server.fallback = missing
    made.crawl()
    states = made.states()
    assert {states[f"/sale/{name}"] for name in only} == {("fetched", None)}


def test_links_held_back_at_a_kill_are_tried(store: Store, shop: Shop) -> None:
    """After a kill, links replaced by missing canonical addresses are tried, a few at a time."""
    frontier, link_filter = Frontier(store, shop.id or 0), LinkFilter(Site(shop.url))
    several = TRIALS + 2
    frontier.add(
        FrontierLink(f"{shop.url}{folder}{n}")
        for n in range(several)
        for folder in ("sale/", "soft/", "there/")
    )
    state = {
        "soft": (PageState.GONE, {"status": 200}),
        "there": (PageState.FETCHED, {"status": 200}),
    }
    for row in frontier.claim(3 * several):
        folder, number = row.url.removeprefix(shop.url).split("/")
        canonical_folder = "soft" if int(number) else "there"
        canonical = f"{shop.url}{canonical_folder}/{number}"
        same = (PageState.REFUSED, {"reason": SAME_AS_CANONICAL, "canonical": canonical})
        frontier.record_results([FetchOutcome(row.id or 0, *state.get(folder, same))])
    replacements = seeds.find_replacements(store, shop.id or 0)
    frontier.record_results(seeds.restore_replacements(replacements, link_filter))
    tried = frontier.claim(3 * several)
    assert [(row.url, row.source) for row in tried] == [
        (f"{shop.url}sale/{n}", RETRIED_SOURCE) for n in range(1, TRIALS + 1)
    ]
    assert len(link_filter.record_existing(tried[0].url)) == several - 1 - TRIALS
