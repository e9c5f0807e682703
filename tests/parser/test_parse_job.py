"""The worker: all fetched pages are read once per version of the rules, whatever happens in between."""

import pytest
from sqlmodel import select

from catalog.errors import LearnError, RuleError
from catalog.models import Attribute, Page, PageKind, PageState, Shop, ShopOffer, StoredRules
from catalog.runtime.settings import Settings
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store
from parser import parse_job
from parser.parse_job import parse_shop
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import JsonAt
from tests.pages import article_page, products, text_page
from tests.parser.test_read import RULES

ALL = products(6)


def crawled(settings: Settings, store: Store, shop: Shop, pages: dict[str, str]) -> None:
    """Store pages as a crawl would."""
    bodies = Bodies(settings.bodies)
    with store.write() as session:
        for name, page in pages.items():
            url = f"{shop.url}{name}"
            body = bodies.put(page.encode())
            session.add(
                Page(shop_id=shop.id, url=url, state=PageState.FETCHED, status=200, body=body)
            )


def learnt(store: Store, shop: Shop, version: int = 1, rules: RuleSet = RULES) -> None:
    """Store rules."""
    with store.write() as session:
        session.add(StoredRules(shop_id=shop.id, version=version, rules=rules.to_json()))


def kept(store: Store) -> dict[str, tuple[str | None, str | None]]:
    """The stored offers by the end of their URL: title and sku."""
    with store.read() as session:
        return {
            str(one.url).rsplit("/", 1)[1]: (one.title, one.sku)
            for one in session.exec(select(ShopOffer))
        }


@pytest.fixture
def ready(settings: Settings, store: Store, shop: Shop) -> Shop:
    """A shop with pages and rules."""
    pages = {f"p{one.number}": text_page(one) for one in ALL}
    crawled(settings, store, shop, {**pages, "about": article_page()})
    with store.write() as session:
        session.add(
            Page(shop_id=shop.id, url=f"{shop.url}lost", state=PageState.FETCHED, body="0" * 64)
        )
    learnt(store, shop)
    return shop


WANTED = {f"p{one.number}": (one.title, one.sku) for one in ALL}


def test_offers_kinds_and_reasons_are_stored(settings: Settings, store: Store, ready: Shop) -> None:
    """Offer pages give offers; other pages and unreadable ones are recorded with their reason."""
    parsed = parse_shop(settings, store, ready, 1)
    assert (parsed.pages, parsed.offers, parsed.others, parsed.failed) == (8, 6, 1, 1)
    assert kept(store) == WANTED
    with store.read() as session:
        said = {
            page.url.rsplit("/", 1)[1]: (page.kind, page.read_reason or "")
            for page in session.exec(select(Page))
        }
    assert said["about"][0] == PageKind.OTHER
    assert said["lost"][1].startswith("unreadable: ")


def test_what_was_read_is_not_read_again(settings: Settings, store: Store, ready: Shop) -> None:
    """A second parse by the same rules reads nothing; new rules read all, and nothing is doubled."""
    parse_shop(settings, store, ready, 1)
    assert parse_shop(settings, store, ready, 1).pages == 0
    learnt(store, ready, version=2)
    assert parse_shop(settings, store, ready, 2).pages == 8
    assert kept(store) == WANTED


def test_a_parse_that_dies_goes_on(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed before stays; the next parse reads only the rest."""
    monkeypatch.setattr(parse_job, "CHUNK", 3)
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
    assert kept(store) == WANTED


def test_worker_processes_read_the_same(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find what one finds."""
    monkeypatch.setattr(parse_job, "FEW_PAGES", 0)
    assert parse_shop(settings, store, ready, 1, workers=2).offers == 6
    assert kept(store) == WANTED


@pytest.mark.parametrize("workers", [1, 2])
def test_a_rule_with_a_path_that_is_none_is_said(
    settings: Settings, store: Store, ready: Shop, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """In one line, also where other processes would have read, and no page is marked as read."""
    monkeypatch.setattr(parse_job, "FEW_PAGES", 0)
    broken = Template(
        name="1",
        rules=(Rule(attribute=Attribute.TITLE, selector=JsonAt(block="x =", path="$.a[")),),
    )
    learnt(store, ready, 2, RuleSet(templates=(broken,)))
    with pytest.raises(RuleError, match=r"not a JSONPath: '\$\.a\['"):
        parse_shop(settings, store, ready, 1, workers=workers)
    with store.read() as session:
        assert {page.rules_version for page in session.exec(select(Page))} == {None}


def test_offers_of_pages_that_are_gone_are_forgotten(
    settings: Settings, store: Store, ready: Shop
) -> None:
    """A page that a later crawl finds gone keeps no offer."""
    parse_shop(settings, store, ready, 1)
    with store.write() as session:
        page = session.exec(select(Page).where(Page.url == f"{ready.url}p2")).one()
        page.state = PageState.GONE
    parse_shop(settings, store, ready, 2)
    assert set(kept(store)) == set(WANTED) - {"p2"}


def test_without_rules_it_says_what_to_do(settings: Settings, store: Store, shop: Shop) -> None:
    """The error names the command that learns."""
    with pytest.raises(LearnError, match="scout learn demo"):
        parse_shop(settings, store, shop, 1)
