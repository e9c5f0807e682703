"""Evaluation of matching on published data: `scout evaluate matching`.

A folder holds either labelled pairs (`matcher.evaluation.pair_evaluation`), or a catalog, crawled
offers and the truth (`matcher.evaluation.catalog_evaluation`).
"""

from pathlib import Path

from catalog.errors import UnreadableFeed
from matcher.evaluation.catalog_evaluation import evaluate_catalog
from matcher.evaluation.metrics import Metrics
from matcher.evaluation.pair_evaluation import evaluate_pairs


def evaluate_matching(folder: Path, predictions: Path | None = None) -> Metrics:
    """Evaluate on a folder of matching data; returns named figures, baselines included.

    These are precision, recall and F1 on labelled test pairs, or the share of crawled offers that
    are handled correctly. `predictions` names a CSV file to write. Raises UnreadableFeed.
    """
    if (folder / "truth.csv").exists():
        return evaluate_catalog(folder, predictions)
    if not (folder / "pairs_test.csv").exists():
        raise UnreadableFeed(
            f"{folder} holds neither truth.csv nor pairs_test.csv: name a folder of matching data"
        )
    return evaluate_pairs(folder, predictions)
