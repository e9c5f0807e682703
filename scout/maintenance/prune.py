"""`scout db prune`: remove old runs with their findings, logs and reports, and unused page bodies.

The match, page, body and runs that a stored finding refers to stay. Files and bodies without any
reference are removed whatever the retention is.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from sqlmodel import select

from catalog.errors import Busy, UnknownShop
from catalog.models import Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from scout.maintenance.file_retention import (
    GRACE,
    OldFile,
    PresentIds,
    old_logs,
    old_reports,
    old_shop_files,
    remove_bodies,
    unreferenced_bodies,
)
from scout.maintenance.run_retention import (
    Retention,
    count_rows,
    existing_runs,
    prune_run,
    removable_runs,
    remove_unreferenced_runs,
)
from scout.pipeline import shop_run


@dataclass(frozen=True)
class PrunedKind:
    """A kind of things that were removed, or would be: their number, and the bytes of files."""

    kind: str
    removed: int
    bytes: int = 0


def daily_pruning(settings: Settings, store: Store) -> Callable[[], object] | None:
    """Return the function that a timetable calls once a day; None where the settings keep all."""
    retention = Retention(settings.keep_days, settings.keep_runs)
    if retention == Retention():
        return None
    return partial(prune_store, settings, store, retention)


def prune_store(
    settings: Settings,
    store: Store,
    retention: Retention,
    *,
    is_trial: bool = False,
    progress: Progress = no_progress,
) -> list[PrunedKind]:
    """Remove runs beyond the retention, and unreferenced files and bodies; a trial counts them.

    The runs of a shop that is in use are left to the next time. Raises StoreError.
    """
    with store.read() as session:
        shops = list(session.exec(select(Shop)))
    removed_runs: set[int] = set()
    row_count = 0
    busy = 0
    for number, shop in enumerate(shops, 1):
        try:
            run_ids, rows = _prune_shop(settings, store, shop, retention, is_trial)
        except Busy:
            busy += 1
            continue
        except UnknownShop:
            # Removed meanwhile, with all its runs.
            continue
        removed_runs.update(run_ids)
        row_count += rows
        progress("shops looked at", number, len(shops))

    def read_ids() -> PresentIds:
        with store.read() as session:
            runs = set(existing_runs(session)) - removed_runs
            return PresentIds(runs, {shop_id or 0 for shop_id in session.exec(select(Shop.id))})

    results = [PrunedKind("runs", len(removed_runs)), PrunedKind("rows of runs", row_count)]
    for kind, files in (
        ("logs", old_logs(settings, read_ids, retention.days)),
        ("reports", old_reports(settings, read_ids)),
        ("caches and uploads", old_shop_files(settings, read_ids)),
    ):
        results.append(_prune_files(kind, files, is_trial))
    results.append(_prune_bodies(settings, store, is_trial, progress))
    if busy:
        results.append(PrunedKind("shops left out: they are in use", busy))
    return results


def _prune_shop(
    settings: Settings, store: Store, shop: Shop, retention: Retention, is_trial: bool
) -> tuple[list[int], int]:
    """Remove the old runs of a shop. Returns their ids, and the number of their rows."""
    shop_id = shop.id or 0
    with store.read() as session:
        run_ids = removable_runs(session, shop_id, retention)
        rows = count_rows(session, run_ids)
    if is_trial or not run_ids:
        return run_ids, rows
    with shop_run.lock_shop(settings, store, shop, "the removal of old runs") as lease:
        for run_id in run_ids:
            # A transaction each: others wait for the rows of one run only.
            with lease.store.write() as session:
                prune_run(session, run_id)
        with lease.store.write() as session:
            remove_unreferenced_runs(session, shop_id)
    return run_ids, rows


def _prune_files(kind: str, files: Iterable[OldFile], is_trial: bool) -> PrunedKind:
    removed = 0
    size = 0
    for file in files:
        if not is_trial:
            file.remove()
        removed += 1
        size += file.size
    return PrunedKind(kind, removed, size)


def _prune_bodies(
    settings: Settings, store: Store, is_trial: bool, progress: Progress
) -> PrunedKind:
    bodies = BodyStore(settings.bodies)
    removed = 0
    size = 0
    for chosen in unreferenced_bodies(store, bodies):
        gone = chosen
        if not is_trial:
            gone = remove_bodies(store, bodies, chosen, time.time() - GRACE)
        removed += len(gone)
        size += sum(body.size for body in gone)
        progress("page bodies removed", removed)
    return PrunedKind("page bodies", removed, size)
