"""Labelled pairs: learn from the training and validation pairs, score the test pairs.

Judged twice: first by the pairs' features and by which words matter (`matcher.evaluation.word_model`), then also by how far a pair's
score is ahead of its rivals' scores, which is the catalog context once more, now of the whole judgement, and by what
the known answers say of its rivals. Each time five judges learn from four fifths of the labelled left rows and judge
the other fifth, so that the second look and the threshold rest on scores that were not learnt from; test pairs get the
mean of the five. Two rounds draw the fifths otherwise, which takes some of the chance out. Test labels are read to
print figures, never to learn.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from catalog.errors import UnreadableFeed
from matcher.blocking.candidates import candidates
from matcher.blocking.nearest_rows import Pairs
from matcher.blocking.vectors import Matrix, space
from matcher.evaluation.baselines import likeness_of, peers_on_pairs
from matcher.evaluation.cross_fitting import Ints, growing, in_turn, weighing
from matcher.evaluation.dataset import Table, compare_others, read_csv, read_table
from matcher.evaluation.label_features import settled
from matcher.evaluation.metrics import (
    TOP,
    Figures,
    branded,
    labelled_trees,
    precision_recall,
    write_csv,
)
from matcher.evaluation.word_model import wording
from matcher.features.pair_features import features
from matcher.features.rival_margins import rivals
from matcher.model.calibration import log_odds
from matcher.training.classifier import Floats

FOLDS = 5
ROUNDS = 2
SECOND_LOOK = 2 / 3
NEARLY = 0.005
quick_trees = partial(labelled_trees, max_iter=250, learning_rate=0.06, max_features=0.3)


@dataclass(frozen=True)
class _Labelled:
    """The labelled pairs of one part as rows of both tables."""

    pairs: Pairs
    same: NDArray[np.bool_]


def evaluate_pairs(folder: Path, predictions: Path | None) -> Figures:
    """Precision, recall and F1 on the test pairs, with the share of true pairs among the candidates."""
    begin = time.monotonic()
    left, right = read_table(folder / "left.jsonl"), read_table(folder / "right.jsonl")
    parts = {
        name: _labelled(folder / f"pairs_{name}.csv", left, right)
        for name in ("train", "valid", "test")
    }
    found, pairs, table, words = _table(left, right, [part.pairs for part in parts.values()])
    train, valid, test = (_places(pairs, part.pairs) for part in parts.values())
    learnt, same = (
        np.concatenate((train, valid)),
        np.concatenate((parts["train"].same, parts["valid"].same)),
    )
    score = _score(pairs, table, words, learnt, same, test)
    threshold = best_threshold(score[learnt], same)
    said = score[test] >= threshold
    if predictions:
        rows = [
            (left.ids[i], right.ids[j], int(s))
            for (i, j), s in zip(parts["test"].pairs.tolist(), said, strict=True)
        ]
        write_csv(predictions, ("id_left", "id_right", "match"), rows)
    true = {tuple(pair) for part in parts.values() for pair in part.pairs[part.same].tolist()}
    recalled = len(true & {tuple(pair) for pair in found.tolist()}) / max(1, len(true))
    scores = precision_recall(said, parts["test"].same)
    seconds = round(time.monotonic() - begin, 1)
    likeness = likeness_of(left.records, right.records, pairs, table)
    return {
        "pairs": len(said),
        **scores,
        "threshold": threshold,
        "candidate_recall": round(recalled, 4),
        "seconds": seconds,
        **peers_on_pairs(likeness, learnt, same, test, parts["test"].same),
    }


def _labelled(path: Path, left: Table, right: Table) -> _Labelled:
    rows = read_csv(path)
    i, j = ({name: place for place, name in enumerate(side.ids)} for side in (left, right))
    try:
        pairs = np.array(
            [(i[row["id_left"]], j[row["id_right"]]) for row in rows], dtype=np.int64
        ).reshape(-1, 2)
        return _Labelled(pairs, np.array([row["label"] == "1" for row in rows], dtype=bool))
    except KeyError as error:
        raise UnreadableFeed(
            f"{path}: no column or no row of the tables is called {error}"
        ) from error


def _table(
    left: Table, right: Table, parts: Sequence[Pairs]
) -> tuple[Pairs, Pairs, Floats, Matrix]:
    """The candidate pairs; these and all labelled pairs, sorted; the features of all, as each other's rivals; words.

    Right rows without a label look for no rivals of their own: nobody asks after them.
    """
    shop, known = branded(left.records, right.records)
    both = space(shop, known)
    asking = np.unique(np.concatenate(parts)[:, 1])
    found = candidates(shop, known, both, TOP, asking=asking)
    pairs = np.unique(np.concatenate([found, *parts]), axis=0)
    table = np.column_stack(
        (features(shop, known, both, pairs), compare_others(left, right, pairs))
    )
    return found, pairs, table, wording(shop, known, pairs)


def _places(pairs: Pairs, wanted: Pairs) -> NDArray[np.int64]:
    """Where the wanted pairs stand among the sorted ones."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    return np.searchsorted(
        pairs[:, 0] * width + pairs[:, 1], wanted[:, 0] * width + wanted[:, 1]
    ).astype(np.int64)


def _score(
    pairs: Pairs, table: Floats, words: Matrix, learnt: Ints, same: NDArray[np.bool_], test: Ints
) -> Floats:
    """The scores of the labelled pairs, from several rounds that draw their parts and their trees otherwise."""
    rows = np.unique(np.concatenate((learnt, test)))
    score = np.zeros(len(pairs), np.float32)
    for number in range(ROUNDS):
        parts = np.random.default_rng(number).integers(
            0, FOLDS, int(pairs[:, 0].max(initial=0)) + 1
        )[pairs[:, 0]]
        fit = partial(quick_trees, random_state=number)
        odds = in_turn(weighing(words, table), learnt, same, parts, FOLDS)
        told = np.column_stack((table, odds))
        first = in_turn(growing(fit, told), learnt, same, parts, FOLDS)
        seen = np.column_stack((told, _leads(pairs, first), settled(pairs, first, learnt, same)))[
            rows
        ]
        second = in_turn(
            growing(fit, seen), np.searchsorted(rows, learnt), same, parts[rows], FOLDS
        )
        score[rows] += ((1 - SECOND_LOOK) * first[rows] + SECOND_LOOK * second) / ROUNDS
    return score


def _leads(pairs: Pairs, score: Floats) -> Floats:
    """The log-odds of each pair, and its lead over its rivals from both sides."""
    odds = log_odds(score).astype(np.float32)
    columns = [odds]
    for side in (0, 1):
        columns += [*rivals(pairs[:, side], score), rivals(pairs[:, side], odds)[0]]
    return np.column_stack(columns)


def best_threshold(score: Floats, same: NDArray[np.bool_]) -> float:
    """The threshold of the greatest F1: the middle of those that come near it, as the very best one is chance."""
    steps = np.arange(0.05, 0.96, 0.01)
    values = np.array([precision_recall(score >= step, same)["f1"] for step in steps])
    return round(float(np.median(steps[values >= values.max() - NEARLY])), 3)
