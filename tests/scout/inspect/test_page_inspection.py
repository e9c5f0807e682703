"""Inspection of pages of a learnt shop: votes with the reasons why they lost, and known values that a page lacks."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from catalog.models import KnownOffer, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from rules_generator.learn_job import learn_shop
from tests.pages import products, text_page
from tests.parser.test_parse_job import store_pages
from tests.rules_generator import conftest as texts
from tests.scout.conftest import Scout, web_client
from tests.variant_shop import array_page, choices, known

ALL = products(12)


@pytest.fixture
def learnt(settings: Settings, store: Store, shop: Shop) -> Shop:
    """Learn a shop of two templates, one with several offers per page; one known price is not on its page."""
    store_learnt_shop(settings, store, shop)
    return shop


def store_learnt_shop(settings: Settings, store: Store, shop: Shop) -> int:
    """Store the pages and known offers of a shop, and learn its rules in a run; returns its id."""
    several, plain = ALL[:6], ALL[6:]
    pages = {f"p{product.number}": array_page(product) for product in several} | {
        f"p{product.number}": text_page(product) for product in plain
    }
    store_pages(settings, store, shop, pages)
    with store.write() as session:
        for product in several:
            for choice in choices(product):
                fields = known(product, choice, shop.url).model_dump()
                session.add(KnownOffer(shop_id=shop.id, ref=str(choice.number), **fields))
        for product in plain:
            fields = texts.known(product, url=f"{shop.url}p{product.number}").model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=product.sku, **fields))
        stale = session.exec(select(KnownOffer).where(col(KnownOffer.ref) == plain[0].sku)).one()
        stale.price = Decimal(plain[0].price) + 1
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)
    return run.id or 0


def test_a_page_with_several_offers(scout: Scout, learnt: Shop) -> None:
    """All offers of a page are shown, and the known values of all of them belong to the page."""
    inspection = json.loads(scout("inspect", "demo", f"{learnt.url}p3", "--json").out)
    assert [offer["sku"] for offer in inspection["variants"]] == [
        choice.sku for choice in choices(ALL[3])
    ]
    assert inspection["known"]["sku"] == [choice.sku for choice in choices(ALL[3])]
    assert "Several offers on this page" in scout("inspect", "demo", f"{learnt.url}p3").out


STATED_URLS = [
    ("canonical URL", '<link rel="canonical" href="/p9">', "p9"),
    ("og:url", '<meta property="og:url" content="http://127.0.0.1:8000/p9">', "p9"),
    (
        "URL of another shop",
        '<link rel="canonical" href="https://other.example/p9">',
        "saved%20page.html",
    ),
    ("no URL", "", "saved%20page.html"),
]


@pytest.mark.parametrize(
    ("name", "head", "path"), STATED_URLS, ids=[case[0] for case in STATED_URLS]
)
def test_a_saved_page_is_read_like_the_crawled_one(
    scout: Scout, learnt: Shop, tmp_path: Path, name: str, head: str, path: str
) -> None:
    """A saved page is classified like the crawled one, and compared with the catalog if it states its URL."""
    saved = tmp_path / "saved page.html"
    saved.write_text(head + text_page(ALL[9]), encoding="utf-8")
    inspection = json.loads(scout("inspect", "demo", str(saved), "--json").out)
    assert (inspection["url"], inspection["kind"]) == (learnt.url + path, "offer")
    assert bool(inspection["known"]) == (path == "p9")


def test_rules_are_numbered_as_in_rules_show(scout: Scout, learnt: Shop) -> None:
    """The number of a vote locks that very rule, on every template."""
    for page in ("p3", "p8"):
        line = json.loads(scout("inspect", "demo", f"{learnt.url}{page}", "--json").out)["lines"][0]
        assert (
            scout("rules", "lock", "demo", line["attribute"], "--number", str(line["number"])).code
            == 0
        )
        rows = [
            json.loads(row) for row in scout("rules", "show", "demo", "--json").out.splitlines()
        ]
        locked = [row["selector"] for row in rows if row["locked"]]
        assert line["selector"] in locked


def test_each_lost_vote_has_a_reason(scout: Scout, learnt: Shop) -> None:
    """Counted votes for the winning value have won; every other vote has a reason."""
    inspection = json.loads(scout("inspect", "demo", f"{learnt.url}p8", "--json").out)
    lines = inspection["lines"]
    for name, winner in inspection["winners"].items():
        won = [line for line in lines if line["attribute"] == name and line["won"]]
        assert len(won) == winner["votes"]
    assert all(line["why"] for line in lines if not line["won"])
    assert "not needed: same value as the winner" in {line["why"] for line in lines}


def learn(
    settings: Settings, store: Store, shop: Shop, pages: dict[str, str], known: list[dict[str, Any]]
) -> None:
    """Crawl these pages, and learn from `p0` onwards with these changes to the known values of their offers."""
    store_pages(settings, store, shop, pages)
    with store.write() as session:
        for n, (product, changes) in enumerate(zip(ALL, known, strict=True)):
            fields = texts.known(product, url=f"{shop.url}p{n}", **changes).model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=product.sku, **fields))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)


def test_variants_are_shown_with_the_rules_and_kept(
    scout: Scout, settings: Settings, store: Store, learnt: Shop, tmp_path: Path
) -> None:
    """Rules of variants are shown, exported, edited by hand, and kept when rules are learnt again."""
    shown = scout("rules", "show", "demo").out
    assert "Several offers a page: each script {var shown =} $.product.variants.*" in shown
    assert "as ?variant=" in shown
    rules = json.loads(scout("rules", "export", "demo").out)
    manual = rules["variants"][0]["rules"][0] | {"origin": "manual"}
    rules["variants"][0]["rules"][0] = manual
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    assert scout("rules", "import", "demo", str(tmp_path / "rules.json")).code == 0
    with store.write() as session:
        run = Run(shop_id=learnt.id or 0)
        session.add(run)
    learn_shop(settings, store, learnt, run.id or 0)
    assert json.loads(scout("rules", "export", "demo").out)["variants"][0]["rules"][0] == manual


def test_the_page_shows_what_the_terminal_shows(
    settings: Settings, store: Store, learnt: Shop, scout: Scout
) -> None:
    """The web page has the votes, the known value that is missing, and selectors to copy."""
    url = f"{learnt.url}p{ALL[6].number}"
    inspection = json.loads(scout("inspect", "demo", url, "--json").out)
    absent = inspection["missing"][0]
    assert (absent["attribute"], absent["nearest"] is not None) == ("price", True)
    browser = web_client(settings, store)
    page = browser.get("/shops/demo/inspect", params={"url": url}).text
    for text in (
        "Known values that are not on the page",
        absent["value"],
        "Selectors to copy",
        "differs from the catalog",
    ):
        assert text in page
    assert all(
        line["xpath"] is None or line["xpath"].startswith("//") for line in inspection["lines"]
    )
    assert "&lt;code" not in page
