"""The findings of a shop: a filtered list, a drawer for each, decisions, downloads."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Form
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import Shop, StoredFinding
from catalog.storage.finding_facets import count_facet
from catalog.storage.findings import SORT_NAMES, Change
from reports.causes.cause_kinds import ADVICE, CauseKind
from reports.model.findings import read_finding
from reports.write.report_files import EXPORT_FORMATS, export_findings
from scout.inspect import review_decisions
from scout.inspect.review_decisions import Judgement, RecordedStep, check_note, parse_decision
from scout.offer_filters import FilterTexts
from scout.web.access.guard import Reviewer, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.files.downloads import download_response
from scout.web.plain_text import PlainText, ShortText
from scout.web.query_filters import parse_row_id
from scout.web.rendering import path_part, query_link
from scout.web.stored_rows import RowId
from scout.web.views.finding_details import list_readings, read_candidates, weigh_decision
from scout.web.views.findings_query import (
    DEFAULT_SORT,
    DEFAULT_VERDICT,
    MAX_PAGE,
    FindingsQuery,
    make_query,
    read_page,
    read_query,
    verdict_counts,
)

router = page_router()


SHOWN_FACETS = ("cause", "category", "brand")
FACET_VALUES = 12
"""Values of a facet on the page, the most frequent first."""

ALL_FILTERED = "filtered"
"""The value of the form field `scope` that stands for every finding of the list."""

_MAX_SELECTED = 1000  # findings that a form may select one by one
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class DecisionForm(BaseModel):
    """A decision on the findings that are ticked, or on all of the list that the filters select."""

    decision: ShortText
    note: PlainText = ""
    scope: ShortText = ""
    finding: list[ShortText] = []
    verdict: ShortText = DEFAULT_VERDICT
    sort: ShortText = DEFAULT_SORT
    page: int = Field(1, ge=1, le=MAX_PAGE)
    category: ShortText | None = None
    brand: ShortText | None = None
    price: ShortText | None = None
    cause: ShortText | None = None
    change: ShortText | None = None
    since: ShortText | None = None


@router.get("/shops/{name}/findings")
def show_findings(name: str, context: Viewer) -> Response:
    """Show a page of the findings of the last finished run that the query selects."""
    shop = context.shop(name)
    query = read_query(context.request, context.store, shop)
    page = read_page(context.store, query)
    if page is None:
        return context.render("findings.html", shop=shop, page=None)
    run_id, finding_filter = query.require_run(), query.finding_filter
    with context.store.read() as session:
        facets = {
            facet: count_facet(session, run_id, finding_filter, facet, FACET_VALUES)
            for facet in SHOWN_FACETS
        }
    values: dict[str, Any] = {
        "shop": shop,
        "page": page,
        "query": query.parameters(),
        "number": min(query.number, page.last),
        "facets": facets,
        "verdicts": verdict_counts(page.counts),
        "changes": tuple(Change),
        "sorts": SORT_NAMES,
        "filters": query.texts.given(),
        "chosen": vars(query.texts),
        "formats": EXPORT_FORMATS,
        "path_base": f"/shops/{path_part(shop.name)}/findings",
    }
    return context.render_block_or_page("findings.html", "content", **values)


@router.get("/shops/{name}/findings/{stored_id}")
def show_finding(name: str, stored_id: RowId, context: Viewer) -> Response:
    """Show one finding with its evidence: as a drawer of the list, or as a page of its own."""
    shop = context.shop(name)
    finding = read_finding(context.store, shop, stored_id)
    if finding is None:
        raise HTTPException(404, "this finding is of an earlier run, or of another shop")
    query = read_query(context.request, context.store, shop)
    advice = ADVICE.get(CauseKind(finding.cause)) if finding.cause in set(CauseKind) else None
    values: dict[str, Any] = {
        "shop": shop,
        "finding": finding,
        "query": query.parameters(),
        "candidates": read_candidates(context.store, shop, finding),
        "readings": list_readings(finding),
        "decided_by": weigh_decision(finding),
        "advice": advice,
        "path_base": f"/shops/{path_part(shop.name)}/findings",
    }
    return context.render_block_or_page("finding.html", "drawer", **values)


@router.post("/shops/{name}/findings/decide")
def decide(name: str, context: Reviewer, form: Annotated[DecisionForm, Form()]) -> Response:
    """Decide on the findings that a form selects: some of them, or all of the list."""
    shop = context.shop(name)
    judgement = Judgement(parse_decision(form.decision), check_note(form.note), context.user.name)
    texts = FilterTexts(form.category, form.brand, form.price, form.cause, form.change, form.since)
    query = make_query(context.store, shop, form.verdict, form.sort, texts, form.page)
    if form.scope == ALL_FILTERED:
        recorded = review_decisions.decide_filtered(
            context.store, shop, query.finding_filter, judgement, query.selection()
        )
    else:
        urls = _selected_urls(context, shop, form.finding)
        recorded = review_decisions.decide_urls(context.store, shop, urls, judgement)
    context.audit("offers decided", shop.name, decision=form.decision, offers=len(recorded.urls))
    message = _decided_message(context, shop, form.decision, recorded)
    return context.redirect(_list_path(query), message)


def _selected_urls(context: Context, shop: Shop, selected: Sequence[str]) -> list[str]:
    """Return the URLs of the findings that a form selects. Raises UsageError."""
    if not selected:
        raise UsageError("no offer is selected: tick some, or choose all that are filtered")
    if len(selected) > _MAX_SELECTED:
        raise UsageError(f"at most {_MAX_SELECTED} offers can be ticked: choose all filtered ones")
    urls = []
    with context.store.read() as session:
        for text in selected:
            stored_id = parse_row_id("finding", text)
            row = session.get(StoredFinding, stored_id) if stored_id else None
            if row is None or row.shop_id != shop.id:
                raise UsageError("a run has finished meanwhile: load the list again")
            urls.append(row.url)
    return urls


def _decided_message(
    context: Context, shop: Shop, decision: str, recorded: RecordedStep
) -> Message:
    texts = {
        "confirm": context.gettext("%(number)d confirmed as missing."),
        "reject": context.gettext("%(number)d rejected: the catalog lists them."),
        "ignore": context.gettext("%(number)d ignored."),
    }
    text = texts.get(decision, texts["confirm"]) % {"number": len(recorded.urls)}
    undo_path = f"/shops/{path_part(shop.name)}/findings/undo?step={recorded.step_id}"
    return Message(text, action=context.gettext("Undo"), action_url=undo_path)


def _list_path(query: FindingsQuery) -> str:
    link = query_link(query.parameters(), page=query.number)
    return f"/shops/{path_part(query.shop.name)}/findings{link}"


@router.post("/shops/{name}/findings/undo")
def undo(name: str, context: Reviewer, step: str) -> Response:
    """Undo a step of decisions as a whole."""
    shop = context.shop(name)
    step_id = parse_row_id("step", step) or 0
    undone = review_decisions.undo_step(context.store, shop, step_id, context.user.name)
    context.audit("decision undone", shop.name, step=step_id, offers=len(undone.urls))
    text = context.gettext("The decision on %(number)d offers is undone.")
    message = Message(text % {"number": len(undone.urls)})
    return context.redirect(f"/shops/{path_part(shop.name)}/findings", message)


@router.get("/shops/{name}/findings.{format}")
def download(name: str, format: str, context: Viewer) -> Response:
    """Send the findings that the query selects as a file."""
    shop = context.shop(name)
    if format not in EXPORT_FORMATS:
        raise HTTPException(404, f"a list can be downloaded as {', '.join(EXPORT_FORMATS)}")
    query = read_query(context.request, context.store, shop)
    run_id, finding_filter = query.require_run(), query.finding_filter
    file_name = f"{_UNSAFE_IN_NAMES.sub('-', shop.name)}-{query.verdict}-run-{run_id}"
    return download_response(
        lambda folder: export_findings(
            context.settings, context.store, shop, run_id, finding_filter, format=format, out=folder
        ),
        file_name,
    )
