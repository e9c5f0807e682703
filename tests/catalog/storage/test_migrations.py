"""Migrations with rows in every table: nothing is lost on the way up from any schema, or back down."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection
from sqlmodel import Session, SQLModel, select

from catalog.runtime.settings import Settings
from catalog.storage.store import (
    Store,
    _alembic_config,
    _known_revisions,
    _make_engine,
    newest_revision,
)

# Values of columns that have no default, by the types of reflected tables.
_VALUES: dict[type, Any] = {
    sa.Boolean: False,
    sa.Integer: 0,
    sa.Float: 0.0,
    sa.DateTime: datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None),
    sa.JSON: {},
}


def add_rows(connection: Connection, revision: str, counts: Mapping[str, int]) -> dict[str, int]:
    """Add a row to every table that the schema has; returns the new number of rows by table."""
    schema = sa.MetaData()
    schema.reflect(connection)
    keys: dict[str, Any] = {}
    added = {}
    for table in schema.sorted_tables:
        if table.name == "alembic_version":
            continue
        values = {}
        for column in table.columns:
            references = [key.column.table.name for key in column.foreign_keys]
            if references:
                values[column.name] = keys[references[0]]
            elif not column.nullable and not column.primary_key:
                values[column.name] = _value(column, revision)
        result = connection.execute(sa.insert(table).values(values))
        keys[table.name] = (result.inserted_primary_key or [None])[0]
        added[table.name] = counts[table.name] + 1
    return added


def _value(column: sa.Column[Any], revision: str) -> Any:
    for kind, value in _VALUES.items():
        if isinstance(column.type, kind):
            return value
    return f"{column.name} of {revision}"


def count_rows(connection: Connection) -> dict[str, int]:
    """Count the rows of every table."""
    names = sa.inspect(connection).get_table_names()
    return {
        name: connection.execute(sa.text(f'SELECT count(*) FROM "{name}"')).scalar_one()
        for name in names
        if name != "alembic_version"
    }


@pytest.mark.both_databases
def test_rows_of_every_schema_are_kept(settings: Settings) -> None:
    """Rows written under each schema are read under the newest, which is that of the models."""
    engine = _make_engine(settings.database)
    config = _alembic_config()

    def migrate(step: Callable[[Config, str], None], revision: str) -> dict[str, int]:
        with engine.execution_options(scout_write=True).begin() as connection:
            config.attributes["connection"] = connection
            step(config, revision)
            return count_rows(connection)

    expected: dict[str, int] = {}
    revisions = _known_revisions()
    for revision in revisions:
        counts = migrate(command.upgrade, revision)
        with engine.execution_options(scout_write=True).begin() as connection:
            # A migration may fill a table that it makes.
            assert counts | expected == counts, revision
            expected = counts | add_rows(connection, revision, counts)
    store = Store.open(settings)
    with store.read() as session:
        _check_models(session, expected)
    store.engine.dispose()
    for revision in reversed(revisions[:-1]):
        counts = migrate(command.downgrade, revision)
        assert counts == {name: expected[name] for name in counts}, revision
    engine.dispose()


def _check_models(session: Session, expected: Mapping[str, int]) -> None:
    """Read every row through its model, and compare the schema with the models."""
    for mapper in SQLModel._sa_registry.mappers:
        rows = session.exec(select(mapper.class_)).all()
        assert len(rows) == expected[mapper.local_table.name], mapper.class_
    # An index in descending order is not compared.
    options = {"include_object": lambda _, name, *rest: name != "page_frontier"}
    context = MigrationContext.configure(session.connection(), opts=options)
    assert compare_metadata(context, SQLModel.metadata) == []
    assert context.get_current_revision() == newest_revision()
