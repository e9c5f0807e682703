"""Cross-fitting: each model trains without one fold of the labelled rows and scores that fold.

A second model that trains on such scores, and a threshold that is chosen on them, meet them as they
are for unseen rows. Rows without a label get the mean of all models.
"""

from collections.abc import Callable

import numpy as np

from matcher.array_types import Bools, Floats, Ints, Matrix
from matcher.evaluation.word_model import fit_word_model
from matcher.training.classifier import Classifier

# Scores rows of a table, given their numbers.
Scorer = Callable[[Ints], Floats]
# Trains on rows of a table, given their numbers and labels.
Fit = Callable[[Ints, Bools], Scorer]


def cross_fit(fit: Fit, labelled: Ints, labels: Bools, fold: Ints, folds: int) -> Floats:
    """Score every row by `folds` models.

    `fold` gives for every row the model that must not be trained on it.
    """
    scorers = []
    for number in range(folds):
        is_training = fold[labelled] != number
        scorers.append(fit(labelled[is_training], labels[is_training]))
    all_rows = np.arange(len(fold))
    mean = np.mean([scorer(all_rows) for scorer in scorers], axis=0)
    score: Floats = np.asarray(mean, dtype=np.float32)
    for number, scorer in enumerate(scorers):
        held_out = labelled[fold[labelled] == number]
        score[held_out] = scorer(held_out)
    return score


def word_model_fit(word_columns: Matrix, table: Floats) -> Fit:
    """Return a function that trains word models (`matcher.evaluation.word_model`)."""

    def fit(rows: Ints, labels: Bools) -> Scorer:
        model = fit_word_model(word_columns[rows], table[rows], labels)
        return lambda asked_rows: model(word_columns[asked_rows], table[asked_rows])

    return fit


def tree_fit(fit_trees: Callable[[Floats, Bools], Classifier], table: Floats) -> Fit:
    """Return a function that trains trees on rows of `table`."""

    def fit(rows: Ints, labels: Bools) -> Scorer:
        classifier = fit_trees(table[rows], labels)
        return lambda asked_rows: classifier(table[asked_rows])

    return fit
