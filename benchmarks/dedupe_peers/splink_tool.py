"""splink: comparisons by kind of column, expectation-maximisation; m from labels, if any.

The pairs of the task are scored by a blocking rule on the numbers of the pairs that each record is
in, so that no blocking loses any of them.
"""

import contextlib
import logging
from collections import defaultdict

import numpy as np
import pandas as pd
import splink.comparison_library as cl
from splink import Linker, SettingsCreator, block_on
from splink.backends.duckdb import DuckDBAPI

from benchmarks.dedupe_peers.datasets import Row, Task
from benchmarks.dedupe_peers.results import Scores, best_threshold
from matcher.array_types import Ints
from matcher.taught.columns.kinds import ColumnKind

MAX_RANDOM_PAIRS = 1_000_000
TEXT_WORDS = 5
# Columns that expectation-maximisation blocks on, one in each training: m of the column that it
# blocks on is estimated by the others.
BLOCKED_COLUMNS = 3


def score(task: Task, labelled: Ints | None) -> Scores:
    """Score the test pairs."""
    linker = _linker(task)
    columns = [name for name in task.columns if any(row[name] for row in task.left)]
    linker.training.estimate_u_using_random_sampling(max_pairs=MAX_RANDOM_PAIRS, seed=1)
    if labelled is None:
        for name in columns[:BLOCKED_COLUMNS]:
            # Training fails for a column in which no two records are equal.
            with contextlib.suppress(Exception):
                linker.training.estimate_parameters_using_expectation_maximisation(block_on(name))
    else:
        _learn_from_labels(linker, task, labelled)
    probability = _predict(linker, task)
    if labelled is None:
        return Scores(probability[task.test])
    threshold = best_threshold(probability[labelled], task.labels[labelled])
    return Scores(probability[task.test], threshold)


def _learn_from_labels(linker: Linker, task: Task, labelled: Ints) -> None:
    matches = task.pairs[labelled[task.labels[labelled]]]
    right = "left_side" if task.right is None else "right_side"
    table = pd.DataFrame(
        {
            "source_dataset_l": "left_side",
            "unique_id_l": matches[:, 0],
            "source_dataset_r": right,
            "unique_id_r": matches[:, 1],
        }
    )
    linker.table_management.register_table(table, "labels", overwrite=True)
    linker.training.estimate_m_from_pairwise_labels("labels")


def _predict(linker: Linker, task: Task) -> np.ndarray:
    frame = linker.inference.predict().as_pandas_dataframe()
    place = {tuple(pair): number for number, pair in enumerate(task.pairs.tolist())}
    probability = np.zeros(len(task.pairs))
    columns = zip(frame.unique_id_l, frame.unique_id_r, frame.match_probability, strict=True)
    for left, right, value in columns:
        # splink orders the two sides by its own rules.
        number = place.get((int(left), int(right)), place.get((int(right), int(left))))
        if number is not None:
            probability[number] = value
    return probability


def _linker(task: Task) -> Linker:
    api = DuckDBAPI()
    pairs_of_left, pairs_of_right = defaultdict(list), defaultdict(list)
    for number, (left, right) in enumerate(task.pairs.tolist()):
        pairs_of_left[left].append(number)
        (pairs_of_left if task.right is None else pairs_of_right)[right].append(number)
    tables = [
        api.register(_frame(task, task.left, pairs_of_left), dataset_display_name="left_side")
    ]
    if task.right is not None:
        tables.append(
            api.register(
                _frame(task, task.right, pairs_of_right), dataset_display_name="right_side"
            )
        )
    settings = SettingsCreator(
        link_type="dedupe_only" if task.right is None else "link_only",
        # About one match per record: nearer to the truth than rules over these columns get.
        probability_two_random_records_match=1 / max(len(task.left), len(task.right_rows)),
        comparisons=[_comparison(task, number) for number in range(len(task.columns))],
        blocking_rules_to_generate_predictions=[
            block_on("pair_numbers", arrays_to_explode=["pair_numbers"])
        ],
    )
    return Linker(tables if len(tables) > 1 else tables[0], settings, log_level=logging.ERROR)


def _comparison(task: Task, number: int):
    name, kind = task.columns[number], task.kinds[number]
    if kind in (ColumnKind.NUMBER, ColumnKind.YEAR):
        return cl.DistanceFunctionAtThresholds(
            name, "levenshtein", [1, 2], higher_is_more_similar=False
        )
    if kind is ColumnKind.CATEGORY:
        return cl.ExactMatch(name).configure(term_frequency_adjustments=True)
    if kind in (ColumnKind.IDENTIFIER, ColumnKind.DATE):
        return cl.DamerauLevenshteinAtThresholds(name, [1, 2])
    words = np.mean([len(row[name].split()) for row in task.left])
    if words > TEXT_WORDS:
        return cl.JaccardAtThresholds(name, [0.9, 0.8, 0.7, 0.5])
    return cl.JaroWinklerAtThresholds(name, [0.92, 0.88, 0.7]).configure(
        term_frequency_adjustments=True
    )


def _frame(task: Task, rows: list[Row], pairs_of: dict[int, list[int]]) -> pd.DataFrame:
    columns = {"unique_id": range(len(rows))}
    for name in task.columns:
        columns[name] = [row[name].strip().lower() or None for row in rows]
    columns["pair_numbers"] = [pairs_of.get(number, []) for number in range(len(rows))]
    return pd.DataFrame(columns)
