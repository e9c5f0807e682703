"""Floors under what rules read from pages they were not learnt from."""

from collections.abc import Iterator
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
    said = [right for values in rows for right in values]
    hold({"corpus values": sum(said) / len(said)})


@pytest.mark.parametrize(
    ("named", "view", "train", "first"),
    [("full", "full", 10, 0), ("html", "html", 10, 0), ("learnt from 50 examples", "full", 50, 2)],
)
def test_extraction(shared: Path, named: str, view: View, train: int, first: int) -> None:
    """On a third of the real shops, accuracy and precision of each attribute stay above their floors."""
    totals = {attribute: ValueCounts() for attribute in SHOWN}
    setting = Setting(train=train)
    for path in shop_paths(shared / "data" / "extraction")[first::3]:
        counts = evaluate_path(path, EvaluationPlan((setting,), view)).settings[setting].counts
        for name, total in totals.items():
            total.update(counts[Attribute(name)])
    hold(dict(_figures(named, totals)))


def _figures(named: str, totals: dict[str, ValueCounts]) -> Iterator[tuple[str, float]]:
    for name, total in totals.items():
        for figure in ("accuracy", "precision"):
            value = total.figures()[figure]
            if value is not None:
                yield f"extraction {named} {name} {figure}", value
