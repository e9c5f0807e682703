"""Health, readiness and metrics: for machines that watch this process."""

import os
import shutil
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, PlainTextResponse, Response

from catalog.errors import StoreError
from catalog.storage.store import newest_revision
from scout.web.access.guard import Public, Viewer, api_router
from scout.web.context import Context

MIN_FREE_SPACE = 50_000_000
"""Bytes free in the data folder below which no run can store its pages."""

MEGABYTE = 1_000_000
"""Bytes in the unit of messages."""

_REVISION = text("SELECT version_num FROM alembic_version")

router = api_router("status")


@router.get("/healthz", include_in_schema=False)
def show_health(context: Public) -> Response:
    """Return 200 while this process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz", include_in_schema=False)
def show_readiness(context: Public) -> Response:
    """Return 200 if database, schema and disk are ready too, else 503 with a line a fault."""
    problems = [*_database_problems(context), *_disk_problems(context)]
    if problems:
        return PlainTextResponse("".join(f"{problem}\n" for problem in problems), 503)
    return PlainTextResponse("ready\n")


def _database_problems(context: Context) -> Iterator[str]:
    try:
        with context.store.read() as session:
            revision = session.connection().execute(_REVISION).scalar()
    except (StoreError, SQLAlchemyError):
        yield "the database does not answer"
        return
    if revision != newest_revision():
        yield f"the database has schema {revision}, and {newest_revision()} is needed"


def _disk_problems(context: Context) -> Iterator[str]:
    folder = context.settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError:
        yield "the data folder cannot be read"
        return
    if not os.access(folder, os.W_OK):
        yield "the data folder cannot be written to"
    if free < MIN_FREE_SPACE:
        yield f"the data folder has {free // MEGABYTE} MB left"


@router.get("/metrics", include_in_schema=False)
def show_metrics(context: Viewer) -> Response:
    """Return the figures of all shops in the text format of Prometheus."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    text = context.request.app.state.metrics.read() + generate_latest(registry)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


@router.get("/api/v1/openapi.json", include_in_schema=False)
def show_schema(context: Viewer) -> Response:
    """Return the description of the API in the format of OpenAPI."""
    return JSONResponse(context.request.app.openapi())
