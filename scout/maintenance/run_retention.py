"""Old runs of a shop: which may go, and their rows.

A run that goes takes its findings, matches and crawls along. Its own row stays, with its counts and
a reason, while anything that stays refers to it: a finding that names the run of its first
sighting, a page, a version of the rules, or the comparison of a later run.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlmodel import Session, col, delete, func, select

from catalog.models import (
    Crawl,
    Match,
    Page,
    Run,
    RunCounts,
    RunState,
    SitemapSeen,
    Stage,
    StoredFinding,
    StoredRules,
    utc_now,
)
from catalog.runtime.batches import batches
from catalog.storage.runs import PRUNED, is_pruned

COMPARED_RUNS = 2
"""Finished runs of a shop that always stay: the last one, and the one that it is compared with."""

REASON = "its findings were removed by 'scout db prune'"
"""Reason of a run whose row stays without its findings."""

# Ids of one statement: below SQLite's limit of variables.
_BATCH_SIZE = 500
_RUN_TABLES: tuple[Any, ...] = (StoredFinding, Match, SitemapSeen, Crawl)


@dataclass(frozen=True)
class Retention:
    """Runs that stay: the newest `runs` of a shop, and those of the last `days`; 0: no limit."""

    days: int = 0
    runs: int = 0


def removable_runs(session: Session, shop_id: int, retention: Retention) -> list[int]:
    """Return the ids of the runs of a shop that may go, the oldest first.

    Runs under way, the newest run, and the last two finished ones always stay.
    """
    rows = session.exec(
        select(Run).where(Run.shop_id == shop_id).order_by(col(Run.id).desc())
    ).all()
    cutoff = utc_now() - timedelta(days=retention.days)
    removable = []
    finished = 0
    for rank, run in enumerate(rows):
        finished += run.state == RunState.DONE
        is_compared = run.state == RunState.DONE and finished <= COMPARED_RUNS
        if rank == 0 or run.state == RunState.RUNNING or is_compared or is_pruned(run):
            continue
        is_old = bool(retention.days) and (run.finished_at or run.started_at) < cutoff
        is_surplus = bool(retention.runs) and rank >= retention.runs
        if is_old or is_surplus:
            removable.append(run.id or 0)
    return removable[::-1]


def count_rows(session: Session, run_ids: Sequence[int]) -> int:
    """Return the number of rows that go with these runs."""
    total = 0
    for table in _RUN_TABLES:
        for batch in batches(run_ids, _BATCH_SIZE):
            query = select(func.count()).select_from(table).where(table.run_id.in_(batch))
            total += session.exec(query).one()
    return total


def prune_run(session: Session, run_id: int) -> None:
    """Remove the findings, matches and crawls of a run; its row and its counts stay for now."""
    for table in _RUN_TABLES:
        session.exec(delete(table).where(table.run_id == run_id))
    run = session.get_one(Run, run_id)
    run.reason = REASON
    run.figures = {**run.figures, PRUNED: utc_now().isoformat()}
    # A later run would take over its matches.
    run.fingerprints = {
        stage: value for stage, value in run.fingerprints.items() if stage != Stage.MATCH.value
    }


def remove_unreferenced_runs(session: Session, shop_id: int) -> None:
    """Remove the rows of the pruned runs of a shop to which nothing refers any more."""
    runs = session.exec(select(Run).where(Run.shop_id == shop_id)).all()
    pruned = {run.id for run in runs if is_pruned(run)}
    surplus = pruned - _referenced_runs(session, shop_id, pruned)
    for batch in batches(sorted(run_id for run_id in surplus if run_id), _BATCH_SIZE):
        session.exec(delete(RunCounts).where(col(RunCounts.run_id).in_(batch)))
        session.exec(delete(Run).where(col(Run.id).in_(batch)))


def existing_runs(session: Session) -> Collection[int]:
    """Return the ids of all runs whose findings were not removed."""
    rows = session.exec(select(Run.id, Run.figures))
    return {run_id or 0 for run_id, figures in rows if PRUNED not in (figures or {})}


def _referenced_runs(
    session: Session, shop_id: int, pruned: Collection[int | None]
) -> set[int | None]:
    """Return the runs that findings, pages, rules and later runs of a shop refer to."""
    of_shop = StoredFinding.shop_id == shop_id
    queries: tuple[Any, ...] = (
        select(StoredFinding.first_seen_run_id).where(of_shop),
        select(StoredFinding.since_run_id).where(of_shop),
        select(StoredFinding.lost_run_id).where(of_shop),
        select(Page.run_id).where(Page.shop_id == shop_id),
        select(StoredRules.run_id).where(StoredRules.shop_id == shop_id),
    )
    referenced: set[int | None] = set()
    for query in queries:
        referenced.update(session.exec(query.distinct()))
    counts = session.exec(select(RunCounts).where(RunCounts.shop_id == shop_id))
    # Of pruned runs the comparison is gone: otherwise each would hold the one before it.
    referenced.update(row.previous_run_id for row in counts if row.run_id not in pruned)
    return referenced
