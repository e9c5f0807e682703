"""Floors under the whole pipeline and the URL cleaner: measured figures may rise, and must not fall."""

from pathlib import Path
from typing import Any

from tests.floors import hold
from url_cleaner.evaluation import evaluate_urls


def test_demo(demo: dict[str, Any]) -> None:
    """Precision and recall of the demo shop's missing offers do not fall."""
    hold({"demo precision": demo["precision"], "demo recall": demo["recall"]})


def test_urls(shared: Path) -> None:
    """The share of public links that are cleaned correctly does not fall in any category."""
    evaluation = evaluate_urls(shared / "data" / "urls" / "dev.jsonl")
    hold({f"urls {category}": figures.share for category, figures in evaluation.categories.items()})
