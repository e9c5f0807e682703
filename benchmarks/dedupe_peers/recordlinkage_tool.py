"""recordlinkage: comparisons by kind of column, logistic regression, or ECM without labels."""

import numpy as np
import pandas as pd
import recordlinkage
from recordlinkage.compare import Date, Exact, Numeric, String

from benchmarks.dedupe_peers.datasets import Task
from benchmarks.dedupe_peers.results import Scores
from matcher.array_types import Ints
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import parse_number

# Similarity from which on ECM, which wants binary features, counts a column as agreeing.
AGREES = 0.85


def score(task: Task, labelled: Ints | None) -> Scores:
    """Score the test pairs."""
    features = _compare(task)
    if labelled is None:
        binary = (features >= AGREES).astype(int)
        model = recordlinkage.ECMClassifier(binarize=None)
        model.fit(binary)
        return Scores(_probability(model, binary, task.test))
    model = recordlinkage.LogisticRegressionClassifier()
    training = features.iloc[labelled]
    matches = training.index[task.labels[labelled]]
    model.fit(training, matches)
    return Scores(_probability(model, features, task.test))


def _probability(model, features: pd.DataFrame, rows: Ints) -> np.ndarray:
    return np.asarray(model.prob(features.iloc[rows]), dtype=np.float64)


def _compare(task: Task) -> pd.DataFrame:
    left, right = _frame(task, task.left), _frame(task, task.right_rows)
    index = pd.MultiIndex.from_arrays([task.pairs[:, 0], task.pairs[:, 1]])
    comparer = recordlinkage.Compare()
    for name, kind in zip(task.columns, task.kinds, strict=True):
        if kind in (ColumnKind.NUMBER, ColumnKind.YEAR):
            comparer.add(Numeric(name, name, method="gauss", scale=_spread(left[name]), label=name))
        elif kind is ColumnKind.CATEGORY:
            comparer.add(Exact(name, name, label=name))
        elif kind is ColumnKind.DATE:
            comparer.add(Date(name, name, label=name))
            comparer.add(
                String(f"{name}_text", f"{name}_text", method="levenshtein", label=f"{name} text")
            )
        else:
            comparer.add(String(name, name, method="jarowinkler", label=f"{name} jw"))
            comparer.add(String(name, name, method="qgram", label=f"{name} qgram"))
            comparer.add(String(name, name, method="cosine", label=f"{name} cosine"))
    return comparer.compute(index, left, right).fillna(0)


def _spread(values: pd.Series) -> float:
    return float(max(1.0, values.std(skipna=True) / 10)) if values.notna().any() else 1.0


def _frame(task: Task, rows) -> pd.DataFrame:
    frame = pd.DataFrame([dict(row) for row in rows], columns=list(task.columns))
    for name, kind in zip(task.columns, task.kinds, strict=True):
        if kind in (ColumnKind.NUMBER, ColumnKind.YEAR):
            frame[name] = [parse_number(value) for value in frame[name]]
            frame[name] = frame[name].astype(float)
        elif kind is ColumnKind.DATE:
            frame[f"{name}_text"] = frame[name]
            frame[name] = pd.to_datetime(frame[name], errors="coerce")
        else:
            frame[name] = frame[name].str.lower()
    return frame
