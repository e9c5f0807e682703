"""The paths of the API before it had versions, `/api/...`: as they were, for scripts in use."""

from dataclasses import asdict

from starlette.responses import Response

from catalog.storage.findings import count_matching
from reports.model.findings import list_findings
from scout.overview import describe_shop, describe_shops
from scout.pipeline import run_records
from scout.pipeline.run_summary import summarize_run
from scout.web.access.guard import Viewer, api_router
from scout.web.api.json_response import ScoutJSONResponse
from scout.web.query_filters import parse_finding_filter, parse_number
from scout.web.stored_rows import RowId, get_run

MAX_OFFERS = 10_000
"""Offers per response at most."""

_DEFAULT_OFFERS = 1000

router = api_router("older paths")


@router.get("/api/shops", include_in_schema=False)
def list_shops(context: Viewer) -> Response:
    """Return all shops with their last run."""
    return ScoutJSONResponse(describe_shops(context.store))


@router.get("/api/shops/{name}", include_in_schema=False)
def show_shop(name: str, context: Viewer) -> Response:
    """Return one shop with its last finished run and its newest one."""
    return ScoutJSONResponse(describe_shop(context.store, context.shop(name)))


@router.get("/api/shops/{name}/offers", include_in_schema=False)
def list_offers(name: str, context: Viewer) -> Response:
    """Return a shop's offers of the last finished run, the most valuable first.

    `?verdict=` (one, ignored or all), `&category=`, `&brand=`, `&price=`, `&cause=`, `&change=`,
    `&since=` filter as the options of `scout offers` do; `&sort=`, `&limit=` and `&offset=` select
    a page. The header X-Total-Count has the number of offers on all pages.
    """
    store, request = context.store, context.request
    shop = context.shop(name)
    finding_filter = parse_finding_filter(request, store, shop)
    limit = min(parse_number(request, "limit", _DEFAULT_OFFERS), MAX_OFFERS)
    offset = parse_number(request, "offset", 0)
    finished = run_records.shop_runs(store, shop).finished
    if finished is None:
        return ScoutJSONResponse([], headers={"x-total-count": "0"})
    run_id = run_records.run_key(finished)
    sort = request.query_params.get("sort", "value")
    findings = list_findings(
        store, shop, run_id, where=finding_filter, sort=sort, limit=limit, offset=offset
    )
    with store.read() as session:
        total = count_matching(session, run_id, finding_filter)
    headers = {"x-total-count": str(total), "x-run": str(run_id)}
    return ScoutJSONResponse([finding.as_row() for finding in findings], headers=headers)


@router.get("/api/runs/{run_id}", include_in_schema=False)
def show_run(run_id: RowId, context: Viewer) -> Response:
    """Return one run: pages by state, offers by verdict, coverage, seconds per stage."""
    run, shop = get_run(context.store, run_id)
    figures = asdict(summarize_run(context.store, shop, run_id))
    progress = {"stage": run.stage, "reason": run.reason, "started_at": run.started_at}
    return ScoutJSONResponse(figures | progress)
