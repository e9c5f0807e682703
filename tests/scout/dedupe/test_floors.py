"""Floors under what the whole of Scout finds, and under what the URL cleaner gets right."""

from pathlib import Path
from typing import Any

from tests.floors import hold
from url_cleaner.evaluate import evaluate_urls


def test_demo(demo: dict[str, Any]) -> None:
    """Precision and recall of the demo shop's missing offers stay above their floors."""
    hold({"demo precision": demo["precision"], "demo recall": demo["recall"]})


def test_urls(shared: Path) -> None:
    """The share of public links that come out right stays above its floor in each category."""
    found = evaluate_urls(shared / "data" / "urls" / "dev.jsonl")
    hold({f"urls {category}": figures.share for category, figures in found.categories.items()})
