"""Files of a store that nothing refers to any more: page bodies, logs, reports and uploads.

Files are listed before the runs and shops are read: the row of a run or shop is there before its first
file, so that nothing of one that begins meanwhile is taken for what is left of one that is gone.

A page body is removed only if no page has it, and if it was not written for a day: a crawl writes
the body before the row of its page. Each body is looked up again just before it goes.
"""

import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, select

from catalog.models import Page
from catalog.runtime.batches import batches
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore, StoredBody
from catalog.storage.store import Store

DAY = 24 * 3600
"""Seconds of a day."""

GRACE = DAY
"""Seconds for which an unreferenced file stays: its writer may store the reference later."""

_BATCH_SIZE = 500  # names of one statement: below SQLite's limit of variables
_CRAWL_LOG = re.compile(r"crawl-(\d+)-(\d+)\.log")
_SHOP_LOG = re.compile(r"shop-(\d+)\.log")
_NUMBER_FIRST = re.compile(r"(\d+)(?:-.*)?")


@dataclass(frozen=True)
class OldFile:
    """A file or folder that may go, with its bytes."""

    path: Path
    size: int

    def remove(self) -> None:
        """Remove it; one that is gone already is no error."""
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class PresentIds:
    """The ids of the runs whose findings are there, and of the shops."""

    runs: Collection[int]
    shops: Collection[int]


ReadIds = Callable[[], PresentIds]


def old_logs(settings: Settings, read_ids: ReadIds, days: int) -> Iterator[OldFile]:
    """Yield the logs of runs and shops that are gone, and those older than `days` (0: no limit)."""
    oldest = time.time() - days * DAY if days else 0.0
    paths = _entries(settings.data_dir / "logs")
    ids = read_ids()
    for path in paths:
        crawl, shop = _CRAWL_LOG.fullmatch(path.name), _SHOP_LOG.fullmatch(path.name)
        if crawl is None and shop is None:
            continue
        is_gone = crawl is not None and int(crawl[2]) not in ids.runs
        is_gone = is_gone or (shop is not None and int(shop[1]) not in ids.shops)
        if is_gone or _is_older(path, oldest):
            yield _old_file(path)


def old_reports(settings: Settings, read_ids: ReadIds) -> Iterator[OldFile]:
    """Yield the folders of reports whose run or shop is gone."""
    folders = [(folder, _entries(folder)) for folder in _entries(settings.data_dir / "reports")]
    ids = read_ids()
    for folder, reports in folders:
        number = _NUMBER_FIRST.fullmatch(folder.name)
        if number is None or not folder.is_dir():
            continue
        if int(number[1]) not in ids.shops:
            yield _old_file(folder)
            continue
        for report in reports:
            if report.name.isdecimal() and int(report.name) not in ids.runs:
                yield _old_file(report)


def old_shop_files(settings: Settings, read_ids: ReadIds) -> Iterator[OldFile]:
    """Yield caches of matches and uploads of shops that are gone, and uploads older than a day."""
    caches = _entries(settings.data_dir / "matching")
    folders = [(folder, _entries(folder)) for folder in _entries(settings.data_dir / "uploads")]
    ids = read_ids()
    for path in caches:
        if path.stem.isdecimal() and int(path.stem) not in ids.shops:
            yield _old_file(path)
    for folder, uploads in folders:
        if not folder.name.isdecimal():
            continue
        if int(folder.name) not in ids.shops:
            yield _old_file(folder)
            continue
        for upload in uploads:
            if _is_older(upload, time.time() - DAY):
                yield _old_file(upload)


def unreferenced_bodies(store: Store, bodies: BodyStore) -> Iterator[list[StoredBody]]:
    """Yield the bodies that no page has and that are old enough to go, folder by folder."""
    oldest = time.time() - GRACE
    for folder in bodies.folders():
        old = [body for body in bodies.list_folder(folder) if body.modified < oldest]
        with store.read() as session:
            referenced = _referenced(session, [body.name for body in old if not body.is_part])
        yield [body for body in old if body.is_part or body.name not in referenced]


def remove_bodies(
    store: Store,
    bodies: BodyStore,
    chosen: Sequence[StoredBody],
    unless_newer_than: float,
    *,
    except_shop: int | None = None,
) -> list[StoredBody]:
    """Remove bodies that still no page has, and return those that were removed.

    Those written after `unless_newer_than`, a time in seconds of the epoch, stay. The pages of
    `except_shop` do not count. Raises StoreError.
    """
    removed = []
    for batch in batches(chosen, _BATCH_SIZE):
        with store.read() as session:
            referenced = _referenced(session, [body.name for body in batch], except_shop)
        for body in batch:
            is_free = body.is_part or body.name not in referenced
            if is_free and bodies.remove(body, unless_newer_than):
                removed.append(body)
    return removed


def _referenced(
    session: Session, names: Sequence[str], except_shop: int | None = None
) -> set[str | None]:
    """Return the names among these that a page of any shop but `except_shop` has."""
    referenced: set[str | None] = set()
    for batch in batches(names, _BATCH_SIZE):
        bodies: Any = select(Page.body).where(col(Page.body).in_(batch))
        if except_shop is not None:
            bodies = bodies.where(Page.shop_id != except_shop)
        referenced.update(session.exec(bodies))
    return referenced


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_older(path: Path, moment: float) -> bool:
    """Return True if a file was last written before a time; False if it is gone meanwhile."""
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def _old_file(path: Path) -> OldFile:
    size = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        # Its shop may be removed at the same time.
        with suppress(FileNotFoundError):
            size += file.stat().st_size if file.is_file() else 0
    return OldFile(path, size)
