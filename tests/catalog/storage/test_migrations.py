"""Migrations with rows in every table: from every schema to the newest in one step, and back down."""

from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlmodel import Session, SQLModel, select

from catalog.runtime.settings import Settings
from catalog.storage.store import _known_revisions, newest_revision
from tests.catalog.storage.full_store import ROWS
from tests.catalog.storage.older_schemas import insert_rows, older_database

Values = dict[str, list[Any]]
# Tables that a migration fills from the review decisions: their first schema.
FILLED = {"review_step": "0011", "review_change": "0011"}


def read_values(connection: sa.Connection, schema: sa.MetaData) -> Values:
    """Read the columns of a schema by table, as the database holds them, in the order of keys."""
    values = {}
    for table in schema.sorted_tables:
        if table.name == "alembic_version":
            continue
        columns = ", ".join(map(_as_stored, table.columns))
        keys = ", ".join(column.name for column in table.primary_key.columns)
        query = f'SELECT {columns} FROM "{table.name}" ORDER BY {keys}'
        values[table.name] = list(map(tuple, connection.exec_driver_sql(query)))
    return values


def _as_stored(column: sa.Column[Any]) -> str:
    if isinstance(column.type, sa.LargeBinary):
        return f'"{column.name}"'
    return f'CAST("{column.name}" AS TEXT)'


def check_models(connection: sa.Connection, before: Values, revision: str) -> None:
    """Read every row by its model, and compare the schema with the models."""
    with Session(connection) as session:
        for mapper in SQLModel._sa_registry.mappers:
            name = mapper.local_table.name
            expected = len(before.get(name, ()))
            if revision < FILLED.get(name, ""):
                expected = len(before["persons_word"])
            assert len(session.exec(select(mapper.class_)).all()) == expected, name


def check_schema(connection: sa.Connection) -> None:
    """Compare the tables with those of the models."""
    # An index in descending order is not compared.
    options = {"include_object": lambda _, name, *rest: name != "page_frontier"}
    context = MigrationContext.configure(connection, opts=options)
    assert compare_metadata(context, SQLModel.metadata) == []
    assert context.get_current_revision() == newest_revision()


@pytest.mark.both_databases
def test_values_of_every_schema(settings: Settings) -> None:
    """Every value that a schema holds is there after the upgrade, and the models read it.

    Downwards, the tables and columns that a schema has keep their values.
    """
    revisions = _known_revisions()
    with older_database(settings, revisions[0]) as older:
        values: dict[str, tuple[sa.MetaData, Values]] = {}
        for revision in revisions[:-1]:
            older.upgrade(revision)
            with older.connect() as connection:
                schema = insert_rows(connection, ROWS)
                before = read_values(connection, schema)
                assert all(before.values()), "a table has no rows"
                older.migrate(connection, command.upgrade, "head")
                assert read_values(connection, schema) == before, revision
                check_models(connection, before, revision)
                # Both databases take back changes of the schema as well.
                connection.rollback()
            values[revision] = schema, before
        older.upgrade(revisions[-1])
        with older.connect() as connection:
            insert_rows(connection, ROWS)
            check_schema(connection)
        for revision in reversed(revisions[:-1]):
            older.downgrade(revision)
            schema, before = values[revision]
            with older.connect() as connection:
                assert read_values(connection, schema) == before, revision
