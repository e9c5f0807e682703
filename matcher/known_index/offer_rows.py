"""Known offers as the index reads them from the store: plain rows, as a million models fill memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Row, case
from sqlalchemy import select as sql_select
from sqlmodel import Session, SQLModel, col, func

from catalog.models import KnownOffer
from catalog.values.content_keys import CONTENT_FIELDS, content_key
from matcher.array_types import Ints

# Offers that one statement reads by their ids.
_ID_BATCH = 500
# Rows that are read at once.
_ROW_BATCH = 10_000
_TABLE = SQLModel.metadata.tables[str(KnownOffer.__tablename__)]
# Columns that an index is made of.
_INDEXED = [
    _TABLE.c[name] for name in ("id", "content_key", "images", "description", *CONTENT_FIELDS)
]


def read_content_keys(session: Session, shop_id: int) -> tuple[Ints, Ints]:
    """Return the ids of the known offers of a shop, sorted, and their content keys; 0 is unknown.

    Both are read from an index of the table.
    """
    key = func.coalesce(_TABLE.c.content_key, 0)
    query = sql_select(_TABLE.c.id, key).where(_TABLE.c.shop_id == shop_id)
    parts = [np.empty((0, 2), np.int64)]
    # The driver's rows: those of SQLAlchemy take three times as long for a million offers.
    cursor = _stream(session, query).cursor
    while rows := cursor.fetchmany(_ROW_BATCH):
        parts.append(np.array(rows, np.int64))
    offers = np.concatenate(parts)
    offers = offers[np.argsort(offers[:, 0])]
    return offers[:, 0], offers[:, 1]


def read_all_offers(session: Session, shop_id: int) -> Iterator[Sequence[Row[Any]]]:
    """Yield the indexed columns of all known offers of a shop, in the order of their ids."""
    query = sql_select(*_INDEXED).where(_TABLE.c.shop_id == shop_id).order_by(_TABLE.c.id)
    yield from _stream(session, query).partitions(_ROW_BATCH)


def read_offers(session: Session, ids: Sequence[int]) -> dict[int, Row[Any]]:
    """Return the indexed columns of some known offers by id; those that are gone are left out."""
    return _read_by_id(session, _INDEXED, ids)


def read_titles(session: Session, ids: Sequence[int]) -> dict[int, Row[Any]]:
    """Return the texts by which candidates are ranked, by id: titles, brands, or their stand-ins.

    Descriptions are read only of offers without a title.
    """
    description = case((_TABLE.c.title.is_(None), _TABLE.c.description), else_=None)
    columns = [_TABLE.c.id, _TABLE.c.title, _TABLE.c.brand, description.label("description")]
    return _read_by_id(session, columns, ids)


def read_brands(session: Session, shop_id: int) -> list[str]:
    """Return the different brands of a shop's known offers."""
    query = sql_select(_TABLE.c.brand).where(_TABLE.c.shop_id == shop_id).distinct()
    return [brand for brand in session.connection().execute(query).scalars() if brand]


def read_known_offers(session: Session, ids: Sequence[int]) -> dict[int, Row[Any]]:
    """Return all columns of some known offers by id; those that are gone are left out."""
    return _read_by_id(session, list(_TABLE.columns), ids)


def key_of_row(row: Row[Any]) -> int:
    """Return the content key of a row, computed where it is not stored."""
    return row.content_key if row.content_key is not None else content_key(dict(row._mapping))


def _read_by_id(
    session: Session, columns: Sequence[Any], ids: Sequence[int]
) -> dict[int, Row[Any]]:
    connection = session.connection()
    rows: dict[int, Row[Any]] = {}
    for start in range(0, len(ids), _ID_BATCH):
        query = sql_select(*columns).where(col(KnownOffer.id).in_(ids[start : start + _ID_BATCH]))
        for row in connection.execute(query):
            rows[row.id] = row
    return rows


def _stream(session: Session, query: Any) -> Any:
    options = {"stream_results": True, "max_row_buffer": _ROW_BATCH}
    return session.connection().execute(query, execution_options=options)
