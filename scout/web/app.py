"""Web application: pages, reports, and the same data as a JSON API.

A request names shops and runs. The store knows where their files are; no path is taken from the
request. Every route declares who may call it (`scout.web.access.guard`).
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.staticfiles import StaticFiles

from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.metrics.store_metrics import MetricsText
from scout.pipeline.background_jobs import BackgroundJobs
from scout.schedule.timetable import Timetable
from scout.web.access.openid import make_provider
from scout.web.api import API_ROUTERS
from scout.web.errors import add_error_handlers
from scout.web.pages import PAGE_ROUTERS
from scout.web.security import security_middleware

MAX_BODY = 1_000_000
"""Bytes of a request's body; a route that takes files sets its own `max_body_size`."""

_STATIC_FOLDER = Path(__file__).parent / "static"


def create_app(
    settings: Settings,
    store: Store,
    hosts: Sequence[str],
    timetable: Timetable | None = None,
    flags: Sequence[str] = (),
) -> FastAPI:
    """Create the application on a store.

    It answers to these host names and runs the timetable as long as it lives. `flags` are the
    global options of `scout` for the processes that it starts. Raises ConfigError.
    """
    jobs = BackgroundJobs(settings, store, flags)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if timetable is not None:
            timetable.start()
        yield
        jobs.stop()
        if timetable is not None:
            timetable.stop()

    app = FastAPI(
        title="Scout",
        version=version("scout-offer-gaps"),
        lifespan=lifespan,
        middleware=security_middleware(hosts),
        # The documentation of the API is a route that needs a login; its page would load scripts
        # from other hosts.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        max_body_size=MAX_BODY,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    add_error_handlers(app)
    for router in (*PAGE_ROUTERS, *API_ROUTERS):
        app.include_router(router)
    # The design tokens are those of the report.
    static = StaticFiles(directory=_STATIC_FOLDER, packages=[("reports", "static")])
    app.mount("/static", static)
    app.openapi = partial(describe_api, app)  # type: ignore[method-assign]
    app.state.settings = settings
    app.state.store = store
    app.state.timetable = timetable
    app.state.jobs = jobs
    app.state.openid = make_provider(settings)
    app.state.metrics = MetricsText(settings, store)
    return app


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Describe the API in the format of OpenAPI; every route takes a token or a session."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title="Scout",
            version=app.version,
            description="Offers that a catalog lacks of shops, and why.",
            routes=app.routes,
        )
        schemes = schema["components"].setdefault("securitySchemes", {})
        schemes["token"] = {"type": "http", "scheme": "bearer"}
        schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema
