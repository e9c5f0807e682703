"""The database: opened at the schema of this version of Scout, or refused with a clear message.

A transaction that will write begins as one (`BEGIN IMMEDIATE` on SQLite), so that two processes
wait for each other instead of failing half way. See
https://docs.sqlalchemy.org/en/20/dialects/sqlite.html, "Serializable isolation".
"""

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlmodel import Session, create_engine, select

from catalog.errors import (
    ConfigError,
    LeaseLost,
    SchemaOutdated,
    SchemaTooNew,
    StorageFull,
    StoreError,
    UnknownShop,
)
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases.fence import Fence

MIGRATIONS = Path(__file__).with_name("migrations")
# Seconds to wait for another process's lock on SQLite.
LOCK_TIMEOUT = 60
# KiB of the database that a connection keeps in memory. A run of 60,000 findings is stored a fifth
# faster than with SQLite's 2,000.
_SQLITE_CACHE = 32_000
# Seconds between two attempts at the journal mode.
_RETRY_INTERVAL = 0.02


class Store:
    """An open database; `read()` and `write()` open sessions.

    Paths of files that it stores are relative to `data_dir`, so that the folder can be moved. With
    a `fence`, everything is written under a lease, and refused once that is lost.
    """

    def __init__(self, engine: Engine, data_dir: Path, fence: Fence | None = None) -> None:
        self.engine = engine
        self.data_dir = data_dir
        self.fence = fence

    @classmethod
    def open(cls, settings: Settings) -> "Store":
        """Open the database that the settings name; an empty one gets the schema.

        Raises SchemaOutdated, SchemaTooNew, StoreError (not a database of Scout's), ConfigError
        (not a database URL).
        """
        engine = _make_engine(settings.database)
        with _translate_errors(engine.url):
            # One query where the schema is current, as nearly always.
            if _read_revision(engine) != newest_revision():
                if not inspect(engine).get_table_names():
                    upgrade_schema(settings)
                _check_revision(engine, engine.url)
        return cls(engine, settings.data_dir)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a session for queries."""
        with (
            _translate_errors(self.engine.url),
            Session(self.engine, expire_on_commit=False) as session,
        ):
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a session that commits at its end, or rolls back on an error.

        Raises StorageFull, and LeaseLost where the lease of the store's fence is lost.
        """
        engine = self.engine.execution_options(scout_write=True)
        fence, begun = self.fence, time.monotonic()
        try:
            with (
                _translate_errors(self.engine.url),
                Session(engine, expire_on_commit=False) as session,
            ):
                if fence is not None:
                    fence.check(session)
                yield session
                if fence is not None:
                    fence.renew_after(session, begun)
                session.commit()
        except StoreError:
            # The next holder of a lease ends the sessions of a lost one.
            self._check_fence()
            raise

    def fenced(self, fence: Fence | None) -> "Store":
        """Return this store for writes under a lease."""
        return Store(self.engine, self.data_dir, fence)

    def _check_fence(self) -> None:
        """Raise LeaseLost if the lease is lost; where the database cannot tell, do nothing."""
        if self.fence is None:
            return
        try:
            with self.read() as session:
                self.fence.check(session)
        except LeaseLost:
            raise
        except StoreError:
            return

    def relative_path(self, path: Path) -> str | None:
        """Return a path below the data folder as it is stored; None for a path elsewhere."""
        folder, file = self.data_dir.resolve(), path.resolve()
        if not file.is_relative_to(folder):
            return None
        return file.relative_to(folder).as_posix()

    def stored_path(self, stored: str) -> Path | None:
        """Return the path that was stored; None unless it is below the data folder."""
        path = self.data_dir / stored
        if self.relative_path(path) is None:
            return None
        return path

    def shop(self, name: str) -> Shop:
        """Load a shop by name. Raises UnknownShop."""
        with self.read() as session:
            shop = session.exec(select(Shop).where(Shop.name == name)).first()
        if shop is None:
            raise UnknownShop(name)
        return shop


