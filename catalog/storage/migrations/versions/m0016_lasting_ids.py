"""Row ids are never used again on SQLite: AUTOINCREMENT for every table that counts its rows.

Revision: 0016, after 0015.

Without it, SQLite gives the id of a deleted newest row to the next one: another shop would get the
reports of a removed shop, another match the finding of an earlier one. PostgreSQL's sequences do not
go back. See https://www.sqlite.org/autoinc.html.

SQLite cannot change the key of a table: each table is made anew and filled from the old one. All old
tables are renamed first, by which the foreign keys between them follow. They are dropped last, a
table that refers to another before that one.
"""

import re

from alembic import op
from sqlalchemy import Connection

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# How earlier migrations wrote the key of a table.
_ID_COLUMN = re.compile(r"(?<=\n)\tid INTEGER NOT NULL(?=, )")
_ID_KEY = re.compile(r", \n\tPRIMARY KEY \(id\)")
_OLD = "_before_0016"
# Ids that rows of other tables may hold although their own row is deleted: table, table, column.
_REFERENCES = (
    ("match", "run_counts", "newest_match_id"),
    ("match", "finding", "match_id"),
    ("known_offer", "former_offer", "known_id"),
    ("known_offer", "match", "known_id"),
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    tables = _table_texts(connection)
    indexes = _index_texts(connection, tables)
    for name in tables:
        _execute(connection, f'ALTER TABLE "{name}" RENAME TO "{name}{_OLD}"')
    for name, made in tables.items():
        _execute(connection, _with_autoincrement(made))
        _execute(connection, f'INSERT INTO "{name}" SELECT * FROM "{name}{_OLD}"')  # noqa: S608
    for name in reversed(tables):
        _execute(connection, f'DROP TABLE "{name}{_OLD}"')
    for index in indexes:
        _execute(connection, index)
    for table, other, column in _REFERENCES:
        _skip_referenced_ids(connection, table, other, column)


def downgrade() -> None:
    """Leave the tables: AUTOINCREMENT does not disturb earlier versions."""


def _table_texts(connection: Connection) -> dict[str, str]:
    """Return the statements that made the tables, those without foreign keys first.

    Tables that neither count their rows nor refer to others stay as they are.
    """
    texts = connection.exec_driver_sql(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    )
    remaining = {name: text for name, text in texts if _ID_COLUMN.search(text) or _parents(text)}
    ordered: dict[str, str] = {}
    while remaining:
        free = [name for name, text in remaining.items() if not _parents(text) & remaining.keys()]
        ordered |= {name: remaining.pop(name) for name in free}
    return ordered


def _parents(statement: str) -> set[str]:
    """Return the tables that a table refers to."""
    return set(re.findall(r'REFERENCES "?(\w+)"?', statement))


def _index_texts(connection: Connection, tables: dict[str, str]) -> list[str]:
    # Indexes of unique constraints have no text of their own.
    texts = connection.exec_driver_sql(
        "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    )
    return [text for table, text in texts if table in tables]


def _with_autoincrement(statement: str) -> str:
    """Return the statement of a table that counts its ids on, if it has any."""
    counted, columns = _ID_COLUMN.subn("\tid INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", statement)
    counted, keys = _ID_KEY.subn("", counted)
    if columns != keys:
        raise ValueError(f"a table of an unknown form: {statement}")
    return counted


def _skip_referenced_ids(connection: Connection, table: str, other: str, column: str) -> None:
    """Count on from ids of deleted rows that are still referred to."""
    query = f'SELECT max({column}) FROM "{other}"'  # noqa: S608
    newest = connection.exec_driver_sql(query).scalar() or 0
    counted = connection.exec_driver_sql("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
    last = counted.scalar()
    if last is None:
        connection.exec_driver_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, newest))
    elif newest > last:
        connection.exec_driver_sql(
            "UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (newest, table)
        )


def _execute(connection: Connection, statement: str) -> None:
    # Not prepared for parameters: a text of a table may hold any character.
    connection.exec_driver_sql(statement)
