"""Copy of a whole store into an empty database: SQLite to PostgreSQL, back, or to another of a kind.

The copy reads one state of the source and writes one transaction, so that a copy that ends early
leaves the target empty. Values travel as the databases hold them: JSON as its text, times without a
zone. Ids stay the same, and the target counts on where the source would have. Leases and jobs belong
to the processes that work on one database and are not copied.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    cast,
    column,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy import table as sql_table
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Session, SQLModel

from catalog.errors import StoreError
from catalog.runtime.batches import iterate_batches
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store

# Rows that are read at once.
BATCH_SIZE = 1_000
# Beginning of the URL of a SQLite file.
_SQLITE = "sqlite:///"
# Table that holds the schema's revision; each database has its own.
_REVISION_TABLE = "alembic_version"
# Tables of the processes that work on a database, and of its job queue: a copy begins without them.
_OF_PROCESSES = frozenset({"lease", "job_attempt", "queue_schema"})


@dataclass
class StoreCopy:
    """Result of a copy: rows by table, and the tables of the source that are not Scout's."""

    rows: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def copy_store(
    source_url: str,
    target_url: str,
    progress: Progress = no_progress,
    copy_files: Callable[[Session], object] | None = None,
) -> StoreCopy:
    """Copy all tables of the database at `source_url` into the one at `target_url`.

    `copy_files` copies the files that rows of the source name. It is called before the first row is
    written, so that a copy that ends among the files can be made again. It may raise StoreError.

    An empty target gets the schema. Raises StoreError where the source is no store, the target
    holds rows, or a value does not fit; the target is then as it was.
    """
    source, target = _open_source(source_url), _open(target_url)
    try:
        with source.read_snapshot() as source_session, target.write() as target_session:
            reading, writing = source_session.connection(), target_session.connection()
            _lock_empty(writing, target)
            if copy_files is not None:
                copy_files(source_session)
            summary = StoreCopy(left_out=_foreign_tables(reading))
            totals = {table.name: _count(reading, table) for table in _tables()}
            for table in _tables():
                copied = sum(summary.rows.values())
                rows = _with_progress(_rows(reading, table), copied, totals, progress)
                with _named_errors(table):
                    _write_rows(writing, table, rows)
                summary.rows[table.name] = _count(writing, table)
                if summary.rows[table.name] != totals[table.name]:
                    raise StoreError(
                        f"table {table.name} has {summary.rows[table.name]} rows after the copy and "
                        f"{totals[table.name]} in {source.engine.url}: nothing was copied"
                    )
                if "id" in table.columns:
                    _set_counter(writing, table.name, _last_id(reading, table))
            return summary
    finally:
        source.engine.dispose()
        target.engine.dispose()


def database_url(name: str) -> str:
    """Return the URL of a database; a name that is none is that of a SQLite file.

    >>> database_url("var/scout.db"), database_url("postgresql+psycopg://db/scout")
    ('sqlite:///var/scout.db', 'postgresql+psycopg://db/scout')
    """
    return name if "://" in name else f"{_SQLITE}{name}"


def _open(url: str) -> Store:
    # The data folder is that of files, which are not copied.
    return Store.open(Settings.load(database_url=url))


def _open_source(url: str) -> Store:
    """Open the source, which has to be there: a database that is missing would be made."""
    if url.startswith(_SQLITE):
        file = Path(make_url(url).database or "")
        if not file.is_file():
            raise StoreError(f"there is no database {file}: name the one to copy")
    return Store.open(Settings.load(database_url=url), may_create=False)


