"""Learning a stored shop: examples from the store, one version a run, people's rules kept."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.errors import LearnError, NoKnownOffers
from catalog.models import Attribute, KnownOffer, Page, PageState, Run, Shop, StoredRules
from catalog.runtime.settings import Settings
from catalog.runtime.supervised_workers import MAX_TRIES
from catalog.storage.store import Store
from parser.parse_job import parse_shop, stored_rules
from parser.rules.model import Rule, RuleSet
from parser.rules.selector import TextAt
from rules_generator.learn_job import UNCHANGED, learn_shop
from tests.pages import article_page, category_page, data_page, products, text_page
from tests.parser.test_parse_job import store_pages, stored_offers
from tests.poison import count_deaths, poison_processes
from tests.rules_generator.conftest import known

# Ends the process that opens a store.
DYING_STORE = """
import os
from catalog.storage.store import Store
Store.open = classmethod(lambda *_: os._exit(5))
"""
ALL = products(30)
TEXT = ALL[:15]
DATA = ALL[15:]


def know(store: Store, shop: Shop, *, linked: bool) -> None:
    """Put two thirds of the products into the catalog, with links or without."""
    with store.write() as session:
        for product in ALL:
            if product.number % 3:
                url = f"{shop.url}p{product.number}" if linked else None
                fields = known(product, url=url).model_dump()
                session.add(
                    KnownOffer(
                        shop_id=shop.id, ref=str(product.number), opaque=not linked, **fields
                    )
                )


def run_of(store: Store, shop: Shop) -> int:
    """A new run."""
    with store.write() as session:
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    return run.id or 0


@pytest.fixture
def crawled_shop(settings: Settings, store: Store, shop: Shop) -> Shop:
    """A crawled shop of two templates, with lists and articles."""
    pages = {f"p{product.number}": text_page(product) for product in TEXT} | {
        f"p{product.number}": data_page(product) for product in DATA
    }
    lists = {f"c{n}": category_page(ALL[n : n + 6]) for n in range(0, 24, 2)}
    store_pages(settings, store, shop, {**pages, **lists, "about": article_page()})
    return shop


@pytest.mark.parametrize("linked", [True, False], ids=["links", "opaque links"])
def test_a_shop_is_learnt_and_read(
    settings: Settings, store: Store, crawled_shop: Shop, linked: bool
) -> None:
    """With links or without, both templates are learnt, and all offers are read and nothing else."""
    know(store, crawled_shop, linked=linked)
    learnt = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert (learnt.version, learnt.templates, learnt.set_aside) == (1, 2, 0)
    parse_shop(settings, store, crawled_shop, 1)
    assert stored_offers(store) == {
        f"p{product.number}": (product.title, product.sku) for product in ALL
    }


def test_a_run_learns_once(settings: Settings, store: Store, crawled_shop: Shop) -> None:
    """A run that is taken up again finds its rules; the next run learns if something has changed."""
    know(store, crawled_shop, linked=True)
    run = run_of(store, crawled_shop)
    assert [learn_shop(settings, store, crawled_shop, run).version for _ in range(2)] == [1, 1]
    unchanged = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert (unchanged.version, unchanged.drift) == (1, UNCHANGED)
    anew = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop), anew=True)
    assert anew.version == 2


def _change_offer(store: Store, shop: Shop) -> None:
    with store.write() as session:
        offer = session.exec(select(KnownOffer)).first()
        assert offer is not None
        offer.brand = "Another brand"


def _change_page(store: Store, shop: Shop) -> None:
    with store.write() as session:
        page = session.exec(select(Page).where(Page.shop_id == shop.id)).first()
        assert page is not None
        page.state = PageState.GONE


def _set_rule(store: Store, shop: Shop) -> None:
    rules = stored_rules(store, shop)
    with store.write() as session:
        session.add(StoredRules(shop_id=shop.id or 0, version=2, rules=rules.to_json()))


CHANGES: dict[str, Callable[[Store, Shop], None]] = {
    "a known offer": _change_offer,
    "a page": _change_page,
    "rules set by hand": _set_rule,
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_learnt(
    settings: Settings, store: Store, crawled_shop: Shop, change: str
) -> None:
    """A change of the catalog, of a page or of the rules themselves makes a run learn again."""
    know(store, crawled_shop, linked=True)
    learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    CHANGES[change](store, crawled_shop)
    before = stored_rules(store, crawled_shop).version
    learnt = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert learnt.version == before + 1


def test_a_locked_rule_survives_relearning(
    settings: Settings, store: Store, crawled_shop: Shop
) -> None:
    """What a person locked or set by hand is there after learning anew, once per template."""
    know(store, crawled_shop, linked=True)
    learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    mine = Rule(
        attribute=Attribute.BRAND, selector=TextAt(css="div.mine"), origin="manual", locked=True
    )
    with store.write() as session:
        stored = session.exec(select(StoredRules)).one()
        rules = RuleSet.from_json(stored.rules)
        first = rules.templates[0].model_copy(update={"rules": (mine, *rules.templates[0].rules)})
        stored.rules = rules.model_copy(
            update={"templates": (first, *rules.templates[1:])}
        ).to_json()
    learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert any(mine in template.rules for template in stored_rules(store, crawled_shop).templates)


def test_a_rule_set_while_it_is_learnt_stays(
    settings: Settings, store: Store, crawled_shop: Shop
) -> None:
    """Learning takes a while; what a person does meanwhile is in the rules that it stores."""
    know(store, crawled_shop, linked=True)
    learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    mine = Rule(attribute=Attribute.BRAND, selector=TextAt(css="div.mine"), origin="manual")

    def set_by_hand(*_: object) -> None:
        rules = stored_rules(store, crawled_shop)
        changed = tuple(
            template.model_copy(update={"rules": (mine, *template.rules)})
            for template in rules.templates
        )
        stored = rules.model_copy(update={"templates": changed, "version": 2}).to_json()
        with store.write() as session:
            if session.exec(select(StoredRules).where(StoredRules.version == 2)).first() is None:
                session.add(StoredRules(shop_id=crawled_shop.id or 0, version=2, rules=stored))

    told = learn_shop(
        settings,
        store,
        crawled_shop,
        run_of(store, crawled_shop),
        anew=True,
        progress=set_by_hand,
    )
    assert told.version == 3
    assert all(mine in template.rules for template in stored_rules(store, crawled_shop).templates)


def test_without_known_offers_it_says_what_to_do(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """Where pages do not say themselves what they are, the error names the command that imports."""
    store_pages(settings, store, shop, {"about": article_page(), "list": category_page(ALL[:6])})
    with pytest.raises(NoKnownOffers, match="scout catalog import demo"):
        learn_shop(settings, store, shop, run_of(store, shop))


def test_known_offers_without_any_page_are_an_error(
    settings: Settings, store: Store, crawled_shop: Shop
) -> None:
    """Where no offer's page is found, nothing can be learnt, and nothing stored is lost."""
    with store.write() as session:
        session.add(
            KnownOffer(shop_id=crawled_shop.id, ref="x", title="Quite another thing", opaque=True)
        )
    with pytest.raises(LearnError, match="none of the 1 known offers"):
        learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))


