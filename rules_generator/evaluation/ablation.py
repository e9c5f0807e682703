"""Switch mechanisms of the learner off, and count the values that each shop gains or loses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from catalog.models import Attribute
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.worker_pool import worker_pool
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.evaluate import EvaluationPlan, evaluate_shop
from rules_generator.evaluation.shop_pages import open_test_shop
from rules_generator.evaluation.value_counts import SCORED, Outcome, ValueCounts


@dataclass(frozen=True)
class ShopChanges:
    """Counts per attribute of one shop, with all mechanisms and without some."""

    shop: str
    baseline: dict[Attribute, ValueCounts]
    ablated: dict[Attribute, ValueCounts]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each attribute whose counts differ."""
        for attribute in SCORED:
            before, after = self.baseline[attribute], self.ablated[attribute]
            if before != after:
                yield {"shop": self.shop, "attribute": attribute.value, **_change(before, after)}

    @property
    def loses(self) -> bool:
        """Whether some attribute has fewer right values, or more wrong or extra ones."""
        return any(row["right"] < 0 or row["wrong"] > 0 or row["extra"] > 0 for row in self.rows())


def evaluate_ablation(
    data: Path,
    plan: EvaluationPlan,
    mechanisms: Sequence[str],
    *,
    workers: int = 2,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Evaluate all shops in `data` with and without `mechanisms`, in the plan's last setting.

    Raises UsageError for an unknown mechanism, FeedError where the data is not in the layout.
    """
    plan = replace(plan, settings=plan.settings[-1:])
    config = replace(plan.config, without=plan.config.without | frozenset(mechanisms))
    ablated_plan = replace(plan, config=config)
    paths = shop_paths(data)
    rows: list[dict[str, Any]] = []
    losing: list[str] = []
    before, after = ValueCounts(), ValueCounts()
    for done, changes in enumerate(_all_changes(paths, plan, ablated_plan, workers), start=1):
        rows += changes.rows()
        losing += [changes.shop] if changes.loses else []
        for attribute in SCORED:
            before.update(changes.baseline[attribute])
            after.update(changes.ablated[attribute])
        progress("shops evaluated", done, len(paths))
    return {
        "shops": len(paths),
        "view": plan.view,
        "train": plan.settings[0].train,
        "without": list(mechanisms),
        "changes": rows,
        "losing": losing,
        "total": _change(before, after),
    }


def _all_changes(
    paths: Sequence[Path], plan: EvaluationPlan, ablated_plan: EvaluationPlan, workers: int
) -> Iterator[ShopChanges]:
    if workers <= 1 or len(paths) == 1:
        for path in paths:
            yield _changes(path, plan, ablated_plan)
        return
    with worker_pool(workers) as pool:
        yield from pool.map(_changes, paths, repeat(plan), repeat(ablated_plan))


def _changes(path: Path, plan: EvaluationPlan, ablated_plan: EvaluationPlan) -> ShopChanges:
    """Evaluate one shop twice; its pages are opened once."""
    shop = open_test_shop(open_shop(path), plan.view)
    (baseline,) = evaluate_shop(shop, plan).settings.values()
    (ablated,) = evaluate_shop(shop, ablated_plan).settings.values()
    return ShopChanges(shop.name, baseline.counts, ablated.counts)


def _change(before: ValueCounts, after: ValueCounts) -> dict[str, int]:
    """Return the counts before and after, and the differences."""
    change = {}
    outcomes: tuple[Outcome, ...] = ("right", "wrong", "extra")
    for outcome in outcomes:
        change[f"{outcome}_before"] = before[outcome]
        change[f"{outcome}_after"] = after[outcome]
        change[outcome] = after[outcome] - before[outcome]
    return change
