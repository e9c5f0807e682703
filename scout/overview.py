"""The overview of shops with their runs, for the command line, web pages and API.

Figures are of the last finished run; beside them stands the state of the newest run, which may be
under way or have failed.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from sqlmodel import col, func, select

from catalog.errors import UnknownShop
from catalog.models import Crawl, Page, Run, RunCounts, Shop
from catalog.runtime.limits.process_end import ENDED_PROCESS
from catalog.storage.findings import read_counts
from catalog.storage.shop_list import (
    NEVER_RUN,
    ShopFilter,
    ShopKey,
    ShopRow,
    ShopSort,
    read_shop_list,
    read_shop_rows,
)
from catalog.storage.store import Store
from scout.pipeline import run_records
from scout.pipeline.run_summary import report_paths


def describe_shops(store: Store) -> list[dict[str, Any]]:
    """Describe all shops, sorted by name."""
    return [describe_row(store, row) for row in list_shops(store, ShopFilter())]


def list_shops(
    store: Store,
    where: ShopFilter,
    sort: ShopSort = ShopSort.NAME,
    after: ShopKey | None = None,
    limit: int | None = None,
) -> list[ShopRow]:
    """Return one page of the list of shops, with the counts of their last finished runs."""
    with store.read() as session:
        rows = read_shop_list(session, where, sort, after, limit)
    return [_with_counts(store, row) for row in rows]


def _with_counts(store: Store, row: ShopRow) -> ShopRow:
    """Store the counts of a run of an earlier version of Scout, which stored none."""
    if row.finished is None or row.counts is not None:
        return row
    return replace(row, counts=read_finished_counts(store, row.shop, row.finished))


def describe_shop(store: Store, shop: Shop) -> dict[str, Any]:
    """Describe one shop: its stored offers and pages, its newest and its last finished run.

    Raises UnknownShop where it was removed since it was loaded.
    """
    with store.read() as session:
        row = next(iter(read_shop_rows(session, [run_records.shop_key(shop)])), None)
        if row is None:
            raise UnknownShop(shop.name)
        pages = session.exec(select(func.count()).where(Page.shop_id == shop.id)).one()
    # Matches may have been written again since the counts were stored.
    counts = read_finished_counts(store, shop, row.finished)
    return {**describe_row(store, replace(row, counts=counts)), "pages": pages}


def describe_row(store: Store, row: ShopRow) -> dict[str, Any]:
    """Describe a shop of the list."""
    newest = row.newest
    return {
        "name": row.shop.name,
        "url": row.shop.url,
        "known": row.known,
        "pages": row.pages,
        "run": newest and newest.id,
        "last_run": newest and newest.started_at,
        "state": str(newest.state) if newest else NEVER_RUN,
        "stage": newest and str(newest.stage),
        "reason": newest and newest.reason,
        **_describe_finished_run(store, row.finished, row.counts),
    }


def describe_last_crawl(store: Store, shop: Shop) -> dict[str, Any]:
    """Describe the shop's newest crawl, its requests and results; empty where there was none."""
    newest = select(Crawl).where(Crawl.shop_id == shop.id).order_by(col(Crawl.id).desc()).limit(1)
    with store.read() as session:
        crawl = session.exec(newest).first()
    if crawl is None:
        return {}
    return crawl.model_dump(exclude={"id", "shop_id", "figures"})


def describe_set_aside(store: Store, shop: Shop) -> dict[str, int]:
    """Count the pages that ended the processes which crawled or parsed them: {reason: pages}."""
    counts: Counter[str] = Counter()
    with store.read() as session:
        for reason in (col(Page.reason), col(Page.read_reason)):
            pages = select(reason, func.count()).where(
                Page.shop_id == shop.id, reason.startswith(ENDED_PROCESS)
            )
            for text, number in session.exec(pages.group_by(reason)):
                counts[str(text)] += number
    return dict(sorted(counts.items()))


def _describe_finished_run(
    store: Store, run: Run | None, counts: RunCounts | None
) -> dict[str, Any]:
    if run is None or counts is None:
        return {
            "finished_run": None,
            "finished_at": None,
            "seen": None,
            "listed": None,
            "missing": None,
            "unsure": None,
            "ignored": None,
            "values": {},
            "without_import": False,
            "changes": {},
            "reports": {},
        }
    return {
        "finished_run": run.id,
        "finished_at": run.finished_at,
        "seen": counts.seen,
        "listed": counts.listed,
        "missing": counts.missing,
        "unsure": counts.unsure,
        "ignored": counts.ignored,
        "values": counts.values,
        # Without an import every offer counts as missing.
        "without_import": not counts.known_offers,
        "changes": counts.changes | {"no_longer_seen": counts.no_longer_seen},
        "reports": report_paths(store, run),
    }


def read_finished_counts(store: Store, shop: Shop, run: Run | None) -> RunCounts | None:
    """Return the counts of a finished run, stored now if that was not done."""
    from reports.model.findings import ensure_stored

    if run is None:
        return None
    run_id = run_records.run_key(run)
    ensure_stored(store, shop, run_id)
    with store.read() as session:
        return read_counts(session, run_id)
