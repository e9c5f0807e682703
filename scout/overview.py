"""The overview of shops with their runs, for the command line, web pages and API.

Figures are of the last finished run; beside them stands the state of the newest run, which may be
under way or have failed.
"""

from collections import Counter
from typing import Any

from sqlmodel import Session, col, func, select

from catalog.models import Crawl, KnownOffer, Page, Run, RunCounts, Shop
from catalog.runtime.process_end import ENDED_PROCESS
from catalog.storage.findings import read_counts
from catalog.storage.store import Store
from scout.pipeline import run_records
from scout.pipeline.run_summary import report_paths


def describe_shops(store: Store) -> list[dict[str, Any]]:
    """Describe all shops, sorted by name."""
    with store.read() as session:
        shops = list(session.exec(select(Shop).order_by(col(Shop.name))))
    return [describe_shop(store, shop) for shop in shops]


def describe_shop(store: Store, shop: Shop) -> dict[str, Any]:
    """Describe one shop: its stored offers and pages, its newest and its last finished run."""
    with store.read() as session:
        counts = _counts(session, shop)
    return {"name": shop.name, "url": shop.url, **counts, **_describe_run(store, shop)}


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


def _counts(session: Session, shop: Shop) -> dict[str, int]:
    return {
        "known": session.exec(select(func.count()).where(KnownOffer.shop_id == shop.id)).one(),
        "pages": session.exec(select(func.count()).where(Page.shop_id == shop.id)).one(),
    }


def _describe_run(store: Store, shop: Shop) -> dict[str, Any]:
    """Describe the state of the newest run, and the figures of the last finished one."""
    runs = run_records.shop_runs(store, shop)
    newest = runs.newest
    described: dict[str, Any] = {
        "run": newest and newest.id,
        "last_run": newest and newest.started_at,
        "state": str(newest.state) if newest else "never run",
        "stage": newest and str(newest.stage),
        "reason": newest and newest.reason,
    }
    return described | _describe_finished_run(store, shop, runs.finished)


def _describe_finished_run(store: Store, shop: Shop, run: Run | None) -> dict[str, Any]:
    counts = read_finished_counts(store, shop, run)
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
