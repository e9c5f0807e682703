"""The summary of a run: printed by `scout run --json`, source of the tables after a run."""

from dataclasses import dataclass
from typing import Any

from sqlmodel import col, func, select

from catalog.models import Match, Page, Run, Shop, Verdict
from catalog.storage.store import Store


@dataclass(frozen=True)
class RunSummary:
    """The figures of a run.

    `pages` counts by state, `offers` by verdict; `coverage` is
    `reports.statistics.coverage.Coverage`.

    `drift` describes how the shop's earlier rules did on the pages of this run, before new ones
    were learnt; `kept` counts the earlier rules that stay because they are locked or set by hand.
    """

    run: int
    shop: str
    state: str
    pages: dict[str, int]
    offers: dict[str, int]
    missing: int
    coverage: dict[str, Any]
    reports: dict[str, str]
    seconds: dict[str, float]
    rules: int = 0
    drift: str = ""
    kept: int = 0


def summarize_run(store: Store, shop: Shop, run_id: int) -> RunSummary:
    """Summarize one run of a shop, up to the stage that it has reached."""
    from reports.statistics.coverage import measure_coverage

    with store.read() as session:
        run = session.get_one(Run, run_id)
        by_state = (
            select(Page.state, func.count())
            .where(Page.shop_id == shop.id)
            .group_by(col(Page.state))
        )
        by_verdict = (
            select(Match.verdict, func.count())
            .where(Match.run_id == run_id)
            .group_by(col(Match.verdict))
        )
        pages = {str(state): number for state, number in session.exec(by_state)}
        matches = {str(verdict): number for verdict, number in session.exec(by_verdict)}
    learnt = run.figures.get("learn", {})
    offers = {verdict.value: matches.get(verdict.value, 0) for verdict in Verdict}
    return RunSummary(
        run=run_id,
        shop=shop.name,
        state=str(run.state),
        pages=pages,
        offers=offers,
        missing=offers[Verdict.MISSING.value],
        coverage=measure_coverage(store, shop, run_id).as_json(),
        reports=_report_paths(run.figures),
        seconds=_stage_seconds(run.figures),
        rules=learnt.get("version", 0),
        drift=learnt.get("drift", ""),
        kept=learnt.get("kept", 0),
    )


def _report_paths(figures: dict[str, Any]) -> dict[str, str]:
    return {kind: path for kind, path in figures.get("report", {}).items() if kind != "seconds"}


def _stage_seconds(figures: dict[str, Any]) -> dict[str, float]:
    # "coverage" stands among the stages and has no duration.
    return {stage: values["seconds"] for stage, values in figures.items() if "seconds" in values}
