"""Each shop with its last run, as `scout shop list`, the start page and the API show it."""

from typing import Any

from sqlmodel import Session, col, func, select

from catalog.models import Crawl, KnownOffer, Page, Shop
from catalog.storage.store import Store
from scout.pipeline import pipeline
from scout.pipeline.summary import summary


def overview(store: Store) -> list[dict[str, Any]]:
    """All shops, by name."""
    with store.read() as session:
        shops = list(session.exec(select(Shop).order_by(col(Shop.name))))
    return [row(store, shop) for shop in shops]


def row(store: Store, shop: Shop) -> dict[str, Any]:
    """One shop: what is stored of it, and what its newest run came to."""
    run = pipeline.latest(store, shop)
    done = summary(store, shop, pipeline.run_key(run)) if run else None
    with store.read() as session:
        counted = _counts(session, shop)
    return {
        "name": shop.name,
        "url": shop.url,
        **counted,
        "run": run.id if run else None,
        "last_run": run.started_at if run else None,
        "state": str(run.state) if run else "never run",
        "stage": str(run.stage) if run else None,
        "reason": run.reason if run else None,
        "missing": done.missing if done else None,
        "reports": done.reports if done else {},
    }


def last_crawl(store: Store, shop: Shop) -> dict[str, Any]:
    """What the shop's newest crawl asked for and came to; nothing where there was none."""
    newest = select(Crawl).where(Crawl.shop_id == shop.id).order_by(col(Crawl.id).desc()).limit(1)
    with store.read() as session:
        found = session.exec(newest).first()
    return found.model_dump(exclude={"id", "shop_id", "figures"}) if found else {}


def _counts(session: Session, shop: Shop) -> dict[str, int]:
    return {
        "known": session.exec(select(func.count()).where(KnownOffer.shop_id == shop.id)).one(),
        "pages": session.exec(select(func.count()).where(Page.shop_id == shop.id)).one(),
    }
