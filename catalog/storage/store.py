"""The database: opened at the schema of this version of Scout, or refused with a clear message.

A transaction that will write begins as one (`BEGIN IMMEDIATE` on SQLite), so that two processes
wait for each other instead of failing half way. See
https://docs.sqlalchemy.org/en/20/dialects/sqlite.html, "Serializable isolation".
"""

import json
import logging
import os
import re
import sqlite3
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, event, func, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DataError, OperationalError
from sqlalchemy.orm import configure_mappers
from sqlmodel import Session, col, create_engine, select

from catalog.errors import (
    ConfigError,
    LeaseLost,
    SchemaOutdated,
    SchemaTooNew,
    StorageFull,
    StoreError,
    UnknownShop,
    first_line,
)
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases.fence import Fence

MIGRATIONS = Path(__file__).with_name("migrations")
# Key of the advisory lock that a migration holds on PostgreSQL: any number that nothing else uses.
UPGRADE_LOCK = 5_343_017
# Seconds to wait for another process's lock on SQLite, and those after which that is logged.
LOCK_TIMEOUT = 60
LOGGED_WAIT = 2
# KiB of the database that a connection keeps in memory. A run of 60,000 findings is stored a fifth
# faster than with SQLite's 2,000.
_SQLITE_CACHE = 32_000
# Beginnings of PostgreSQL's URLs that name no driver.
_POSTGRESQL_NAMES = ("postgresql", "postgres")
# PostgreSQL's code of an integer that its column cannot hold ("numeric value out of range").
_OUT_OF_RANGE = "22003"
# PostgreSQL's code of a full disk.
_DISK_FULL = "53100"
# PostgreSQL's code of a reference to a row that is not there.
_NO_SUCH_ROW = "23503"
# PostgreSQL's codes of a database that somebody has to repair: no such table, no permission, read-only.
# See https://www.postgresql.org/docs/current/errcodes-appendix.html.
_UNUSABLE = ("42P01", "42501", "25006")
# Seconds between two attempts at the journal mode.
_RETRY_INTERVAL = 0.02

log = logging.getLogger("catalog.storage.store")

# Now, and not at the first query: processes that are forked later share the result.
configure_mappers()


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
    def open(cls, settings: Settings, *, may_create: bool = True) -> "Store":
        """Open the database that the settings name; an empty one gets the schema if it may.

        Raises SchemaOutdated, SchemaTooNew, StoreError (not a database of Scout's), ConfigError
        (not a database URL).
        """
        engine = _make_engine(settings.database)
        try:
            with _translate_errors(engine.url):
                # One query where the schema is current, as nearly always.
                if _read_revision(engine) != newest_revision():
                    if may_create and not inspect(engine).get_table_names():
                        upgrade_schema(settings)
                    _check_revision(engine, engine.url)
        except BaseException:
            engine.dispose()
            raise
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
    def read_snapshot(self) -> Iterator[Session]:
        """Open a session whose queries all see the database as the first one does."""
        with self.read() as session:
            if self.engine.dialect.name != "sqlite":
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a session that commits at its end, or rolls back on an error.

        On SQLite it is the only writer. On PostgreSQL others write at the same time: rows that are
        read to be changed are locked first (`lock_shop`, `with_for_update`).

        Raises StorageFull, LeaseLost where the lease of the store's fence is lost, and OverflowError
        or ValueError for a value that does not fit.
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
        # Some systems type letters and marks apart, which stored names have composed.
        composed = unicodedata.normalize("NFC", name)
        with self.read() as session:
            query = select(Shop).where(col(Shop.name).in_([name, composed]))
            shop = session.exec(query.order_by(col(Shop.name) == composed)).first()
        if shop is None:
            raise UnknownShop(name)
        return shop


def lock_shop(session: Session, *shop_ids: int) -> None:
    """Wait for the other transactions that hold this lock of a shop, until the end of this one.

    Locks of several shops are taken in the order of their ids.

    For whatever reads rows of a shop and writes others by them: decisions and their counts, versions
    of rules, imports. On SQLite, where one transaction writes at a time, it does nothing.
    """
    # New rows refer to the shop; `key_share` lets a crawl go on inserting them.
    locked = select(Shop.id).where(col(Shop.id).in_(shop_ids)).order_by(col(Shop.id))
    session.exec(locked.with_for_update(key_share=True))


def upgrade_schema(settings: Settings) -> tuple[str | None, str]:
    """Migrate the database to the newest schema; returns the revisions before and after.

    Raises SchemaTooNew, and StoreError where the database holds something else.
    """
    engine = _make_engine(settings.database)
    try:
        with _translate_errors(engine.url):
            return _upgrade(engine), newest_revision()
    finally:
        engine.dispose()


