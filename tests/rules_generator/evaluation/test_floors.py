"""Floors under what rules read from pages they were not learnt from."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from catalog.models import Attribute
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.corpus import shop_paths
from rules_generator.evaluation.evaluate import EvaluationPlan, Setting, evaluate_path
from rules_generator.evaluation.value_counts import ValueCounts
from tests.corpus.test_reading import PAGES, correct_values
from tests.floors import hold

SHOWN = ("title", "price", "brand", "sku", "ean", "category", "image", "description")


def test_corpus() -> None:
    """The share of our own corpus's values that are read rightly stays above its floor."""
    rows = [correct_values(folder) for folder in PAGES]
    are_right = [is_right for values in rows for is_right in values]
    hold({"corpus values": sum(are_right) / len(are_right)})


@pytest.mark.parametrize(
    ("view", "named"),
    [("full", {10: "full", 50: "learnt from 50 examples"}), ("html", {10: "html"})],
)
def test_extraction(shared: Path, view: View, named: Mapping[int, str]) -> None:
    """On a third of the real shops, accuracy and precision of each attribute stay above their floors."""
    totals = {Setting(train): {name: ValueCounts() for name in SHOWN} for train in named}
    plan = EvaluationPlan(tuple(totals), view)
    for path in shop_paths(shared / "data" / "extraction")[::3]:
        result = evaluate_path(path, plan)
        for setting, counts in totals.items():
            for name, total in counts.items():
                total.update(result.settings[setting].counts[Attribute(name)])
    measured = dict[str, float]()
    for setting, counts in totals.items():
        measured |= dict(_figures(named[setting.train], counts))
    hold(measured)


def _figures(named: str, totals: Mapping[str, ValueCounts]) -> Iterator[tuple[str, float]]:
    for name, total in totals.items():
        for figure in ("accuracy", "precision"):
            value = total.figures()[figure]
            if value is not None:
                yield f"extraction {named} {name} {figure}", value
