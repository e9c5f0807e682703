"""The parse job: all fetched pages are read once per version of the rules."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.errors import LearnError, RuleError
from catalog.models import Attribute, Page, PageKind, PageState, Shop, ShopOffer, StoredRules
from catalog.runtime.settings import Settings
from catalog.runtime.spark.session import SparkJobs
from catalog.runtime.supervised_workers import MAX_TRIES
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from parser import parse_job
from parser.parse_job import parse_shop, stored_rules
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import JsonAt
from reports.statistics.coverage import measure_coverage
from tests.pages import article_page, products, text_page
from tests.parser.test_page_reader import RULES
from tests.poison import count_deaths, poison_processes

ALL = products(6)


def store_pages(settings: Settings, store: Store, shop: Shop, pages: dict[str, str]) -> None:
    """Store pages as a crawl would."""
    bodies = BodyStore(settings.bodies)
    with store.write() as session:
        for name, page in pages.items():
            url = f"{shop.url}{name}"
            body = bodies.put(page.encode())
            session.add(
                Page(shop_id=shop.id, url=url, state=PageState.FETCHED, status=200, body=body)
            )


def store_rules(store: Store, shop: Shop, version: int = 1, rules: RuleSet = RULES) -> None:
    """Store rules."""
    with store.write() as session:
        session.add(StoredRules(shop_id=shop.id, version=version, rules=rules.to_json()))


def stored_offers(store: Store) -> dict[str, tuple[str | None, str | None]]:
    """The stored offers by the end of their URL: title and sku."""
    with store.read() as session:
        return {
            str(offer.url).rsplit("/", 1)[1]: (offer.title, offer.sku)
            for offer in session.exec(select(ShopOffer))
        }


@pytest.fixture
def ready(settings: Settings, store: Store, shop: Shop) -> Shop:
    """A shop with pages and rules."""
    pages = {f"p{product.number}": text_page(product) for product in ALL}
    store_pages(settings, store, shop, {**pages, "about": article_page()})
    with store.write() as session:
        session.add(
            Page(shop_id=shop.id, url=f"{shop.url}lost", state=PageState.FETCHED, body="0" * 64)
        )
    store_rules(store, shop)
    return shop


WANTED = {f"p{product.number}": (product.title, product.sku) for product in ALL}


def test_offers_kinds_and_reasons_are_stored(settings: Settings, store: Store, ready: Shop) -> None:
    """Offer pages give offers; other pages and unreadable ones are recorded with their reason."""
    parsed = parse_shop(settings, store, ready, 1)
    assert (parsed.pages, parsed.offers, parsed.others, parsed.failed) == (8, 6, 1, 1)
    assert stored_offers(store) == WANTED
    with store.read() as session:
        said = {
            page.url.rsplit("/", 1)[1]: (page.kind, page.read_reason or "")
            for page in session.exec(select(Page))
        }
    assert said["about"][0] == PageKind.OTHER
    assert said["lost"][1].startswith("unreadable: ")


def test_spark_stores_the_same_readings(
    settings: Settings, store: Store, ready: Shop, spark_jobs: SparkJobs
) -> None:
    """On Spark pages have the same offers, readings, kinds and reasons as on one machine."""
    stored = []
    for version, jobs in ((1, None), (2, spark_jobs)):
        if version > 1:
            store_rules(store, ready, version=version)
        summary = parse_shop(settings, store, ready, version, anew=True, jobs=jobs)
        with store.read() as session:
            pages = session.exec(select(Page).order_by(Page.url))
            offers = session.exec(select(ShopOffer).order_by(ShopOffer.page_id, ShopOffer.variant))
            rows = [vars(page) | {"rules_version": 0} for page in pages]
            rows += [vars(offer) | {"id": 0} for offer in offers]
        for row in rows:
            del row["_sa_instance_state"]
        stored.append((replace(summary, seconds=0), rows))
    assert stored[0] == stored[1]
    assert stored_offers(store) == WANTED


def test_pages_are_read_once_per_version(settings: Settings, store: Store, ready: Shop) -> None:
    """A second parse by the same rules reads nothing; rules that differ read all pages once."""
    parse_shop(settings, store, ready, 1)
    assert parse_shop(settings, store, ready, 1).pages == 0
    store_rules(store, ready, version=2, rules=RULES.model_copy(update={"currency": "CHF"}))
    assert parse_shop(settings, store, ready, 2).pages == 8
    assert stored_offers(store) == WANTED


def _change_rules(store: Store, shop: Shop) -> None:
    store_rules(store, shop, version=2, rules=RULES.model_copy(update={"currency": "CHF"}))


def _change_page(store: Store, shop: Shop, **columns: object) -> None:
    with store.write() as session:
        page = session.exec(select(Page).where(Page.url == f"{shop.url}p1")).one()
        for name, value in columns.items():
            setattr(page, name, value)


def _be_gone(store: Store, shop: Shop) -> None:
    _change_page(store, shop, state=PageState.GONE)
    parse_job._delete_lost_offers(store, shop)
    _change_page(store, shop, state=PageState.FETCHED)


CHANGES: dict[str, tuple[Callable[[Store, Shop], None], int]] = {
    "nothing, but a new version of the rules": (lambda store, shop: store_rules(store, shop, 2), 1),
    "the rules": (_change_rules, 8),
    "the address of a page": (
        lambda store, shop: _change_page(store, shop, canonical=f"{shop.url}q1"),
        1,
    ),
    "the type of a page": (lambda store, shop: _change_page(store, shop, content_type="x/y"), 1),
    "the body of a page": (lambda store, shop: _change_page(store, shop, rules_version=None), 1),
    "a page that was gone in between": (_be_gone, 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_pages_whose_reading_may_differ_are_read(
    settings: Settings, store: Store, ready: Shop, change: str
) -> None:
    """A change redoes the readings that depend on it; an unreadable page waits for new rules."""
    parse_shop(settings, store, ready, 1)
    make_change, pages = CHANGES[change]
    make_change(store, ready)
    assert parse_shop(settings, store, ready, 2).pages == pages
    assert len(stored_offers(store)) == len(WANTED)
    newest = stored_rules(store, ready).version
    with store.read() as session:
        versions = session.exec(select(Page.rules_version).where(Page.shop_id == ready.id))
        assert set(versions) == {newest}


def test_a_threshold_redoes_all_readings(settings: Settings, store: Store, ready: Shop) -> None:
    """Readings depend on the setting `confidence`, and `anew` asks for those of a new version."""
    parse_shop(settings, store, ready, 1)
    strict = settings.model_copy(update={"confidence": {Attribute.BRAND: 0.5}})
    assert parse_shop(strict, store, ready, 1).pages == 7
    store_rules(store, ready, version=2)
    assert parse_shop(strict, store, ready, 2, anew=True).pages == 8


def test_a_killed_parse_continues(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Committed pages stay; the next parse reads only the others."""
    monkeypatch.setattr(parse_job, "CHUNK_SIZE", 3)
    save, calls = parse_job._save, []

    def dies(*words: object) -> None:
        calls.append(words)
        if len(calls) > 1:
            raise KeyboardInterrupt
        save(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(parse_job, "_save", dies)
    with pytest.raises(KeyboardInterrupt):
        parse_shop(settings, store, ready, 1)
    monkeypatch.setattr(parse_job, "_save", save)
    assert parse_shop(settings, store, ready, 1).pages == 5
    assert stored_offers(store) == WANTED


def test_worker_processes_read_the_same(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find the offers that one finds."""
    monkeypatch.setattr(parse_job, "MAX_PAGES_ALONE", 0)
    assert parse_shop(settings, store, ready, 1, workers=2).offers == 6
    assert stored_offers(store) == WANTED


@pytest.mark.parametrize("workers", [1, 2])
def test_an_invalid_path_is_reported(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """In one line, also with worker processes, and no page is marked as read."""
    monkeypatch.setattr(parse_job, "MAX_PAGES_ALONE", 0)
    broken = Template(
        name="1",
        rules=(Rule(attribute=Attribute.TITLE, selector=JsonAt(block="x =", path="$.a[")),),
    )
    store_rules(store, ready, 2, RuleSet(templates=(broken,)))
    with pytest.raises(RuleError, match=r"not a JSONPath: '\$\.a\['"):
        parse_shop(settings, store, ready, 1, workers=workers)
    with store.read() as session:
        assert {page.rules_version for page in session.exec(select(Page))} == {None}


def test_offers_of_gone_pages_are_deleted(settings: Settings, store: Store, ready: Shop) -> None:
    """A page that a later crawl finds gone keeps no offer."""
    parse_shop(settings, store, ready, 1)
    with store.write() as session:
        page = session.exec(select(Page).where(Page.url == f"{ready.url}p2")).one()
        page.state = PageState.GONE
    parse_shop(settings, store, ready, 2)
    assert set(stored_offers(store)) == set(WANTED) - {"p2"}


def test_without_rules_the_error_names_the_command(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """The user must run the learner first."""
    with pytest.raises(LearnError, match="scout learn demo"):
        parse_shop(settings, store, shop, 1)


POISONS = {
    "segfault": "ended its process: segmentation fault",
    "kill": "ended its process: killed, as for lack of memory",
    "memory": "ended its process: out of memory",
    "error": "unreadable: no such codec",
}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_page_that_ends_its_process_is_set_aside(
    settings: Settings,
    store: Store,
    ready: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workers: int,
) -> None:
    """Its reason is stored after three tries; every other page is read."""
    poison_processes(tmp_path, monkeypatch)
    monkeypatch.setattr(parse_job, "CHUNK_SIZE", 5)
    monkeypatch.setattr(parse_job, "MAX_PAGES_ALONE", 0)
    poison = {f"poison-{name}": f"<p>poison-{name}</p>" for name in POISONS}
    store_pages(settings, store, ready, poison)
    parsed = parse_shop(settings, store, ready, 1, workers=workers)
    assert (parsed.offers, parsed.failed) == (6, 1 + len(POISONS))
    assert stored_offers(store) == WANTED
    with store.read() as session:
        reasons = {
            page.url.rpartition("poison-")[2]: page.read_reason
            for page in session.exec(select(Page))
        }
    assert {name: reasons[name] for name in POISONS} == POISONS
    deaths = {name: count_deaths(tmp_path, name) for name in POISONS if name != "error"}
    assert set(deaths.values()) == {MAX_TRIES}
    coverage = measure_coverage(store, ready, 1)
    counted = {count.reason: count.pages for count in coverage.reasons}
    assert [counted[reason] for reason in POISONS.values()] == [1] * len(POISONS)
