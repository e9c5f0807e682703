"""The application: a page of all shops, one a shop, the reports, and the same as JSON. It answers GET only.

A request names shops and runs; files are found by what the store says of those, never by a path in the request.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from catalog.errors import ScoutError, StoreError
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.metrics.stored import Stored
from scout.schedule.timetable import Timetable
from scout.web import api, pages
from scout.web.guard import middleware

HERE = Path(__file__).parent


def make(
    settings: Settings, store: Store, hosts: Sequence[str], timetable: Timetable | None = None
) -> Starlette:
    """The application on a store, answering to these host names; a timetable runs as long as the application."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if timetable is not None:
            timetable.start()
        yield
        if timetable is not None:
            timetable.stop()

    routes = [
        Route("/", pages.start, methods=["GET"]),
        Route("/shops/{name}", pages.shop, methods=["GET"]),
        Route("/shops/{name}/inspect", pages.inspect, methods=["GET"]),
        Route("/runs/{run:int}/report.{kind}", pages.report, methods=["GET"]),
        Route("/api/shops", api.shops, methods=["GET"]),
        Route("/api/shops/{name}/offers", api.offers, methods=["GET"]),
        Route("/api/runs/{run:int}", api.run, methods=["GET"]),
        Route("/metrics", api.metrics, methods=["GET"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    app = Starlette(
        routes=routes,
        middleware=middleware(hosts),
        lifespan=lifespan,
        exception_handlers={ScoutError: _said_clearly},
    )
    app.state.settings = settings
    app.state.store = store
    app.state.timetable = timetable
    app.state.metrics = Stored(settings, store)
    return app


def _said_clearly(request: Request, error: Exception) -> Response:
    code = 503 if isinstance(error, StoreError) else 404
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": str(error)}, code)
    return HTMLResponse(pages.render("error.html", said=str(error)), code)
