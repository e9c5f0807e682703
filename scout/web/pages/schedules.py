"""Schedules: when each shop is run, in words and as a cron expression."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import col, select
from starlette.responses import Response
from tzlocal import get_localzone_name

from catalog.errors import UsageError
from catalog.models import Schedule, Shop, utc_now
from scout.schedule.cron import CronExpression, next_times, planned_times
from scout.schedule.timetable import pause_shop, schedule_shop, unschedule_shop
from scout.schedule.words import describe_cron
from scout.web.access.guard import Editor, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.plain_text import FormText
from scout.web.rendering import read_language

PAGE_SIZE = 100
"""Schedules on one page."""

NEXT_TIMES = 5
"""Times of a schedule that are listed."""

# Plans that a form offers, so that nobody has to know cron for them.
COMMON_PLANS = ("0 3 * * *", "30 5 * * 1-5", "0 */6 * * *", "0 4 * * 1", "0 2 1 * *")

router = page_router()


@dataclass(frozen=True)
class PlanLine:
    """The schedule of a shop in words, with its next times; none while it is paused."""

    shop: str
    schedule: Schedule
    words: str
    times: Sequence[datetime]


@router.get("/schedules")
def list_schedules(context: Viewer, shop: str = "", after: str = "", cron: str = "") -> Response:
    """Show the schedules of all shops, and a form for one; `shop` and `cron` fill it in."""
    query = select(Shop, Schedule).where(Shop.id == Schedule.shop_id)
    if after:
        query = query.where(col(Shop.name) > after)
    with context.store.read() as session:
        rows = session.exec(query.order_by(col(Shop.name)).limit(PAGE_SIZE + 1)).all()
        edited = _find_schedule(context, shop) if shop else None
    lines = [_plan_line(stored.name, schedule, context) for stored, schedule in rows[:PAGE_SIZE]]
    expression = cron or (edited.cron if edited else "")
    language = read_language(context.language)
    values: dict[str, Any] = {
        "lines": lines,
        "after": lines[-1].shop if len(rows) > PAGE_SIZE else None,
        "edited": shop,
        "cron": expression,
        "preview": _preview(expression, context),
        "common": [(plan, describe_cron(plan, language)) for plan in COMMON_PLANS],
        "zone": get_localzone_name(),
        "leads": context.timetable is not None and context.timetable.is_leader,
        "has_timetable": context.timetable is not None,
    }
    return context.render_block_or_page("schedules.html", "preview", **values)


def _find_schedule(context: Context, name: str) -> Schedule | None:
    shop = context.shop(name)
    with context.store.read() as session:
        return session.exec(select(Schedule).where(Schedule.shop_id == shop.id)).first()


def _plan_line(name: str, schedule: Schedule, context: Context) -> PlanLine:
    times = planned_times(schedule, utc_now(), NEXT_TIMES)
    words = describe_cron(schedule.cron, read_language(context.language))
    return PlanLine(name, schedule, words, times)


@dataclass(frozen=True)
class Preview:
    """An expression in words with its next times, or the reason why it cannot be used."""

    words: str
    times: Sequence[datetime]
    error: str | None = None


def _preview(expression: str, context: Context) -> Preview | None:
    if not expression.strip():
        return None
    try:
        CronExpression(expression)
        times = next_times(expression, utc_now(), NEXT_TIMES)
    except UsageError as error:
        return Preview("", (), str(error))
    return Preview(describe_cron(expression, read_language(context.language)), times)


@router.post("/schedules")
def set_schedule(context: Editor, shop: FormText, cron: FormText) -> Response:
    """Run a shop by the clock, in place of its earlier schedule."""
    stored = context.shop(shop)
    first = schedule_shop(context.store, stored, cron.strip())
    context.audit("scheduled", stored.name, cron=cron.strip())
    text = context.gettext("{shop} runs first on {time}, while scout serve is up.")
    time = read_language(context.language).minute(first)
    return context.redirect("/schedules", Message(text.format(shop=stored.name, time=time)))


@router.post("/schedules/pause")
def pause(context: Editor, shop: FormText) -> Response:
    """Pause the schedule of a shop."""
    return _set_paused(context, shop, True)


@router.post("/schedules/continue")
def go_on(context: Editor, shop: FormText) -> Response:
    """Let a paused schedule go on."""
    return _set_paused(context, shop, False)


def _set_paused(context: Context, shop: str, paused: bool) -> Response:
    stored = context.shop(shop)
    pause_shop(context.store, stored, paused=paused)
    context.audit("schedule paused" if paused else "schedule continued", stored.name)
    return context.redirect("/schedules")


@router.post("/schedules/remove")
def remove(context: Editor, shop: FormText) -> Response:
    """Remove the schedule of a shop: it is run by hand only."""
    stored = context.shop(shop)
    unschedule_shop(context.store, stored)
    context.audit("unscheduled", stored.name)
    return context.redirect("/schedules")
