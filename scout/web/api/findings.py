"""Findings of a run: list, facets, causes; review decisions on them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Query
from sqlmodel import func, select
from starlette.exceptions import HTTPException

from catalog.errors import UsageError
from catalog.models import Review, RunState, Shop
from catalog.storage.decisions.reviews import read_reviews_page
from catalog.storage.finding_facets import FACETS, count_facet
from catalog.storage.findings import FindingFilter, PageKey, count_matching, read_counts
from catalog.storage.runs import is_pruned
from reports.model.findings import ensure_stored, read_page_after
from scout.inspect import review_decisions
from scout.inspect.review_lists import action_name
from scout.offer_filters import FilterTexts
from scout.pipeline import run_records
from scout.web.access.guard import Reviewer, Viewer, api_router
from scout.web.api import models
from scout.web.api.cursors import Cursor, Limit, decode_cursor, encode_cursor
from scout.web.api.responses import problems
from scout.web.context import Context
from scout.web.plain_text import ShortText
from scout.web.query_filters import make_finding_filter
from scout.web.stored_rows import get_shop_run

FACET_VALUES = 50
"""Values of a facet at most."""

router = api_router("findings")

_Text = Annotated[ShortText | None, Query()]


@dataclass(frozen=True)
class FindingQuery:
    """The filters of a request, as those of `scout offers`."""

    verdict: Annotated[ShortText, Query(description="missing, listed, unsure, ignored or all")] = (
        "missing"
    )
    category: _Text = None
    brand: _Text = None
    price: Annotated[ShortText | None, Query(description="A-B, A- or -B")] = None
    cause: _Text = None
    change: Annotated[
        ShortText | None, Query(description="new, still, reappeared, resolved, unsure or gone")
    ] = None
    since: Annotated[ShortText | None, Query(description="a run, `last`, or a date")] = None

    def make_finding_filter(self, context: Context, shop: Shop) -> FindingFilter:
        """Return the filter. Raises UsageError."""
        texts = {name: value for name, value in vars(self).items() if name != "verdict"}
        return make_finding_filter(context.store, shop, self.verdict, FilterTexts(**texts))


Filters = Annotated[FindingQuery, Depends()]
RunQuery = Annotated[
    int | None, Query(ge=1, le=2**63 - 1, description="A finished run; none: the last one.")
]


def _select_run(context: Context, shop: Shop, run_id: int | None) -> int | None:
    """Return the run that is asked for, by default the last finished one; None without one."""
    if run_id is None:
        return review_decisions.last_run_id(context.store, shop)
    with context.store.read() as session:
        run = get_shop_run(session, shop, run_id)
    if run.state != RunState.DONE:
        raise HTTPException(404, f"run {run_id} has not finished: it has no findings")
    if is_pruned(run):
        raise HTTPException(404, f"the findings of run {run_id} were removed")
    ensure_stored(context.store, shop, run_id)
    return run_id


@router.get("/api/v1/shops/{shop}/findings", responses=problems(404))
def read_findings(
    context: Viewer,
    shop: str,
    filters: Filters,
    run: RunQuery = None,
    sort: Annotated[ShortText, Query()] = "value",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.FindingPage:
    """List the findings of a run, the most valuable first; `-` before `sort` reverses it."""
    stored = context.shop(shop)
    finding_filter = filters.make_finding_filter(context, stored)
    run_id = _select_run(context, stored, run)
    if run_id is None:
        return models.FindingPage(run=None, items=[], total=0, next=None)
    after = _page_key(sort, cursor)
    page = read_page_after(
        context.store, stored, run_id, finding_filter, sort=sort, limit=limit, after=after
    )
    with context.store.read() as session:
        total = count_matching(session, run_id, finding_filter)
    next_cursor = None
    if page.next_key is not None:
        next_cursor = encode_cursor(sort, page.next_key.value, page.next_key.rank)
    items = [finding.as_row() for finding in page.findings]
    return models.FindingPage(run=run_id, items=items, total=total, next=next_cursor)


def _page_key(sort: str, cursor: str | None) -> PageKey | None:
    if cursor is None:
        return None
    sorted_by, value, rank = decode_cursor(cursor, 3)
    if sorted_by != sort or not isinstance(rank, int):
        raise UsageError("the cursor is not one of this list")
    return PageKey(value, rank)


@router.get("/api/v1/shops/{shop}/facets", responses=problems(404))
def read_facets(
    context: Viewer, shop: str, filters: Filters, run: RunQuery = None
) -> models.Facets:
    """Count the findings by verdict, cause, category, brand and change, given the other filters."""
    stored = context.shop(shop)
    finding_filter = filters.make_finding_filter(context, stored)
    run_id = _select_run(context, stored, run)
    facets: dict[str, Any] = {name: [] for name in FACETS}
    if run_id is not None:
        with context.store.read() as session:
            for name in FACETS:
                values = count_facet(session, run_id, finding_filter, name, FACET_VALUES)
                facets[name] = [models.FacetCount(**vars(value)) for value in values]
    return models.Facets(run=run_id, **facets)


@router.get("/api/v1/shops/{shop}/causes", responses=problems(404))
def read_causes(context: Viewer, shop: str, run: RunQuery = None) -> models.Causes:
    """List the causes of the missing offers, the most frequent first."""
    stored = context.shop(shop)
    run_id = _select_run(context, stored, run)
    if run_id is None:
        return models.Causes(run=None, items=[])
    with context.store.read() as session:
        counts = read_counts(session, run_id)
    causes = counts.causes if counts is not None else []
    return models.Causes(run=run_id, items=[models.Cause(**cause) for cause in causes])


@router.get("/api/v1/shops/{shop}/decisions", responses=problems(404))
def read_decisions(
    context: Viewer, shop: str, limit: Limit = 100, cursor: Cursor = None
) -> models.DecisionPage:
    """List the review decisions on a shop's offers, the newest first."""
    stored = context.shop(shop)
    shop_id = run_records.shop_key(stored)
    after = _decision_key(cursor)
    with context.store.read() as session:
        reviews = read_reviews_page(session, shop_id, limit + 1, after)
        count = select(func.count()).select_from(Review).where(Review.shop_id == shop_id)
        total = session.exec(count).one()
    items = []
    for review in reviews[:limit]:
        row = review.model_dump(include={"url", "note", "reviewer", "reviewed_at"})
        items.append(models.DecisionRow(**row, decision=action_name(review.decision)))
    next_cursor = None
    if len(reviews) > limit:
        next_cursor = encode_cursor(items[-1].reviewed_at.isoformat(), items[-1].url)
    return models.DecisionPage(items=items, total=total, next=next_cursor)


