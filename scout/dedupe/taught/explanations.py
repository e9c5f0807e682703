"""Explanations on the terminal: a pair's waterfall, and the weight of each column."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from catalog.errors import UsageError
from matcher.taught.candidates import find_rows
from matcher.taught.model.explain import Waterfall, describe_probability, explain_pairs
from scout.dedupe.taught.taught_run import TaughtRun

# Pairs whose mean weights stand for a column's weight.
SAMPLE_PAIRS = 200
# Characters of a value in a table.
MAX_VALUE = 60


def explain_pairs_by_name(run: TaughtRun, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the waterfall of each pair LEFT,RIGHT, named by id or line.

    A pair that was never compared has no steps, and the probability None. Raises UsageError.
    """
    named = [_find_records(run, text) for text in texts]
    candidates = find_rows(
        run.decision.scored.pairs, np.array(named, np.int64).reshape(-1, 2)
    ).tolist()
    compared = [row for row in candidates if row >= 0]
    waterfalls = dict(zip(compared, explain_rows(run, compared), strict=True))
    explanations = []
    for (left, right), row in zip(named, candidates, strict=True):
        names = {"left": run.tables[0].names[left], "right": run.tables[-1].names[right]}
        not_compared: dict[str, Any] = names | {"probability": None, "steps": []}
        explanations.append(waterfalls.get(row, not_compared))
    return explanations


def _find_records(run: TaughtRun, text: str) -> tuple[int, int]:
    """Return the rows of two records, in the order of candidates. Raises UsageError."""
    left_name, separator, right_name = text.partition(",")
    left_name, right_name = left_name.strip(), right_name.strip()
    if not separator:
        raise UsageError(f"--explain {text}: write the lines (or ids) of two records, LEFT,RIGHT")
    rows = list[int]()
    for table, name in ((run.tables[0], left_name), (run.tables[-1], right_name)):
        row = table.rows_of([name]).get(name)
        if row is None:
            kind = "id" if run.has_ids else "line"
            raise UsageError(f"--explain {text}: no record has the {kind} {name!r}")
        rows.append(row)
    if len(run.tables) == 1:
        rows.sort()
    return rows[0], rows[1]


def explain_rows(run: TaughtRun, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Return the waterfall of each of some candidates: steps from the base to its probability."""
    decision = run.decision
    waterfall = explain_pairs(decision.model, decision.comparison, decision.scored, rows)
    return [_as_steps(run, row, waterfall, place) for place, row in enumerate(rows)]


def _as_steps(run: TaughtRun, row: int, waterfall: Waterfall, place: int) -> dict[str, Any]:
    decision = run.decision
    left, right = decision.scored.pairs[row].tolist()
    records = run.tables[0].records, run.tables[-1].records
    weights = waterfall.weights[place]
    steps = list[dict[str, Any]]()
    total = waterfall.base
    for number in np.argsort(-np.abs(weights), kind="stable").tolist():
        group, weight = waterfall.groups[number], float(weights[number])
        total += weight
        values = ["", ""]
        if group in records[0].names:
            column = records[0].names.index(group)
            values = [records[0].fields[column][left], records[1].fields[column][right]]
        steps.append(
            {
                "column": group,
                "weight": round(weight, 3),
                "total": round(total, 3),
                "left": values[0][:MAX_VALUE],
                "right": values[1][:MAX_VALUE],
            }
        )
    is_same = _are_in_one_group(run, left, right)
    return {
        "left": run.tables[0].names[left],
        "right": run.tables[-1].names[right],
        "base": round(waterfall.base, 3),
        "steps": steps,
        "log_odds": round(total, 3),
        "probability": describe_probability(total),
        "threshold": round(decision.model.threshold, 4),
        "variant": decision.variant_of[row],
        "same_group": is_same,
        "groups_decide": is_same != bool(decision.odds[row] > 0),
    }


def _are_in_one_group(run: TaughtRun, left: int, right: int) -> bool:
    """Return True if two records, a row of each side, are duplicates in the end."""
    if len(run.tables) > 1:
        right += len(run.duplicates.left)
    return any(left in group and right in group for group in run.decision.groups)


def column_weights(run: TaughtRun) -> list[tuple[str, float, float]]:
    """Return each column with the mean weight for and against pairs, the weightiest first."""
    weights = _sample_weights(run)
    # A table without any candidate has no weights.
    count = max(1, len(weights.weights))
    rows = [
        (group, float(column[column > 0].sum()) / count, float(column[column < 0].sum()) / count)
        for group, column in zip(weights.groups, weights.weights.T, strict=True)
    ]
    return sorted(rows, key=lambda row: row[2] - row[1])


def _sample_weights(run: TaughtRun) -> Waterfall:
    """Explain matches and their nearest rivals: the pairs where weights matter."""
    decision = run.decision
    order = np.argsort(np.abs(decision.odds), kind="stable")
    half = SAMPLE_PAIRS // 2
    matches = np.flatnonzero(decision.odds > 0)
    step = max(1, len(matches) // half)
    rows: Sequence[int] = [*order[:half].tolist(), *matches[::step][:half].tolist()]
    return explain_pairs(decision.model, decision.comparison, decision.scored, rows)
