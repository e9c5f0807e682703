"""The decision measured on published data: `scout evaluate matching`.

With labelled pairs the classifier learns from the training pairs, its threshold is chosen on the validation pairs, and
the test pairs are scored. With a catalog, crawled offers and the truth (`matcher.evaluate_catalog`) it learns from the
catalog's own product groups alone. Test labels are read to print figures, never to learn.
"""

import csv
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from catalog.errors import UnreadableFeed
from matcher.candidates import Pairs, candidates
from matcher.classifier import Classifier, Floats, trees
from matcher.dataset import Table, compare_others, read_csv, read_table
from matcher.features import features
from matcher.record import Record, with_brands
from matcher.space import space

Figures = dict[str, float | int | str]
TOP = 10


def evaluate_matching(folder: Path, predictions: Path | None = None) -> Figures:
    """Precision, recall and F1 on the folder's test pairs, or the shares of its crawled offers handled rightly."""
    if (folder / "truth.csv").exists():
        from matcher.evaluate_catalog import evaluate_catalog

        return evaluate_catalog(folder, predictions)
    if not (folder / "pairs_test.csv").exists():
        raise UnreadableFeed(f"{folder} holds neither truth.csv nor pairs_test.csv: name a folder of matching data")
    return _evaluate_pairs(folder, predictions)


@dataclass(frozen=True)
class _Labelled:
    """The labelled pairs of one part as rows of both tables."""

    pairs: Pairs
    same: NDArray[np.bool_]


def _evaluate_pairs(folder: Path, predictions: Path | None) -> Figures:
    begin = time.monotonic()
    left, right = read_table(folder / "left.jsonl"), read_table(folder / "right.jsonl")
    parts = {name: _labelled(folder / f"pairs_{name}.csv", left, right) for name in ("train", "valid", "test")}
    found, tables = _tables(left, right, [part.pairs for part in parts.values()])
    train, valid, test = tables
    judge = labelled_trees(train, parts["train"].same)
    threshold = best_threshold(judge(valid), parts["valid"].same)
    both = np.concatenate((train, valid)), np.concatenate((parts["train"].same, parts["valid"].same))
    said = labelled_trees(*both)(test) >= threshold
    if predictions:
        rows = [
            (left.ids[i], right.ids[j], int(s)) for (i, j), s in zip(parts["test"].pairs.tolist(), said, strict=True)
        ]
        write_csv(predictions, ("id_left", "id_right", "match"), rows)
    true = {tuple(pair) for part in parts.values() for pair in part.pairs[part.same].tolist()}
    recalled = len(true & {tuple(pair) for pair in found.tolist()}) / max(1, len(true))
    scores = precision_recall(said, parts["test"].same)
    seconds = round(time.monotonic() - begin, 1)
    return {
        "pairs": len(said),
        **scores,
        "threshold": threshold,
        "candidate_recall": round(recalled, 4),
        "seconds": seconds,
    }


def _labelled(path: Path, left: Table, right: Table) -> _Labelled:
    rows = read_csv(path)
    i, j = ({name: place for place, name in enumerate(side.ids)} for side in (left, right))
    try:
        pairs = np.array([(i[row["id_left"]], j[row["id_right"]]) for row in rows], dtype=np.int64).reshape(-1, 2)
        return _Labelled(pairs, np.array([row["label"] == "1" for row in rows], dtype=bool))
    except KeyError as error:
        raise UnreadableFeed(f"{path}: no column or no row of the tables is called {error}") from error


def _tables(left: Table, right: Table, parts: Sequence[Pairs]) -> tuple[Pairs, list[Floats]]:
    """The candidate pairs, and the features of every part's pairs, with the candidates as their rivals."""
    shop, known = branded(left.records, right.records)
    both = space(shop, known)
    found = candidates(shop, known, both, TOP)
    pairs, place = np.unique(np.concatenate([found, *parts]), axis=0, return_inverse=True)
    table = np.column_stack((features(shop, known, both, pairs), compare_others(left, right, pairs)))
    cuts = np.cumsum([len(found), *map(len, parts)])
    return found, [table[place[start:end]] for start, end in pairwise(cuts)]


def labelled_trees(table: Floats, same: NDArray[np.bool_]) -> Classifier:
    """Trees for many true labels: free of the trends that a few rehearsed ones need, smaller and more of them."""
    return trees(table, same, [0] * table.shape[1], max_iter=500, learning_rate=0.03, max_leaf_nodes=8)


def branded(left: Sequence[Record], right: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Both sides without the brand names that either side knows at the ends of their titles."""
    brands = {record.brand for record in (*left, *right)}
    return with_brands(left, brands), with_brands(right, brands)


def best_threshold(score: Floats, same: NDArray[np.bool_]) -> float:
    """The threshold of the greatest F1; the middle of those that are equally good."""
    steps = np.arange(0.05, 0.96, 0.01)
    values = np.array([precision_recall(score >= step, same)["f1"] for step in steps])
    return round(float(np.median(steps[values >= values.max() - 1e-9])), 3)


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
