"""The store: one database, opened at the schema of this Scout or refused with a clear line.

A transaction that will write begins as one (`BEGIN IMMEDIATE` on SQLite): two processes then wait for each other
instead of failing half way. See https://docs.sqlalchemy.org/en/20/dialects/sqlite.html, "Serializable isolation".
"""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlmodel import Session, create_engine, select

from catalog.errors import (
    ConfigError,
    SchemaOutdated,
    SchemaTooNew,
    StorageFull,
    StoreError,
    UnknownShop,
)
from catalog.models import Shop
from catalog.runtime.settings import Settings

MIGRATIONS = Path(__file__).with_name("migrations")
PATIENCE = 60


class Store:
    """An open database. `read()` and `write()` give sessions; `write()` commits at its end or leaves nothing behind."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, settings: Settings) -> "Store":
        """The database of `settings`, made where there is none.

        Raises SchemaOutdated, SchemaTooNew, StoreError (not a database of Scout's), ConfigError (not a database URL).
        """
        engine = _engine(settings.database)
        with _clear_errors(engine.url):
            if not inspect(engine).get_table_names():
                upgrade(settings)
            _check_revision(engine, engine.url)
        return cls(engine)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session to look things up in."""
        with (
            _clear_errors(self.engine.url),
            Session(self.engine, expire_on_commit=False) as session,
        ):
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that commits at its end; on an error nothing of it is kept. Raises StorageFull."""
        engine = self.engine.execution_options(scout_write=True)
        with _clear_errors(self.engine.url), Session(engine, expire_on_commit=False) as session:
            yield session
            session.commit()

    def shop(self, name: str) -> Shop:
        """The shop of that name. Raises UnknownShop."""
        with self.read() as session:
            found = session.exec(select(Shop).where(Shop.name == name)).first()
        if found is None:
            raise UnknownShop(name)
        return found


def upgrade(settings: Settings) -> tuple[str | None, str]:
    """Bring the database to this Scout's schema; gives the revisions before and after.

    Raises SchemaTooNew, and StoreError where the database holds something else.
    """
    from alembic import command
    from alembic.util import CommandError

    engine = _engine(settings.database)
    with _clear_errors(engine.url):
        tables = inspect(engine).get_table_names()
        before = _revision(engine)
        if before is None and tables:
            raise StoreError(
                f"{engine.url} holds tables that are not Scout's: name another with SCOUT_DATABASE_URL"
            )
        try:
            with engine.execution_options(scout_write=True).begin() as connection:
                config = _alembic()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as error:
            raise _too_new(engine.url, before) from error
        return before, head()


def head() -> str:
    """The revision of this Scout's schema."""
    revisions = _revisions()
    if not revisions:
        raise StoreError(f"no migrations found in {MIGRATIONS}: install Scout anew")
    return revisions[-1]


def _revisions() -> list[str]:
    """All revisions, in order, by the names of their files: Alembic takes a while to load."""
    return sorted(file.name[1:5] for file in MIGRATIONS.joinpath("versions").glob("m????_*.py"))


def _alembic() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _revision(engine: Engine) -> str | None:
    if not inspect(engine).has_table("alembic_version"):
        return None
    with engine.connect() as connection:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _check_revision(engine: Engine, name: object) -> None:
    found = _revision(engine)
    if found == head():
        return
    if found is None:
        raise StoreError(_foreign(name))
    if found not in _revisions():
        raise _too_new(name, found)
    raise SchemaOutdated(
        f"{name} is of an older Scout (schema {found}, needed {head()}): run 'scout db upgrade'"
    )


def _foreign(name: object) -> str:
    return f"{name} is not a database of Scout's: name another with SCOUT_DATABASE_URL"


def _too_new(name: object, found: str | None) -> SchemaTooNew:
    return SchemaTooNew(
        f"{name} was written by a newer Scout (schema {found}, known up to {head()}): install that version"
    )


def _engine(database: str) -> Engine:
    try:
        url = make_url(database)
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"setting 'database_url': {_shown(database)!r} needs a driver: 'pip install {error.name}'"
        ) from error
    except ArgumentError as error:
        raise ConfigError(
            f"setting 'database_url': {_shown(database)!r} is no database URL, such as sqlite:///var/scout.db"
        ) from error
    if url.database and url.database != ":memory:":
        _make_folder(Path(url.database).parent)
    engine = create_engine(url, connect_args={"timeout": PATIENCE})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _shown(database: str) -> str:
    """The database's URL without a password in it."""
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


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    _keep_journal(connection)
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _keep_journal(connection: sqlite3.Connection) -> None:
    """Write ahead: readers do not wait for writers. SQLite does not wait by itself for another that sets the same."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


def _begin_sqlite(connection: Any) -> None:
    write = connection.get_execution_options().get("scout_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def _clear_errors(name: object) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise _said_clearly(error, name) from error
    except DatabaseError as error:
        if "not a database" not in str(error.orig):
            raise
        raise StoreError(
            f"{name} is not a database: name another with SCOUT_DATABASE_URL"
        ) from error


def _said_clearly(error: OperationalError, name: object) -> StoreError:
    said = str(error.orig)
    if "full" in said or "disk I/O" in said:
        return StorageFull(
            f"no space left for {name}: free some, then run the same command again; nothing is lost"
        )
    if "locked" in said:
        return StoreError(
            f"{name} is held by another process: wait for it to end, then run the same command again"
        )
    return StoreError(f"{name} cannot be used: {said.strip().splitlines()[0]}")