def test_pages_made_to_be_slow_are_named(settings: Settings, store: Store, shop: Shop) -> None:
    """A known offer whose page is one does not stop learning; the page is named with the reason."""
    pages = {f"p{product.number}": text_page(product) for product in TEXT}
    store_pages(settings, store, shop, {**pages, "slow": "<div>" * 50_000})
    know(store, shop, linked=True)
    with store.write() as session:
        session.add(KnownOffer(shop_id=shop.id, ref="slow", title="Lamp", url=f"{shop.url}slow"))
    learnt = learn_shop(settings, store, shop, run_of(store, shop))
    assert learnt.examples == 10
    assert learnt.refused == {f"{shop.url}slow": "tags nested deeper than 2000"}


def test_a_page_that_ends_the_process_is_set_aside(
    settings: Settings,
    store: Store,
    crawled_shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Learning goes on without it: the page is named with the reason, and all others are used."""
    know(store, crawled_shop, linked=True)
    store_pages(settings, store, crawled_shop, {"bad": "<h1>Bad</h1>poison-segfault"})
    with store.write() as session:
        fields = {"shop_id": crawled_shop.id, "ref": "bad", "title": "Bad"}
        session.add(KnownOffer(url=f"{crawled_shop.url}bad", **fields))
    poison_processes(tmp_path, monkeypatch)
    learnt = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    reason = "ended its process: segmentation fault"
    assert learnt.refused == {f"{crawled_shop.url}bad": reason}
    assert (learnt.examples, learnt.templates) == (20, 2)
    assert count_deaths(tmp_path, "segfault") == MAX_TRIES
    # The parser dies of it as well, and later runs learn without it at once.
    parse_shop(settings, store, crawled_shop, 1)
    assert count_deaths(tmp_path, "segfault") == 2 * MAX_TRIES
    again = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert again.refused == learnt.refused
    assert count_deaths(tmp_path, "segfault") == 2 * MAX_TRIES


def test_a_process_that_dies_once_learns_the_same(
    settings: Settings,
    store: Store,
    crawled_shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page on which a process died once, as for lack of memory, is learnt from."""
    know(store, crawled_shop, linked=True)
    store_pages(settings, store, crawled_shop, {"once": "<h1>Once</h1>poison-once"})
    poison_processes(tmp_path, monkeypatch)
    learnt = learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
    assert (learnt.refused, learnt.examples) == ({}, 20)
    assert (tmp_path / "poison-once").exists()


def test_a_process_that_dies_of_no_page_is_an_error(
    settings: Settings,
    store: Store,
    crawled_shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no page is to blame, the error says how the process ended."""
    know(store, crawled_shop, linked=True)
    (tmp_path / "sitecustomize.py").write_text(DYING_STORE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    with pytest.raises(LearnError, match="ended 3 times: exit code 5"):
        learn_shop(settings, store, crawled_shop, run_of(store, crawled_shop))
