"""Scout's taught deduplication as one of the tools that are compared."""

import numpy as np

from benchmarks.dedupe_peers.datasets import Task, to_records
from benchmarks.dedupe_peers.results import Scores
from matcher.array_types import Ints
from matcher.taught.candidates import find_rows
from matcher.taught.deduplication import NO_LABELS, Labels, TaughtOptions, decide


def score(task: Task, labelled: Ints | None, uses_labelled_rivals: bool = False) -> Scores:
    """Score the test pairs after learning from the labelled ones, or from none.

    Pairs without label are known as candidates, as in any run; their labels are not.
    """
    labels = NO_LABELS
    if labelled is not None:
        labels = Labels(task.pairs[labelled], task.labels[labelled])
    left = to_records(task.left, task.columns)
    right = None if task.right is None else to_records(task.right, task.columns)
    options = TaughtOptions(
        kinds=dict(zip(task.columns, map(str, task.kinds), strict=True)),
        variants=(),
        known_pairs=task.pairs,
        uses_labelled_rivals=uses_labelled_rivals,
    )
    decision = decide(left, right, labels, None, options)
    rows = find_rows(decision.scored.pairs, task.pairs[task.test])
    probability = 1 / (1 + np.exp(-decision.scores[rows]))
    return Scores(probability, decision.model.threshold)
