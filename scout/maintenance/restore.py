"""Restore a backup into an empty database and page store.

Page bodies come first and the database last, in one step: a restore that was killed has left no
database, and is simply run again.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import URL, make_url

from catalog.errors import StorageFull, UsageError
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from scout.maintenance.backup import (
    BODIES,
    POSTGRESQL_DUMP,
    SQLITE_COPY,
    Backup,
    copy_body,
    read_manifest,
)
from scout.maintenance.postgresql_programs import run_program


def restore_store(settings: Settings, folder: Path, progress: Progress = no_progress) -> Backup:
    """Restore a backup into the database and the page store of the settings, which are empty.

    Raises UsageError where the folder holds no complete backup, or the database is not empty, and
    StoreError, StorageFull.
    """
    backup = read_manifest(folder)
    url = make_url(settings.database)
    if url.get_backend_name() != backup.dialect:
        raise UsageError(
            f"{folder} is a backup of {backup.dialect}, and 'database_url' names "
            f"{url.get_backend_name()}: restore it there, then use 'scout db copy'"
        )
    is_sqlite = backup.dialect == "sqlite"
    copy = folder / (SQLITE_COPY if is_sqlite else POSTGRESQL_DUMP)
    try:
        _check_size(copy, backup)
        if is_sqlite:
            _require_no_file(url)
        else:
            _require_no_tables(url)
        if (folder / BODIES).is_dir():
            _restore_bodies(settings, folder / BODIES, progress)
        if is_sqlite:
            _restore_sqlite(Path(url.database or ""), copy)
        else:
            _restore_postgresql(settings, url, copy)
    except OSError as error:
        raise StorageFull(f"the backup cannot be restored: {error.strerror}") from error
    return backup


def _check_size(copy: Path, backup: Backup) -> None:
    """Raise UsageError unless the copy of the database is as long as the manifest says."""
    size = copy.stat().st_size if copy.exists() else 0
    if size != backup.database_bytes:
        raise UsageError(
            f"{copy} is damaged: it has {size} bytes instead of {backup.database_bytes}; restore "
            "another backup"
        )


def _require_no_file(url: URL) -> None:
    if not url.database or Path(url.database).exists():
        raise UsageError(
            f"{url.database or 'a database in memory'} exists: restore into a new data folder, or "
            "move it away"
        )


def _require_no_tables(url: URL) -> None:
    engine = create_engine(url)
    try:
        if inspect(engine).get_table_names():
            raise UsageError(
                f"{url.render_as_string()} is not empty: restore into a new database (createdb)"
            )
    finally:
        engine.dispose()


def _restore_sqlite(target: Path, copy: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(copy, part)
    _check_pages(part, copy)
    _release_leases(URL.create("sqlite", database=str(part)))
    # A power cut must not leave the name of a database with half of its contents.
    os.sync()
    part.rename(target)


def _check_pages(database: Path, copy: Path) -> None:
    """Raise UsageError if SQLite finds a page of the database damaged; the file is then removed."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        answer = str(error)
    if answer != "ok":
        database.unlink()
        raise UsageError(f"{copy} is damaged ({answer}): restore another backup")


def _restore_postgresql(settings: Settings, url: URL, dump: Path) -> None:
    options = ["--no-owner", "--no-acl", "--exit-on-error", "--single-transaction"]
    run_program(settings, ["pg_restore", *options, f"--dbname={url.database}", str(dump)])
    _release_leases(url)


def _release_leases(url: URL) -> None:
    """Release the leases of a restored database: their holders work on the one that was copied."""
    engine = create_engine(url)
    try:
        # The schema of an older Scout may have none.
        if inspect(engine).has_table("lease"):
            with engine.begin() as connection:
                connection.execute(text("UPDATE lease SET expires_at = NULL, token = token + 1"))
    finally:
        engine.dispose()


def _restore_bodies(settings: Settings, source: Path, progress: Progress) -> None:
    if "://" in settings.bodies:
        raise UsageError(
            f"the backup has page bodies, and 'bodies_url' is {settings.bodies}: copy {source} there"
        )
    for number, file in enumerate(sorted(source.glob("??/*.zst")), 1):
        copy_body(file, Path(settings.bodies) / file.parent.name)
        progress("page bodies restored", number)
