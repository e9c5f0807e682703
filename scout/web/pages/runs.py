"""Runs: lists, one run with its progress as it comes, start, stop, comparison, reports."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Form
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from catalog.models import Run, RunCounts, RunState, Shop
from catalog.storage.run_list import RunFilter, RunRow, read_run_list
from reports.write.run_notes import drift_notes
from scout.job_queue.job_kinds import JobKind
from scout.pipeline.run_records import shop_key
from scout.pipeline.run_summary import report_paths
from scout.web.access.guard import Editor, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.files.report_files import report_response
from scout.web.query_filters import parse_row_id
from scout.web.rendering import path_part, read_language
from scout.web.stored_rows import RowId, get_run
from scout.web.views.live_runs import LiveRun, read_live_run, read_log_end
from scout.work_status import read_work_status

PAGE_SIZE = 50
"""Runs on one page of a list."""

EVENT_INTERVAL = 1.5
"""Seconds between two events of a run's progress."""

STREAM_TIME = 600.0
"""Seconds after which a stream of events ends; the browser connects again."""

MAX_STREAMS = 200
"""Streams of events at a time; further browsers get the page without them."""

# The parts of a run's page that events replace.
_LIVE_BLOCK = "live"

router = page_router()


@router.get("/runs")
def list_runs(context: Viewer, state: str = "", before: str = "") -> Response:
    """Show the runs of all shops, the newest first."""
    return _render_list(context, None, state, before)


@router.get("/shops/{name}/runs")
def list_shop_runs(name: str, context: Viewer, state: str = "", before: str = "") -> Response:
    """Show the runs of a shop, the newest first."""
    return _render_list(context, context.shop(name), state, before)


def _render_list(context: Context, shop: Shop | None, state: str, before: str) -> Response:
    run_filter = RunFilter(shop_key(shop) if shop else None, state or None)
    with context.store.read() as session:
        rows = read_run_list(session, run_filter, parse_row_id("before", before), PAGE_SIZE + 1)
    shown = rows[:PAGE_SIZE]
    job = context.jobs.state(shop) if shop else None
    return context.render(
        "runs.html",
        shop=shop,
        rows=shown,
        reports={row.run.id: report_paths(context.store, row.run) for row in shown},
        older=shown[-1].run.id if len(rows) > PAGE_SIZE else None,
        states=tuple(RunState),
        query={"state": state or None},
        is_busy=context.jobs.is_busy(shop) if shop else False,
        job=job,
        work=None if shop else read_work_status(context.settings, context.store),
    )


@router.get("/runs/{run_id}")
def show_run(run_id: RowId, context: Viewer) -> Response:
    """Show one run: its stages, pages by state and reason, log, reports."""
    run, shop = get_run(context.store, run_id)
    with context.store.read() as session:
        former = read_run_list(session, RunFilter(shop_key(shop), str(RunState.DONE)), run_id, 20)
    values = _live_values(context, run, shop)
    return context.render(
        "run.html",
        **values,
        former=former,
        reports=report_paths(context.store, run),
        drift=drift_notes(run.figures, read_language(context.language)),
    )


def _live_values(context: Context, run: Run, shop: Shop) -> dict[str, Any]:
    with context.store.read() as session:
        live: LiveRun = read_live_run(session, run, read_language(context.language))
        counts = session.get(RunCounts, run.id)
    return {
        "run": run,
        "shop": shop,
        "live": live,
        "counts": counts if run.state == RunState.DONE else None,
        "is_busy": context.jobs.is_busy(shop),
        "log": read_log_end(context.settings, live) if context.may("editor") else [],
    }


@router.get("/runs/{run_id}/events")
async def stream_run(run_id: RowId, context: Viewer) -> Response:
    """Send the progress of a run as server-sent events until it ends."""
    await run_in_threadpool(get_run, context.store, run_id)
    state = context.request.app.state
    streams: int = getattr(state, "run_streams", 0)
    if streams >= MAX_STREAMS:
        raise HTTPException(503, "too many pages are watching runs: load this one again later")
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(
        _events(run_id, context), media_type="text/event-stream", headers=headers
    )


