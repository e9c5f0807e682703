"""The report files of a run as responses: as they were written, from where the store says."""

from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from catalog.storage.store import Store
from scout.pipeline.run_summary import report_paths
from scout.web.security import REPORT_POLICY
from scout.web.stored_rows import get_run

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}
"""Formats of reports that can be downloaded."""


def report_response(store: Store, run_id: int, kind: str) -> Response:
    """Return a run's report of a format. Raises HTTPException 404."""
    run, shop = get_run(store, run_id)
    stored = report_paths(store, run).get(kind) if kind in MEDIA_TYPES else None
    path = Path(stored) if stored else None
    if path is None:
        raise HTTPException(404, "this run has no such report")
    if not path.is_file():
        # Workers write reports into the data folders of their machines.
        command = f"scout report {shop.name} --run {run_id}"
        raise HTTPException(404, f"this report is not on this machine: {command!r} writes it here")
    options: dict[str, Any] = {"filename": path.name}
    # A browser shows the HTML report and saves the others.
    if kind == "html":
        options = {"headers": {"content-security-policy": REPORT_POLICY}}
    return FileResponse(path, media_type=MEDIA_TYPES[kind], **options)
