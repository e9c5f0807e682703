"""The row of a run in the database: find it, start or resume it, record its stages.

The column `stage` names the stage that is due or under way. It moves on in the same transaction
that stores the figures of the stage before, so a killed run resumes where it was.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, select, update

from catalog.errors import CrawlError, ScoutError, StoreError, UsageError
from catalog.models import MAX_INTEGER, Page, Run, RunState, Shop, Stage, utc_now
from catalog.runtime.telemetry.log_context import log_fields
from catalog.runtime.telemetry.tracing import span
from catalog.storage.runs import ShopRuns, is_pruned, read_shop_runs
from catalog.storage.store import Store
from scout.shops import purge

log = logging.getLogger("scout.pipeline.run_records")

StageFunction = Callable[[int], Any]
"""The work of a stage: takes the run's id, returns its figures as a dataclass or a mapping."""


def shop_key(shop: Shop) -> int:
    """Return the id of a stored shop."""
    assert shop.id is not None
    return shop.id


def run_key(run: Run) -> int:
    """Return the id of a stored run."""
    assert run.id is not None
    return run.id


def resume_or_start(store: Store, shop: Shop, *, fresh: bool = False, full: bool = False) -> int:
    """Return the id of the shop's unfinished run, or start a new one with all pages due.

    In a new run, pages that could not be read are read again, and with `full` no page may wait
    because it hardly ever changes. A `fresh` run abandons the unfinished one and deletes the shop's
    pages and offers; rules set by hand and review decisions stay. Pages are made due and the run is
    created in one transaction.
    """
    from crawler.frontier.revisit import reset_for_revisit

    with store.write() as session:
        unfinished = _unfinished_run(session, shop)
        if unfinished is not None and not fresh:
            unfinished.reason = None
            return run_key(unfinished)
        if unfinished is not None:
            unfinished.state, unfinished.finished_at = RunState.ABANDONED, utc_now()
        if fresh:
            purge.purge_pages(session, shop_key(shop))
        else:
            reset_for_revisit(session, shop_key(shop), full=full)
            _reset_failed_readings(session, shop_key(shop))
        run = Run(shop_id=shop_key(shop))
        session.add(run)
        session.flush()
        return run_key(run)


def _reset_failed_readings(session: Session, shop_id: int) -> None:
    """Let the pages be read again that could not be read: the machine may have been at fault."""
    readings = update(Page).where(
        col(Page.shop_id) == shop_id,
        col(Page.rules_version).is_not(None),
        col(Page.read_key).is_(None),
    )
    session.exec(readings.values(rules_version=None))


def shop_runs(store: Store, shop: Shop) -> ShopRuns:
    """Return the shop's last finished run and its newest one."""
    with store.read() as session:
        return read_shop_runs(session, shop_key(shop))


def latest_run(store: Store, shop: Shop) -> Run | None:
    """Return the shop's newest run that was not abandoned, or None: the run to work on.

    Figures are shown of the last finished run (`shop_runs`).
    """
    return shop_runs(store, shop).newest


def find_run(session: Session, run_id: int) -> Run | None:
    """Return the run with that id, or None; an id beyond the database's integers is no error."""
    if abs(run_id) > MAX_INTEGER:
        return None
    return session.get(Run, run_id)


def check_run_id(store: Store, shop: Shop, run_id: int) -> int:
    """Return the id if it names a run of this shop. Raises UsageError."""
    with store.read() as session:
        run = find_run(session, run_id)
    if run is None or run.shop_id != shop.id:
        raise UsageError(
            f"shop {shop.name!r} has no run {run_id}: 'scout shop show {shop.name}' names the newest"
        )
    if is_pruned(run):
        raise UsageError(
            f"the findings of run {run_id} were removed: 'scout shop show {shop.name}' names the newest"
        )
    return run_id


def open_stage(store: Store, run_id: int) -> Stage | None:
    """Return the stage that is due; None where the run is finished, failed or abandoned."""
    with store.read() as session:
        run = session.get_one(Run, run_id)
        return Stage(run.stage) if run.state == RunState.RUNNING else None


