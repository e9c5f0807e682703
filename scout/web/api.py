"""The JSON API: what `scout shop list --json`, `scout offers --json` and `scout run --json` print."""

import json
from dataclasses import asdict
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from catalog.errors import UsageError
from catalog.models import Run, Shop, Verdict
from catalog.storage.store import Store
from reports.model.findings import rows
from scout.overview import overview
from scout.pipeline import pipeline
from scout.pipeline.summary import summary
from scout.terminal.output import plain

MOST = 10_000


class Json(JSONResponse):
    """JSON with decimals and times as text."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, default=plain).encode()


def shops(request: Request) -> Response:
    """All shops, with their last run."""
    return Json(overview(store_of(request)))


def offers(request: Request) -> Response:
    """A shop's offers of the newest run: `?verdict=missing` (or listed, unsure, all), `&limit=`, `&offset=`."""
    store = store_of(request)
    shop = store.shop(request.path_params["name"])
    newest = pipeline.latest(store, shop)
    if newest is None:
        return Json([])
    limit, offset = number(request, "limit", 1000), number(request, "offset", 0)
    found = rows(store, shop, pipeline.run_key(newest), verdicts_of(request))
    return Json([finding.as_row() for finding in found[offset : offset + limit]])


def run(request: Request) -> Response:
    """One run: pages by state, offers by verdict, coverage, seconds per stage."""
    store = store_of(request)
    found, shop = run_of(store, request.path_params["run"])
    said = asdict(summary(store, shop, pipeline.run_key(found)))
    return Json(
        said | {"stage": found.stage, "reason": found.reason, "started_at": found.started_at}
    )


def metrics(request: Request) -> Response:
    """All shops' figures for Prometheus."""
    registry = CollectorRegistry()
    registry.register(request.app.state.metrics)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def store_of(request: Request) -> Store:
    """The store that the application shows."""
    store: Store = request.app.state.store
    return store


def run_of(store: Store, run_id: int) -> tuple[Run, Shop]:
    """A run and its shop. Raises UsageError."""
    with store.read() as session:
        found = pipeline.run_at(session, run_id)
        if found is None:
            raise UsageError(f"there is no run {run_id}")
        return found, session.get_one(Shop, found.shop_id)


def verdicts_of(request: Request) -> set[Verdict]:
    """What `?verdict=` asks for. Raises UsageError."""
    asked = request.query_params.get("verdict", "missing")
    if asked == "all":
        return set(Verdict)
    if asked not in set(Verdict):
        raise UsageError(f"verdict {asked[:40]!r} is none of missing, listed, unsure, all")
    return {Verdict(asked)}


def number(request: Request, name: str, default: int) -> int:
    """A number of the query, from 0 to `MOST` (offsets: a million). Raises UsageError."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 7):
        raise UsageError(f"{name} has to be a number")
    return int(text) if name == "offset" else min(int(text), MOST)
