"""The overview of shops with their newest runs, for the command line, web pages and API."""

from collections import Counter
from typing import Any

from sqlmodel import Session, col, func, select

from catalog.models import Crawl, KnownOffer, Page, Shop
from catalog.runtime.process_end import ENDED_PROCESS
from catalog.storage.store import Store
from scout.pipeline import run_records
from scout.pipeline.run_summary import summarize_run


def describe_shops(store: Store) -> list[dict[str, Any]]:
    """Describe all shops, sorted by name."""
    with store.read() as session:
        shops = list(session.exec(select(Shop).order_by(col(Shop.name))))
    return [describe_shop(store, shop) for shop in shops]


def describe_shop(store: Store, shop: Shop) -> dict[str, Any]:
    """Describe one shop: its stored offers and pages, and the state of its newest run."""
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
    run = run_records.latest_run(store, shop)
    if run is None:
        return {
            "run": None,
            "last_run": None,
            "state": "never run",
            "stage": None,
            "reason": None,
            "missing": None,
            "reports": {},
        }
    summary = summarize_run(store, shop, run_records.run_key(run))
    return {
        "run": run.id,
        "last_run": run.started_at,
        "state": str(run.state),
        "stage": str(run.stage),
        "reason": run.reason,
        "missing": summary.missing,
        "reports": summary.reports,
    }