def _lock_empty(connection: Connection, store: Store) -> None:
    """Keep everybody else from writing, and check that there are no rows. Raises StoreError."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(f'"{table.name}"' for table in _tables())
        connection.exec_driver_sql(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
    for table in _tables():
        if connection.execute(select(table).limit(1)).first() is not None:
            raise StoreError(
                f"{store.engine.url} is not empty (table {table.name} has rows): name an empty "
                f"database as the target"
            )


def _tables() -> list[Table]:
    """List the tables to copy, those without foreign keys first."""
    return [table for table in SQLModel.metadata.sorted_tables if table.name not in _OF_PROCESSES]


def _foreign_tables(connection: Connection) -> list[str]:
    ours = SQLModel.metadata.tables.keys() | {_REVISION_TABLE}
    return sorted(set(inspect(connection).get_table_names()) - ours)


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _rows(connection: Connection, table: Table) -> Iterator[Row[Any]]:
    """Read all rows in the order of their keys, a batch at a time."""
    streamed = connection.execution_options(stream_results=True, yield_per=BATCH_SIZE)
    yield from streamed.execute(_select_as_held(table))


def _select_as_held(table: Table) -> Select[Any]:
    columns = []
    for held in _as_held(table).columns:
        is_json = isinstance(table.columns[held.name].type, JSON)
        columns.append(cast(held, Text).label(held.name) if is_json else held)
    return select(*columns).order_by(*table.primary_key.columns)


def _as_held(table: Table) -> Table:
    """Return the table with types whose values are those of the database, JSON as text."""
    columns = [Column(typed.name, _type_as_held(typed.type)) for typed in table.columns]
    return Table(table.name, MetaData(), *columns)


def _type_as_held(type_: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(type_, JSON):
        return Text()
    return type_.impl_instance if isinstance(type_, TypeDecorator) else type_


def _with_progress(
    rows: Iterator[Row[Any]], copied: int, totals: dict[str, int], progress: Progress
) -> Iterator[Row[Any]]:
    total = sum(totals.values())
    for number, row in enumerate(rows, copied + 1):
        yield row
        if number % BATCH_SIZE == 0 or number == total:
            progress("rows copied", number, total)


def _write_rows(connection: Connection, table: Table, rows: Iterator[Row[Any]]) -> None:
    if connection.dialect.name == "postgresql":
        _stream_rows(connection, table, rows)
        return
    insert_row = insert(_as_held(table))
    for batch in iterate_batches(rows, BATCH_SIZE):
        connection.execute(insert_row, [row._asdict() for row in batch])


def _stream_rows(connection: Connection, table: Table, rows: Iterator[Row[Any]]) -> None:
    """Write rows by COPY, which takes a tenth of the time of INSERT."""
    names = ", ".join(f'"{held.name}"' for held in table.columns)
    driver: Any = connection.connection.driver_connection
    with (
        driver.cursor() as cursor,
        cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy,
    ):
        for row in rows:
            copy.write_row(row)


@contextmanager
def _named_errors(table: Table) -> Iterator[None]:
    """Report a value that the target cannot hold with its table, and its line where it is known."""
    try:
        yield
    except (ValueError, OverflowError, DatabaseError) as error:
        raise _table_error(table, getattr(error, "orig", error)) from error
    except Exception as error:
        # The driver's own, where rows are streamed to it.
        if not hasattr(error, "sqlstate"):
            raise
        raise _table_error(table, error) from error


def _table_error(table: Table, error: object) -> StoreError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return StoreError(f"table {table.name} cannot be copied: {'; '.join(lines)}")


def _last_id(connection: Connection, table: Table) -> int:
    """Return the largest id that a row of the table has or had; 0 for none."""
    # Rows that were inserted with their ids have not moved a sequence of PostgreSQL on.
    newest = connection.execute(select(func.max(table.columns["id"]))).scalar() or 0
    return max(newest, _read_counter(connection, table.name))


def _read_counter(connection: Connection, name: str) -> int:
    """Return the last id that the database has counted for a table; 0 for none."""
    if connection.dialect.name == "postgresql":
        last, is_used = column("last_value", Integer), column("is_called", Boolean)
        sequence = sql_table(f"{name}_id_seq", last, is_used)
        return connection.execute(select(last).select_from(sequence).where(is_used)).scalar() or 0
    counters = sql_table("sqlite_sequence", column("name", String), column("seq", Integer))
    counter = select(counters.c.seq).where(counters.c.name == name)
    return connection.execute(counter).scalar() or 0


def _set_counter(connection: Connection, name: str, last: int) -> None:
    if not last:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.setval(f'"{name}_id_seq"', last)))
        return
    # Rows that were inserted have set it to the newest of their ids.
    counters = sql_table("sqlite_sequence", column("name", String), column("seq", Integer))
    connection.execute(counters.delete().where(counters.c.name == name))
    connection.execute(counters.insert().values(name=name, seq=last))
