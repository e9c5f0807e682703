"""A sale that repeats most offers of a shop under its own folder, and holds some that stand nowhere else."""

from collections.abc import Callable

import pytest

from catalog.models import PageState, Shop
from catalog.storage.frontier import Frontier, Link, Outcome
from catalog.storage.store import Store
from crawler.discovery import seeds
from crawler.filters.link_filter import SAME_PAGE, Sieve
from crawler.urls.rule_verification import AGAIN, TRIES
from crawler.urls.site import Site
from tests.crawler.conftest import Bench
from tests.crawler.server import Reply, Route, Visit, page, raw

TWICE = 30
ONLY = 9
CANONICAL = '<link rel="canonical" href="{root}%s">'


def sorry(visit: Visit) -> Reply:
    """A missing page that says so with status 200."""
    return page("/", title="Sorry", text="There is no such page")(visit)


def home(visit: Visit) -> Reply:
    """A missing page that leads to the front page."""
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
    """However a shop says that a canonical address is missing, the link that it was to stand for is asked for."""
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
    """Where a killed crawl knew a canonical address to be missing, the next one tries the link; a few at a time."""
    frontier, sieve = Frontier(store, shop.id or 0), Sieve(Site(shop.url))
    several = TRIES + 2
    frontier.add(
        Link(f"{shop.url}{folder}{n}")
        for n in range(several)
        for folder in ("sale/", "soft/", "there/")
    )
    state = {
        "soft": (PageState.GONE, {"status": 200}),
        "there": (PageState.FETCHED, {"status": 200}),
    }
    for row in frontier.claim(3 * several):
        folder, number = row.url.removeprefix(shop.url).split("/")
        by = "soft" if int(number) else "there"
        same = (PageState.REFUSED, {"reason": SAME_PAGE, "canonical": f"{shop.url}{by}/{number}"})
        frontier.settle([Outcome(row.id or 0, *state.get(folder, same))])
    frontier.settle(seeds.in_doubt(store, shop.id or 0, sieve))
    tried = frontier.claim(3 * several)
    assert [(row.url, row.source) for row in tried] == [
        (f"{shop.url}sale/{n}", AGAIN) for n in range(1, TRIES + 1)
    ]
    assert len(sieve.there(tried[0].url)) == several - 1 - TRIES
