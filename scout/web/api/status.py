"""Health, readiness and metrics: for machines that watch this process."""

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sqlmodel import select
from starlette.responses import JSONResponse, PlainTextResponse, Response

from catalog.errors import StoreError
from catalog.models import Shop
from scout.web.access.guard import Public, Viewer, api_router

router = api_router("status")


@router.get("/healthz", include_in_schema=False)
def show_health(context: Public) -> Response:
    """Return 200 while this process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz", include_in_schema=False)
def show_readiness(context: Public) -> Response:
    """Return 200 if the database answers too, else 503."""
    try:
        with context.store.read() as session:
            session.exec(select(Shop.id).limit(1)).first()
    except StoreError:
        return PlainTextResponse("the database does not answer\n", 503)
    return PlainTextResponse("ready\n")


@router.get("/metrics", include_in_schema=False)
def show_metrics(context: Viewer) -> Response:
    """Return the figures of all shops in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(context.request.app.state.metrics)
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


@router.get("/api/v1/openapi.json", include_in_schema=False)
def show_schema(context: Viewer) -> Response:
    """Return the description of the API in the format of OpenAPI."""
    return JSONResponse(context.request.app.openapi())
