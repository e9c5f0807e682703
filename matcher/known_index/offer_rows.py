"""Known offers as the index reads them from the store: plain rows, as a million models fill memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Row, bindparam, case
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
# Offers whose content keys are compared by one statement, as a sum.
_RANGE = 512
_MAX_ID = 2**63 - 1
# Bits of a key that count in a sum: with a weight of 10 bits, those of 8,000 offers fit in 63.
_MASK = 2**40 - 1
# Weights of the keys, a prime number: all different in a range without gaps.
_WEIGHTS = 1021
_KEY = func.coalesce(_TABLE.c.content_key, 0)
_IN_RANGE = (
    _TABLE.c.shop_id == bindparam("shop_id"),
    _TABLE.c.id >= bindparam("first"),
    _TABLE.c.id < bindparam("end"),
)
_KEYS_OF_RANGE = sql_select(_TABLE.c.id, _KEY).where(*_IN_RANGE)
_SUM_OF_RANGE = sql_select(
    func.count(), func.sum(_KEY.bitwise_and(_MASK) * (_TABLE.c.id % _WEIGHTS + 1))
).where(*_IN_RANGE)
# Columns that an index is made of.
_INDEXED = [
    _TABLE.c[name] for name in ("id", "content_key", "images", "description", *CONTENT_FIELDS)
]


def read_content_keys(session: Session, shop_id: int, first: int, end: int) -> tuple[Ints, Ints]:
    """Return ids and content keys of the known offers with ids from `first` to below `end`.

    Both are sorted by id; a key of 0 is unknown. They are read from an index of the table.
    """
    result = session.connection().execute(
        _KEYS_OF_RANGE, {"shop_id": shop_id, "first": first, "end": end}
    )
    parts = [np.empty((0, 2), np.int64)]
    # The driver's rows: those of SQLAlchemy take three times as long. A streamed result has read the
    # first row already.
    while rows := result.cursor.fetchmany(_ROW_BATCH):
        parts.append(np.array(rows, np.int64))
    offers = np.concatenate(parts)
    offers = offers[np.argsort(offers[:, 0])]
    return offers[:, 0], offers[:, 1]


def find_changed_ranges(
    session: Session, shop_id: int, ids: Ints, keys: Ints
) -> Iterator[tuple[int, int]]:
    """Compare the known offers of a shop with given ids, sorted, and their content keys.

    Yields the ranges of ids, from the first to below the second, in which an offer may be new, gone
    or of another key. The database sums up the keys of a range, as reading a million takes long.
    Each is weighed, so that exchanged keys have another sum.
    """
    connection = session.connection()
    weighed = (keys & _MASK) * (ids % _WEIGHTS + 1)
    bounds = [0, *ids[_RANGE::_RANGE].tolist()] if len(ids) else []
    ends = [*bounds[1:], int(ids[-1]) + 1] if len(ids) else []
    for start, first, end in zip(range(0, len(ids), _RANGE), bounds, ends, strict=True):
        indexed = weighed[start : start + _RANGE]
        stored = connection.execute(
            _SUM_OF_RANGE, {"shop_id": shop_id, "first": first, "end": end}
        ).one()
        # The sum of no rows is NULL; PostgreSQL's is a decimal.
        if (stored[0], int(stored[1] or 0)) != (len(indexed), int(indexed.sum())):
            yield first, end
    yield int(ids[-1]) + 1 if len(ids) else 0, _MAX_ID


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
