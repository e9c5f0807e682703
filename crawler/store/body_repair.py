"""Body repair after a power cut: pages whose stored body is missing or damaged are fetched again.

A body is written before its row, but neither is forced onto the disk page by page. Bodies written
in the last minute before a power cut may be missing, empty or full of zeros, although their rows
survived. So a crawl starts by checking that its shop's bodies exist. Bodies that are newer than the
last crawl that ended are compared with their hash.

An object store has no power cuts, and each question is a request there. So only a sample is looked
for, and all bodies if one of those is missing: somebody may have deleted them.
"""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from sqlmodel import Session, col, func, select, update

from catalog.models import Crawl, Page, PageState
from catalog.runtime.batches import batches
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store

FLUSH_TIME = timedelta(minutes=2)  # after which an operating system has written files to the disk
# Columns of a page that was never fetched: without ETag and date the shop sends it in full.
UNFETCHED: dict[str, Any] = {
    "body": None,
    "etag": None,
    "last_modified": None,
    "rules_version": None,
    "kind": None,
    "read_reason": None,
    "attempts": 0,
    "not_before": None,
}
BATCH_SIZE = 500  # rows of one UPDATE; below SQLite's limit of variables
SAMPLE_SIZE = 20  # bodies looked for in an object store
REQUESTS_AT_ONCE = 16  # to an object store


def repair_bodies(store: Store, shop_id: int, bodies: BodyStore) -> int:
    """Make the pages due whose body is missing or damaged; returns their number.

    Raises BodiesUnreachable.
    """
    with store.read() as session:
        since = _unsafe_since(session, shop_id)
        pages = select(Page.id, Page.body, Page.fetched_at).where(
            Page.shop_id == shop_id, col(Page.body).is_not(None)
        )
        rows = list(session.exec(pages))
    if bodies.is_durable:
        damaged = _missing_in_object_store(bodies, [(row[0], row[1] or "") for row in rows])
    else:
        damaged = []
        for page_id, body, fetched_at in rows:
            is_unsafe = since is None or fetched_at is None or fetched_at >= since
            if not bodies.holds(body or "", verify=is_unsafe):
                damaged.append(page_id)
    for batch in batches(damaged, BATCH_SIZE):
        is_in_batch = col(Page.id).in_(batch)
        with store.write() as session:
            session.exec(update(Page).where(is_in_batch).values(**UNFETCHED))
            fetched = update(Page).where(is_in_batch, col(Page.state) == PageState.FETCHED)
            session.exec(fetched.values(state=PageState.PENDING, reason=None))
    return len(damaged)


def _missing_in_object_store(
    bodies: BodyStore, pages: Sequence[tuple[int | None, str]]
) -> list[int | None]:
    """Return the ids of the pages, given with their bodies, whose bodies are gone."""
    sample = random.sample(pages, min(SAMPLE_SIZE, len(pages)))
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as executor:
        for chosen in (sample, pages):
            names = [body for _, body in chosen]
            held = list(executor.map(lambda name: bodies.holds(name, verify=False), names))
            if all(held):
                return []
    return [page_id for (page_id, _), is_held in zip(pages, held, strict=True) if not is_held]


def _unsafe_since(session: Session, shop_id: int) -> datetime | None:
    """Return the time from which bodies may not be on the disk.

    Returns None if no crawl of the shop has ended.
    """
    last_end = session.exec(
        select(func.max(Crawl.finished_at)).where(Crawl.shop_id == shop_id)
    ).one()
    return last_end - FLUSH_TIME if last_end else None
