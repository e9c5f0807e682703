"""Backups of a store: a folder with the database, the page bodies, and a manifest.

The database is copied first and the bodies after it: bodies never change once written, so each page
of the copy has its body. SQLite copies itself (VACUUM INTO), PostgreSQL is copied by pg_dump.

While a backup is made, its folder holds a lock file. A backup that was killed has left that file
unlocked: its folder is emptied for the next backup of the same name, or removed by a later one.
"""

import json
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock
from sqlalchemy.engine import make_url
from sqlmodel import col, func, select

from catalog.errors import Busy, StorageFull, StoreError, UsageError
from catalog.models import Page, Shop, utc_now
from catalog.runtime.file_locks import lock_file
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store, newest_revision
from scout.maintenance.postgresql_programs import find_program, run_program

MANIFEST = "manifest.json"
SQLITE_COPY = "scout.db"
POSTGRESQL_DUMP = "scout.dump"
BODIES = "bodies"
LOCK = "incomplete.lock"

# Rows that are fetched from the database at once.
_BATCH_SIZE = 1_000


@dataclass(frozen=True)
class Backup:
    """The manifest of a backup: its database, its contents, and its time.

    `note` describes the data that the backup lacks, in words.
    """

    dialect: str
    schema: str
    shops: int
    bodies: int
    database_bytes: int
    made_at: str
    scout: str
    note: str = ""


def back_up_store(
    settings: Settings,
    store: Store,
    folder: Path,
    with_bodies: bool = True,
    progress: Progress = no_progress,
) -> Backup:
    """Copy a store into a new folder; the store may be in use.

    Raises UsageError where the folder is not empty, Busy where another backup is made into it,
    StorageFull, StoreError.
    """
    dialect = store.engine.dialect.name
    if dialect == "postgresql":
        # A folder without a copy would be left behind where there is no such program.
        find_program("pg_dump")
    lock = _lock_empty_folder(folder)
    try:
        copy = folder / (SQLITE_COPY if dialect == "sqlite" else POSTGRESQL_DUMP)
        if dialect == "sqlite":
            _copy_sqlite(settings, copy)
        else:
            run_program(settings, ["pg_dump", "--format=custom", f"--file={copy}"])
        with store.read() as session:
            shops = session.exec(select(func.count()).select_from(Shop)).one()
        note, bodies = "page bodies are left out", 0
        if with_bodies and "://" in settings.bodies:
            note = f"page bodies are not copied from {settings.bodies}: copy that place as well"
        elif with_bodies:
            note, bodies = "", _copy_bodies(settings, store, folder / BODIES, progress)
        backup = Backup(
            dialect,
            newest_revision(),
            shops,
            bodies,
            copy.stat().st_size,
            utc_now().isoformat(timespec="seconds"),
            version("scout-offer-gaps"),
            note,
        )
        # Neither VACUUM INTO nor a copy of a file waits for the disk: a power cut must not leave a
        # manifest beside them that is whole alone.
        os.sync()
        # Written last: a folder without it is no complete backup.
        manifest = json.dumps(asdict(backup), indent=1)
        (folder / MANIFEST).write_text(manifest + "\n", encoding="utf-8")
    except BaseException as error:
        # An incomplete copy would keep the disk full.
        _empty(folder)
        if isinstance(error, OSError):
            raise StorageFull(f"{folder} cannot be written: {error.strerror}") from error
        raise
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink(missing_ok=True)
        lock.release()
    return backup


def remove_older_backups(folder: Path, keep: int) -> list[Path]:
    """Remove the complete backups beside one, all but this and the `keep` - 1 newest others, and
    those that were killed half-way; returns their folders.

    Backups of databases of another kind stay, and so does whatever else is in the folder, links to
    backups among it. Raises StoreError.
    """
    folder = folder.resolve()
    backup = read_manifest(folder)
    made_at: dict[Path, str] = {}
    for manifest in folder.parent.glob(f"*/{MANIFEST}"):
        # A link such as `latest` is no backup of its own; a clock may have been set back since.
        if manifest.parent.is_symlink() or manifest.parent == folder:
            continue
        with suppress(UsageError):
            other = read_manifest(manifest.parent)
            if other.dialect == backup.dialect:
                made_at[manifest.parent] = other.made_at
    # All times are in UTC and of one form.
    newest_first = sorted(made_at, key=lambda path: (made_at[path], path.name), reverse=True)
    removed = newest_first[keep - 1 :]
    for lock in folder.parent.glob(f"*/{LOCK}"):
        if not lock.parent.is_symlink() and _is_abandoned(lock):
            removed.append(lock.parent)
    for path in removed:
        try:
            # First, so that a half-removed folder is no backup any more.
            (path / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed: {error.strerror}") from error
    return removed


def _lock_empty_folder(folder: Path) -> FileLock:
    """Make a folder and lock it; the files of a killed backup are removed.

    Raises UsageError where it holds anything else, Busy where it is locked, StoreError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
    lock_path = folder / LOCK
    if not is_empty and not lock_path.exists():
        raise UsageError(f"{folder} is not empty: name a new folder for each backup")
    lock = lock_file(lock_path, f"another backup is made into {folder}: name another folder")
    if not is_empty:
        _empty(folder)
    return lock


def _is_abandoned(lock_path: Path) -> bool:
    """Return True if the process that locked a folder has ended without completing its backup."""
    try:
        lock_file(lock_path, "held").release()
    except Busy:
        return False
    return not (lock_path.parent / MANIFEST).exists()


def _empty(folder: Path) -> None:
    # The error that led here tells more than one of a disk that does not answer any more.
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name == LOCK:
                continue
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def read_manifest(folder: Path) -> Backup:
    """Read the manifest of a backup. Raises UsageError where the folder holds no complete one."""
    try:
        return Backup(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{folder} holds no complete backup: {MANIFEST} cannot be read") from error


def _copy_sqlite(settings: Settings, copy: Path) -> None:
    source = make_url(settings.database).database or ""
    try:
        with closing(sqlite3.connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied to {copy}: {error}") from error


def _copy_bodies(settings: Settings, store: Store, target: Path, progress: Progress) -> int:
    """Copy the bodies that pages have into a folder, and return their number."""
    bodies = BodyStore(settings.bodies)
    copied = 0
    last = ""
    while True:
        # In the order of the index, so that no list of all names is held.
        query = select(Page.body).where(col(Page.body) > last).distinct()
        with store.read() as session:
            names = session.exec(query.order_by(col(Page.body)).limit(_BATCH_SIZE)).all()
        if not names:
            return copied
        for name in names:
            body = bodies.find(name or "")
            # A body that is missing is fetched by the next crawl, as in the store itself.
            if body is not None:
                copy_body(Path(body.path), target / (name or "")[:2])
                copied += 1
        last = names[-1] or ""
        progress("page bodies copied", copied)


def copy_body(file: Path, folder: Path) -> None:
    """Copy a file under a temporary name first; one that is there already stays."""
    target = folder / file.name
    if target.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(file, part)
    part.rename(target)