def _upgrade(engine: Engine) -> str | None:
    """Migrate a database in one transaction; returns the revision before."""
    # Imported late: Alembic takes a while to load, and few commands need it.
    from alembic import command
    from alembic.util import CommandError

    with engine.execution_options(scout_write=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            # Several processes may open an empty database at once: the first one makes the tables,
            # the others wait here and find them. SQLite has one writer at a time in any case.
            connection.execute(select(func.pg_advisory_xact_lock(UPGRADE_LOCK)))
        before = _current_revision(connection)
        if before is None and inspect(connection).get_table_names():
            raise StoreError(
                f"{engine.url} holds tables that are not Scout's: name another with "
                f"SCOUT_DATABASE_URL"
            )
        config = _alembic_config()
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise _schema_too_new(engine.url, before) from error
    return before


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


def _current_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _read_revision(engine: Engine) -> str | None:
    """Read the revision of a database; None where there is none, or the database cannot be read."""
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except DatabaseError:
        return None


def _check_revision(engine: Engine, name: object) -> None:
    with engine.connect() as connection:
        revision = _current_revision(connection)
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
        if url.drivername in _POSTGRESQL_NAMES:
            # SQLAlchemy would take another driver than the one that Scout installs.
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise ConfigError(
                f"setting 'database_url': {_without_password(database)!r} is neither a database of "
                "SQLite nor of PostgreSQL"
            )
        if url.get_backend_name() != "sqlite":
            engine = create_engine(url, pool_pre_ping=True, json_deserializer=_load_json)
            # Before SQLAlchemy asks for the version, which it cannot read from such a database.
            event.listen(engine, "connect", _check_encoding, insert=True)
            return engine
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


def _check_encoding(connection: Any, _record: object) -> None:
    """Raise ConfigError for a PostgreSQL database whose texts have no known encoding."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ConfigError(
            f"database {connection.info.dbname} is encoded in {encoding}, and texts of shops need "
            f"UTF8: make one by CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )


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
        raise ConfigError(
            f"{folder} cannot be written to, and SQLite keeps files beside a database: name another "
            "folder by --data-dir, or another database"
        )


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # Transactions are begun explicitly, in _begin_sqlite.
    connection.isolation_level = None
    _enable_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA cache_size=-{_SQLITE_CACHE}")
    # SQLite's own knows ASCII letters only: `Äpfel` would not be found, in whichever case.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


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
    if not connection.get_execution_options().get("scout_write"):
        connection.exec_driver_sql("BEGIN")
        return
    database: sqlite3.Connection = connection.connection.driver_connection
    _set_lock_timeout(database, LOGGED_WAIT)
    try:
        database.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        log.warning(
            "another process writes to the database: waiting for it",
            extra={"database": str(connection.engine.url), "seconds": LOCK_TIMEOUT},
        )
        _set_lock_timeout(database, LOCK_TIMEOUT - LOGGED_WAIT)
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        _set_lock_timeout(database, LOCK_TIMEOUT)


def _set_lock_timeout(database: sqlite3.Connection, seconds: float) -> None:
    database.execute(f"PRAGMA busy_timeout={round(seconds * 1_000)}")


@contextmanager
def _translate_errors(name: object) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise _clear_error(error, name) from error
    except DataError as error:
        # PostgreSQL's driver reports a value that does not fit; SQLite's raises Python's own errors.
        if _state_of(error) == _OUT_OF_RANGE:
            raise OverflowError(f"{name} cannot store a number: {error.orig}") from error
        raise ValueError(f"{name} cannot store a value: {error.orig}") from error
    except DatabaseError as error:
        if _state_of(error) in _UNUSABLE:
            raise StoreError(f"{name} cannot be used: {first_line(error.orig or error)}") from error
        message = str(error.orig)
        if _state_of(error) == _NO_SUCH_ROW or "FOREIGN KEY" in message:
            raise StoreError(
                "another process has removed what this belongs to, such as its shop: look what is "
                "still there, then run the same command again"
            ) from error
        if "malformed" in message:
            raise StoreError(
                f"{name} is damaged: move it away and restore a backup ('scout db restore')"
            ) from error
        if "not a database" not in message:
            raise
        raise StoreError(f"{name} is not a database: name another") from error


def _clear_error(error: OperationalError, name: object) -> StoreError:
    message = str(error.orig)
    if "full" in message or "disk I/O" in message or _state_of(error) == _DISK_FULL:
        return StorageFull(
            f"no space left for {name}: free some, then run the same command again; nothing is lost"
        )
    if "locked" in message:
        return StoreError(
            f"{name} is held by another process: wait for it to end, then run the same command "
            f"again"
        )
    return StoreError(f"{name} cannot be used: {first_line(error.orig or error)}")


def _state_of(error: DatabaseError) -> str | None:
    """Return PostgreSQL's code of an error; None for one of SQLite's, or of a lost connection."""
    return getattr(error.orig, "sqlstate", None)
