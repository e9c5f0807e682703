"""The summary of a run: printed by `scout run --json`, source of the tables after a run."""

from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session, col, func, select

from catalog.models import KnownOffer, Match, Page, Run, RunCounts, RunState, Shop, Verdict
from catalog.storage.findings import read_counts
from catalog.storage.store import Store


@dataclass(frozen=True)
class RunSummary:
    """The figures of a run.

    `pages` counts by state, `offers` by verdict after review decisions, without the `ignored` ones.
    `values` is the value of the missing offers per currency, as exact text. `coverage` is
    `reports.statistics.coverage.Coverage`. `known` is the number of offers in the catalog: 0 means
    that nothing was imported, so every offer counts as missing.

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
    ignored: int = 0
    values: dict[str, str] = field(default_factory=dict)
    known: int = 0


def summarize_run(
    store: Store, shop: Shop, run_id: int, *, counts_coverage: bool = True
) -> RunSummary:
    """Summarize one run of a shop: its stored counts, or those up to the stage that it reached.

    A run before its match has no stored coverage: it is counted, which takes a second for a shop of
    60,000 pages, or left empty without `counts_coverage`.
    """
    from reports.model.findings import ensure_stored
    from reports.statistics.coverage import count_coverage, coverage_of_figures

    with store.read() as session:
        run = session.get_one(Run, run_id)
    if run.state == RunState.DONE:
        ensure_stored(store, shop, run_id)
    with store.read() as session:
        counts = read_counts(session, run_id) if run.state == RunState.DONE else None
        counts = counts or _count_unfinished(session, run)
        coverage = coverage_of_figures(run)
        if coverage is None and counts_coverage:
            coverage = count_coverage(session, shop, run_id)
    learnt = run.figures.get("learn", {})
    return RunSummary(
        run=run_id,
        shop=shop.name,
        state=str(run.state),
        pages=counts.pages,
        offers={"listed": counts.listed, "missing": counts.missing, "unsure": counts.unsure},
        missing=counts.missing,
        coverage=coverage.as_json() if coverage is not None else {},
        reports=report_paths(store, run),
        seconds=_stage_seconds(run.figures),
        rules=learnt.get("version", 0),
        drift=learnt.get("drift", ""),
        kept=learnt.get("kept", 0),
        ignored=counts.ignored,
        values=counts.values,
        known=counts.known_offers,
    )


def _count_unfinished(session: Session, run: Run) -> RunCounts:
    """Count pages and matches of a run whose findings are not stored, without decisions."""
    by_state = (
        select(Page.state, func.count())
        .where(Page.shop_id == run.shop_id)
        .group_by(col(Page.state))
    )
    by_verdict = (
        select(Match.verdict, func.count())
        .where(Match.run_id == run.id)
        .group_by(col(Match.verdict))
    )
    count_known_offers = select(func.count()).where(KnownOffer.shop_id == run.shop_id)
    verdicts = {str(verdict): number for verdict, number in session.exec(by_verdict)}
    return RunCounts(
        run_id=run.id or 0,
        shop_id=run.shop_id,
        known_offers=session.exec(count_known_offers).one(),
        pages={str(state): number for state, number in session.exec(by_state)},
        listed=verdicts.get(Verdict.LISTED, 0),
        missing=verdicts.get(Verdict.MISSING, 0),
        unsure=verdicts.get(Verdict.UNSURE, 0),
    )


def report_paths(store: Store, run: Run) -> dict[str, str]:
    """Return the files of a run's report by format, wherever the data folder is now."""
    paths = {}
    for kind, stored in run.figures.get("report", {}).items():
        path = store.stored_path(stored) if isinstance(stored, str) else None
        if path is not None:
            paths[kind] = str(path)
    return paths


def _stage_seconds(figures: dict[str, Any]) -> dict[str, float]:
    # "coverage" stands among the stages and has no duration.
    return {stage: values["seconds"] for stage, values in figures.items() if "seconds" in values}
