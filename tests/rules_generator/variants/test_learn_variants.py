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

# Much computation: the coverage tracer would double its time.
pytestmark = pytest.mark.no_cover

ALL = products(14)
SOLD = [(one, choice) for one in ALL for choice in choices(one)]
LISTED = [(one, choice) for place, (one, choice) in enumerate(SOLD) if place % 3]


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
        {f"p{one.number}": page(one) for one in ALL} | lists | {"about": article_page()},
    )
    with store.write() as session:
        for one, choice in rows:
            fields = known(one, choice, shop.url, **how).model_dump()
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
    read = {one.sku: one for one in _offers(store)}
    assert set(read) == {choice.sku for _, choice in SOLD}
    for one, choice in SOLD:
        offer, alone = read[choice.sku], len(choices(one)) == 1
        assert (offer.ean, str(offer.price), offer.brand) == (choice.ean, choice.price, one.brand)
        assert offer.title == (one.title if alone else f"{one.title} - {choice.colour}")
        assert offer.url == f"{shop.url}p{one.number}" + (
            "" if alone else f"?variant={choice.number}"
        )
        assert offer.variant_of == (None if alone else f"{shop.url}p{one.number}")
        if page is array_page:
            assert offer.images == [f"{shop.url.rstrip('/')}{choice.image}"]
    with store.read() as session:
        said = {one.offer["sku"]: one.verdict for one in session.exec(select(Match))}
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
    assert {one.offer["sku"] for one in found if one.verdict == Verdict.MISSING} == missing
    assert len({one.url for one in found}) == len(SOLD)


def test_double_rows_are_no_variants(settings: Settings, store: Store, shop: Shop) -> None:
    """A catalog that has the same offer of each page twice, in two wordings, still takes a page for one offer."""
    pairs = [(one, choices(one)[0]) for one in ALL if one.number % 3]
    with store.write() as session:
        for one, choice in pairs:
            fields = known(one, choice, shop.url, coloured=False).model_dump() | {
                "title": f"{one.title} (new)"
            }
            session.add(KnownOffer(shop_id=shop.id, ref=f"again {choice.number}", **fields))
    _through(settings, store, shop, array_page, pairs)
    assert stored_rules(store, shop).variants == ()
    assert len(_offers(store)) == len(ALL)


def test_offers_beside_are_no_variants(settings: Settings, store: Store, shop: Shop) -> None:
    """Where links lead to pages of categories by mistake, what these list is not what other pages keep."""
    pages = {
        f"p{one.number}": beside_page(one, [*ALL, *ALL][place + 4 : place + 7])
        for place, one in enumerate(ALL)
    }
    store_pages(
        settings,
        store,
        shop,
        pages | {f"c{n}": cards_page(f"c{n}", ALL[n : n + 5]) for n in (0, 4, 8)},
    )
    links = (
        {one: f"p{one.number}" for one in ALL}
        | dict.fromkeys(ALL[:2], "c0")
        | dict.fromkeys(ALL[4:6], "c4")
    )
    with store.write() as session:
        for one, link in links.items():
            fields = OfferFields(
                title=one.title, price=one.price, currency="EUR", brand=one.brand, sku=one.sku, ean=one.ean,
                url=shop.url + link,
            )  # fmt: skip
            session.add(KnownOffer(shop_id=shop.id, ref=one.sku, **fields.model_dump()))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)
    parse_shop(settings, store, shop, run.id or 0)
    assert stored_rules(store, shop).variants == ()
    assert {one.sku for one in _offers(store) if one.url and "/p" in one.url[-4:]} == {
        one.sku for one in ALL
    }


@pytest.mark.parametrize("shown", [0, -1], ids=["the first", "the last"])
def test_one_known_offer_a_page_is_one_offer_a_page(
    settings: Settings, store: Store, shop: Shop, shown: int
) -> None:
    """A catalog with one variant of each product takes them for one offer, whichever it lists."""
    rows = [(one, choices(one)[shown]) for one in ALL if one.number % 3]
    _through(settings, store, shop, array_page, rows)
    assert stored_rules(store, shop).variants == ()
    assert len(_offers(store)) == len(ALL)
