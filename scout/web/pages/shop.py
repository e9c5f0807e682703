"""The page of one shop: figures with their trend, causes, coverage, rules, runs, plan, imports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import (
    CatalogImport,
    DismissedCause,
    Run,
    RunCounts,
    Schedule,
    Shop,
    StoredRules,
    utc_now,
)
from catalog.storage.decisions.dismissed_causes import dismiss_cause, read_dismissed, restore_cause
from catalog.storage.findings import Change
from catalog.storage.trends import read_trends
from reports.statistics.page_reasons import PAGE_REASONS
from scout.attention.assessment import refresh_attention
from scout.attention.stored_notices import read_notices
from scout.overview import describe_shop
from scout.pipeline import run_records
from scout.pipeline.run_summary import report_paths
from scout.schedule.cron import planned_times
from scout.schedule.words import describe_cron
from scout.web.access.guard import Reviewer, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.plain_text import FormText
from scout.web.rendering import path_part, read_language
from scout.web.views.charts import trend_bars

SHOWN_RUNS = 10
"""Runs on the page of a shop; the page of its runs has all."""

_SHOWN_IMPORTS = 5
_SHOWN_REASONS = 8  # reasons of pages that were not read
_NEXT_TIMES = 5
_LOW_COVERAGE = 0.9  # share of the pages that answered, below which missing offers are doubtful

router = page_router()


@dataclass(frozen=True)
class CauseLine:
    """A cause with its missing offers, the value at stake per currency, and its dismissal."""

    cause: str | None
    missing: int
    values: Mapping[str, Decimal]
    share: float
    dismissed: DismissedCause | None


@dataclass(frozen=True)
class ReasonLine:
    """Pages of the last finished run that share a state and a reason."""

    state: str
    reason: str
    pages: int


@dataclass(frozen=True)
class Plan:
    """The schedule of a shop in words, with its next times; none while it is paused."""

    cron: str
    words: str
    next_times: Sequence[datetime]
    last_started_at: datetime | None
    is_paused: bool


@router.get("/shops/{name}")
def show_shop(name: str, context: Viewer) -> Response:
    """Show one shop: the figures of its last finished run, and the run under way."""
    store = context.store
    shop = context.shop(name)
    shop_id = run_records.shop_key(shop)
    refresh_attention(store, shop_id=shop_id)
    described = describe_shop(store, shop)
    with store.read() as session:
        counts = session.get(RunCounts, described["finished_run"] or 0)
        trend = read_trends(session, [shop_id]).get(shop_id, [])
        runs = _newest_runs(session, shop_id)
        newest = select(CatalogImport).where(CatalogImport.shop_id == shop_id)
        imports = session.exec(
            newest.order_by(col(CatalogImport.id).desc()).limit(_SHOWN_IMPORTS)
        ).all()
        causes = _cause_lines(counts, read_dismissed(session, shop_id))
        schedule = session.exec(select(Schedule).where(Schedule.shop_id == shop_id)).first()
        rules = _describe_rules(session, shop_id)
        finished = session.get(Run, described["finished_run"] or 0)
    figures: Mapping[str, Any] = finished.figures if finished else {}
    coverage: Mapping[str, Any] = figures.get("coverage") or {}
    share = coverage.get("page_share")
    return context.render(
        "shop.html",
        shop=shop,
        described=described,
        counts=counts,
        values=_decimals(counts.values) if counts else {},
        trend=trend_bars(trend),
        runs=runs,
        reports={run.id: report_paths(store, run) for run in runs},
        imports=imports,
        causes=[line for line in causes if line.dismissed is None],
        dismissed=[line for line in causes if line.dismissed is not None],
        coverage=coverage,
        is_coverage_low=isinstance(share, float) and share < _LOW_COVERAGE,
        reasons=_reason_lines(coverage, context),
        rules=rules,
        plan=_plan(schedule, context),
        changes=tuple(Change),
        notices=read_notices(store, shop_id=shop_id),
    )


def _decimals(values: Mapping[str, str]) -> dict[str, Decimal]:
    return {currency: Decimal(value) for currency, value in values.items()}


def _newest_runs(session: Session, shop_id: int) -> Sequence[Run]:
    newest = select(Run).where(Run.shop_id == shop_id).order_by(col(Run.id).desc())
    return session.exec(newest.limit(SHOWN_RUNS)).all()


def _cause_lines(
    counts: RunCounts | None, dismissed: Mapping[str, DismissedCause]
) -> list[CauseLine]:
    if counts is None:
        return []
    lines = []
    for stored in counts.causes:
        cause, missing = stored["cause"], stored["missing"]
        share = missing / counts.missing if counts.missing else 0.0
        values = _decimals(stored["values"])
        lines.append(CauseLine(cause, missing, values, share, dismissed.get(cause or "")))
    return lines


def _reason_lines(coverage: Mapping[str, Any], context: Context) -> list[ReasonLine]:
    """Return the reasons why pages were not read, the most frequent first."""
    language = read_language(context.language)
    pages: Counter[tuple[str, str]] = Counter()
    for stored in coverage.get("reasons") or ():
        if stored["state"] != "fetched":
            reason = PAGE_REASONS.translate(stored["reason"], language)
            pages[stored["state"], reason] += stored["pages"]
    return [
        ReasonLine(state, reason, number)
        for (state, reason), number in pages.most_common(_SHOWN_REASONS)
    ]


def _describe_rules(session: Session, shop_id: int) -> dict[str, Any] | None:
    newest = select(StoredRules).where(StoredRules.shop_id == shop_id)
    stored = session.exec(newest.order_by(col(StoredRules.version).desc()).limit(1)).first()
    if stored is None:
        return None
    agreement: Mapping[str, float] = stored.story.get("agreement") or {}
    return {
        "version": stored.version,
        "created_at": stored.created_at,
        "examples": stored.story.get("examples_found"),
        "agreement": agreement,
    }


def _plan(schedule: Schedule | None, context: Context) -> Plan | None:
    if schedule is None:
        return None
    times = planned_times(schedule, utc_now(), _NEXT_TIMES)
    words = describe_cron(schedule.cron, read_language(context.language))
    return Plan(schedule.cron, words, times, schedule.last_started_at, schedule.is_paused)


@router.post("/shops/{name}/causes/dismiss")
def dismiss(name: str, context: Reviewer, cause: FormText) -> Response:
    """Dismiss a cause of missing offers: it stays in the figures, and is listed apart."""
    shop = context.shop(name)
    _require_cause(cause)
    with context.store.write() as session:
        dismiss_cause(session, run_records.shop_key(shop), cause, context.user.name)
    context.audit("cause dismissed", shop.name, cause=cause)
    message = Message(context.gettext("The cause is dismissed: its offers still count as missing."))
    return context.redirect(_shop_path(shop), message)


@router.post("/shops/{name}/causes/restore")
def restore(name: str, context: Reviewer, cause: FormText) -> Response:
    """Take the dismissal of a cause back."""
    shop = context.shop(name)
    _require_cause(cause)
    with context.store.write() as session:
        restore_cause(session, run_records.shop_key(shop), cause)
    context.audit("cause restored", shop.name, cause=cause)
    return context.redirect(_shop_path(shop))


def _require_cause(cause: str) -> None:
    from reports.causes.cause_kinds import CauseKind

    if cause not in set(CauseKind):
        raise UsageError(f"{cause[:60]!r} is no cause")


def _shop_path(shop: Shop) -> str:
    return f"/shops/{path_part(shop.name)}"
