"""Runs: their list, and the report of each."""

from starlette.responses import Response

from scout.web.access.guard import Viewer, page_router
from scout.web.report_files import report_response
from scout.web.stored_rows import RowId

router = page_router()


@router.get("/runs")
def list_runs(context: Viewer) -> Response:
    """Show the runs of all shops."""
    return context.render("runs.html")


@router.get("/runs/{run_id}/report.{kind}")
def send_report(run_id: RowId, kind: str, context: Viewer) -> Response:
    """Send a run's report as it was written; the store says where."""
    return report_response(context.store, run_id, kind)
