"""What a run came to, in one object: what `scout run --json` prints and the tables after a run are made of."""

from dataclasses import dataclass
from typing import Any

from sqlmodel import col, func, select

from catalog.models import Match, Page, Run, Shop, Verdict
from catalog.storage.store import Store


@dataclass(frozen=True)
class RunSummary:
    """A run's figures: pages by state, offers by verdict, the crawl's coverage (`reports.statistics.coverage.Coverage`).

    `drift` says what had become of the shop's earlier rules on the pages of this run, before new ones were learnt;
    `kept` how many of those were locked or set by hand and stay.
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


def summary(store: Store, shop: Shop, run_id: int) -> RunSummary:
    """The figures of one run of a shop, as far as it has come."""
    from reports.statistics.coverage import coverage

    with store.read() as session:
        run = session.get_one(Run, run_id)
        states = (
            select(Page.state, func.count())
            .where(Page.shop_id == shop.id)
            .group_by(col(Page.state))
        )
        verdicts = (
            select(Match.verdict, func.count())
            .where(Match.run_id == run_id)
            .group_by(col(Match.verdict))
        )
        pages = {str(state): number for state, number in session.exec(states)}
        found = {str(verdict): number for verdict, number in session.exec(verdicts)}
    learnt = run.figures.get("learn", {})
    offers = {verdict.value: found.get(verdict.value, 0) for verdict in Verdict}
    return RunSummary(
        run=run_id,
        shop=shop.name,
        state=str(run.state),
        pages=pages,
        offers=offers,
        missing=offers[Verdict.MISSING.value],
        coverage=coverage(store, shop, run_id).as_json(),
        reports=_reports(run.figures),
        seconds={
            stage: figures["seconds"]
            for stage, figures in run.figures.items()
            if "seconds" in figures
        },
        rules=learnt.get("version", 0),
        drift=learnt.get("drift", ""),
        kept=learnt.get("kept", 0),
    )


def _reports(figures: dict[str, Any]) -> dict[str, str]:
    return {kind: path for kind, path in figures.get("report", {}).items() if kind != "seconds"}
