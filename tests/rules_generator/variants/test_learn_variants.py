"""Variants of one page as offers of their own: learnt from the catalog, read, matched - or left alone."""

from collections.abc import Callable

import pytest
from sqlmodel import select

from catalog.models import KnownOffer, Match, OfferFields, Run, Shop, ShopOffer, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.match_job import match_shop
from parser.parse_job import parse_shop, stored_rules
from rules_generator.learn_job import learn_shop
from tests.pages import Product, article_page, category_page, products
from tests.parser.test_parse_job import store_pages
from tests.variant_shop import (
    Choice,
    array_page,
    beside_page,
    cards_page,
    choices,
    known,
    table_page,
    tables_page,
)

ALL = products(14)
SOLD = [(product, choice) for product in ALL for choice in choices(product)]
LISTED = [(product, choice) for place, (product, choice) in enumerate(SOLD) if place % 3]


def _through(
    settings: Settings, store: Store, shop: Shop, page: Callable[[Product], str], rows: list[tuple[Product, Choice]],
    **how: bool,
) -> int:  # fmt: skip
    """Learn, parse and match a shop whose catalog has these rows; the run's number."""
    lists = {f"c{n}": category_page(ALL[n : n + 6]) for n in range(0, 8, 2)}
    store_pages(
        settings,
        store,
        shop,
        {f"p{product.number}": page(product) for product in ALL}
        | lists
        | {"about": article_page()},
    )
    with store.write() as session:
        for product, choice in rows:
            fields = known(product, choice, shop.url, **how).model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=str(choice.number), **fields))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)
    parse_shop(settings, store, shop, run.id or 0)
    match_shop(settings, store, shop, run.id or 0)
    return run.id or 0


def _offers(store: Store) -> list[ShopOffer]:
    with store.read() as session:
        return list(session.exec(select(ShopOffer)))


@pytest.mark.parametrize("page", [array_page, table_page, tables_page])
def test_variants_become_offers(
    settings: Settings, store: Store, shop: Shop, page: Callable[[Product], str]
) -> None:
    """Each variant is an offer with its own numbers and price, under its own address, and finds its catalog offer."""
    _through(settings, store, shop, page, LISTED)
    read = {offer.sku: offer for offer in _offers(store)}
    assert set(read) == {choice.sku for _, choice in SOLD}
    for product, choice in SOLD:
        offer, alone = read[choice.sku], len(choices(product)) == 1
        assert (offer.ean, str(offer.price), offer.brand) == (
            choice.ean,
            choice.price,
            product.brand,
        )
        assert offer.title == (product.title if alone else f"{product.title} - {choice.colour}")
        assert offer.url == f"{shop.url}p{product.number}" + (
            "" if alone else f"?variant={choice.number}"
        )
        assert offer.variant_of == (None if alone else f"{shop.url}p{product.number}")
        if page is array_page:
            assert offer.images == [f"{shop.url.rstrip('/')}{choice.image}"]
    with store.read() as session:
        said = {match.offer["sku"]: match.verdict for match in session.exec(select(Match))}
    missing = {choice.sku for _, choice in SOLD} - {choice.sku for _, choice in LISTED}
    assert {sku for sku, verdict in said.items() if verdict == Verdict.MISSING} == missing
    assert {sku for sku, verdict in said.items() if verdict == Verdict.LISTED} == set(
        said
    ) - missing


def test_variants_without_addresses(settings: Settings, store: Store, shop: Shop) -> None:
    """Where all links lead to the page and titles are the product's, variants are told apart by their numbers."""
    _through(settings, store, shop, array_page, LISTED, linked=False, coloured=False)
    with store.read() as session:
        found = list(session.exec(select(Match)))
    missing = {choice.sku for _, choice in SOLD} - {choice.sku for _, choice in LISTED}
    assert {match.offer["sku"] for match in found if match.verdict == Verdict.MISSING} == missing
    assert len({match.url for match in found}) == len(SOLD)


def test_double_rows_are_no_variants(settings: Settings, store: Store, shop: Shop) -> None:
    """A catalog that has the same offer of each page twice, in two wordings, still takes a page for one offer."""
    pairs = [(product, choices(product)[0]) for product in ALL if product.number % 3]
    with store.write() as session:
        for product, choice in pairs:
            fields = known(product, choice, shop.url, coloured=False).model_dump() | {
                "title": f"{product.title} (new)"
            }
            session.add(KnownOffer(shop_id=shop.id, ref=f"again {choice.number}", **fields))
    _through(settings, store, shop, array_page, pairs)
    assert stored_rules(store, shop).variants == ()
    assert len(_offers(store)) == len(ALL)


def test_offers_beside_are_no_variants(settings: Settings, store: Store, shop: Shop) -> None:
    """Where links lead to pages of categories by mistake, what these list is not what other pages keep."""
    pages = {
        f"p{product.number}": beside_page(product, [*ALL, *ALL][place + 4 : place + 7])
        for place, product in enumerate(ALL)
    }
    store_pages(
        settings,
        store,
        shop,
        pages | {f"c{n}": cards_page(f"c{n}", ALL[n : n + 5]) for n in (0, 4, 8)},
    )
    links = (
        {product: f"p{product.number}" for product in ALL}
        | dict.fromkeys(ALL[:2], "c0")
        | dict.fromkeys(ALL[4:6], "c4")
    )
    with store.write() as session:
        for product, link in links.items():
            fields = OfferFields(
                title=product.title, price=product.price, currency="EUR", brand=product.brand, sku=product.sku, ean=product.ean,
                url=shop.url + link,
            )  # fmt: skip
            session.add(KnownOffer(shop_id=shop.id, ref=product.sku, **fields.model_dump()))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)
    parse_shop(settings, store, shop, run.id or 0)
    assert stored_rules(store, shop).variants == ()
    assert {offer.sku for offer in _offers(store) if offer.url and "/p" in offer.url[-4:]} == {
        product.sku for product in ALL
    }


@pytest.mark.parametrize("shown", [0, -1], ids=["the first", "the last"])
def test_one_known_offer_a_page_is_one_offer_a_page(
    settings: Settings, store: Store, shop: Shop, shown: int
) -> None:
    """A catalog with one variant of each product takes them for one offer, whichever it lists."""
    rows = [(product, choices(product)[shown]) for product in ALL if product.number % 3]
    _through(settings, store, shop, array_page, rows)
    assert stored_rules(store, shop).variants == ()
    assert len(_offers(store)) == len(ALL)
