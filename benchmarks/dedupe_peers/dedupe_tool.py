"""dedupe: its distances and its classifier on the same pairs (its blocking is left out)."""

import numpy as np
from dedupe import Dedupe, variables

from benchmarks.dedupe_peers.datasets import Row, Task
from benchmarks.dedupe_peers.results import Scores
from matcher.array_types import Ints
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import parse_number

# Mean words from which on dedupe's documentation advises Text rather than String.
TEXT_WORDS = 8


def score(task: Task, labelled: Ints | None) -> Scores:
    """Score the test pairs; dedupe does not learn without labels."""
    if labelled is None:
        raise ValueError("dedupe needs labels")
    left, right = _clean(task, task.left), _clean(task, task.right_rows)
    model = Dedupe([_variable(task, number) for number in range(len(task.columns))], num_cores=0)

    def distances(rows: Ints) -> np.ndarray:
        pairs = [(left[i], right[j]) for i, j in task.pairs[rows].tolist()]
        return model.data_model.distances(pairs)

    model.classifier.fit(distances(labelled), task.labels[labelled].astype(int))
    return Scores(model.classifier.predict_proba(distances(task.test))[:, 1])


def _variable(task: Task, number: int):
    name, kind = task.columns[number], task.kinds[number]
    if kind in (ColumnKind.NUMBER, ColumnKind.YEAR):
        return variables.Price(name, has_missing=True)
    if kind is ColumnKind.CATEGORY:
        return variables.ShortString(name, has_missing=True)
    words = np.mean([len(row[name].split()) for row in task.left])
    if words > TEXT_WORDS:
        return variables.Text(
            name, corpus=[row[name] for row in task.left if row[name]], has_missing=True
        )
    return variables.String(name, has_missing=True)


def _clean(task: Task, rows: list[Row]) -> list[dict]:
    cleaned = []
    for row in rows:
        record = {}
        for name, kind in zip(task.columns, task.kinds, strict=True):
            value = row[name].strip().lower() or None
            if kind in (ColumnKind.NUMBER, ColumnKind.YEAR) and value is not None:
                number = parse_number(value)
                value = number if number and number > 0 else None
            record[name] = value
        cleaned.append(record)
    return cleaned
