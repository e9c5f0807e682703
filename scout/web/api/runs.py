"""Runs: list, one, start, stop, report files."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Response
from sqlmodel import col, func, select
from starlette.exceptions import HTTPException

from catalog.models import Run, RunCounts, RunState, Shop
from scout.job_queue.job_kinds import JobKind
from scout.pipeline.run_records import run_key
from scout.pipeline.run_summary import report_paths, summarize_run
from scout.web.access.guard import Editor, Viewer, api_router
from scout.web.api import models
from scout.web.api.cursors import Cursor, Limit, decode_id, encode_cursor
from scout.web.api.responses import problems
from scout.web.context import Context
from scout.web.files.report_files import MEDIA_TYPES, report_response
from scout.web.rendering import path_part
from scout.web.stored_rows import RowId, get_run
from scout.work_status import read_work_status

router = api_router("runs")


@router.get("/api/v1/runs", responses=problems())
def read_runs(
    context: Viewer,
    state: Annotated[RunState | None, Query()] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.RunPage:
    """List the runs of all shops, the newest first."""
    conditions = [] if state is None else [col(Run.state) == state]
    return _read_page(context, conditions, limit, cursor)


@router.get("/api/v1/shops/{shop}/runs", responses=problems(404))
def read_shop_runs(
    context: Viewer, shop: str, limit: Limit = 100, cursor: Cursor = None
) -> models.RunPage:
    """List the runs of a shop, the newest first."""
    stored = context.shop(shop)
    return _read_page(context, [col(Run.shop_id) == stored.id], limit, cursor)


def _read_page(
    context: Context, conditions: list[Any], limit: int, cursor: str | None
) -> models.RunPage:
    query = (
        select(Run, Shop.name, RunCounts)
        .join(Shop, col(Shop.id) == col(Run.shop_id))
        .outerjoin(RunCounts, col(RunCounts.run_id) == col(Run.id))
        .where(*conditions)
    )
    if (before := decode_id(cursor)) is not None:
        query = query.where(col(Run.id) < before)
    with context.store.read() as session:
        rows = session.exec(query.order_by(col(Run.id).desc()).limit(limit + 1)).all()
        total = session.exec(select(func.count()).select_from(Run).where(*conditions)).one()
    items = [_run_row(run, name, counts) for run, name, counts in rows[:limit]]
    next_cursor = encode_cursor(items[-1].id) if len(rows) > limit else None
    return models.RunPage(items=items, total=total, next=next_cursor)


def _run_row(run: Run, shop: str, counts: RunCounts | None) -> models.RunRow:
    # Counts are those of a finished run; others are not complete.
    is_counted = counts is not None and run.state == RunState.DONE
    return models.RunRow(
        id=run_key(run),
        shop=shop,
        state=str(run.state),
        stage=str(run.stage),
        reason=run.reason,
        started_at=run.started_at,
        finished_at=run.finished_at,
        listed=counts.listed if counts and is_counted else None,
        missing=counts.missing if counts and is_counted else None,
        unsure=counts.unsure if counts and is_counted else None,
    )


@router.post("/api/v1/shops/{shop}/runs", status_code=202, responses=problems(404, 409))
def start_run(
    context: Editor, shop: str, new: models.NewRun, response: Response
) -> models.JobStatus:
    """Start a run in the background, or resume the unfinished one."""
    stored = context.shop(shop)
    context.jobs.start(stored, JobKind.RUN, fresh=new.fresh)
    context.audit("run started", stored.name, fresh=new.fresh)
    response.headers["location"] = f"/api/v1/shops/{path_part(stored.name)}/job"
    return models.JobStatus(shop=stored.name, job="run", state="waiting")


@router.get("/api/v1/shops/{shop}/job", responses=problems(404))
def read_job(context: Viewer, shop: str) -> models.JobStatus:
    """Return the last job that was started here on a shop."""
    stored = context.shop(shop)
    job = context.jobs.state(stored)
    if job is None:
        raise HTTPException(404, f"no job was started on {stored.name!r} since the server started")
    kind: Any = str(job.kind)
    if job.is_open:
        return models.JobStatus(shop=stored.name, job=kind, state="waiting")
    state: Any = "failed" if job.error else "done"
    return models.JobStatus(shop=stored.name, job=kind, state=state, error=job.error)


@router.post("/api/v1/shops/{shop}/stop", status_code=204, responses=problems(404, 409))
def stop_run(context: Editor, shop: str) -> Response:
    """Stop the run of a shop: the next run resumes it."""
    stored = context.shop(shop)
    if not context.jobs.end(stored):
        raise HTTPException(409, f"shop {stored.name!r} is not being run")
    context.audit("run stopped", stored.name)
    return Response(status_code=204)


@router.get("/api/v1/work", responses=problems())
def read_work(context: Viewer) -> models.WorkStatus:
    """Return the shops that are being run on any machine, and the jobs and workers of the queue."""
    status = read_work_status(context.settings, context.store)
    return models.WorkStatus.model_validate(asdict(status))


@router.get("/api/v1/runs/{run_id}", responses=problems(404))
def read_run(context: Viewer, run_id: RowId) -> models.RunDetails:
    """Return one run: pages by state, offers by verdict, coverage, seconds per stage."""
    run, shop = get_run(context.store, run_id)
    summary = vars(summarize_run(context.store, shop, run_id, counts_coverage=False))
    return models.RunDetails(
        **{**summary, "reports": sorted(report_paths(context.store, run))},
        stage=str(run.stage),
        reason=run.reason,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


@router.get(
    "/api/v1/runs/{run_id}/report.{kind}",
    response_class=Response,
    responses={
        **problems(404),
        200: {"content": {media_type: {} for media_type in MEDIA_TYPES.values()}},
    },
)
def read_report(context: Viewer, run_id: RowId, kind: str) -> Response:
    """Return the report of a run: html, csv, xlsx or json."""
    return report_response(context.store, run_id, kind)
