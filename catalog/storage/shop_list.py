"""One page of the list of shops, each with its newest run and the counts of its last finished one.

Everything that a row shows is read by one query from indexes; offers and pages are not counted,
except for shops without a stored count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, and_, or_, select
from sqlmodel import Session, col, func
from sqlmodel import select as select_model

from catalog.errors import UsageError
from catalog.models import CatalogImport, KnownOffer, Page, Run, RunCounts, RunState, Shop

_LIKE_ESCAPE = "\\"
_BATCH_SIZE = 500  # shops of a query
NEVER_RUN = "never run"
"""State of a shop that no run was started of."""


class ShopSort(StrEnum):
    """Orders of the list; `missing` and `last-run` begin with the greatest."""

    NAME = "name"
    MISSING = "missing"
    LAST_RUN = "last-run"


@dataclass(frozen=True)
class ShopFilter:
    """Conditions that all have to hold; None: any.

    `text` is a part of the name or URL. `state` is that of the newest run, or `NEVER_RUN`.
    """

    text: str | None = None
    state: str | None = None


@dataclass(frozen=True)
class ShopKey:
    """The place of a shop in the order of a list, after which its next page begins."""

    value: str | int | None
    shop_id: int


@dataclass(frozen=True)
class ShopRow:
    """A shop of the list; None where it has no such run, or where counts are not stored.

    `known` is the number of its known offers, `pages` that of the last finished run, or of the shop
    so far. `finished` is the last finished run.
    """

    shop: Shop
    newest: Run | None
    finished: Run | None
    counts: RunCounts | None
    known: int
    pages: int


def _of_newest_run(column: Any, *conditions: Any) -> Any:
    """Return the subquery of a column of the shop's newest run that fulfils the conditions."""
    query = select(column).where(col(Run.shop_id) == col(Shop.id), *conditions)
    return query.order_by(col(Run.id).desc()).limit(1).correlate(Shop).scalar_subquery()


_IS_NOT_ABANDONED = col(Run.state) != RunState.ABANDONED
_NEWEST_ID = _of_newest_run(col(Run.id), _IS_NOT_ABANDONED)
_NEWEST_STATE = _of_newest_run(col(Run.state), _IS_NOT_ABANDONED)
_FINISHED_ID = _of_newest_run(col(Run.id), col(Run.state) == RunState.DONE)
# The rows of an import are all known offers of its shop.
_IMPORTED = (
    select(col(CatalogImport.kept))
    .where(col(CatalogImport.shop_id) == col(Shop.id), col(CatalogImport.undone_at).is_(None))
    .order_by(col(CatalogImport.id).desc())
    .limit(1)
    .correlate(Shop)
    .scalar_subquery()
)
_MISSING = (
    select(col(RunCounts.missing)).where(col(RunCounts.run_id) == _FINISHED_ID).scalar_subquery()
)
# Shops without counts come last, in either order of a database's nulls.
_SORT_VALUES: dict[ShopSort, Any] = {
    ShopSort.NAME: col(Shop.name),
    ShopSort.MISSING: func.coalesce(_MISSING, -1),
    ShopSort.LAST_RUN: func.coalesce(_NEWEST_ID, -1),
}


def read_shop_list(
    session: Session,
    where: ShopFilter,
    sort: ShopSort = ShopSort.NAME,
    after: ShopKey | None = None,
    limit: int | None = None,
) -> list[ShopRow]:
    """Read one page of the list of shops, behind the shop of `after`."""
    value = _SORT_VALUES[sort]
    query = select(col(Shop.id)).where(*_conditions(where))
    if after is not None:
        query = query.where(_is_behind(sort, value, after))
    order = value if sort is ShopSort.NAME else value.desc()
    ids = session.connection().scalars(query.order_by(order, col(Shop.id)).limit(limit))
    return read_shop_rows(session, [shop_id for shop_id in ids if shop_id is not None])


def shop_key(row: ShopRow, sort: ShopSort) -> ShopKey:
    """Return the place of a shop in the order of a list."""
    assert row.shop.id is not None
    value: str | int = row.shop.name
    if sort is ShopSort.MISSING:
        value = row.counts.missing if row.counts else -1
    if sort is ShopSort.LAST_RUN:
        value = row.newest.id or -1 if row.newest else -1
    return ShopKey(value, row.shop.id)


