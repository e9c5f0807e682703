"""The pages: all shops, one shop, the report of a run. Templates escape everything; links lead to http(s) only."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlmodel import col, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from catalog.models import Page, Run, Shop, Verdict
from catalog.storage.store import Store
from reports.model.findings import rows
from scout.inspect.page_inspection import inspect_page
from scout.overview import overview, row
from scout.pipeline import pipeline
from scout.schedule.timetable import Timetable, entries
from scout.terminal.output import cell
from scout.web.api import run_of, store_of
from scout.web.guard import REPORT_POLICY

SHOWN = 500
FORMATS = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}


def web_only(url: str | None) -> str | None:
    """The URL where a browser may follow it.

    >>> web_only("https://shop.example/a"), web_only("javascript:alert(1)")
    ('https://shop.example/a', None)
    """
    return url if url and url.lower().startswith(("http://", "https://")) else None


_templates = Environment(
    loader=PackageLoader("scout.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {"web_only": web_only, "cell": cell}


def render(template: str, **values: object) -> str:
    """A template filled in."""
    return _templates.get_template(template).render(**values)


def start(request: Request) -> Response:
    """All shops: last run, missing offers, the newest report; and the timetable."""
    store = store_of(request)
    planned = {shop.name: scheduled.cron for shop, scheduled in entries(store)}
    timetable: Timetable | None = request.app.state.timetable
    leads = timetable.leads if timetable is not None else False
    return HTMLResponse(render("start.html", shops=overview(store), planned=planned, leads=leads))


def shop(request: Request) -> Response:
    """One shop: its runs, and what the newest one found missing."""
    store = store_of(request)
    found = store.shop(request.path_params["name"])
    runs = _runs(store, found)
    missing = rows(store, found, pipeline.run_key(runs[0]), {Verdict.MISSING}) if runs else []
    page = render(
        "shop.html", shop=row(store, found), runs=runs, missing=missing[:SHOWN], total=len(missing)
    )
    return HTMLResponse(page)


def inspect(request: Request) -> Response:
    """What every rule finds on a page: one that the store has of this shop, whatever the request names."""
    store = store_of(request)
    found = store.shop(request.path_params["name"])
    with store.read() as session:
        asked = select(Page).where(
            Page.shop_id == found.id, Page.url == request.query_params.get("url", "")
        )
        page = session.exec(asked.where(col(Page.body).is_not(None))).first()
    if page is None:
        raise HTTPException(404, "no such page was crawled")
    read = inspect_page(request.app.state.settings, store, found, page.url)
    first = {one.attribute: one for one in reversed(read.lines) if one.won}
    return HTMLResponse(render("inspect.html", page=read, shop=found, copies=first))


def report(request: Request) -> Response:
    """A run's report as it was written, found by what the store says of that run."""
    kind = request.path_params["kind"]
    run, _shop = run_of(store_of(request), request.path_params["run"])
    written = run.figures.get("report", {}).get(kind) if kind in FORMATS else None
    path = Path(written) if written else None
    if path is None or not path.is_file():
        raise HTTPException(404, "this run has no such report")
    shown = (
        {"headers": {"content-security-policy": REPORT_POLICY}}
        if kind == "html"
        else {"filename": path.name}
    )
    return FileResponse(path, media_type=FORMATS[kind], **shown)


def _runs(store: Store, shop: Shop) -> list[Run]:
    with store.read() as session:
        return list(
            session.exec(
                select(Run).where(Run.shop_id == shop.id).order_by(col(Run.id).desc()).limit(20)
            )
        )
