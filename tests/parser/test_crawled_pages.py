"""The fetched pages of a shop, as the store keeps them."""

from pathlib import Path

import pytest

from catalog.errors import HostilePage
from catalog.html import MAX_TRUSTED_SIZE
from catalog.models import Page, PageState, Shop
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from parser.crawled_pages import (
    CrawledPage,
    PageOpener,
    interleave_folders,
    list_crawled_pages,
    unique_pages,
)


def page(place: int, url: str, canonical: str | None = None) -> CrawledPage:
    """A page without a body."""
    return CrawledPage(place, f"https://shop.example{url}", canonical, "")


def test_pages_alternate_between_folders() -> None:
    """Three categories among hundreds of offers are among the first; no page is repeated."""
    offers = [page(place, f"/p/{place}.html") for place in range(300)]
    others = [
        page(900, "/c/lamps"),
        page(901, "/c/chairs"),
        page(902, "/c/tables"),
        page(903, "/imprint"),
    ]
    repeated = page(904, "/sale/p/7.html", canonical=offers[7].url)
    ordered = interleave_folders([*offers, *others, repeated])
    assert {page.page_id for page in ordered[:8]} >= {900, 901, 902, 903}
    assert sorted(page.address for page in ordered) == sorted(
        page.address for page in [*offers, *others]
    )
    assert interleave_folders([*offers, *others, repeated]) == ordered


LAMP = page(1, "/p/lamp")
ITS_COPY = page(2, "/sale/lamp", canonical=LAMP.url)
ANOTHER_COPY = page(3, "/new/lamp", canonical=LAMP.url)
CHAIR = page(4, "/p/chair")
PAGES_OF_AN_ADDRESS = {
    "the page first": ([LAMP, ITS_COPY, CHAIR], [LAMP, CHAIR]),
    "the copy first": ([ITS_COPY, CHAIR, LAMP], [LAMP, CHAIR]),
    "copies only": ([ITS_COPY, CHAIR, ANOTHER_COPY], [ITS_COPY, CHAIR]),
    "none": ([], []),
}


@pytest.mark.parametrize(
    ("pages", "expected"), PAGES_OF_AN_ADDRESS.values(), ids=PAGES_OF_AN_ADDRESS.keys()
)
def test_an_address_is_read_from_its_own_page(
    pages: list[CrawledPage], expected: list[CrawledPage]
) -> None:
    """Of the pages with one canonical URL, the one at that URL is taken, in the first's place."""
    assert unique_pages(pages) == expected


def test_very_large_pages_are_checked_again(tmp_path: Path) -> None:
    """A page of a megabyte may take minutes to parse, whoever has stored it."""
    attributes = " ".join(f"a{number}=1" for number in range(200_000))
    stored = BodyStore(str(tmp_path)).put(f"<p {attributes}>x</p>".ljust(MAX_TRUSTED_SIZE).encode())
    with pytest.raises(HostilePage, match="attributes"):
        PageOpener(str(tmp_path)).open(
            CrawledPage(1, "https://shop.example/p/1", None, stored), trusted=True
        )


def test_a_page_in_use_is_not_parsed_again(tmp_path: Path) -> None:
    """Whoever opens it meanwhile gets the same document, and a new one afterwards."""
    opener = PageOpener(str(tmp_path))
    stored = BodyStore(str(tmp_path)).put(b"<h1>Lamp</h1>")
    lamp = CrawledPage(1, f"{SHOP}/p/1", None, stored)
    document = opener.open(lamp)
    vars(document)["is_first"] = True
    assert opener.open(lamp) is document
    assert opener.open(CrawledPage(2, f"{SHOP}/p/2", None, stored)) is not document
    del document
    assert not hasattr(opener.open(lamp), "is_first")


def test_a_page_in_use_that_was_not_checked_is_checked(tmp_path: Path) -> None:
    """A hostile page that was opened as trusted is refused to all others."""
    opener = PageOpener(str(tmp_path))
    stored = BodyStore(str(tmp_path)).put(b"<div>" * 9_000)
    hostile = CrawledPage(1, f"{SHOP}/p/1", None, stored)
    document = opener.open(hostile, trusted=True)
    assert opener.open(hostile, trusted=True) is document
    with pytest.raises(HostilePage, match="nested deeper"):
        opener.open(hostile)


SHOP = "https://shop.example"
BELIEFS = [
    ("another page of the shop", "/sale/lamp", "/p/lamp", True),
    ("the page without its query", "/p/lamp?variant=1", "/p/lamp", True),
    ("the front door", "/p/lamp", "/", False),
    ("the front door, of itself", "/index.html?from=mail", "/", True),
    ("the front door, by a page of its bytes", "/start", "/", True),
    ("a page that leads elsewhere", "/item?id=1", "/item", False),
    ("a page that leads to the page without its query", "/p/lamp?variant=1", "/P/lamp", True),
    ("a page that is gone", "/p/lamp", "/old/lamp", False),
]


@pytest.mark.parametrize(
    ("url", "canonical", "believed"),
    [case[1:] for case in BELIEFS],
    ids=[case[0] for case in BELIEFS],
)
def test_implausible_canonical_urls_are_dropped(
    store: Store, shop: Shop, url: str, canonical: str, believed: bool
) -> None:
    """A page whose canonical URL cannot be its own goes by its URL."""
    body = "door" if url == "/start" else "offer"
    with store.write() as session:
        session.add(Page(shop_id=shop.id, url=f"{SHOP}/", state=PageState.FETCHED, body="door"))
        session.add(Page(shop_id=shop.id, url=f"{SHOP}/old/lamp", state=PageState.GONE))
        for old, new in (("/item", "/all"), ("/P/lamp", "/p/lamp")):
            session.add(
                Page(
                    shop_id=shop.id,
                    url=SHOP + old,
                    state=PageState.REDIRECTED,
                    canonical=SHOP + new,
                )
            )
        fetched = {"state": PageState.FETCHED, "body": body, "canonical": SHOP + canonical}
        session.add(Page(shop_id=shop.id, url=SHOP + url, **fetched))
    _, page = list_crawled_pages(store, shop)
    assert page.address == SHOP + (canonical if believed else url)
