"""Trend: changes in the missing offers since the previous finished run."""

from typing import Any

from catalog.models import ReviewDecision, RunState, Shop
from catalog.storage.store import Store
from reports.model.report_model import build_report


def test_new_still_missing_resolved_and_no_longer_seen_are_distinguished(
    fill: Any, store: Store, shop: Shop
) -> None:
    """An offer that was missing and is not found any more counts as no longer seen, not as resolved."""
    first, second = fill.run(), fill.run()
    for path in ("still", "resolved", "left", "doubtful", "moved"):
        fill.finding(first, path)
    for path in ("still", "new"):
        fill.finding(second, path)
    fill.finding(second, "moved-on", urls=[fill.url("moved-on"), fill.url("moved")])
    fill.listed(second, "resolved")
    fill.finding(second, "doubtful", "unsure")
    fill.save()
    report = build_report(store, shop, second)
    trend = report.trend
    assert (trend.previous_run_id, trend.new, trend.still_missing, trend.resolved) == (
        first,
        1,
        2,
        1,
    )
    assert (trend.no_longer_seen, trend.now_unsure) == (1, 1)
    assert [(point.run_id, point.missing, point.listed) for point in trend.history] == [
        (first, 5, 0),
        (second, 3, 1),
    ]
    assert [finding.url for finding in report.findings if finding.since == "new"] == [
        fill.url("new")
    ]


def test_only_a_finished_run_counts_as_the_previous_run(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Failed and abandoned runs are not compared with; without a finished run no offer is new."""
    fill.finding(fill.run(RunState.FAILED), "a")
    fill.finding(fill.run(RunState.ABANDONED), "a")
    last = fill.run(RunState.RUNNING)
    fill.finding(last, "b")
    fill.save()
    report = build_report(store, shop, last)
    assert report.trend.previous_run_id is None
    assert report.findings[0].since is None
    assert [point.run_id for point in report.trend.history] == [last]


def test_review_decisions_hold_for_earlier_runs(fill: Any, store: Store, shop: Shop) -> None:
    """A rejected finding was not missing in the earlier run either, so it is not resolved now."""
    first, second = fill.run(), fill.run()
    for run in (first, second):
        fill.finding(run, "rejected")
        fill.finding(run, "ignored")
        fill.finding(run, "kept")
    fill.decide("rejected", ReviewDecision.REJECT)
    fill.decide("ignored", ReviewDecision.IGNORE)
    fill.save()
    trend = build_report(store, shop, second).trend
    assert (trend.new, trend.still_missing, trend.resolved, trend.no_longer_seen) == (0, 1, 0, 0)
    assert [(point.missing, point.listed) for point in trend.history] == [(1, 1), (1, 1)]


def test_an_offer_that_moves_keeps_its_decision_and_its_history(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Runs and reviewers may use any of an offer's URLs: it stays one offer."""
    first, second = fill.run(), fill.run()
    for name in ("rejected", "ignored"):
        fill.finding(first, f"old-{name}")
        fill.finding(second, name, urls=[fill.url(name), fill.url(f"old-{name}")])
    fill.finding(first, "main", urls=[fill.url("main"), fill.url("also")])
    fill.finding(second, "also")
    fill.decide("rejected", ReviewDecision.REJECT)
    fill.decide("old-ignored", ReviewDecision.IGNORE)
    fill.save()
    trend = build_report(store, shop, second).trend
    assert (trend.new, trend.still_missing, trend.resolved, trend.no_longer_seen) == (0, 1, 0, 0)
    assert [(point.missing, point.listed) for point in trend.history] == [(1, 1), (1, 1)]
