"""A shop is removed with all its data: rows, page bodies, logs, reports, caches and uploads."""

import time
from collections.abc import Iterator
from pathlib import Path

from sqlmodel import col, select

from catalog.models import Page, Shop
from catalog.runtime.batches import batches
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store
from scout.maintenance.file_retention import OldFile, remove_bodies
from scout.pipeline import shop_run
from scout.pipeline.run_records import shop_key
from scout.shops.purge import purge_shop

# Files of a shop in the data folder, by its id. Ids are never reused.
_FILES = (
    "logs/shop-{id}.log",
    "logs/crawl-{id}-*.log",
    "reports/{id}",
    "reports/{id}-*",
    # The cache, and what a killed run has left of one.
    "matching/{id}.*",
    "uploads/{id}",
)
# Bodies that are looked up and removed together.
_BATCH_SIZE = 500


def remove_shop(settings: Settings, store: Store, shop: Shop) -> None:
    """Remove a shop with its pages, offers, rules, runs, review decisions, schedule and files.

    Bodies that other shops have as well stay. The rows go last: a removal that ends early is made
    again by its name. Raises Busy while the shop is being run, StoreError.
    """
    shop_id = shop_key(shop)
    with shop_run.lock_shop(settings, store, shop, "its removal") as lease:
        for path in _shop_files(settings.data_dir, shop_id):
            OldFile(path, 0).remove()
        _remove_bodies(settings, store, shop_id, lease)
        with lease.store.write() as session:
            purge_shop(session, shop_id)


def _remove_bodies(settings: Settings, store: Store, shop_id: int, lease: HeldLease) -> None:
    """Remove the bodies of a shop's pages that no other shop has."""
    started = time.time()
    with store.read() as session:
        own = select(Page.body).where(Page.shop_id == shop_id, col(Page.body).is_not(None))
        names = [name for name in session.exec(own.distinct()) if name]
    bodies = BodyStore(settings.bodies)
    for batch in batches(names, _BATCH_SIZE):
        # Whoever has taken the shop over needs the bodies.
        lease.check()
        stored = [body for name in batch if (body := bodies.find(name)) is not None]
        remove_bodies(store, bodies, stored, started, except_shop=shop_id)


def _shop_files(data_dir: Path, shop_id: int) -> Iterator[Path]:
    for pattern in _FILES:
        yield from data_dir.glob(pattern.format(id=shop_id))
