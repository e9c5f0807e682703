"""Shops that need a look: reasons from the newest run and import, dismissal, the start page."""

from typing import Any

import pytest
from sqlmodel import select

from catalog.models import AttentionItem, CatalogImport, Role, Run, RunCounts, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.attention.assessment import refresh_attention
from scout.attention.notices import AttentionKind
from scout.attention.stored_notices import dismiss_notice, read_notices, restore_notice
from scout.web.app import create_app
from tests.scout.web.browser import signed_in


def add_run(
    store: Store,
    shop: Shop,
    *,
    missing: int = 5,
    known: int = 100,
    state: RunState = RunState.DONE,
    reason: str | None = None,
    **figures: Any,
) -> None:
    """Store a run with its counts."""
    with store.write() as session:
        run = Run(shop_id=shop.id or 0, state=state, reason=reason, figures=figures)
        session.add(run)
        session.flush()
        if state == RunState.DONE:
            session.add(
                RunCounts(
                    run_id=run.id or 0, shop_id=shop.id or 0, missing=missing, known_offers=known
                )
            )


def add_import(store: Store, shop: Shop, kept: int, bad: int = 0) -> None:
    """Store the history of an import."""
    with store.write() as session:
        session.add(
            CatalogImport(
                shop_id=shop.id or 0,
                generation=1,
                source="feed.csv",
                format="csv",
                read=kept + bad,
                kept=kept,
                bad=bad,
            )
        )


def kinds(store: Store) -> list[str]:
    """Assess the shops, and return the kinds of their notices."""
    refresh_attention(store)
    return [str(entry.notice.kind) for entry in read_notices(store)]


def test_a_shop_in_order_needs_no_look(store: Store, shop: Shop) -> None:
    """Two runs alike and an import like the one before give no notice."""
    for _ in range(2):
        add_run(store, shop, coverage={"page_share": 0.97})
        add_import(store, shop, 100)
    assert kinds(store) == []


REASONS: list[tuple[AttentionKind, list[dict[str, Any]]]] = [
    (AttentionKind.FAILED, [{"state": RunState.FAILED, "reason": "no page could be fetched"}]),
    (AttentionKind.INTERRUPTED, [{"state": RunState.RUNNING, "reason": "the disk is full"}]),
    (AttentionKind.NO_IMPORT, [{"known": 0}]),
    (
        AttentionKind.COVERAGE,
        [{"coverage": {"page_share": 0.95}}, {"coverage": {"page_share": 0.7}}],
    ),
    (AttentionKind.DRIFT, [{"learn": {"drift_kind": "redesigned"}}]),
    (AttentionKind.MISSING, [{"missing": 20}, {"missing": 40}]),
]


@pytest.mark.parametrize(("kind", "runs"), REASONS, ids=[str(case[0]) for case in REASONS])
def test_runs_that_need_a_look(
    store: Store, shop: Shop, kind: AttentionKind, runs: list[dict[str, Any]]
) -> None:
    """Each thing that can go wrong with a run is a notice of its kind, with a sentence."""
    for run in runs:
        add_run(store, shop, **run)
    assert kinds(store) == [str(kind)]
    assert read_notices(store)[0].notice.sentence.text


def test_few_more_missing_offers_are_no_jump(store: Store, shop: Shop) -> None:
    """From 2 to 5 missing offers is no jump, though it is more than double."""
    add_run(store, shop, missing=2)
    add_run(store, shop, missing=5)
    assert kinds(store) == []


def test_imports_that_need_a_look(store: Store, shop: Shop) -> None:
    """An import that lost offers and one that refused many rows are noticed; undone ones are not."""
    add_import(store, shop, 1000)
    add_import(store, shop, 800, bad=90)
    assert kinds(store) == ["import shrank", "import rows refused"]
    with store.write() as session:
        last = session.exec(select(CatalogImport).where(CatalogImport.kept == 800)).one()
        last.undone_at = last.imported_at
    assert kinds(store) == []


def test_a_dismissed_notice_comes_back_with_the_next_run(store: Store, shop: Shop) -> None:
    """A dismissal holds for the run that the notice is about, and can be taken back."""
    add_run(store, shop, state=RunState.FAILED, reason="no answer")
    refresh_attention(store)
    (entry,) = read_notices(store)
    assert dismiss_notice(store, entry.item_id, "ada") is not None
    assert kinds(store) == []
    assert restore_notice(store, entry.item_id) is not None
    assert kinds(store) == ["failed"]
    dismiss_notice(store, entry.item_id, "ada")
    add_run(store, shop, state=RunState.FAILED, reason="no answer")
    assert kinds(store) == ["failed"]
    assert dismiss_notice(store, 4711, "ada") is None


def test_an_unchanged_shop_is_not_assessed_again(store: Store, shop: Shop) -> None:
    """Only shops with a new run or import are assessed."""
    add_run(store, shop)
    assert refresh_attention(store) == 1
    assert refresh_attention(store) == 0


def test_the_start_page(settings: Settings, store: Store, shop: Shop) -> None:
    """The start page shows the reason and the next step; a reviewer dismisses it and undoes that."""
    add_run(store, shop, state=RunState.FAILED, reason="the shop answers 403")
    browser = signed_in(create_app(settings, store, ["127.0.0.1"]), Role.REVIEWER)
    page = browser.get("/").text
    assert "The last run failed: the shop answers 403" in page
    with store.read() as session:
        item = session.exec(select(AttentionItem)).one()
    assert browser.submit(f"/notices/{item.id}/dismiss").status_code == 303
    assert "answers 403" not in browser.get("/?sort=missing").text
    assert browser.submit(f"/notices/{item.id}/restore").status_code == 303
    assert "answers 403" in browser.get("/").text
    assert browser.submit("/notices/999/dismiss").status_code == 404


LISTS = [
    ("/?search=dem", True),
    ("/?search=zzz", False),
    ("/?state=failed", False),
    ("/?state=never+run", True),
    ("/?sort=last-run", True),
]


@pytest.mark.parametrize(("path", "is_shown"), LISTS)
def test_the_list_of_shops_is_filtered(
    settings: Settings, store: Store, shop: Shop, path: str, is_shown: bool
) -> None:
    """Shops are searched by name and address, filtered by state and sorted."""
    browser = signed_in(create_app(settings, store, ["127.0.0.1"]), Role.VIEWER)
    assert ('href="/shops/demo"' in browser.get(path).text) is is_shown
    assert browser.get("/?sort=colour").status_code == 400
    assert browser.get("/?cursor=zzz").status_code == 400
