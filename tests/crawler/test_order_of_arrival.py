"""Order of arrival: which response comes first changes nothing that a crawl stores."""

import asyncio
import time
from pathlib import Path

import pytest

from catalog.models import Page, PageState, Shop
from catalog.storage.store import Store
from crawler.frontier.turns import Turns
from parser.crawled_pages import list_crawled_pages
from tests.crawler.conftest import bench
from tests.crawler.server import Reply, Route, Visit, page, raw, serve

OFFER = "<span itemprop=price>9.99</span> EUR, in stock, add to cart"
PRODUCTS = range(24)
# Seconds by which a response is late, by path and order; less than a stall.
DELAYS = {
    "as dispatched": lambda path: 0.0,
    "long paths first": lambda path: 0.2 / len(path),
    "short paths first": lambda path: 0.004 * len(path),
    "mixed": lambda path: sum(map(ord, path)) % 7 * 0.03,
}


def late(route: Route, seconds: float) -> Route:
    """A route that answers late."""

    def reply(visit: Visit) -> Reply:
        time.sleep(seconds)
        answer = route(visit)
        assert isinstance(answer, tuple)
        return answer

    return reply


def shop_routes() -> dict[str, Route]:
    """A shop with twins, detours to canonical addresses, redirects, lists, and several sitemaps."""
    products = [f"/products/{number}" for number in PRODUCTS]
    detours = [f"/sale/products/{number}" for number in PRODUCTS]
    routes = {"/": page(*detours[:12], *products[12:], "/list/1", "/list/2", "/twin", "/twin-b")}
    for number in PRODUCTS:
        head = f'<link rel="canonical" href="{{root}}{products[number]}">'
        shown = page("/", "/list/1", title=f"Product {number} fine", head=head, text=OFFER)
        routes |= {products[number]: shown, detours[number]: shown}
    routes["/list/1"] = page(*detours[6:18], "/list/2", "/old", title="List one")
    routes["/list/2"] = page(*detours[12:], *products[:6], "/twin-longer", title="List two")
    for path in ("/twin", "/twin-b", "/twin-longer"):
        routes[path] = page("/", title="Twin", text=OFFER)
    routes["/old"] = raw(b"", status=302, Location="{root}/products/3")
    routes["/robots.txt"] = raw(b"Sitemap: {root}/map-a.xml\nSitemap: {root}/m.xml", "text/plain")
    for path, listed in (("/map-a.xml", products[::3]), ("/m.xml", [*detours[::4], "/twin-b"])):
        urls = "".join(f"<url><loc>{{root}}{path_of_page}</loc></url>" for path_of_page in listed)
        routes[path] = raw(f"<urlset>{urls}</urlset>".encode(), "application/xml")
    return routes


def crawl(folder: Path, order: str) -> list[tuple[object, ...]]:
    """Crawl the shop; returns the page table in the order of its rows, without host and times."""
    with serve() as server:
        delay = DELAYS[order]
        server.routes = {path: late(route, delay(path)) for path, route in shop_routes().items()}
        made = bench(folder, server)
        made.crawl()
        root = server.url.rstrip("/")
        rows = []
        for path, row in made.pages().items():
            canonical = row.canonical and row.canonical.removeprefix(root)
            source_figures = (row.source, row.priority, row.depth, row.chain, row.attempts)
            rows.append((row.id, path, str(row.state), row.reason, canonical, *source_figures))
        pages = list_crawled_pages(made.store, made.shop)
        addresses = [
            (crawled_page.url.removeprefix(root), crawled_page.address.removeprefix(root))
            for crawled_page in pages
        ]
        return [*sorted(rows), *addresses]


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    """Pages, their states, reasons, canonical addresses and sources are the same in any order."""
    crawls = {order: crawl(tmp_path / order, order) for order in DELAYS}
    assert len(crawls["as dispatched"]) > 2 * len(PRODUCTS)
    for rows in crawls.values():
        assert rows == crawls["as dispatched"]


@pytest.mark.parametrize("first", ["twin", "twin-b", "twin-longer"])
def test_the_shortest_of_equal_pages_stands_for_them(store: Store, shop: Shop, first: str) -> None:
    """Whichever of the pages with the same bytes was fetched first."""
    with store.write() as session:
        for name in (first, *({"twin", "twin-b", "twin-longer"} - {first})):
            canonical = None if name == first else shop.url + first
            fields = {"url": shop.url + name, "canonical": canonical, "body": "same"}
            session.add(Page(shop_id=shop.id, state=PageState.FETCHED, **fields))
    pages = list_crawled_pages(store, shop)
    assert [page.url.removeprefix(shop.url) for page in pages] == ["twin", "twin-b", "twin-longer"]
    assert {page.address for page in pages} == {shop.url + "twin"}


def test_turns() -> None:
    """Keys are handled in the order in which they were started, and not before."""

    async def handle(turns: Turns, key: int, handled: list[int]) -> None:
        turns.arrive(key)
        await turns.wait(key)
        handled.append(key)
        turns.end(key)

    async def run() -> list[int]:
        turns, handled = Turns(), list[int]()
        turns.announce([1, 2, 3, 4])
        tasks = [asyncio.ensure_future(handle(turns, key, handled)) for key in (4, 3, 1)]
        await asyncio.sleep(0)
        assert handled == []
        turns.start([1, 2])
        await asyncio.sleep(0.01)
        assert handled == [1]
        # The second never arrives; those behind it overtake it, and it comes at once when it does.
        turns.start([3, 4])
        assert turns.overtake() == [2]
        await asyncio.gather(*tasks)
        await handle(turns, 2, handled)
        return handled

    assert asyncio.run(run()) == [1, 3, 4, 2]
