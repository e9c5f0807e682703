"""Counts of the last finished runs of shops, for trends."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, func, select

from catalog.models import Run, RunCounts

TREND_RUNS = 20
"""Finished runs of a trend at most."""


@dataclass(frozen=True)
class TrendPoint:
    """Counts of one finished run."""

    run_id: int
    finished_at: datetime | None
    listed: int
    missing: int
    unsure: int


def read_trends(
    session: Session, shop_ids: Sequence[int], limit: int = TREND_RUNS
) -> dict[int, list[TrendPoint]]:
    """Read the counts of the last finished runs of some shops, the oldest first."""
    number = func.row_number().over(
        partition_by=col(RunCounts.shop_id), order_by=col(RunCounts.run_id).desc()
    )
    numbered = (
        select(RunCounts.run_id, number.label("number"))
        .where(col(RunCounts.shop_id).in_(shop_ids))
        .subquery()
    )
    query = (
        select(RunCounts, Run.finished_at)
        .join(numbered, numbered.c.run_id == col(RunCounts.run_id))
        .join(Run, col(Run.id) == col(RunCounts.run_id))
        .where(numbered.c.number <= limit)
        .order_by(col(RunCounts.run_id))
    )
    trends: dict[int, list[TrendPoint]] = defaultdict(list)
    for counts, finished_at in session.exec(query):
        trends[counts.shop_id].append(
            TrendPoint(counts.run_id, finished_at, counts.listed, counts.missing, counts.unsure)
        )
    return dict(trends)
