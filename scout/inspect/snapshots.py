"""Snapshots: stored pages as the crawl fetched them, safe to show to a reviewer."""

from dataclasses import dataclass
from datetime import datetime

from catalog.errors import UsageError
from catalog.html import to_utf8
from catalog.models import MAX_ROW_ID, Page
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store

# Headers of a response with a snapshot: a page from outside neither runs scripts nor loads
# anything, and is of another origin than the application.
SNAPSHOT_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True)
class Snapshot:
    """Stored page of a shop, in UTF-8 whatever its own encoding is."""

    shop_id: int
    url: str
    fetched_at: datetime | None
    markup: bytes


def read_snapshot(settings: Settings, store: Store, page_id: int) -> Snapshot:
    """Read the stored page that a row of `scout offers --json` names (`snapshot`, `page`).

    Raises UsageError if no such page is stored, StoreError if its body is missing or damaged.
    """
    with store.read() as session:
        page = session.get(Page, page_id) if 0 < page_id <= MAX_ROW_ID else None
    if page is None or page.body is None:
        raise UsageError(f"no page {page_id} is stored: rows of 'scout offers --json' name theirs")
    body = BodyStore(settings.bodies).get(page.body, settings.max_body)
    return Snapshot(page.shop_id, page.url, page.fetched_at, to_utf8(body, page.content_type))
