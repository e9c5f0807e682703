"""The state of a run that goes on: pages by state and by reason as they come, and its log's end."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session, col, func, select

from catalog.language.languages import Language
from catalog.models import Crawl, Match, Page, PageState, Run, RunState, ShopOffer, Stage
from catalog.runtime.settings import Settings
from reports.statistics.page_reasons import PAGE_REASONS
from scout.pipeline.run_pool import run_log_path

MAX_REASONS = 12
"""Reasons that are listed, those of most pages first."""

LOG_LINES = 40
"""Lines of a log's end."""

_LOG_BYTES = 16_384  # bytes of a log's end that are read


@dataclass(frozen=True)
class PageCount:
    """Pages that share a state and a reason."""

    state: str
    reason: str
    pages: int


@dataclass(frozen=True)
class StageLine:
    """A stage of a run: done, running, failed or due, with its seconds where it is done."""

    stage: Stage
    state: str
    seconds: float | None


@dataclass(frozen=True)
class LiveRun:
    """The progress of a run; `requests` are those of its crawls, `offers` those that were read."""

    run: Run
    stages: Sequence[StageLine]
    states: Sequence[tuple[str, int]]
    reasons: Sequence[PageCount]
    requests: int
    offers: int
    matched: int


def read_live_run(session: Session, run: Run, language: Language) -> LiveRun:
    """Read the progress of a run from the tables that its stages fill."""
    by_state = select(Page.state, func.count()).where(Page.shop_id == run.shop_id)
    states = [
        (str(state), number) for state, number in session.exec(by_state.group_by(col(Page.state)))
    ]
    states.sort(key=lambda counted: -counted[1])
    number = func.count()
    by_reason = (
        select(Page.state, Page.reason, number)
        .where(
            Page.shop_id == run.shop_id,
            col(Page.reason).is_not(None),
            col(Page.state) != PageState.FETCHED,
        )
        .group_by(col(Page.state), col(Page.reason))
        .order_by(number.desc())
        .limit(MAX_REASONS)
    )
    reasons = []
    for state, reason, pages in session.exec(by_reason):
        reasons.append(PageCount(str(state), PAGE_REASONS.translate(reason, language), pages))
    requests = select(func.coalesce(func.sum(Crawl.requests), 0)).where(Crawl.run_id == run.id)
    offers = select(func.count()).select_from(ShopOffer).where(ShopOffer.shop_id == run.shop_id)
    matched = select(func.count()).select_from(Match).where(Match.run_id == run.id)
    return LiveRun(
        run,
        _stage_lines(run),
        states,
        reasons,
        session.exec(requests).one(),
        session.exec(offers).one(),
        session.exec(matched).one(),
    )


def _stage_lines(run: Run) -> list[StageLine]:
    stages = list(Stage)
    current = stages.index(Stage(run.stage))
    lines = []
    for index, stage in enumerate(stages):
        figures = run.figures.get(stage.value) or {}
        state = "due"
        if run.state == RunState.DONE or index < current:
            state = "done"
        elif index == current and run.state != RunState.ABANDONED:
            state = "failed" if run.state == RunState.FAILED else "running"
        seconds = figures.get("seconds") if state == "done" else None
        lines.append(StageLine(stage, state, seconds))
    return lines


def read_log_end(settings: Settings, run: Run) -> list[str]:
    """Return the last lines of the log of a run: of its process, else of its crawl; or none."""
    assert run.id is not None
    paths = [
        run_log_path(settings, run.shop_id),
        settings.data_dir / "logs" / f"crawl-{run.shop_id}-{run.id}.log",
    ]
    for path in paths:
        lines = last_lines(path)
        if lines:
            return lines
    return []


def last_lines(path: Path) -> list[str]:
    """Return the last lines of a log that are not empty; none where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LOG_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = text.replace("\r", "\n").splitlines()
    shown = [line for line in lines if line.strip()]
    return shown[-LOG_LINES:]