def _decision_key(cursor: str | None) -> tuple[datetime, str] | None:
    if cursor is None:
        return None
    moment, url = decode_cursor(cursor, 2)
    try:
        parsed = datetime.fromisoformat(str(moment))
        # A time without a zone, or beyond the calendar in UTC, is none of ours.
        parsed.astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError("the cursor is not one of this list") from error
    return parsed, str(url)


@router.post("/api/v1/shops/{shop}/decisions", status_code=201, responses=problems(404, 409))
def add_decision(context: Reviewer, shop: str, new: models.NewDecision) -> models.Decided:
    """Record a decision as one step: on some offers by URL, or on all that a filter keeps."""
    if (new.urls is None) == (new.filter is None):
        raise UsageError("give either urls or a filter")
    stored = context.shop(shop)
    judgement = review_decisions.Judgement(
        review_decisions.parse_decision(new.decision),
        review_decisions.check_note(new.note),
        review_decisions.reviewer_name(context.user.name),
    )
    if new.urls is not None:
        recorded = review_decisions.decide_urls(context.store, stored, new.urls, judgement)
    else:
        assert new.filter is not None
        given = new.filter.model_dump(exclude_none=True)
        texts = FilterTexts(**{name: given.get(name) for name in FilterTexts.__dataclass_fields__})
        finding_filter = make_finding_filter(context.store, stored, new.filter.verdict, texts)
        selection = ", ".join(f"{name} {value}" for name, value in given.items())
        recorded = review_decisions.decide_filtered(
            context.store, stored, finding_filter, judgement, selection
        )
    context.audit(new.decision, stored.name, offers=len(recorded.urls))
    return models.Decided(
        decision=new.decision, offers=len(recorded.urls), unknown=len(recorded.unknown)
    )


@router.post("/api/v1/shops/{shop}/decisions/undo", responses=problems(404, 409))
def undo_decisions(context: Reviewer, shop: str, undo: models.Undo) -> models.Undone:
    """Undo the last steps, or the last decision on some offers: the former decisions come back."""
    stored = context.shop(shop)
    reviewer = review_decisions.reviewer_name(context.user.name)
    if undo.urls is not None:
        undone = review_decisions.undo_urls(context.store, stored, undo.urls, reviewer)
    else:
        undone = review_decisions.undo_last_steps(context.store, stored, undo.steps, reviewer)
    items = []
    for changes in undone:
        row = changes.step.model_dump(include={"made_at", "reviewer"})
        action = action_name(changes.step.action)
        offers = len(changes.urls)
        items.append(
            models.UndoneStep(**row, step=changes.step.id or 0, action=action, offers=offers)
        )
        context.audit("undone", stored.name, action=action, offers=offers)
    return models.Undone(items=items)
