"""Baselines: one similarity of titles, and the threshold that is best on the training data.

Many catalogs are matched like that: by rapidfuzz's token_set_ratio, or by the cosine of character
TF-IDF. Each baseline gets its threshold from the examples that the classifiers are trained on, and
is scored on the same test data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from matcher.array_types import Bools, Floats, Ints, Pairs
from matcher.evaluation.metrics import Metrics, precision_recall
from matcher.features.table import COLUMN
from matcher.records.record import Record

# Thresholds that are tried, on similarities from 0 to 1.
THRESHOLDS = np.arange(0.02, 1.0, 0.01).tolist()
# {baseline: (feature, its greatest value)}
_BASELINES = {"token_set": ("token_set", 100.0), "tfidf": ("grams", 1.0)}
_MISSING = -1


@dataclass(frozen=True)
class CatalogTask:
    """Offers to assign to a catalog's products: candidate pairs, features and the truth.

    `products` is the product of each catalog offer, `truth` that of each asked offer, -1 if
    missing.
    """

    pairs: Pairs
    table: Floats
    products: Ints
    truth: Ints

    def count_correct(self, baseline: str, threshold: float) -> int:
        """Count the offers that get the right product, or none, from their most similar offer."""
        feature, greatest = _BASELINES[baseline]
        score = self.table[:, COLUMN[feature]] / greatest
        order = np.lexsort((score, self.pairs[:, 0]))
        order = order[score[order] >= threshold]
        answer = np.full(len(self.truth), _MISSING, dtype=np.int64)
        # The last assignment to a row stands: that of its most similar pair.
        answer[self.pairs[order, 0]] = self.products[self.pairs[order, 1]]
        return int((answer == self.truth).sum())


def evaluate_baselines_on_catalog(training: Sequence[CatalogTask], test: CatalogTask) -> Metrics:
    """Return each baseline's share of correctly handled offers."""
    metrics: Metrics = {}
    for baseline in _BASELINES:
        totals = []
        for threshold in THRESHOLDS:
            totals.append(sum(task.count_correct(baseline, threshold) for task in training))
        best = THRESHOLDS[int(np.argmax(totals))]
        correct = test.count_correct(baseline, best)
        metrics[f"peer_{baseline}_right"] = round(correct / max(1, len(test.truth)), 4)
    return metrics


def evaluate_baselines_on_pairs(
    similarities: Mapping[str, Floats],
    training: Ints,
    training_labels: Bools,
    test: Ints,
    test_labels: Bools,
) -> Metrics:
    """Return each baseline's F1 on the test rows, given its similarity of all rows."""
    metrics: Metrics = {}
    for baseline, similarity in similarities.items():
        f1 = []
        for threshold in THRESHOLDS:
            f1.append(precision_recall(similarity[training] >= threshold, training_labels)["f1"])
        best = THRESHOLDS[int(np.argmax(f1))]
        test_metrics = precision_recall(similarity[test] >= best, test_labels)
        metrics[f"peer_{baseline}_f1"] = test_metrics["f1"]
    return metrics


def baseline_similarities(
    left: Sequence[Record], right: Sequence[Record], pairs: Pairs, table: Floats
) -> dict[str, Floats]:
    """Return each baseline's similarity of every pair, 0 to 1, of the titles as given."""
    left_titles = [left[row].title for row in pairs[:, 0]]
    right_titles = [right[row].title for row in pairs[:, 1]]
    token_set = process.cpdist(
        left_titles, right_titles, scorer=fuzz.token_set_ratio, dtype=np.float32
    )
    return {
        "token_set": np.asarray(token_set / 100, dtype=np.float32),
        "tfidf": table[:, COLUMN["grams"]],
    }
