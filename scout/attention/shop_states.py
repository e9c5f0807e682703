"""The newest runs and imports of many shops, read by few queries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Row
from sqlmodel import Session, col, func, select

from catalog.models import CatalogImport, Run, RunCounts, RunState


@dataclass
class ShopState:
    """Rows that the assessment of a shop depends on, the newest first.

    `newest_run` has id, state and reason. `finished_runs` are the last two, with id and figures;
    `counts` has the missing and known offers of those whose findings are stored, by run id.
    `imports` are the last two that were not undone, with id and rows.
    """

    newest_run: Row[Any] | None = None
    finished_runs: list[Row[Any]] = field(default_factory=list)
    counts: dict[int, Row[Any]] = field(default_factory=dict)
    imports: list[Row[Any]] = field(default_factory=list)


def read_shop_states(session: Session, shop_ids: Sequence[int]) -> dict[int, ShopState]:
    """Read the states of some shops, by shop id."""
    states = {shop_id: ShopState() for shop_id in shop_ids}
    columns: list[Any] = [Run.shop_id, Run.id, Run.state, Run.reason]
    is_valid = col(Run.state) != RunState.ABANDONED
    for run in _newest_rows(session, Run, columns, shop_ids, 1, is_valid):
        states[run.shop_id].newest_run = run
    run_shops: dict[int, int] = {}
    columns = [Run.shop_id, Run.id, Run.figures]
    for run in _newest_rows(session, Run, columns, shop_ids, 2, col(Run.state) == RunState.DONE):
        states[run.shop_id].finished_runs.append(run)
        run_shops[run.id] = run.shop_id
    columns = [RunCounts.run_id, RunCounts.missing, RunCounts.known_offers]
    of_runs = select(*columns).where(col(RunCounts.run_id).in_(run_shops))
    for row in session.connection().execute(of_runs):
        states[run_shops[row.run_id]].counts[row.run_id] = row
    fields = "shop_id", "id", "read", "kept", "bad"
    columns = [getattr(CatalogImport, name) for name in fields]
    is_valid = col(CatalogImport.undone_at).is_(None)
    for row in _newest_rows(session, CatalogImport, columns, shop_ids, 2, is_valid):
        states[row.shop_id].imports.append(row)
    return states


def _newest_rows(
    session: Session,
    model: type[Run] | type[CatalogImport],
    columns: Sequence[Any],
    shop_ids: Sequence[int],
    number: int,
    is_valid: ColumnElement[bool],
) -> list[Row[Any]]:
    """Read the newest rows of each shop that are valid, at most `number` of each."""
    place = func.row_number().over(partition_by=col(model.shop_id), order_by=col(model.id).desc())
    numbered = (
        select(col(model.id).label("id"), place.label("place"))
        .where(col(model.shop_id).in_(shop_ids), is_valid)
        .subquery()
    )
    query = (
        select(*columns)
        .join(numbered, numbered.c.id == col(model.id))
        .where(numbered.c.place <= number)
        .order_by(col(model.id).desc())
    )
    return list(session.connection().execute(query))
