"""Evaluation on labelled pairs: train on training and validation pairs, score the test pairs.

Pairs are scored twice. The first score rests on their features and a word model
(`matcher.evaluation.word_model`), the second also on the margin of the first score over the rivals'
scores, and on the known labels of the rivals. Each time five models are cross-fitted by left row
(`matcher.evaluation.cross_fitting`). So second scores and threshold rest on scores of held-out
rows. Test pairs get the mean of the five. Two rounds draw the folds differently, which reduces
chance. Test labels are read for the figures only, never for training.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from catalog.errors import UnreadableFeed
from matcher.array_types import Bools, Floats, Ints, Matrix, Pairs
from matcher.blocking.candidates import find_candidates
from matcher.blocking.vectors import build_vector_space
from matcher.evaluation.baselines import baseline_similarities, evaluate_baselines_on_pairs
from matcher.evaluation.cross_fitting import cross_fit, tree_fit, word_model_fit
from matcher.evaluation.dataset import OfferTable, compare_extra_columns, read_csv, read_table
from matcher.evaluation.label_features import compute_label_features
from matcher.evaluation.metrics import (
    Metrics,
    fit_trees_to_labels,
    precision_recall,
    strip_brands_of_both,
    write_csv,
)
from matcher.evaluation.word_model import vectorise_word_differences
from matcher.features.pair_features import compute_features
from matcher.features.rival_margins import compute_rival_margins
from matcher.model.calibration import log_odds

# Nearest neighbours per offer.
NEIGHBOURS = 10
FOLDS = 5
# Draws of the folds.
ROUNDS = 2
# Weight of the second score beside the first.
SECOND_WEIGHT = 2 / 3
# F1 by which a threshold may fall short of the best one, and still count as equally good.
F1_TOLERANCE = 0.005
fit_small_trees = partial(fit_trees_to_labels, max_iter=250, learning_rate=0.06, max_features=0.3)


@dataclass(frozen=True)
class _LabelledPairs:
    """The labelled pairs of one file as rows of both tables."""

    pairs: Pairs
    labels: Bools


@dataclass(frozen=True)
class _ScoringTask:
    """All pairs, sorted, with features and words; the rows of training and test pairs among them.

    `candidates` are the pairs that blocking found.
    """

    candidates: Pairs
    pairs: Pairs
    table: Floats
    word_columns: Matrix
    training: Ints
    labels: Bools
    test: Ints


def evaluate_pairs(folder: Path, predictions: Path | None) -> Metrics:
    """Return precision, recall and F1 on the test pairs, and the recall of blocking."""
    begin = time.monotonic()
    left, right = read_table(folder / "left.jsonl"), read_table(folder / "right.jsonl")
    parts = []
    for name in ("train", "valid", "test"):
        parts.append(_read_pairs(folder / f"pairs_{name}.csv", left, right))
    test = parts[-1]
    task = _build_task(left, right, parts)
    score = _score(task)
    threshold = best_threshold(score[task.training], task.labels)
    predicted = score[task.test] >= threshold
    if predictions:
        rows = []
        for (i, j), is_match in zip(test.pairs.tolist(), predicted, strict=True):
            rows.append((left.ids[i], right.ids[j], int(is_match)))
        write_csv(predictions, ("id_left", "id_right", "match"), rows)
    true_pairs: set[tuple[int, ...]] = set()
    for part in parts:
        true_pairs.update(map(tuple, part.pairs[part.labels].tolist()))
    recalled = true_pairs.intersection(map(tuple, task.candidates.tolist()))
    recall = len(recalled) / max(1, len(true_pairs))
    scores = precision_recall(predicted, test.labels)
    seconds = round(time.monotonic() - begin, 1)
    similarities = baseline_similarities(left.records, right.records, task.pairs, task.table)
    return {
        "pairs": len(predicted),
        **scores,
        "threshold": threshold,
        "candidate_recall": round(recall, 4),
        "seconds": seconds,
        **evaluate_baselines_on_pairs(
            similarities, task.training, task.labels, task.test, test.labels
        ),
    }


def _read_pairs(path: Path, left: OfferTable, right: OfferTable) -> _LabelledPairs:
    rows = read_csv(path)
    left_row = {name: row for row, name in enumerate(left.ids)}
    right_row = {name: row for row, name in enumerate(right.ids)}
    pairs = []
    labels = []
    try:
        for row in rows:
            pairs.append((left_row[row["id_left"]], right_row[row["id_right"]]))
            labels.append(row["label"] == "1")
    except KeyError as error:
        raise UnreadableFeed(
            f"{path}: no column or no row of the tables is called {error}"
        ) from error
    return _LabelledPairs(
        np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(labels, dtype=bool)
    )


def _build_task(
    left: OfferTable, right: OfferTable, parts: Sequence[_LabelledPairs]
) -> _ScoringTask:
    """Compute the features of candidate and labelled pairs together, as each other's rivals.

    Right rows without a label search for no neighbours: no pair of theirs is scored.
    """
    shop, catalog = strip_brands_of_both(left.records, right.records)
    space = build_vector_space(shop, catalog)
    labelled = [part.pairs for part in parts]
    searching = np.unique(np.concatenate(labelled)[:, 1])
    candidates = find_candidates(shop, catalog, space, NEIGHBOURS, searching=searching)
    pairs = np.unique(np.concatenate([candidates, *labelled]), axis=0)
    features = compute_features(shop, catalog, space, pairs)
    train, valid, test = parts
    return _ScoringTask(
        candidates=candidates,
        pairs=pairs,
        table=np.column_stack((features, compare_extra_columns(left, right, pairs))),
        word_columns=vectorise_word_differences(shop, catalog, pairs),
        training=np.concatenate((_find_rows(pairs, train.pairs), _find_rows(pairs, valid.pairs))),
        labels=np.concatenate((train.labels, valid.labels)),
        test=_find_rows(pairs, test.pairs),
    )


def _find_rows(pairs: Pairs, wanted_pairs: Pairs) -> Ints:
    """Return the rows of some pairs among sorted pairs."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    keys = pairs[:, 0] * width + pairs[:, 1]
    wanted_keys = wanted_pairs[:, 0] * width + wanted_pairs[:, 1]
    return np.searchsorted(keys, wanted_keys).astype(np.int64)


