"""Judges in turn: each learns without a part of the labelled rows and judges that part.

A second judge that learns from such scores, and a threshold that is chosen on them, meet them as they will be. Rows
without a label get the mean of all judges.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.vectors import Matrix
from matcher.evaluation.word_model import weigher
from matcher.training.classifier import Classifier, Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Judge = Callable[[Ints], Floats]
Fit = Callable[[Ints, Bools], Judge]


def in_turn(fit: Fit, learnt: Ints, same: Bools, parts: Ints, count: int) -> Floats:
    """Every row's score, by `count` judges; `parts` says of every row which judge must not have seen it."""
    judges = [fit(learnt[parts[learnt] != n], same[parts[learnt] != n]) for n in range(count)]
    score: Floats = np.asarray(
        np.mean([judge(np.arange(len(parts))) for judge in judges], axis=0), dtype=np.float32
    )
    for number, judge in enumerate(judges):
        own = learnt[parts[learnt] == number]
        score[own] = judge(own)
    return score


def weighing(words: Matrix, table: Floats) -> Fit:
    """Judges of words (`matcher.evaluation.word_model`)."""

    def fit(rows: Ints, same: Bools) -> Judge:
        weigh = weigher(words[rows], table[rows], same)
        return lambda asked: weigh(words[asked], table[asked])

    return fit


def growing(trees: Callable[[Floats, Bools], Classifier], table: Floats) -> Fit:
    """Judges of features, grown by `trees`."""

    def fit(rows: Ints, same: Bools) -> Judge:
        judge = trees(table[rows], same)
        return lambda asked: judge(table[asked])

    return fit
