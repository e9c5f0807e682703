"""The decision measured on published data: `scout evaluate matching`.

A folder holds either labelled pairs (`matcher.evaluation.evaluate_pairs`), or a catalog, crawled offers and the truth
(`matcher.evaluation.evaluate_catalog`).
"""

from pathlib import Path

from catalog.errors import UnreadableFeed
from matcher.evaluation.evaluate_catalog import evaluate_catalog
from matcher.evaluation.evaluate_pairs import evaluate_pairs
from matcher.evaluation.metrics import Figures


def evaluate_matching(folder: Path, predictions: Path | None = None) -> Figures:
    """Precision, recall and F1 on the folder's test pairs, or the shares of its crawled offers handled rightly.

    Each with what simple peers make of it.
    """
    if (folder / "truth.csv").exists():
        return evaluate_catalog(folder, predictions)
    if not (folder / "pairs_test.csv").exists():
        raise UnreadableFeed(
            f"{folder} holds neither truth.csv nor pairs_test.csv: name a folder of matching data"
        )
    return evaluate_pairs(folder, predictions)
