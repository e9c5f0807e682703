"""JSON API: the output of `scout shop list`, `offers` and `run` with `--json`, over HTTP."""

import json
from dataclasses import asdict, fields
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from catalog.errors import UsageError
from catalog.models import Run, Shop, Verdict
from catalog.storage.findings import FindingFilter, count_matching
from catalog.storage.store import Store
from reports.model.findings import list_findings
from scout.offer_filters import FilterTexts, parse_filters
from scout.overview import describe_shop, describe_shops
from scout.pipeline import run_records
from scout.pipeline.run_summary import summarize_run
from scout.terminal.output import json_default

# Bounds against hostile input: offers per response, and digits of a number in a query.
MAX_OFFERS = 10_000
_MAX_DIGITS = 7
_DEFAULT_OFFERS = 1000

# Values of `?verdict=` that are no verdicts.
ALL = "all"
IGNORED = "ignored"

FILTER_NAMES = tuple(field.name for field in fields(FilterTexts))


class ScoutJSONResponse(JSONResponse):
    """JSON response with decimals and times as text."""

    def render(self, content: Any) -> bytes:
        """Encode the content as UTF-8 JSON."""
        return json.dumps(content, ensure_ascii=False, default=json_default).encode()


def list_shops(request: Request) -> Response:
    """Return all shops with their last run."""
    return ScoutJSONResponse(describe_shops(get_store(request)))


def show_shop(request: Request) -> Response:
    """Return one shop with its last finished run and its newest one."""
    store = get_store(request)
    return ScoutJSONResponse(describe_shop(store, store.shop(request.path_params["name"])))


def list_offers(request: Request) -> Response:
    """Return a shop's offers of the last finished run, the most valuable first.

    `?verdict=` (one, ignored or all), `&category=`, `&brand=`, `&price=`, `&cause=`, `&change=`,
    `&since=` filter as the options of `scout offers` do; `&sort=`, `&limit=` and `&offset=` select a
    page. The header X-Total-Count has the number of offers on all pages.
    """
    store = get_store(request)
    shop = store.shop(request.path_params["name"])
    where = parse_where(request, store, shop)
    limit = min(parse_number(request, "limit", _DEFAULT_OFFERS), MAX_OFFERS)
    offset = parse_number(request, "offset", 0)
    finished = run_records.shop_runs(store, shop).finished
    if finished is None:
        return ScoutJSONResponse([], headers={"x-total-count": "0"})
    run_id = run_records.run_key(finished)
    findings = list_findings(
        store,
        shop,
        run_id,
        where=where,
        sort=request.query_params.get("sort", "value"),
        limit=limit,
        offset=offset,
    )
    with store.read() as session:
        total = count_matching(session, run_id, where)
    headers = {"x-total-count": str(total), "x-run": str(run_id)}
    return ScoutJSONResponse([finding.as_row() for finding in findings], headers=headers)


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


def parse_where(request: Request, store: Store, shop: Shop) -> FindingFilter:
    """Return the filter that the query names, by default of the missing offers. Raises UsageError."""
    name = request.query_params.get("verdict", "missing")
    if name not in {*Verdict, ALL, IGNORED}:
        raise UsageError(f"verdict {name[:40]!r} is none of missing, listed, unsure, ignored, all")
    verdicts = {Verdict(name)} if name in set(Verdict) else set()
    return parse_filters(
        store,
        shop,
        filter_texts(request),
        verdicts=verdicts,
        includes_ignored=name == ALL,
        only_ignored=name == IGNORED,
    )


def filter_texts(request: Request) -> FilterTexts:
    """Return the filters of the query as they are."""
    query = request.query_params
    return FilterTexts(**{name: query.get(name) for name in FILTER_NAMES})


def parse_number(request: Request, name: str, default: int) -> int:
    """Return a non-negative number of the query. Raises UsageError."""
    text = request.query_params.get(name, str(default))
    # str.isdigit alone accepts digits that int() rejects, such as superscripts.
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise UsageError(f"{name} must be a number")
    return int(text)
