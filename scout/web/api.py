"""JSON API: the output of `scout shop list`, `offers` and `run` with `--json`, over HTTP."""

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
from reports.model.findings import list_findings
from scout.overview import describe_shops
from scout.pipeline import run_records
from scout.pipeline.run_summary import summarize_run
from scout.terminal.output import json_default

# Bounds against hostile input: offers per response, and digits of a number in a query.
MAX_OFFERS = 10_000
_MAX_DIGITS = 7
_DEFAULT_OFFERS = 1000


class ScoutJSONResponse(JSONResponse):
    """JSON response with decimals and times as text."""

    def render(self, content: Any) -> bytes:
        """Encode the content as UTF-8 JSON."""
        return json.dumps(content, ensure_ascii=False, default=json_default).encode()


def list_shops(request: Request) -> Response:
    """Return all shops with their last run."""
    return ScoutJSONResponse(describe_shops(get_store(request)))


def list_offers(request: Request) -> Response:
    """Return a shop's offers of the newest run: `?verdict=` (or all), `&limit=`, `&offset=`."""
    store = get_store(request)
    shop = store.shop(request.path_params["name"])
    newest = run_records.latest_run(store, shop)
    if newest is None:
        return ScoutJSONResponse([])
    limit = min(parse_number(request, "limit", _DEFAULT_OFFERS), MAX_OFFERS)
    offset = parse_number(request, "offset", 0)
    findings = list_findings(store, shop, run_records.run_key(newest), parse_verdicts(request))
    page = findings[offset : offset + limit]
    return ScoutJSONResponse([finding.as_row() for finding in page])


def show_run(request: Request) -> Response:
    """Return one run: pages by state, offers by verdict, coverage, seconds per stage."""
    store = get_store(request)
    run, shop = find_run(store, request.path_params["run"])
    figures = asdict(summarize_run(store, shop, run_records.run_key(run)))
    progress = {"stage": run.stage, "reason": run.reason, "started_at": run.started_at}
    return ScoutJSONResponse(figures | progress)


def show_metrics(request: Request) -> Response:
    """Return the figures of all shops in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(request.app.state.metrics)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def get_store(request: Request) -> Store:
    """Return the store that the application shows."""
    store: Store = request.app.state.store
    return store


def find_run(store: Store, run_id: int) -> tuple[Run, Shop]:
    """Return a run and its shop. Raises UsageError if there is no such run."""
    with store.read() as session:
        run = run_records.find_run(session, run_id)
        if run is None:
            raise UsageError(f"there is no run {run_id}")
        return run, session.get_one(Shop, run.shop_id)


def parse_verdicts(request: Request) -> set[Verdict]:
    """Return the verdicts that `?verdict=` names. Raises UsageError."""
    name = request.query_params.get("verdict", "missing")
    if name == "all":
        return set(Verdict)
    if name not in set(Verdict):
        raise UsageError(f"verdict {name[:40]!r} is none of missing, listed, unsure, all")
    return {Verdict(name)}


def parse_number(request: Request, name: str, default: int) -> int:
    """Return a non-negative number of the query. Raises UsageError."""
    text = request.query_params.get(name, str(default))
    # str.isdigit alone accepts digits that int() rejects, such as superscripts.
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise UsageError(f"{name} must be a number")
    return int(text)