def _score(task: _ScoringTask) -> Floats:
    """Score the labelled pairs: the mean of rounds that draw folds and trees differently."""
    pairs, labels, training = task.pairs, task.labels, task.training
    rows = np.unique(np.concatenate((training, task.test)))
    left_count = int(pairs[:, 0].max(initial=0)) + 1
    score = np.zeros(len(pairs), np.float32)
    for number in range(ROUNDS):
        # Folds by left row: pairs of one offer inform about each other.
        fold = np.random.default_rng(number).integers(0, FOLDS, left_count)[pairs[:, 0]]
        fit = partial(fit_small_trees, random_state=number)
        word_odds = cross_fit(
            word_model_fit(task.word_columns, task.table), training, labels, fold, FOLDS
        )
        table = np.column_stack((task.table, word_odds))
        first = cross_fit(tree_fit(fit, table), training, labels, fold, FOLDS)
        label_columns = compute_label_features(pairs, first, training, labels)
        second_table = np.column_stack((table, _score_margins(pairs, first), label_columns))[rows]
        second = cross_fit(
            tree_fit(fit, second_table),
            np.searchsorted(rows, training),
            labels,
            fold[rows],
            FOLDS,
        )
        score[rows] += ((1 - SECOND_WEIGHT) * first[rows] + SECOND_WEIGHT * second) / ROUNDS
    return score


def _score_margins(pairs: Pairs, score: Floats) -> Floats:
    """Return the log-odds of each pair, and its margins over its rivals from both sides."""
    odds = log_odds(score).astype(np.float32)
    columns = [odds]
    for owner in (pairs[:, 0], pairs[:, 1]):
        margins = compute_rival_margins(owner, score)
        columns += [margins.lead, margins.second_lead, margins.rank]
        columns.append(compute_rival_margins(owner, odds).lead)
    return np.column_stack(columns)


def best_threshold(score: Floats, labels: Bools) -> float:
    """Return the median of the thresholds with nearly the greatest F1: the best one is chance."""
    thresholds = np.arange(0.05, 0.96, 0.01)
    f1 = np.array([precision_recall(score >= step, labels)["f1"] for step in thresholds])
    return round(float(np.median(thresholds[f1 >= f1.max() - F1_TOLERANCE])), 3)
