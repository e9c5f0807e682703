"""Databases of earlier schemas, with rows as the versions of Scout at that time stored them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine

from catalog.runtime.settings import Settings
from catalog.storage.store import _alembic_config, _make_engine

TIME = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
"""A time as databases store it: UTC, without a zone."""

SHOP = {
    "id": 1,
    "name": "a",
    "url": "https://a.example/",
    "allow_private": False,
    "max_pages": 9,
    "delay": 0.0,
    "javascript": False,
    "sitemaps": [],
    "created_at": TIME,
}
"""A shop as all schemas store it."""

RUN = {
    "id": 1,
    "shop_id": 1,
    "state": "done",
    "stage": "report",
    "figures": {},
    "started_at": TIME,
    "finished_at": TIME,
}
"""A run of that shop."""


class OlderDatabase:
    """A database that is migrated to any schema, up or down."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._config = _alembic_config()

    def upgrade(self, revision: str) -> None:
        """Migrate up to a revision."""
        with self.connect() as connection:
            self.migrate(connection, command.upgrade, revision)

    def downgrade(self, revision: str) -> None:
        """Migrate down to a revision."""
        with self.connect() as connection:
            self.migrate(connection, command.downgrade, revision)

    def migrate(
        self, connection: Connection, step: Callable[[Config, str], None], revision: str
    ) -> None:
        """Migrate to a revision within a transaction."""
        self._config.attributes["connection"] = connection
        step(self._config, revision)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a transaction that is committed at its end."""
        with self._engine.execution_options(scout_write=True).begin() as connection:
            yield connection

    def add(self, table: str, *rows: Mapping[str, Any]) -> None:
        """Insert rows into a table of the present schema (`insert_rows`)."""
        with self.connect() as connection:
            insert_rows(connection, {table: rows})

    def column(self, table: str, name: str) -> list[Any]:
        """Read a column in the order of row ids."""
        with self.connect() as connection:
            query = f'SELECT {name} FROM "{table}" ORDER BY id'
            return list(connection.exec_driver_sql(query).scalars())


@contextmanager
def older_database(settings: Settings, revision: str) -> Iterator[OlderDatabase]:
    """Make the database of the settings with the schema of an earlier revision."""
    engine = _make_engine(settings.database)
    try:
        database = OlderDatabase(engine)
        database.upgrade(revision)
        yield database
    finally:
        engine.dispose()


def insert_rows(
    connection: Connection, rows: Mapping[str, Sequence[Mapping[str, Any]]]
) -> sa.MetaData:
    """Insert rows, given by table and column, as far as the schema has these; returns the schema."""
    schema = sa.MetaData()
    schema.reflect(connection)
    for table in schema.sorted_tables:
        for row in rows.get(table.name, ()):
            known = {
                column.name: row[column.name] for column in table.columns if column.name in row
            }
            connection.execute(sa.insert(table).values(known))
    return schema
