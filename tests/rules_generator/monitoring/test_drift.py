"""Drift: a shop whose pages no longer are what the rules were learnt from is recognised."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from sqlmodel import col, select

from catalog.models import DriftKind, KnownOffer, OfferFields, Page, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from rules_generator.induction.inducer import induce
from rules_generator.learn_job import learn_shop
from rules_generator.monitoring.drift import Drift, agreement_shares, drift_shop, measure_drift
from rules_generator.training.examples import Example, TrainingExample
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite
from tests.pages import Product, data_page, products, text_page
from tests.parser.test_parse_job import store_pages
from tests.rules_generator.conftest import known, make_example
from tests.rules_generator.test_learn_job import run_of

Build = Callable[[Product], str]
ALL = products(24)
OLD = ALL[:12]
FRESH = ALL[12:]


def drift(build: Build, **changes: object) -> Drift:
    """The drift on fresh pages, by rules learnt from text pages."""
    members = [make_example(product, text_page(product)) for product in OLD]
    rules, _ = induce(members)
    return measure_drift(
        [make_example(product, build(product), **changes) for product in FRESH],
        rules,
        agreement_shares(members, rules),
    )


def test_the_same_shop_has_not_drifted() -> None:
    """New offers on pages of the same making are read as before, also where the catalog's prices are stale."""
    found = drift(text_page)
    assert (found.kind, found.redesigned) == (DriftKind.HOLDS, False)
    assert found.summary.startswith("the rules hold")


def test_a_redesign_is_recognised() -> None:
    """Pages of another making: what is read no longer agrees, and it is said which rules are gone."""
    found = drift(data_page)
    assert (found.kind, found.redesigned) == (DriftKind.REDESIGNED, True)
    assert "redesigned" in found.summary
    assert {"price", "title"} & {rule.attribute for rule in found.silent}


def test_one_changed_place_is_told_by_its_attribute() -> None:
    """Where only the sku has moved, only the sku is named."""
    found = drift(lambda product: text_page(product).replace(product.sku, "-"))
    assert (found.kind, found.redesigned) == (DriftKind.DRIFTED, False)
    assert "sku 0%" in found.summary
    assert "title" not in found.summary


def test_offers_that_were_never_right_are_no_drift() -> None:
    """Only a fall from what once agreed counts."""
    members = [make_example(product, text_page(product), brand="Nobody") for product in OLD]
    rules, _ = induce(members)
    then = agreement_shares(members, rules)
    found = measure_drift(members, rules, then)
    assert then["brand"] == 0
    assert found.summary.startswith("the rules hold")


def test_a_stored_shop_tells_its_drift(settings: Settings, store: Store, shop: Shop) -> None:
    """After a redesign `drift_shop` says so; learning anew says so too, and the rules hold again."""
    store_pages(
        settings, store, shop, {f"p{product.number}": text_page(product) for product in ALL}
    )
    know_all(store, shop)
    learn_shop(settings, store, shop, run_of(store, shop))
    assert not drift_shop(settings, store, shop).redesigned
    redesign(settings, store)
    assert drift_shop(settings, store, shop).redesigned
    learnt_anew = learn_shop(settings, store, shop, run_of(store, shop))
    assert learnt_anew.drift_kind == DriftKind.REDESIGNED
    assert "redesigned" in learnt_anew.drift
    assert not drift_shop(settings, store, shop).redesigned


def know_all(store: Store, shop: Shop) -> None:
    """Put all products into the catalog."""
    know(store, shop, ALL)


def know(store: Store, shop: Shop, offers: Sequence[Product]) -> None:
    """Put products into the catalog."""
    with store.write() as session:
        for product in offers:
            fields = known(product, url=f"{shop.url}p{product.number}").model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=str(product.number), **fields))


def redesign(settings: Settings, store: Store) -> None:
    """Give every page of the stored shop another making."""
    bodies, made = (
        BodyStore(settings.bodies),
        {f"p{product.number}": data_page(product) for product in ALL},
    )
    with store.write() as session:
        for page in session.exec(select(Page)):
            page.body = bodies.put(made[page.url.rsplit("/", 1)[1]].encode())


def demo_teachers(*, redesigned: bool) -> list[TrainingExample]:
    """Return offers of the demo shop as training examples."""
    shop, base = DemoShop.make(redesigned=redesigned), "http://127.0.0.1:8320"
    site, found = DemoSite(shop), []
    for offer in shop.offers[::12]:
        page = CrawledPage(len(found), base + offer.path, None, "")
        fields = OfferFields(
            title=offer.title, price=offer.price, brand=offer.brand, sku=offer.sku, ean=offer.ean
        )
        body = site.answer(offer.path).body_for(base)
        found.append(Example.of(page, fields).with_document(Document(body, page.url)))
    return found


