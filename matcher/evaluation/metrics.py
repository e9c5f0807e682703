"""Shared parts of both evaluations: trees for true labels, precision and recall, CSV output."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from matcher.array_types import Bools, Floats
from matcher.records.record import Record, strip_brands
from matcher.training.classifier import Classifier, apply_formula, fit_trees

# Measured figures by name, as `scout evaluate matching` prints them.
Metrics = dict[str, float | int | str]
# Leaves of a tree that is trained on true labels.
MAX_LEAF_NODES = 8


def fit_trees_to_labels(
    table: Floats,
    labels: Bools,
    *,
    max_iter: int = 500,
    learning_rate: float = 0.03,
    **settings: Any,
) -> Classifier:
    """Fit trees to many true labels: without monotonic constraints, smaller trees and more of them.

    Returns the fixed formula if all labels are the same.
    """
    if not 0 < labels.sum() < len(labels):
        return apply_formula
    tree_settings = {
        "max_iter": max_iter,
        "learning_rate": learning_rate,
        "max_leaf_nodes": MAX_LEAF_NODES,
    }
    unconstrained = [0] * table.shape[1]
    return fit_trees(table, labels, unconstrained, **(tree_settings | settings))


def strip_brands_of_both(
    left: Sequence[Record], right: Sequence[Record]
) -> tuple[list[Record], list[Record]]:
    """Strip the brand names that either side knows from the ends of both sides' titles."""
    brands = {record.brand for record in (*left, *right)}
    return strip_brands(left, brands), strip_brands(right, brands)


def precision_recall(predicted: Bools, label: Bools) -> dict[str, float]:
    """Return precision, recall and F1, rounded to four digits."""
    correct = float((predicted & label).sum())
    precision = correct / max(1.0, float(predicted.sum()))
    recall = correct / max(1.0, float(label.sum()))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file with a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
