"""Cross-fitting: no model scores a row that it was trained on."""

import numpy as np

from matcher.array_types import Bools, Floats, Ints
from matcher.evaluation.cross_fitting import Scorer, cross_fit


def fit_memory(rows: Ints, labels: Bools) -> Scorer:
    """Return a model that knows the rows it was trained on, and nothing else."""
    scores = np.where(labels, 1.0, -1.0).tolist()
    score_of = dict(zip(rows.tolist(), scores, strict=True))

    def score(asked_rows: Ints) -> Floats:
        return np.array([score_of.get(row, 0.0) for row in asked_rows.tolist()], np.float32)

    return score


def test_no_row_is_scored_by_a_model_trained_on_it() -> None:
    """A model that only memorises knows nothing of its held-out fold."""
    labelled, labels = np.array([0, 1, 2, 4]), np.array([True, False, True, True])
    score = cross_fit(fit_memory, labelled, labels, np.array([0, 1, 2, 0, 0]), 3)
    assert score.tolist() == [0.0] * 5


def test_rows_without_a_label_get_the_mean() -> None:
    """Rows without a label get the mean of all models."""

    def fit_count(rows: Ints, labels: Bools) -> Scorer:
        return lambda asked_rows: np.full(len(asked_rows), len(rows), np.float32)

    labelled, labels = np.array([0, 1, 2]), np.array([True, True, False])
    score = cross_fit(fit_count, labelled, labels, np.array([0, 0, 1, 5]), 2)
    assert score.tolist() == [1.0, 1.0, 2.0, 1.5]
