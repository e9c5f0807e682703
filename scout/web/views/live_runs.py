"""The state of a run that goes on: pages by state and by reason as they come, and its log's end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
_LAST_WORDS = timedelta(minutes=1)  # time behind the end of a run in which its process ends, too


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
    """The progress of a run; `requests` are those of its crawls, `offers` those that were read.

    `is_newest` is True for the newest run of its shop.
    """

    run: Run
    stages: Sequence[StageLine]
    states: Sequence[tuple[str, int]]
    reasons: Sequence[PageCount]
    requests: int
    offers: int
    matched: int
    is_newest: bool


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
    newest = select(func.max(Run.id)).where(Run.shop_id == run.shop_id)
    return LiveRun(
        run,
        _stage_lines(run),
        states,
        reasons,
        session.exec(requests).one(),
        session.exec(offers).one(),
        session.exec(matched).one(),
        session.exec(newest).one() == run.id,
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


def read_log_end(settings: Settings, live: LiveRun) -> list[str]:
    """Return the last lines of the log of a run: of its process, else of its crawl; or none."""
    run = live.run
    assert run.id is not None
    process_log = run_log_path(settings, run.shop_id)
    # The file is that of the shop's last process, which may have done another run, or an import.
    is_of_run = live.is_newest and _was_written_during(process_log, run)
    lines = last_lines(process_log) if is_of_run else []
    return lines or last_lines(settings.data_dir / "logs" / f"crawl-{run.shop_id}-{run.id}.log")


def _was_written_during(path: Path, run: Run) -> bool:
    """Return True if a file was last written between a run's start and shortly behind its end."""
    try:
        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return False
    if written_at < run.started_at:
        return False
    if run.state == RunState.RUNNING or run.finished_at is None:
        return True
    return written_at <= run.finished_at + _LAST_WORDS


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
