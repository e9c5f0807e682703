"""Rules tested before they are saved, compared and restored."""

import json
from typing import Any

import pytest

from catalog.models import KnownOffer, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from rules_generator.learn_job import learn_shop
from tests.pages import products, text_page
from tests.parser.test_parse_job import store_pages
from tests.rules_generator.conftest import known
from tests.scout.conftest import Scout

# The catalog lists the first ten of twelve products.
ALL = products(12)
LISTED = ALL[:10]


@pytest.fixture
def learnt(settings: Settings, store: Store, shop: Shop) -> Shop:
    """Learn the rules of a shop with twelve pages and ten known offers."""
    pages = {f"p{product.number}": text_page(product) for product in ALL}
    store_pages(settings, store, shop, pages)
    with store.write() as session:
        for product in LISTED:
            fields = known(product, url=f"{shop.url}p{product.number}").model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=product.sku, **fields))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learn_shop(settings, store, shop, run.id or 0)
    return shop


def printed_rows(scout: Scout, *words: str) -> list[dict[str, Any]]:
    """Return the objects that a `scout rules` command prints with --json."""
    result = scout("rules", *words, "--json")
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def rules_of(scout: Scout, attribute: str) -> list[dict[str, Any]]:
    """Return the rules of an attribute as `scout rules show` prints them."""
    return printed_rows(scout, "show", "demo", "--attribute", attribute)


def test_a_rule_is_tried_on_all_known_offers_and_on_other_pages(scout: Scout, learnt: Shop) -> None:
    """Each page has the value before and after, and the catalog's where it lists the offer."""
    rows = printed_rows(scout, "test", "demo", "title", "--css", "h1")
    assert len(rows) == len(ALL)
    of_known = [row for row in rows if row["known"]]
    assert len(of_known) == len(LISTED)
    assert all(row["is_right"] and row["after"] == row["known"][0] for row in of_known)
    others = [row for row in rows if not row["known"]]
    assert {row["after"] for row in others} == {product.title for product in ALL[10:]}
    assert all(row["is_right"] is None for row in others)


def test_a_trial_stores_nothing(scout: Scout, learnt: Shop) -> None:
    """Testing a rule leaves the versions of the rules alone."""
    before = printed_rows(scout, "history", "demo")
    assert (
        "10 of 10 known values are read correctly"
        in scout("rules", "test", "demo", "title", "--css", "h1").out
    )
    assert printed_rows(scout, "history", "demo") == before


@pytest.mark.parametrize("css", [".does-not-exist", ".cost"], ids=["nothing found", "wrong values"])
def test_a_rule_that_reads_no_known_value_needs_force(scout: Scout, learnt: Shop, css: str) -> None:
    """Such a rule is refused with one line, and stored with --force."""
    before = rules_of(scout, "title")
    result = scout("rules", "set", "demo", "title", "--css", css)
    assert result.code == 1
    assert "reads none of the 10 known values of 'title'" in result.error
    assert rules_of(scout, "title") == before
    assert scout("rules", "set", "demo", "title", "--css", css, "--force").code == 0
    assert [row["selector"] for row in rules_of(scout, "title")] == [css]


def test_a_rule_without_known_values_has_to_read_something(scout: Scout, learnt: Shop) -> None:
    """For an attribute that no known offer has, a rule that reads nothing is refused."""
    result = scout("rules", "set", "demo", "category", "--css", ".does-not-exist")
    assert "reads nothing on any of" in result.error


def test_a_rule_set_by_hand_has_the_support_that_was_measured(scout: Scout, learnt: Shop) -> None:
    """Support counts the known values that the rule reads rightly."""
    assert scout("rules", "set", "demo", "title", "--css", "h1").code == 0
    assert [row["support"] for row in rules_of(scout, "title")] == [len(LISTED)]


def test_unlocking_brings_the_replaced_rules_back(scout: Scout, learnt: Shop) -> None:
    """After two rules set by hand, unlocking restores the learnt rules as they were."""
    before = rules_of(scout, "price")
    assert scout("rules", "set", "demo", "price", "--css", "p.cost", "--form", "comma").code == 0
    assert scout("rules", "set", "demo", "price", "--css", ".cost", "--form", "comma").code == 0
    assert {row["origin"] for row in rules_of(scout, "price")} == {"manual"}
    assert scout("rules", "unlock", "demo", "price").code == 0
    assert rules_of(scout, "price") == before


def test_versions_are_compared(scout: Scout, learnt: Shop) -> None:
    """Rules that were added, removed and changed are listed; those of other attributes are not."""
    assert scout("rules", "lock", "demo", "sku").code == 0
    changed = printed_rows(scout, "diff", "demo")
    assert {row["change"] for row in changed} == {"changed"}
    assert all(row["changes"] == {"locked": [False, True]} for row in changed)
    assert scout("rules", "set", "demo", "price", "--css", "p.cost", "--form", "comma").code == 0
    rows = printed_rows(scout, "diff", "demo")
    assert {row["attribute"] for row in rows} == {"price"}
    assert "added" in {row["change"] for row in rows}
    both = printed_rows(scout, "diff", "demo", "1", "3")
    assert {row["attribute"] for row in both} == {"price", "sku"}


def test_an_earlier_version_is_restored_as_the_newest(scout: Scout, learnt: Shop) -> None:
    """Restoring keeps the history and gives the rules of the earlier version."""
    before = printed_rows(scout, "show", "demo")
    assert scout("rules", "set", "demo", "title", "--css", "h1").code == 0
    assert scout("rules", "restore", "demo", "1").code == 0
    assert printed_rows(scout, "show", "demo") == before
    assert [row["version"] for row in printed_rows(scout, "history", "demo")] == [3, 2, 1]
    assert "no rules of version 9" in scout("rules", "restore", "demo", "9").error
    assert "no rules of version 9" in scout("rules", "diff", "demo", "9").error
