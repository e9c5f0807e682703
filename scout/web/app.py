"""Web application: a page of all shops, one page per shop, the reports, and the same data as JSON.

GET requests only.

A request names shops and runs. The store knows where their files are; no path is taken from the
request.
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
from scout.metrics.store_metrics import StoreCollector
from scout.schedule.timetable import Timetable
from scout.web import api, pages
from scout.web.security import security_middleware

_STATIC_FOLDER = Path(__file__).parent / "static"


def create_app(
    settings: Settings, store: Store, hosts: Sequence[str], timetable: Timetable | None = None
) -> Starlette:
    """Create the application on a store.

    It answers to these host names and runs the timetable as long as it lives.
    """

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if timetable is not None:
            timetable.start()
        yield
        if timetable is not None:
            timetable.stop()

    routes = [
        Route("/", pages.show_start, methods=["GET"]),
        Route("/shops/{name}", pages.show_shop, methods=["GET"]),
        Route("/shops/{name}/inspect", pages.show_inspection, methods=["GET"]),
        Route("/runs/{run:int}/report.{kind}", pages.send_report, methods=["GET"]),
        Route("/api/shops", api.list_shops, methods=["GET"]),
        Route("/api/shops/{name}", api.show_shop, methods=["GET"]),
        Route("/api/shops/{name}/offers", api.list_offers, methods=["GET"]),
        Route("/api/runs/{run:int}", api.show_run, methods=["GET"]),
        Route("/metrics", api.show_metrics, methods=["GET"]),
        Mount("/static", StaticFiles(directory=_STATIC_FOLDER)),
    ]
    app = Starlette(
        routes=routes,
        middleware=security_middleware(hosts),
        lifespan=lifespan,
        exception_handlers={ScoutError: _error_response},
    )
    app.state.settings = settings
    app.state.store = store
    app.state.timetable = timetable
    app.state.metrics = StoreCollector(settings, store)
    return app


def _error_response(request: Request, error: Exception) -> Response:
    """Return an error of Scout as one clear line: 503 if the store cannot be read, else 404."""
    code, heading = 404, "Page not found"
    if isinstance(error, StoreError):
        code, heading = 503, "Temporarily unavailable"
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": str(error)}, code)
    page = pages.render("error.html", heading=heading, message=str(error))
    return HTMLResponse(page, code)