def record_stage(store: Store, run_id: int, stage: Stage, function: StageFunction) -> Any:
    """Execute one stage of a run; store its figures and the stage that follows.

    Returns the stage's result.

    A ScoutError is stored as the run's reason and raised again.
    """
    with log_fields(run=run_id, stage=stage.value), span("stage", run=run_id, stage=stage.value):
        started = time.monotonic()
        log.info("stage begins")
        try:
            result = function(run_id)
        except ScoutError as error:
            log.info("stage failed", extra={"reason": str(error)})
            _store_reason(store, run_id, error)
            raise
        seconds = round(time.monotonic() - started, 2)
        log.info("stage is done", extra={"seconds": seconds})
    figures = storable_figures(_stored_paths(store, result)) | {"seconds": seconds}
    with store.write() as session:
        run = session.get_one(Run, run_id)
        run.figures = {
            **run.figures,
            **_coverage(session, run, stage),
            stage.value: _previous_reports(run, stage) | figures,
        }
        # The reason of a failed run stays, whatever is done with it afterwards.
        if run.state == RunState.RUNNING:
            run.reason = None
            _advance(run, stage)
    return result


def _stored_paths(store: Store, result: object) -> object:
    """Make a result's paths relative to the data folder; leave out files elsewhere."""
    if not isinstance(result, Mapping):
        return result
    stored = {}
    for name, value in result.items():
        path = store.relative_path(value) if isinstance(value, Path) else value
        if path is not None:
            stored[name] = path
    return stored


def storable_figures(result: object) -> dict[str, Any]:
    """Convert the result of a stage into a mapping that JSON can store.

    Empty where it is no mapping.

    >>> storable_figures({"price": 3, "pages": {"fetched": 7}})
    {'price': 3, 'pages': {'fetched': 7}}
    """
    if is_dataclass(result) and not isinstance(result, type):
        result = asdict(result)
    if not isinstance(result, Mapping):
        return {}
    return {str(name): _storable(value) for name, value in result.items()}


def _storable(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(inner) for inner in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    return str(value)


def _previous_reports(run: Run, stage: Stage) -> dict[str, Any]:
    """Return the files of earlier reports: they stay if only some formats are written again."""
    if stage is not Stage.REPORT:
        return {}
    return dict(run.figures.get(stage.value, {}))


def _coverage(session: Session, run: Run, stage: Stage) -> dict[str, Any]:
    """Return the coverage for storage with the run: the next crawl resets the page table."""
    if stage is not Stage.MATCH:
        return {}
    return _count_coverage(session, run)


def _count_coverage(session: Session, run: Run) -> dict[str, Any]:
    from reports.statistics.coverage import count_coverage

    coverage = count_coverage(session, session.get_one(Shop, run.shop_id), run_key(run))
    return {"coverage": coverage.as_json()}


def _advance(run: Run, stage: Stage) -> None:
    """Make the stage after this one due, even if it was done before.

    A stage executed by hand ahead of the due one leaves the due one in place: none is skipped.
    """
    stages = list(Stage)
    index = stages.index(stage)
    if index > stages.index(Stage(run.stage)):
        return
    if index + 1 < len(stages):
        run.stage = stages[index + 1]
    else:
        run.state, run.finished_at = RunState.DONE, utc_now()


def _store_reason(store: Store, run_id: int, error: ScoutError) -> None:
    # Best effort: where the store itself fails, or the lease is lost, the error being raised
    # reports that already.
    with suppress(StoreError), store.write() as session:
        run = session.get_one(Run, run_id)
        run.reason = str(error)
        # A crawl that brought nothing ends its run: resuming it would find no page that is due.
        if isinstance(error, CrawlError) and run.state == RunState.RUNNING:
            run.state, run.finished_at = RunState.FAILED, utc_now()
            # The next crawl resets the page table, which says what was left.
            run.figures = {**run.figures, **_count_coverage(session, run)}


def _unfinished_run(session: Session, shop: Shop) -> Run | None:
    runs = select(Run).where(Run.shop_id == shop.id, col(Run.state) == RunState.RUNNING)
    return session.exec(runs.order_by(col(Run.id).desc())).first()