def upgrade_schema(settings: Settings) -> tuple[str | None, str]:
    """Migrate the database to the newest schema; returns the revisions before and after.

    Raises SchemaTooNew, and StoreError where the database holds something else.
    """
    # Imported late: Alembic takes a while to load, and few commands need it.
    from alembic import command
    from alembic.util import CommandError

    engine = _make_engine(settings.database)
    with _translate_errors(engine.url):
        tables = inspect(engine).get_table_names()
        before = _current_revision(engine)
        if before is None and tables:
            raise StoreError(
                f"{engine.url} holds tables that are not Scout's: name another with "
                f"SCOUT_DATABASE_URL"
            )
        try:
            with engine.execution_options(scout_write=True).begin() as connection:
                config = _alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as error:
            raise _schema_too_new(engine.url, before) from error
        return before, newest_revision()


def newest_revision() -> str:
    """Return the newest schema revision that this version of Scout has."""
    revisions = _known_revisions()
    if not revisions:
        raise StoreError(f"no migrations found in {MIGRATIONS}: install Scout anew")
    return revisions[-1]


def _known_revisions() -> list[str]:
    """List all revisions in order, by the names of their files: Alembic takes a while to load."""
    return sorted(file.name[1:5] for file in MIGRATIONS.joinpath("versions").glob("m????_*.py"))


def _alembic_config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _current_revision(engine: Engine) -> str | None:
    if not inspect(engine).has_table("alembic_version"):
        return None
    with engine.connect() as connection:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _read_revision(engine: Engine) -> str | None:
    """Read the revision of a database; None where there is none, or the database cannot be read."""
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except DatabaseError:
        return None


def _check_revision(engine: Engine, name: object) -> None:
    revision = _current_revision(engine)
    newest = newest_revision()
    if revision == newest:
        return
    if revision is None:
        raise StoreError(
            f"{name} is not a database of Scout's: name another with SCOUT_DATABASE_URL"
        )
    if revision not in _known_revisions():
        raise _schema_too_new(name, revision)
    raise SchemaOutdated(
        f"{name} is of an older Scout (schema {revision}, needed {newest}): run 'scout db upgrade'"
    )


def _schema_too_new(name: object, revision: str | None) -> SchemaTooNew:
    return SchemaTooNew(
        f"{name} was written by a newer Scout (schema {revision}, known up to {newest_revision()}): "
        f"install that version"
    )


def _make_engine(database: str) -> Engine:
    try:
        url = make_url(database)
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True, json_deserializer=_load_json)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"setting 'database_url': {_without_password(database)!r} needs a driver: 'pip install "
            f"{error.name}'"
        ) from error
    except ArgumentError as error:
        raise ConfigError(
            f"setting 'database_url': {_without_password(database)!r} is no database URL, such as "
            f"sqlite:///var/scout.db"
        ) from error
    if url.database and url.database != ":memory:":
        _make_folder(Path(url.database).parent)
    engine = create_engine(
        url, connect_args={"timeout": LOCK_TIMEOUT}, json_deserializer=_load_json
    )
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _load_json(text: str) -> Any:
    """Load a JSON column; orjson takes a third of the time that json takes."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # NaN and single surrogates, which json writes and orjson rejects.
        return json.loads(text)


def _without_password(database: str) -> str:
    return re.sub(r"(?<=//)([^/@:]*):[^@]*@", r"\1:***@", database)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"setting 'data_dir': {folder} cannot be made: {error.strerror}"
        ) from error
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"setting 'data_dir': {folder} cannot be written to")


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # Transactions are begun explicitly, in _begin_sqlite.
    connection.isolation_level = None
    _enable_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA cache_size=-{_SQLITE_CACHE}")


def _enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers do not wait for writers."""
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # SQLite's own timeout does not cover another process that sets the mode.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_INTERVAL)
        else:
            return


def _begin_sqlite(connection: Any) -> None:
    is_write = connection.get_execution_options().get("scout_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


@contextmanager
def _translate_errors(name: object) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise _clear_error(error, name) from error
    except DatabaseError as error:
        if "not a database" not in str(error.orig):
            raise
        raise StoreError(
            f"{name} is not a database: name another with SCOUT_DATABASE_URL"
        ) from error


def _clear_error(error: OperationalError, name: object) -> StoreError:
    message = str(error.orig)
    if "full" in message or "disk I/O" in message:
        return StorageFull(
            f"no space left for {name}: free some, then run the same command again; nothing is lost"
        )
    if "locked" in message:
        return StoreError(
            f"{name} is held by another process: wait for it to end, then run the same command "
            f"again"
        )
    return StoreError(f"{name} cannot be used: {message.strip().splitlines()[0]}")
