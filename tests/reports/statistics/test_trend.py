"""Trend: what became of the missing offers of the run before."""

from typing import Any

from catalog.models import RunState, Shop, Word
from catalog.storage.store import Store
from reports.model.report_model import gather


def test_new_still_resolved_and_no_longer_seen_are_told_apart(
    fill: Any, store: Store, shop: Shop
) -> None:
    """An offer that was missing and is not found any more has not been resolved."""
    first, second = fill.run(), fill.run()
    for path in ("still", "resolved", "left", "doubtful", "moved"):
        fill.found(first, path)
    for path in ("still", "new"):
        fill.found(second, path)
    fill.found(second, "moved-on", urls=[fill.url("moved-on"), fill.url("moved")])
    fill.listed(second, "resolved")
    fill.found(second, "doubtful", "unsure")
    fill.save()
    story = gather(store, shop, second)
    trend = story.trend
    assert (trend.since, trend.new, trend.still, trend.resolved) == (first, 1, 2, 1)
    assert (trend.unseen, trend.undecided) == (1, 1)
    assert [(one.run, one.missing, one.listed) for one in trend.history] == [
        (first, 5, 0),
        (second, 3, 1),
    ]
    assert {one.url: one.since for one in story.findings if one.since == "new"} == {
        fill.url("new"): "new"
    }


def test_only_finished_runs_count_as_the_run_before(fill: Any, store: Store, shop: Shop) -> None:
    """A failed or abandoned run saw too little to compare with; without a finished one nothing is new."""
    fill.found(fill.run(RunState.FAILED), "a")
    fill.found(fill.run(RunState.ABANDONED), "a")
    last = fill.run(RunState.RUNNING)
    fill.found(last, "b")
    fill.save()
    story = gather(store, shop, last)
    assert story.trend.since is None
    assert story.findings[0].since is None
    assert [one.run for one in story.trend.history] == [last]


def test_words_hold_for_earlier_runs_too(fill: Any, store: Store, shop: Shop) -> None:
    """A finding that a person rejected was not missing then either, so it is not resolved now."""
    first, second = fill.run(), fill.run()
    for run in (first, second):
        fill.found(run, "rejected")
        fill.found(run, "ignored")
        fill.found(run, "kept")
    fill.word("rejected", Word.REJECT)
    fill.word("ignored", Word.IGNORE)
    fill.save()
    trend = gather(store, shop, second).trend
    assert (trend.new, trend.still, trend.resolved, trend.unseen) == (0, 1, 0, 0)
    assert [(one.missing, one.listed) for one in trend.history] == [(1, 1), (1, 1)]


def test_an_offer_that_moves_takes_its_words_and_its_past_along(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Whichever of its URLs a run named it by, and a person used, it is one offer."""
    first, second = fill.run(), fill.run()
    for name in ("rejected", "ignored"):
        fill.found(first, f"old-{name}")
        fill.found(second, name, urls=[fill.url(name), fill.url(f"old-{name}")])
    fill.found(first, "main", urls=[fill.url("main"), fill.url("also")])
    fill.found(second, "also")
    fill.word("rejected", Word.REJECT)
    fill.word("old-ignored", Word.IGNORE)
    fill.save()
    trend = gather(store, shop, second).trend
    assert (trend.new, trend.still, trend.resolved, trend.unseen) == (0, 1, 0, 0)
    assert [(one.missing, one.listed) for one in trend.history] == [(1, 1), (1, 1)]