def test_the_demo_shops_redesign_is_recognised() -> None:
    """The demo shop rebuilt its pages: said before relearning, mended by it."""
    before, after = demo_teachers(redesigned=False), demo_teachers(redesigned=True)
    rules, _ = induce(before)
    assert not measure_drift(before, rules, agreement_shares(before, rules)).redesigned
    assert measure_drift(after, rules, agreement_shares(before, rules)).redesigned
    anew, _ = induce(after)
    assert not measure_drift(after, anew, agreement_shares(after, anew)).redesigned


def test_what_is_found_on_fewer_pages_is_told(settings: Settings, store: Store, shop: Shop) -> None:
    """Pages of unknown offers tell too: where they no longer give a price, it is said though the known ones do."""
    many = products(72)
    store_pages(
        settings, store, shop, {f"p{product.number}": text_page(product) for product in many}
    )
    know_all(store, shop)
    learn_shop(settings, store, shop, run_of(store, shop))
    assert drift_shop(settings, store, shop).fallen == ()
    known_ones = {f"p{product.number}" for product in ALL}
    bodies = BodyStore(settings.bodies)
    with store.write() as session:
        for page in session.exec(select(Page)):
            name = page.url.rsplit("/", 1)[1]
            if name not in known_ones:
                product = next(product for product in many if f"p{product.number}" == name)
                page.body = bodies.put(
                    text_page(product).replace(product.price.replace(".", ","), "ask us").encode()
                )
    found = drift_shop(settings, store, shop)
    assert not found.redesigned
    assert any(said.startswith("price on ") for said in found.fallen), found
    assert "price on 33% of offers" in found.summary


def rest(store: Store, *, every: int) -> None:
    """Of the shop's pages, every so many-th is fetched after its rules were made; the others rest, as they were."""
    with store.write() as session:
        for place, page in enumerate(session.exec(select(Page).order_by(col(Page.id)))):
            page.fetched_at = utc_now() + timedelta(hours=1 if place % every == 0 else -1)


def rebuild(settings: Settings, store: Store, build: Build, made: Sequence[Product]) -> None:
    """Give the pages that do not rest another making."""
    bodies, by_name = (
        BodyStore(settings.bodies),
        {f"p{product.number}": product for product in made},
    )
    with store.write() as session:
        for page in session.exec(select(Page).where(col(Page.fetched_at) > utc_now())):
            page.body = bodies.put(build(by_name[page.url.rsplit("/", 1)[1]]).encode())


@pytest.mark.parametrize(("every", "known_ones"), [(3, 72), (2, 24)])
def test_pages_that_rest_do_not_hide_a_redesign(
    settings: Settings, store: Store, shop: Shop, every: int, known_ones: int
) -> None:
    """Where most pages were not fetched again, those that were tell of the redesign; both layouts are learnt anew."""
    many = products(72)
    store_pages(
        settings, store, shop, {f"p{product.number}": text_page(product) for product in many}
    )
    know(store, shop, many[:known_ones])
    learn_shop(settings, store, shop, run_of(store, shop))
    rest(store, every=every)
    assert drift_shop(settings, store, shop).summary.startswith("the rules hold")
    rebuild(settings, store, data_page, many)
    found = drift_shop(settings, store, shop)
    assert (found.redesigned, found.pages, found.recognised) == (True, known_ones // every, 0)
    assert learn_shop(settings, store, shop, run_of(store, shop)).drift == found.summary
    held = drift_shop(settings, store, shop)
    assert (held.redesigned, held.recognised) == (False, held.pages)


def test_few_fresh_pages_are_judged_with_the_others(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """Three pages that changed are no redesign of a shop."""
    store_pages(
        settings, store, shop, {f"p{product.number}": text_page(product) for product in ALL}
    )
    know_all(store, shop)
    learn_shop(settings, store, shop, run_of(store, shop))
    rest(store, every=8)
    rebuild(settings, store, data_page, ALL)
    found = drift_shop(settings, store, shop)
    assert (found.redesigned, found.pages) == (False, 24)


def test_pages_that_rest_do_not_hide_what_is_found_no_more(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """Pages of unknown offers, half of them resting: a price that only the others have lost is missed."""
    many = products(80)
    store_pages(
        settings, store, shop, {f"p{product.number}": text_page(product) for product in many}
    )
    know(store, shop, many[:6])
    learn_shop(settings, store, shop, run_of(store, shop))
    rest(store, every=2)
    rebuild(
        settings,
        store,
        lambda product: text_page(product).replace(product.price.replace(".", ","), "ask us"),
        many,
    )
    assert "price on 0% of offers (was 100%)" in drift_shop(settings, store, shop).fallen
