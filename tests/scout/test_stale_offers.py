"""`scout offers --stale`: catalog offers that are gone from the shop."""

import json
from typing import Any

import pytest

from catalog.models import PageKind, PageState, RunState, Shop
from catalog.storage.store import Store
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import Scout


@pytest.fixture
def fill(store: Store, shop: Shop) -> StoreBuilder:
    """A run of a shop that has seen one of the catalog's offers; others are gone or undecided."""
    fill = StoreBuilder(store, shop)
    run = fill.run()
    fill.listed(run, "seen", price=5, brand="Ada")
    gone = {
        "deleted": PageState.GONE,
        "moved": PageState.REDIRECTED,
    }
    for number, (path, state) in enumerate(gone.items()):
        fill.catalog_offer(
            path,
            title=f"Offer {path}",
            price=10 + number,
            currency="EUR",
            brand="Ada",
            category="Garden > Hoses",
            ean="4006381333931",
        )
        fill.page(path, state)
    fill.catalog_offer("list", title="A list now", price=7, brand="Bea", category="Gardening")
    fill.page("list", kind=PageKind.OTHER, read_reason="unlike the shop's offer pages")
    fill.catalog_offer("unpriced", title="Unpriced")
    fill.page("unpriced", PageState.GONE)
    fill.catalog_offer("blocked", title="Refused by robots.txt", price=3)
    fill.page("blocked", PageState.REFUSED)
    fill.catalog_offer("undiscovered", title="Never discovered", price=3)
    fill.catalog_offer(None, title="Without a link", price=3)
    fill.catalog_offer("there", title="Its page is there", price=3)
    fill.page("there")
    fill.save()
    return fill


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ([], ["moved", "deleted", "list", "unpriced"]),
        (["--limit", "2"], ["moved", "deleted"]),
        (["--sort", "price"], ["list", "deleted", "moved", "unpriced"]),
        (["--sort", "-title"], ["unpriced", "moved", "deleted", "list"]),
        (["--brand", "ada"], ["moved", "deleted"]),
        (["--category", "garden"], ["moved", "deleted"]),
        (["--price", "-10"], ["deleted", "list"]),
        (["--price", "11-"], ["moved"]),
    ],
)
def test_rows(scout: Scout, fill: StoreBuilder, arguments: list[str], paths: list[str]) -> None:
    """Offers whose page is gone, leads elsewhere or shows no offer are stale; the rest is undecided."""
    result = scout("offers", "demo", "--stale", "--json", *arguments)
    rows: list[dict[str, Any]] = [json.loads(line) for line in result.out.splitlines()]
    assert [row["url"] for row in rows] == [fill.url(path) for path in paths]
    assert {row["verdict"] for row in rows} == {"stale"}
    assert set(rows[0]) >= set(
        "url title price currency brand category ean han sku verdict cause score nearest".split()
    )


def test_table(scout: Scout, fill: StoreBuilder) -> None:
    """The table names the state of each page, and counts what was not seen but may be there."""
    out = scout("offers", "demo", "--stale").out
    assert "page not found" in out
    assert "4 offers (stale)" in out
    assert "not crawled 2, no link 1, page found 1" in out


@pytest.mark.parametrize(
    "arguments",
    [["--missing"], ["--all"], ["--cause", "x"], ["--since", "last"], ["--sort", "cause"]],
)
def test_wrong_usage(scout: Scout, fill: StoreBuilder, arguments: list[str]) -> None:
    """Verdicts, causes and changes are of shop offers: together with --stale they are refused."""
    assert scout("offers", "demo", "--stale", *arguments).code == 2


def test_a_run_under_way(scout: Scout, fill: StoreBuilder) -> None:
    """While a newer run crawls the shop, the pages of the finished one are not known."""
    fill.run(RunState.RUNNING)
    result = scout("offers", "demo", "--stale")
    assert (result.code, "when a run has finished" in result.error) == (2, True)
