"""A shop's own tracking keys: learnt from its pages, and then dropped from links."""

from decimal import Decimal

from catalog.links.tracking_params import learn_shop_keys
from catalog.models import Page, PageState, Shop, ShopOffer
from catalog.storage.store import Store
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site


def add(store: Store, shop: Shop, path: str, body: str, price: str | None = None) -> None:
    """A fetched page, of an offer where it has a price."""
    with store.write() as session:
        page = Page(shop_id=shop.id or 0, url=shop.url + path, state=PageState.FETCHED, body=body)
        session.add(page)
        session.flush()
        if price:
            offer = {"title": path.partition("?")[0], "price": Decimal(price), "url": page.url}
            session.add(ShopOffer(shop_id=shop.id or 0, page_id=page.id or 0, **offer))


def test_judged_by_values(store: Store, shop: Shop) -> None:
    """A key that leaves an offer's values alone tracks, though every page's bytes differ; one that changes a price is needed, and so is one that changes another page's bytes."""
    for number in range(4):
        for query in ("", "?wkz=7", "?pack=6"):
            price = "50.00" if "pack" in query else "9.00"
            add(store, shop, f"p/{number}{query}", body=f"bytes of {number}{query}", price=price)
        for query in ("", "?view=2"):
            add(store, shop, f"c/{number}{query}", body=f"bytes of {number}{query}")
    keys = learn_shop_keys(store, shop.id or 0)
    assert keys.tracking == ("wkz",)
    assert set(keys.needed) == {"pack", "view"}


def test_nothing_to_judge_by(store: Store, shop: Shop) -> None:
    """A shop that was not crawled, or has no queries, has no keys."""
    assert learn_shop_keys(store, shop.id or 0).tracking == ()
    add(store, shop, "p/1", body="a", price="1.00")
    assert learn_shop_keys(store, shop.id or 0).evidence == {}


def test_own_keys_are_dropped() -> None:
    """A link with the shop's own tracking key is the page without it."""
    site = Site("https://shop.example/", ("wkz",))
    assert site.resolve("/p/1?wkz=7&pack=6", "https://shop.example/") == CrawlUrl.parse(
        "https://shop.example/p/1?pack=6"
    )
