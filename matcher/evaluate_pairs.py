"""Labelled pairs: learn from the training pairs, choose the threshold on the validation pairs, score the test pairs.

Test labels are read to print figures, never to learn.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from catalog.errors import UnreadableFeed
from matcher.candidates import Pairs, candidates
from matcher.classifier import Floats
from matcher.dataset import Table, compare_others, read_csv, read_table
from matcher.features import features
from matcher.figures import TOP, Figures, branded, labelled_trees, precision_recall, write_csv
from matcher.space import space


@dataclass(frozen=True)
class _Labelled:
    """The labelled pairs of one part as rows of both tables."""

    pairs: Pairs
    same: NDArray[np.bool_]


def evaluate_pairs(folder: Path, predictions: Path | None) -> Figures:
    """Precision, recall and F1 on the test pairs, with the share of true pairs among the candidates."""
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


def best_threshold(score: Floats, same: NDArray[np.bool_]) -> float:
    """The threshold of the greatest F1; the middle of those that are equally good."""
    steps = np.arange(0.05, 0.96, 0.01)
    values = np.array([precision_recall(score >= step, same)["f1"] for step in steps])
    return round(float(np.median(steps[values >= values.max() - 1e-9])), 3)
