"""One page of a list of runs, the newest first, each with its shop and its counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from catalog.errors import UsageError
from catalog.models import Run, RunCounts, RunState, Shop


@dataclass(frozen=True)
class RunFilter:
    """Conditions that all have to hold; None: any."""

    shop_id: int | None = None
    state: str | None = None


@dataclass(frozen=True)
class RunRow:
    """A run of the list; `counts` are None until it has finished."""

    run: Run
    shop: str
    counts: RunCounts | None


def read_run_list(
    session: Session, where: RunFilter, before: int | None = None, limit: int | None = None
) -> list[RunRow]:
    """Read the newest runs, those before the run `before`. Raises UsageError for no state."""
    query = (
        select(Run, Shop.name, RunCounts)
        .join(Shop, col(Shop.id) == col(Run.shop_id))
        .outerjoin(RunCounts, col(RunCounts.run_id) == col(Run.id))
    )
    if where.shop_id is not None:
        query = query.where(Run.shop_id == where.shop_id)
    if where.state is not None:
        if where.state not in set(RunState):
            raise UsageError(f"state {where.state[:40]!r} is none of {', '.join(RunState)}")
        query = query.where(col(Run.state) == where.state)
    if before is not None:
        query = query.where(col(Run.id) < before)
    query = query.order_by(col(Run.id).desc())
    if limit is not None:
        query = query.limit(limit)
    rows: Sequence[tuple[Run, str, RunCounts | None]] = session.exec(query).all()
    return [_make_row(run, shop, counts) for run, shop, counts in rows]


def _make_row(run: Run, shop: str, counts: RunCounts | None) -> RunRow:
    # The counts of a run that has not finished are not complete.
    return RunRow(run, shop, counts if run.state == RunState.DONE else None)