def count_shops(session: Session, where: ShopFilter) -> int:
    """Count the shops that a filter keeps."""
    query = select(func.count()).select_from(Shop).where(*_conditions(where))
    return session.connection().execute(query).scalar_one()


def read_shop_rows(session: Session, shop_ids: Sequence[int]) -> list[ShopRow]:
    """Read the rows of some shops, in this order; those that were removed meanwhile are left out."""
    newest, finished = Run.__table__.alias("newest"), Run.__table__.alias("finished")  # type: ignore[attr-defined]
    query: Select[Any] = (
        select(col(Shop.id), newest.c.id, finished.c.id, _IMPORTED)
        .select_from(Shop)
        .outerjoin(newest, newest.c.id == _NEWEST_ID)
        .outerjoin(finished, finished.c.id == _FINISHED_ID)
    )
    rows: dict[int, ShopRow] = {}
    for start in range(0, len(shop_ids), _BATCH_SIZE):
        batch = shop_ids[start : start + _BATCH_SIZE]
        found = session.connection().execute(query.where(col(Shop.id).in_(batch))).all()
        run_ids = [run_id for row in found for run_id in (row[1], row[2]) if run_id is not None]
        shops = _by_id(session, Shop, batch)
        runs = _by_id(session, Run, run_ids)
        finished_ids = [row[2] for row in found if row[2] is not None]
        counts = _by_id(session, RunCounts, finished_ids, "run_id")
        known = {shop_id: imported for shop_id, _, _, imported in found if imported is not None}
        known |= _count_rows(session, KnownOffer, [id_ for id_ in batch if id_ not in known])
        pages = {row.shop_id: sum(row.pages.values()) for row in counts.values()}
        pages |= _count_rows(session, Page, [id_ for id_ in batch if id_ not in pages])
        for shop_id, newest_id, finished_id, _ in found:
            rows[shop_id] = ShopRow(
                shops[shop_id],
                runs.get(newest_id),
                runs.get(finished_id),
                counts.get(finished_id),
                known.get(shop_id, 0),
                pages.get(shop_id, 0),
            )
    return [rows[shop_id] for shop_id in shop_ids if shop_id in rows]


def _by_id(session: Session, table: Any, ids: Sequence[int], key: str = "id") -> dict[int, Any]:
    query = select_model(table).where(getattr(table, key).in_(ids))
    return {getattr(row, key): row for row in session.exec(query)}


def _count_rows(session: Session, table: Any, shop_ids: Sequence[int]) -> dict[int, int]:
    """Count the rows of a table of each shop that has no stored count."""
    if not shop_ids:
        return {}
    query = select(table.shop_id, func.count()).where(col(table.shop_id).in_(shop_ids))
    rows = session.connection().execute(query.group_by(table.shop_id))
    return {row[0]: row[1] for row in rows}


def _conditions(where: ShopFilter) -> list[Any]:
    conditions: list[Any] = []
    if where.text:
        pattern = f"%{_escape_like(where.text.lower())}%"
        name = func.lower(col(Shop.name)).like(pattern, escape=_LIKE_ESCAPE)
        url = func.lower(col(Shop.url)).like(pattern, escape=_LIKE_ESCAPE)
        # PostgreSQL with the locale C has no lower case of `Ä`.
        as_typed = col(Shop.name).like(f"%{_escape_like(where.text)}%", escape=_LIKE_ESCAPE)
        conditions.append(or_(name, url, as_typed))
    if where.state == NEVER_RUN:
        conditions.append(_NEWEST_ID.is_(None))
    elif where.state is not None:
        if where.state not in set(RunState):
            choices = ", ".join([*RunState, NEVER_RUN])
            raise UsageError(f"state {where.state[:40]!r} is none of {choices}")
        conditions.append(where.state == _NEWEST_STATE)
    return conditions


def _is_behind(sort: ShopSort, value: Any, after: ShopKey) -> Any:
    is_next = value > after.value if sort is ShopSort.NAME else value < after.value
    return or_(is_next, and_(value == after.value, col(Shop.id) > after.shop_id))


def _escape_like(text: str) -> str:
    for character in (_LIKE_ESCAPE, "%", "_"):
        text = text.replace(character, f"{_LIKE_ESCAPE}{character}")
    return text
