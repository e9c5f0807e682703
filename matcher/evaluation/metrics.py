"""What both ways to measure the decision share: trees for true labels, and figures of what was said."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.records.record import Record, with_brands
from matcher.training.classifier import Classifier, Floats, formula, trees

Figures = dict[str, float | int | str]
TOP = 10


def labelled_trees(
    table: Floats,
    same: NDArray[np.bool_],
    *,
    max_iter: int = 500,
    learning_rate: float = 0.03,
    **settings: Any,
) -> Classifier:
    """Trees for many true labels: free of the trends that a few rehearsed ones need, smaller and more of them.

    Labels that are all alike teach nothing: there the fixed formula judges.
    """
    if not 0 < same.sum() < len(same):
        return formula
    wanted = {"max_iter": max_iter, "learning_rate": learning_rate, "max_leaf_nodes": 8} | settings
    return trees(table, same, [0] * table.shape[1], **wanted)


def branded(left: Sequence[Record], right: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Both sides without the brand names that either side knows at the ends of their titles."""
    brands = {record.brand for record in (*left, *right)}
    return with_brands(left, brands), with_brands(right, brands)


def precision_recall(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> dict[str, float]:
    """Precision, recall and F1 of what was said."""
    right = float((said & true).sum())
    precision, recall = right / max(1.0, float(said.sum())), right / max(1.0, float(true.sum()))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A CSV file of those columns."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
