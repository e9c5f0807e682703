"""Snapshots: the stored page of a finding, and what a browser may do with it."""

from typing import Any

import pytest
from sqlmodel import select

from catalog.errors import StoreError, UsageError
from catalog.models import Page, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from reports.model.findings import list_findings
from scout.inspect.snapshots import SNAPSHOT_HEADERS, read_snapshot
from tests.reports.conftest import StoreBuilder


def test_a_row_leads_to_its_page(settings: Settings, store: Store, shop: Shop) -> None:
    """The page of a row is read in UTF-8, with its URL and shop."""
    body = BodyStore(settings.bodies).put("<title>Größe</title>".encode("latin-1"))
    fill = StoreBuilder(store, shop)
    run = fill.run()
    fill.page("a", body=body, content_type="text/html; charset=iso-8859-1")
    fill.finding(run, "a")
    fill.save()
    (finding,) = list_findings(store, shop, run)
    snapshot = read_snapshot(settings, store, finding.as_row()["snapshot"]["page"])
    assert (snapshot.shop_id, snapshot.url) == (shop.id, fill.url("a"))
    assert snapshot.markup.decode() == "<title>Größe</title>"


def test_scripts_and_requests_are_forbidden() -> None:
    """The headers forbid scripts, requests and the application's own origin."""
    policy = SNAPSHOT_HEADERS["Content-Security-Policy"].split("; ")
    assert {"sandbox", "default-src 'none'"} < set(policy)
    assert not [part for part in policy if "allow" in part or "script" in part]


@pytest.mark.parametrize("page_id", [-1, 0, 2, 2**70])
def test_unknown_pages(settings: Settings, store: Store, shop: Shop, page_id: int) -> None:
    """A page that is not stored is a clear error, and so is one without a body."""
    fill: Any = StoreBuilder(store, shop)
    fill.page("a")
    fill.save()
    for unknown in (page_id, 1):
        with pytest.raises(UsageError, match=r"no page .* is stored"):
            read_snapshot(settings, store, unknown)


def test_a_lost_body(settings: Settings, store: Store, shop: Shop) -> None:
    """A body that is gone from the page store is told as such."""
    fill = StoreBuilder(store, shop)
    fill.page("a", body="5f3a" * 10)
    fill.save()
    with store.read() as session:
        page = session.exec(select(Page)).one()
    with pytest.raises(StoreError, match="missing or damaged"):
        read_snapshot(settings, store, page.id or 0)
