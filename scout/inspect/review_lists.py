"""Lists of review decisions, and of the steps that made them."""

from typing import Any

from sqlmodel import col, select

from catalog.models import ReviewDecision, Shop, StoredFinding
from catalog.runtime.batches import batches
from catalog.storage.decisions.reviews import count_steps, read_reviews
from catalog.storage.store import Store
from reports.statistics.findings_reader import time_text
from scout.pipeline import run_records

DECISION_COLUMNS = ("decision", "reviewed_at", "reviewer", "title", "note", "url")
STEP_COLUMNS = ("step", "action", "made_at", "reviewer", "offers", "undone", "selection")

_BATCH_SIZE = 500  # URLs of a query


def action_name(action: str) -> str:
    """Return the word of the command line for a stored decision or another action.

    >>> action_name("accept"), action_name("import")
    ('confirm', 'import')
    """
    return "confirm" if action == ReviewDecision.ACCEPT else action


def list_decisions(store: Store, shop: Shop, limit: int | None = None) -> list[dict[str, Any]]:
    """List the decisions of a shop, the newest first, with the titles of the last finished run."""
    with store.read() as session:
        reviews = read_reviews(session, run_records.shop_key(shop))[:limit]
    titles = _read_titles(store, shop, [review.url for review in reviews])
    rows = []
    for review in reviews:
        rows.append(
            {
                "url": review.url,
                "decision": action_name(review.decision),
                "note": review.note,
                "reviewer": review.reviewer,
                "reviewed_at": time_text(review.reviewed_at),
                "title": titles.get(review.url),
            }
        )
    return rows


def list_steps(store: Store, shop: Shop, limit: int | None = None) -> list[dict[str, Any]]:
    """List the steps of a shop, the newest first; `undone` counts the offers undone since."""
    with store.read() as session:
        steps = count_steps(session, run_records.shop_key(shop), limit)
    rows = []
    for step, offers, undone in steps:
        rows.append(
            {
                "step": step.id,
                "action": action_name(step.action),
                "made_at": time_text(step.made_at),
                "reviewer": step.reviewer,
                "offers": offers,
                "undone": undone,
                "selection": step.selection,
            }
        )
    return rows


def _read_titles(store: Store, shop: Shop, urls: list[str]) -> dict[str, str | None]:
    """Return the titles of the last finished run's findings by URL."""
    run = run_records.shop_runs(store, shop).finished
    titles: dict[str, str | None] = {}
    if run is None:
        return titles
    with store.read() as session:
        for batch in batches(urls, _BATCH_SIZE):
            query = select(StoredFinding.url, StoredFinding.title).where(
                StoredFinding.run_id == run.id,
                col(StoredFinding.url).in_(batch),
            )
            titles |= dict(session.exec(query).all())
    return titles
