"""The tables of the queue: Procrastinate's own, made and upgraded by its own scripts.

They are no migration of Scout's: Procrastinate is installed only where workers are, and a new
version of it may bring scripts that an old Scout cannot know. The version that made the tables is
stored beside them, so that each script runs once.
"""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version
from sqlalchemy import text
from sqlmodel import Session, delete, select

from catalog.errors import ConfigError
from catalog.models import JobAttempt, QueueSchema
from catalog.storage.store import Store

if TYPE_CHECKING:
    from psycopg import Connection

DRIVER = "postgresql+psycopg"
"""The kind of database URL that workers need."""

LOCK_KEY = 7_262_688_353
"""Number of the advisory lock under which the queue is changed: any that nothing else uses.

The next number is the lock of the worker that looks for stalled jobs.
"""


# Procrastinate's own index of locks has only the jobs that are not finished.
_SHOP_INDEX = "CREATE INDEX scout_jobs_of_shop ON procrastinate_jobs (lock, id)"


def has_queue(store: Store) -> bool:
    """Return True if the database can hold a queue and has its tables."""
    if store.engine.url.drivername != DRIVER:
        return False
    with store.read() as session:
        return _has_tables(session) and session.exec(select(QueueSchema.id)).first() is not None


def require_queue(store: Store) -> None:
    """Make the tables of the queue, or upgrade them, where that has not been done.

    Raises ConfigError where the database is not PostgreSQL, or Procrastinate is not installed.
    """
    if store.engine.url.drivername != DRIVER:
        raise ConfigError(
            f"setting 'database_url': workers need a PostgreSQL database ({DRIVER}://...), and this "
            f"is {store.engine.url.drivername}"
        )
    installed = _installed_version()
    with store.read() as session:
        is_current = _has_tables(session) and (
            session.exec(select(QueueSchema.version)).first() == installed
        )
    if not is_current:
        with store.write() as session:
            lock_queue(session)
            _upgrade(session, installed)


def lock_queue(session: Session) -> None:
    """Exclude all other changes of the queue until the session's transaction ends."""
    lock = text("SELECT pg_advisory_xact_lock(:key)")
    session.connection().execute(lock, {"key": LOCK_KEY})


def driver_connection(session: Session) -> "Connection[Any]":
    """Return psycopg's connection of a session, on which Procrastinate joins its transaction."""
    connection: Connection[Any] | None = session.connection().connection.driver_connection
    assert connection is not None
    return connection


def _installed_version() -> str:
    try:
        installed = version("procrastinate")
    except PackageNotFoundError as error:
        raise ConfigError(
            "workers need Procrastinate: pip install 'scout-offer-gaps[workers]'"
        ) from error
    return installed


def _upgrade(session: Session, installed: str) -> None:
    row = session.exec(select(QueueSchema)).first()
    if not _has_tables(session):
        # Rows of a copied store are of the queue of another database.
        session.exec(delete(QueueSchema))
        session.exec(delete(JobAttempt))
        driver_connection(session).execute((_folder() / "schema.sql").read_bytes())
        driver_connection(session).execute(_SHOP_INDEX)
        session.add(QueueSchema(version=installed))
        return
    if row is None:
        raise ConfigError(
            "the database holds a queue of Procrastinate that is not Scout's: give Scout a "
            "database of its own"
        )
    if Version(row.version) > Version(installed):
        raise ConfigError(
            f"the queue of this database is of Procrastinate {row.version}, installed is "
            f"{installed}: pip install 'procrastinate>={row.version}'"
        )
    connection = driver_connection(session)
    for script in sorted(_folder().glob("migrations/*.sql")):
        # Named by the version that needs it: 03.04.00_01_pre_add_....sql.
        needed_by = Version(script.name.partition("_")[0])
        if Version(row.version) < needed_by <= Version(installed):
            connection.execute(script.read_bytes())
    row.version = installed


def _has_tables(session: Session) -> bool:
    tables = text("SELECT to_regclass('procrastinate_jobs') IS NOT NULL")
    return bool(session.connection().execute(tables).scalar_one())


def _folder() -> Path:
    """Return the folder of Procrastinate's scripts, without importing it."""
    spec = find_spec("procrastinate")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("sql")
