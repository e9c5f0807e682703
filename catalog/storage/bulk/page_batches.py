"""Batches of pages of the crawl frontier, written in one statement each on PostgreSQL.

PostgreSQL takes a batch as arrays, one per column, and unnests them into rows: one statement and
one round trip, where `executemany` plans and executes a statement per row. SQLite has neither arrays
nor round trips.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, Update, bindparam, func, select, update
from sqlalchemy import column as sql_column
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlmodel import SQLModel

from catalog.models import Page

# Columns of the unique key of a page.
_UNIQUE = ("shop_id", "url")
PAGES: Table = SQLModel.metadata.tables[str(Page.__tablename__)]
# First key of the advisory locks of shops whose pages are being settled; the second is the shop's id.
_SETTLE_LOCK = 5_343_018

PageRow = Mapping[str, Any]
"""Values of a page by column."""


def prepare_settlement(connection: Connection, shop_id: int) -> None:
    """Begin a transaction that settles pages of a shop and adds links.

    On PostgreSQL it waits for those of the shop's other crawlers: two of them could wait for each
    other's pages. It does not wait for the disk at its end: a server that crashes loses the last
    half second, whose pages are fetched again. SQLite is configured in the same way.
    """
    if connection.dialect.name != "postgresql":
        return
    lock = func.pg_advisory_xact_lock(_SETTLE_LOCK, shop_id)
    connection.execute(select(lock, _asynchronous_commit()))


def prepare_claim(connection: Connection) -> None:
    """Begin a transaction that leases pages, which does not wait for the disk at its end."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(_asynchronous_commit()))


def _asynchronous_commit() -> Any:
    # See https://www.postgresql.org/docs/current/wal-async-commit.html; for this transaction only.
    return func.set_config("synchronous_commit", "off", True)


def update_pages(connection: Connection, changes: Mapping[int, PageRow]) -> None:
    """Set columns of pages, given by row id."""
    # Pages that set the same columns share one statement.
    rows_by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for page_id, columns in changes.items():
        rows_by_columns[tuple(columns)].append({**columns, "row_id": page_id})
    is_postgresql = connection.dialect.name == "postgresql"
    for names, rows in rows_by_columns.items():
        if is_postgresql:
            connection.execute(_update_from_arrays(names), _arrays(("row_id", *names), rows))
        else:
            connection.execute(_update_of_row(names), rows)


def insert_pages(connection: Connection, shop_id: int, rows: Sequence[PageRow]) -> int:
    """Insert the pages whose URLs the shop does not have; returns their number.

    All rows have the same columns, `url` among them. Their order is that of the new row ids.
    """
    if not rows:
        return 0
    names = tuple(rows[0])
    if connection.dialect.name == "postgresql":
        parameters = _arrays(names, rows) | {"shop": shop_id}
        return len(connection.execute(_insert_from_arrays(names), parameters).all())
    complete = [{**row, "shop_id": shop_id} for row in rows]
    return len(connection.execute(_insert_of_row(), complete).all())


# Statements are built once for each set of columns: that takes longer than their execution.


@cache
def _update_of_row(names: tuple[str, ...]) -> Update:
    change = update(PAGES).where(PAGES.c.id == bindparam("row_id"))
    return change.values({name: bindparam(name) for name in names})


@cache
def _update_from_arrays(names: tuple[str, ...]) -> Update:
    given = _unnested(("row_id", *names))
    change = update(PAGES).where(PAGES.c.id == given.c.row_id)
    return change.values({name: given.c[name] for name in names})


@cache
def _insert_of_row() -> ReturningInsert[Any]:
    from sqlalchemy.dialects import sqlite

    insert = sqlite.insert(PAGES).on_conflict_do_nothing(index_elements=_UNIQUE)
    return insert.returning(PAGES.c.id)


@cache
def _insert_from_arrays(names: tuple[str, ...]) -> ReturningInsert[Any]:
    from sqlalchemy.dialects import postgresql

    given = _unnested(names, "position")
    shop = bindparam("shop", type_=PAGES.c.shop_id.type)
    # A conflict would take a number of the sequence for each known link of each page. The limit keeps
    # the look-up a plan of its own: a join is planned by the number of pages of a shop, of which
    # PostgreSQL has no idea while the table is new. Only the unique index has URLs in order; any index
    # by shop seems as good for an equal URL, and then each link is compared with all before it.
    known = select(PAGES.c.id).where(
        PAGES.c.shop_id == shop, PAGES.c.url >= given.c.url, PAGES.c.url <= given.c.url
    )
    is_new = known.order_by(PAGES.c.url).limit(1).scalar_subquery().is_(None)
    new = select(shop, *(given.c[name] for name in names)).where(is_new)
    insert = postgresql.insert(PAGES).from_select(
        ["shop_id", *names], new.order_by(given.c.position)
    )
    return insert.on_conflict_do_nothing(index_elements=_UNIQUE).returning(PAGES.c.id)


def _unnested(names: Sequence[str], position: str | None = None) -> TableValuedAlias:
    """Return the rows of one array parameter per column; `position` names that of their numbers."""
    # Imported late, as above: a dialect takes a tenth of a second to load.
    from sqlalchemy.dialects.postgresql import ARRAY

    types = {name: PAGES.c["id" if name == "row_id" else name].type for name in names}
    arrays = [bindparam(name, type_=ARRAY(types[name])) for name in names]
    columns = [sql_column(name, types[name]) for name in names]
    rows = func.unnest(*arrays).table_valued(*columns, with_ordinality=position)
    return rows.render_derived(name="given")


def _arrays(names: Sequence[str], rows: Sequence[PageRow]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}