async def _events(run_id: int, context: Context) -> AsyncIterator[str]:
    """Yield an event whenever the progress has changed; the last one is named `ended`."""
    state = context.request.app.state
    state.run_streams = getattr(state, "run_streams", 0) + 1
    ends_at = time.monotonic() + STREAM_TIME
    former = ""
    try:
        while time.monotonic() < ends_at and not await context.request.is_disconnected():
            html, is_open = await run_in_threadpool(_live_part, run_id, context)
            if html != former:
                yield _event("live", html)
                former = html
            if not is_open:
                yield _event("ended", "")
                return
            await asyncio.sleep(EVENT_INTERVAL)
    finally:
        state.run_streams -= 1


def _live_part(run_id: int, context: Context) -> tuple[str, bool]:
    run, shop = get_run(context.store, run_id)
    values = _live_values(context, run, shop)
    html = context.part_text("run.html", _LIVE_BLOCK, **values)
    return html, run.state == RunState.RUNNING and bool(values["is_busy"])


def _event(name: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


@router.post("/shops/{name}/runs")
def start_run(name: str, context: Editor, fresh: Annotated[bool, Form()] = False) -> Response:
    """Start a run in the background, or resume the unfinished one."""
    shop = context.shop(name)
    context.jobs.start(shop, JobKind.RUN, fresh=fresh)
    context.audit("run started", shop.name, fresh=fresh)
    message = Message(context.gettext("The run has started: its progress shows here in a moment."))
    return context.redirect(f"/shops/{path_part(shop.name)}/runs", message)


@router.post("/shops/{name}/runs/stop")
def stop_run(name: str, context: Editor) -> Response:
    """Stop the run of a shop: the next run resumes it."""
    shop = context.shop(name)
    if not context.jobs.end(shop):
        raise HTTPException(409, f"shop {shop.name!r} is not being run")
    context.audit("run stopped", shop.name)
    message = Message(context.gettext("The run stops. It resumes where it was when it is started."))
    return context.redirect(f"/shops/{path_part(shop.name)}/runs", message)


@router.get("/runs/{run_id}/compare/{other_id}")
def compare_runs(run_id: RowId, other_id: RowId, context: Viewer) -> Response:
    """Show two finished runs of a shop side by side."""
    run, shop = get_run(context.store, run_id)
    other, other_shop = get_run(context.store, other_id)
    if shop.id != other_shop.id:
        raise HTTPException(404, "these runs are of different shops")
    with context.store.read() as session:
        rows = [
            RunRow(entry, shop.name, session.get(RunCounts, entry.id)) for entry in (other, run)
        ]
    lines = _comparison(rows, context)
    return context.render("compare.html", shop=shop, rows=rows, lines=lines)


def _comparison(rows: list[RunRow], context: Context) -> list[tuple[str, list[Any]]]:
    """Return the figures of runs by name; numbers are counts, and shares are floats."""
    gettext = context.gettext
    lines: list[tuple[str, list[Any]]] = []
    for text, field in (
        (gettext("Missing"), "missing"),
        (gettext("Unsure"), "unsure"),
        (gettext("Listed"), "listed"),
        (gettext("Ignored"), "ignored"),
        (gettext("Known offers"), "known_offers"),
    ):
        lines.append((text, [row.counts and getattr(row.counts, field) for row in rows]))
    coverage = [row.run.figures.get("coverage") or {} for row in rows]
    for text, field in (
        (gettext("Pages discovered"), "pages"),
        (gettext("Pages fetched"), "fetched"),
        (gettext("Pages failed"), "failed"),
        (gettext("Pages that answered"), "page_share"),
        (gettext("Known offers found"), "known_share"),
    ):
        lines.append((text, [figures.get(field) for figures in coverage]))
    crawls = [row.run.figures.get("crawl") or {} for row in rows]
    lines.append((gettext("Requests"), [figures.get("requests") for figures in crawls]))
    learnt = [row.run.figures.get("learn") or {} for row in rows]
    lines.append((gettext("Version of the rules"), [figures.get("version") for figures in learnt]))
    return lines


@router.get("/runs/{run_id}/report.{kind}")
def send_report(run_id: RowId, kind: str, context: Viewer) -> Response:
    """Send a run's report as it was written; the store says where."""
    return report_response(context.store, run_id, kind)
