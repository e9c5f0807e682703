"""The page of one shop: its figures, runs, and offers of the last finished run."""

from decimal import Decimal

from sqlmodel import col, select
from starlette.responses import Response

from catalog.language.languages import ENGLISH
from catalog.models import Run, RunCounts, Shop
from catalog.storage.findings import SORT_NAMES, Change, count_matching
from catalog.storage.store import Store
from reports.model.findings import list_findings
from reports.statistics.findings_reader import Finding
from scout.overview import describe_shop, read_finished_counts
from scout.pipeline import run_records
from scout.pipeline.run_summary import report_paths
from scout.web.access.guard import Viewer, page_router
from scout.web.query_filters import filter_texts, parse_number, parse_where

PAGE_SIZE = 100
"""Offers on one page of a shop."""

_MAX_RUNS = 20  # runs on a shop's page

router = page_router()


@router.get("/shops/{name}")
def show_shop(name: str, context: Viewer) -> Response:
    """Show one shop: its runs, and one page of the offers of the last finished one.

    The query filters and sorts as that of the API does, and `&page=` selects the page.
    """
    store, request = context.store, context.request
    shop = context.shop(name)
    where = parse_where(request, store, shop)
    sort = request.query_params.get("sort", "value")
    number = max(1, parse_number(request, "page", 1))
    finished = run_records.shop_runs(store, shop).finished
    counts = read_finished_counts(store, shop, finished)
    offers: list[Finding] = []
    total = 0
    if finished is not None:
        run_id = run_records.run_key(finished)
        offset = (number - 1) * PAGE_SIZE
        offers = list_findings(
            store, shop, run_id, where=where, sort=sort, limit=PAGE_SIZE, offset=offset
        )
        with store.read() as session:
            total = count_matching(session, run_id, where)
    query = {"verdict": request.query_params.get("verdict", "missing"), "sort": sort}
    query |= filter_texts(request).given()
    runs = _newest_runs(store, shop)
    return context.render(
        "shop.html",
        shop=describe_shop(store, shop),
        runs=runs,
        reports={run.id: report_paths(store, run) for run in runs},
        counts=counts,
        value=_format_values(counts),
        offers=offers,
        total=total,
        query=query,
        number=number,
        last=max(1, -(-total // PAGE_SIZE)),
        sorts=SORT_NAMES,
        changes=tuple(Change),
    )


def _format_values(counts: RunCounts | None) -> str:
    """Format the value of the missing offers, each currency by itself."""
    if counts is None or not counts.values:
        return ""
    values = {currency: Decimal(value) for currency, value in counts.values.items()}
    return ENGLISH.totals(values, counts.currency)


def _newest_runs(store: Store, shop: Shop) -> list[Run]:
    newest = select(Run).where(Run.shop_id == shop.id).order_by(col(Run.id).desc()).limit(_MAX_RUNS)
    with store.read() as session:
        return list(session.exec(newest))
