"""Web pages: all shops, one shop, one inspected page, the report of a run.

Templates escape everything; links lead to http(s) only.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlmodel import col, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from catalog.language.languages import ENGLISH
from catalog.models import Page, Run, RunCounts, Shop
from catalog.storage.findings import SORT_NAMES, Change, count_matching
from catalog.storage.store import Store
from reports.model.findings import list_findings
from reports.statistics.findings_reader import Finding
from scout.inspect.page_inspection import InspectedVote, inspect_page
from scout.overview import describe_shop, describe_shops, read_finished_counts
from scout.pipeline import run_records
from scout.pipeline.run_summary import report_paths
from scout.schedule.timetable import Timetable, scheduled_shops
from scout.terminal.output import format_cell
from scout.web.api import filter_texts, find_run, get_store, parse_number, parse_where
from scout.web.security import REPORT_POLICY

PAGE_SIZE = 100  # offers on one page of a shop
_MAX_RUNS = 20  # runs on a shop's page
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}


def web_link(url: str | None) -> str | None:
    """Return the URL if a browser may follow it (http or https), else None.

    >>> web_link("https://shop.example/a"), web_link("javascript:alert(1)")
    ('https://shop.example/a', None)
    """
    if url and url.lower().startswith(("http://", "https://")):
        return url
    return None


_templates = Environment(
    loader=PackageLoader("scout.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {"web_link": web_link, "cell": format_cell, "percent": ENGLISH.share}


def render(template: str, **values: object) -> str:
    """Fill in a template."""
    return _templates.get_template(template).render(query_link=query_link, **values)


def show_start(request: Request) -> Response:
    """Show all shops with last run, missing offers and newest report, and the timetable."""
    store = get_store(request)
    scheduled = {shop.name: schedule.cron for shop, schedule in scheduled_shops(store)}
    timetable: Timetable | None = request.app.state.timetable
    # Of several processes on one store, only the leader starts the scheduled runs.
    is_leader = timetable is not None and timetable.is_leader
    page = render(
        "start.html", shops=describe_shops(store), scheduled=scheduled, is_leader=is_leader
    )
    return HTMLResponse(page)


def show_shop(request: Request) -> Response:
    """Show one shop: its runs, and one page of the offers of the last finished one.

    The query filters and sorts as that of the API does, and `&page=` selects the page.
    """
    store = get_store(request)
    shop = store.shop(request.path_params["name"])
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
    page = render(
        "shop.html",
        shop=describe_shop(store, shop),
        runs=_newest_runs(store, shop),
        reports={run.id: report_paths(store, run) for run in _newest_runs(store, shop)},
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
    return HTMLResponse(page)


def _format_values(counts: RunCounts | None) -> str:
    """Format the value of the missing offers, each currency by itself."""
    if counts is None or not counts.values:
        return ""
    values = {currency: Decimal(value) for currency, value in counts.values.items()}
    return ENGLISH.totals(values, counts.currency)


def query_link(query: Mapping[str, str], **changes: object) -> str:
    """Return the query string of a page of offers with some filters changed; None removes one.

    >>> query_link({"verdict": "missing", "brand": "A&B"}, page=2, verdict=None)
    '?brand=A%26B&page=2'
    """
    changed = {name: value for name, value in {**query, **changes}.items() if value is not None}
    return "?" + urlencode(changed)


def show_inspection(request: Request) -> Response:
    """Show the votes of every rule on a crawled page of the shop.

    Other pages and files are not opened.
    """
    store = get_store(request)
    shop = store.shop(request.path_params["name"])
    url = request.query_params.get("url", "")
    stored = select(Page).where(
        Page.shop_id == shop.id, Page.url == url, col(Page.body).is_not(None)
    )
    with store.read() as session:
        page = session.exec(stored).first()
    if page is None:
        raise HTTPException(404, "no such page was crawled")
    inspection = inspect_page(request.app.state.settings, store, shop, page.url)
    winners: dict[str, InspectedVote] = {}
    for vote in inspection.lines:
        if vote.won:
            winners.setdefault(vote.attribute, vote)
    return HTMLResponse(render("inspect.html", page=inspection, shop=shop, winners=winners))


def send_report(request: Request) -> Response:
    """Send a run's report as it was written; the store says where."""
    kind = request.path_params["kind"]
    run, _ = find_run(get_store(request), request.path_params["run"])
    path = _report_path(get_store(request), run, kind)
    if path is None or not path.is_file():
        raise HTTPException(404, "this run has no such report")
    options: dict[str, Any] = {"filename": path.name}
    # A browser shows the HTML report and saves the others.
    if kind == "html":
        options = {"headers": {"content-security-policy": REPORT_POLICY}}
    return FileResponse(path, media_type=MEDIA_TYPES[kind], **options)


def _report_path(store: Store, run: Run, kind: str) -> Path | None:
    if kind not in MEDIA_TYPES:
        return None
    path = report_paths(store, run).get(kind)
    return Path(path) if path else None


def _newest_runs(store: Store, shop: Shop) -> list[Run]:
    newest = select(Run).where(Run.shop_id == shop.id).order_by(col(Run.id).desc()).limit(_MAX_RUNS)
    with store.read() as session:
        return list(session.exec(newest))
