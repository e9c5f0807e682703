"""Copy of the page bodies that a store names, to another folder or file system."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum

from sqlmodel import Session, col, select

from catalog.errors import StoreError
from catalog.models import Page
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.bodies import BodyStore

# Bodies that are copied at the same time: most of the time goes by waiting for the file systems.
_AT_ONCE = 8
# Bodies whose names are in memory, and after which progress is reported.
_BATCH_SIZE = 1_000


class BodyResult(StrEnum):
    """Result of copying one page body."""

    COPIED = "copied"
    PRESENT = "already there"
    MISSING = "missing or damaged in the source"


def copy_bodies(
    session: Session, source: BodyStore, target: BodyStore, progress: Progress = no_progress
) -> dict[BodyResult, int]:
    """Copy the bodies of all pages that a session reads; returns their numbers by result.

    Bodies that the target has are left alone, so that a copy that ended early goes on. Raises
    StoreError, StorageFull.
    """
    results: Counter[BodyResult] = Counter()
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        named = select(Page.body).where(col(Page.body).is_not(None)).distinct()
        rows = session.exec(named, execution_options={"yield_per": _BATCH_SIZE})
        for names in rows.partitions():
            results.update(threads.map(lambda name: _copy_body(name, source, target), names))
            progress("page bodies copied", results.total())
    return {result: results[result] for result in BodyResult}


def _copy_body(name: str | None, source: BodyStore, target: BodyStore) -> BodyResult:
    assert name is not None
    if target.holds(name, verify=False):
        return BodyResult.PRESENT
    try:
        body = source.get(name)
    except StoreError:
        return BodyResult.MISSING
    target.put(body, name)
    return BodyResult.COPIED
