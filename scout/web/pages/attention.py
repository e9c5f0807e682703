"""The start page: shops that need a look, then all shops."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import col, select
from starlette.exceptions import HTTPException
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.language.languages import Language
from catalog.models import RunState, Schedule, utc_now
from catalog.storage.shop_list import (
    NEVER_RUN,
    ShopFilter,
    ShopRow,
    ShopSort,
    count_shops,
    shop_key,
)
from catalog.storage.store import Store
from catalog.storage.trends import read_trends
from scout.attention.assessment import MAX_ASSESSED_AT_LOOK, refresh_attention
from scout.attention.stored_notices import (
    count_notices,
    dismiss_notice,
    read_notices,
    restore_notice,
)
from scout.overview import list_shops
from scout.pipeline.run_records import shop_key as shop_id_of
from scout.pipeline.run_summary import report_paths
from scout.schedule.cron import planned_times
from scout.schedule.words import describe_cron
from scout.web.access.guard import Reviewer, Viewer, page_router
from scout.web.api.cursors import encode_cursor
from scout.web.api.shops import parse_shop_cursor
from scout.web.context import Message
from scout.web.rendering import read_language
from scout.web.stored_rows import RowId
from scout.web.views.charts import sparkline

PAGE_SIZE = 50
"""Shops on one page of the list."""

MAX_NOTICES = 20
"""Notices on the start page; the query `notices=all` shows up to ten times as many."""

STATES = (*(str(state) for state in RunState if state != RunState.ABANDONED), NEVER_RUN)

router = page_router()


@dataclass(frozen=True)
class ShopLine:
    """A shop of the list with the trend of its missing offers and its plan in words."""

    row: ShopRow
    sparkline: str
    plan: str
    next_at: datetime | None
    has_report: bool


@router.get("/")
def show_start(
    context: Viewer,
    search: str = "",
    state: str = "",
    sort: str = "",
    cursor: str = "",
    notices: str = "",
) -> Response:
    """Show the shops that need a look, and one page of all shops."""
    store = context.store
    refresh_attention(store, limit=MAX_ASSESSED_AT_LOOK)
    shop_filter = ShopFilter(search[:200].strip() or None, state or None)
    order = _parse_sort(sort)
    rows = list_shops(
        store, shop_filter, order, parse_shop_cursor(order, cursor or None), PAGE_SIZE + 1
    )
    shown = rows[:PAGE_SIZE]
    next_cursor = None
    if len(rows) > PAGE_SIZE:
        key = shop_key(shown[-1], order)
        next_cursor = encode_cursor(order, key.value, key.shop_id)
    with store.read() as session:
        total = count_shops(session, shop_filter)
    limit = MAX_NOTICES * 10 if notices == "all" else MAX_NOTICES
    values: dict[str, Any] = {
        "lines": _lines(store, shown, read_language(context.language)),
        "total": total,
        "next_cursor": next_cursor,
        "query": {"search": search or None, "state": state or None, "sort": sort or None},
        "states": STATES,
        "sorts": tuple(ShopSort),
        "notices": read_notices(store, limit=limit),
        "notice_count": count_notices(store),
        "leads": context.timetable is not None and context.timetable.is_leader,
        "has_timetable": context.timetable is not None,
    }
    return context.render_block_or_page("start.html", "shops", **values)


def _parse_sort(text: str) -> ShopSort:
    if not text:
        return ShopSort.NAME
    if text not in set(ShopSort):
        raise UsageError(f"cannot sort by {text[:40]!r}: choose from {', '.join(ShopSort)}")
    return ShopSort(text)


def _lines(store: Store, rows: list[ShopRow], language: Language) -> list[ShopLine]:
    shop_ids = [shop_id_of(row.shop) for row in rows]
    with store.read() as session:
        trends = read_trends(session, shop_ids)
        plans = select(Schedule).where(col(Schedule.shop_id).in_(shop_ids))
        schedules = {schedule.shop_id: schedule for schedule in session.exec(plans)}
    lines = []
    for row, shop_id in zip(rows, shop_ids, strict=True):
        schedule = schedules.get(shop_id)
        plan, next_at = "", None
        if schedule is not None:
            plan = describe_cron(schedule.cron, language)
            next_at = next(iter(planned_times(schedule, utc_now(), 1)), None)
        has_report = row.finished is not None and "html" in report_paths(store, row.finished)
        points = trends.get(shop_id, [])
        lines.append(ShopLine(row, sparkline(points), plan, next_at, has_report))
    return lines


@router.post("/notices/{item_id}/dismiss")
def dismiss(item_id: RowId, context: Reviewer) -> Response:
    """Dismiss a notice until the next run or import of its shop."""
    notice = dismiss_notice(context.store, item_id, context.user.name)
    if notice is None:
        raise HTTPException(404, "this notice is there no more")
    context.audit("notice dismissed", notice.shop, kind=str(notice.notice.kind))
    text = context.gettext("Dismissed until the next run or import of {shop}.")
    undo = f"/notices/{item_id}/restore"
    message = Message(
        text.format(shop=notice.shop), action=context.gettext("Undo"), action_url=undo
    )
    return context.redirect("/", message)


@router.post("/notices/{item_id}/restore")
def restore(item_id: RowId, context: Reviewer) -> Response:
    """Take the dismissal of a notice back."""
    notice = restore_notice(context.store, item_id)
    if notice is None:
        raise HTTPException(404, "this notice is there no more")
    context.audit("notice restored", notice.shop, kind=str(notice.notice.kind))
    return context.redirect("/")
