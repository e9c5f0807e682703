"""Backups of a store: a folder with the database, the page bodies, and a manifest.

The database is copied first and the bodies after it: bodies never change once written, so each page
of the copy has its body. SQLite copies itself (VACUUM INTO), PostgreSQL is copied by pg_dump and
restored by pg_restore, which get the password in their environment and never as an argument.
"""

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlmodel import col, func, select

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.models import Page, Shop, utc_now
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.served_process import safe_environment
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store, newest_revision

MANIFEST = "manifest.json"
SQLITE_COPY = "scout.db"
POSTGRESQL_DUMP = "scout.dump"
BODIES = "bodies"

# Where Debian installs PostgreSQL, a folder a version.
PROGRAMS = Path("/usr/lib/postgresql")
# Rows that are fetched from the database at once.
_BATCH_SIZE = 1_000
# Variables of libpq by the part of a URL that they take the place of.
_LIBPQ = {"host": "PGHOST", "port": "PGPORT", "username": "PGUSER", "password": "PGPASSWORD"}
_LIBPQ_OF_QUERY = {"host": "PGHOST", "port": "PGPORT", "sslmode": "PGSSLMODE"}


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

    Raises UsageError where the folder is not empty, StorageFull, StoreError.
    """
    dialect = store.engine.dialect.name
    if dialect == "postgresql":
        # A folder without a copy would be left behind where there is no such program.
        _find_program("pg_dump")
    _make_empty_folder(folder)
    try:
        copy = folder / (SQLITE_COPY if dialect == "sqlite" else POSTGRESQL_DUMP)
        if dialect == "sqlite":
            _copy_sqlite(settings, copy)
        else:
            _run_postgresql(settings, ["pg_dump", "--format=custom", f"--file={copy}"])
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
        # Written last: a folder without it is no complete backup.
        manifest = json.dumps(asdict(backup), indent=1)
        (folder / MANIFEST).write_text(manifest + "\n", encoding="utf-8")
    except BaseException as error:
        # An incomplete copy would keep the disk full, and the next backup out of its folder.
        _empty(folder)
        if isinstance(error, OSError):
            raise StorageFull(f"{folder} cannot be written: {error.strerror}") from error
        raise
    return backup


def remove_older_backups(folder: Path, keep: int) -> list[Path]:
    """Remove the complete backups beside one, all but this and the `keep` - 1 newest others; returns
    their folders.

    Backups of databases of another kind stay, and so does whatever else is in the folder, links to
    backups among it. Raises StoreError.
    """
    folder = folder.resolve()
    backup = _read_manifest(folder)
    made_at: dict[Path, str] = {}
    for manifest in folder.parent.glob(f"*/{MANIFEST}"):
        # A link such as `latest` is no backup of its own; a clock may have been set back since.
        if manifest.parent.is_symlink() or manifest.parent == folder:
            continue
        with suppress(UsageError):
            other = _read_manifest(manifest.parent)
            if other.dialect == backup.dialect:
                made_at[manifest.parent] = other.made_at
    # All times are in UTC and of one form.
    newest_first = sorted(made_at, key=lambda path: (made_at[path], path.name), reverse=True)
    removed = newest_first[keep - 1 :]
    for path in removed:
        try:
            # First, so that a half-removed folder is no backup any more.
            (path / MANIFEST).unlink()
            shutil.rmtree(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed: {error.strerror}") from error
    return removed


def restore_store(settings: Settings, folder: Path, progress: Progress = no_progress) -> Backup:
    """Restore a backup into the database and the page store of the settings, which are empty.

    Raises UsageError where the folder holds no complete backup, or the database is not empty, and
    StoreError, StorageFull.
    """
    backup = _read_manifest(folder)
    url = make_url(settings.database)
    if url.get_backend_name() != backup.dialect:
        raise UsageError(
            f"{folder} is a backup of {backup.dialect}, and 'database_url' names "
            f"{url.get_backend_name()}: restore it there, then use 'scout db copy'"
        )
    try:
        if backup.dialect == "sqlite":
            _restore_sqlite(url, folder / SQLITE_COPY)
        else:
            _restore_postgresql(settings, url, folder / POSTGRESQL_DUMP)
        if (folder / BODIES).is_dir():
            _restore_bodies(settings, folder / BODIES, progress)
    except OSError as error:
        raise StorageFull(f"the backup cannot be restored: {error.strerror}") from error
    return backup


def _make_empty_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
    if not is_empty:
        raise UsageError(f"{folder} is not empty: name a new folder for each backup")


def _empty(folder: Path) -> None:
    # The error that led here tells more than one of a disk that does not answer any more.
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _read_manifest(folder: Path) -> Backup:
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


def _restore_sqlite(url: URL, copy: Path) -> None:
    target = Path(url.database or "")
    if not url.database or target.exists():
        raise UsageError(
            f"{url.database or 'a database in memory'} exists: restore into a new data folder, or "
            "move it away"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(copy, part)
    part.rename(target)


def _restore_postgresql(settings: Settings, url: URL, dump: Path) -> None:
    engine = create_engine(url)
    try:
        if inspect(engine).get_table_names():
            raise UsageError(
                f"{url.render_as_string()} is not empty: restore into a new database (createdb)"
            )
    finally:
        engine.dispose()
    options = ["--no-owner", "--no-acl", "--exit-on-error", "--single-transaction"]
    _run_postgresql(settings, ["pg_restore", *options, f"--dbname={url.database}", str(dump)])


def _run_postgresql(settings: Settings, command: list[str]) -> None:
    """Run a program of PostgreSQL on the database of the settings. Raises StoreError."""
    program = _find_program(command[0])
    environment = safe_environment() | _libpq_variables(make_url(settings.database))
    done = subprocess.run(
        [program, *command[1:]], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise StoreError(f"{command[0]} failed: {lines[0]}")


def _find_program(name: str) -> str:
    """Return the path of a program of PostgreSQL, the newest where several are installed."""
    if path := shutil.which(name):
        return path
    installed = PROGRAMS.glob(f"*/bin/{name}")
    newest = max(installed, key=lambda path: float(path.parts[-3]), default=None)
    if newest is None:
        raise StoreError(
            f"{name} is not installed: install PostgreSQL's programs "
            "(Debian, Ubuntu: apt install postgresql-client)"
        )
    return str(newest)


def _libpq_variables(url: URL) -> dict[str, str]:
    """Return the variables by which libpq finds a database, and its password."""
    variables = {"PGDATABASE": url.database or ""}
    for part, variable in _LIBPQ.items():
        value = getattr(url, part)
        if value is not None:
            variables[variable] = str(value)
    # A socket, a file of a certificate and the like stand in the query.
    for name, value in url.query.items():
        if name in _LIBPQ_OF_QUERY and isinstance(value, str):
            variables[_LIBPQ_OF_QUERY[name]] = value
    for name in ("PGPASSFILE", "PGSERVICEFILE"):
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables


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
                _copy_file(Path(body.path), target / (name or "")[:2])
                copied += 1
        last = names[-1] or ""
        progress("page bodies copied", copied)


def _restore_bodies(settings: Settings, source: Path, progress: Progress) -> None:
    if "://" in settings.bodies:
        raise UsageError(
            f"the backup has page bodies, and 'bodies_url' is {settings.bodies}: copy {source} there"
        )
    for number, file in enumerate(sorted(source.glob("??/*.zst")), 1):
        _copy_file(file, Path(settings.bodies) / file.parent.name)
        progress("page bodies restored", number)


def _copy_file(file: Path, folder: Path) -> None:
    """Copy a file under a temporary name first; one that is there already stays."""
    target = folder / file.name
    if target.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(file, part)
    part.rename(target)
