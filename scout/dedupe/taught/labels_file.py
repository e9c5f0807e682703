"""Labelled pairs in a file: CSV or JSON Lines with the columns left, right, label.

Records are named by the id column, if there is one, else by their line. Answers are appended one by
one and reach the disk before the next question, so that a killed session loses none.
"""

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from catalog.errors import ScoutError, UsageError
from catalog.feeds.rows import Row
from matcher.dedupe.base.records import read_rows
from matcher.dedupe.cluster.components import label_components
from matcher.taught.deduplication import NO_LABELS, Labels
from scout.dedupe.taught.tables import Table

DUPLICATE_WORDS = frozenset({"1", "1.0", "yes", "y", "true", "match", "duplicate", "same"})
DISTINCT_WORDS = frozenset({"0", "0.0", "no", "n", "false", "distinct", "different", "nonmatch"})
UNSURE_WORD = "unsure"
MAX_HEADER = 1_000  # characters of a header that are read
COLUMNS = ("left", "right", "label")
# Other names of the columns, such as `scout evaluate matching` reads.
_ALIASES = {"left": ("id_left",), "right": ("id_right",), "label": ("match",)}


@dataclass(frozen=True)
class LabelsFile:
    """The labels of a file that name records of the tables; `unknown` lines name others.

    `skipped` holds the pairs whose label says that a reviewer was unsure, `contradictory` the names
    of those labelled as distinct whose records other labels join. `reasons` say why lines cannot be
    read, `with_itself` counts pairs of a record with itself, `relabelled` pairs whose earlier label
    was another one. `order` holds all pairs, the one that was answered last at the end.
    """

    labels: Labels
    skipped: list[tuple[int, int]]
    unknown: int
    contradictory: list[tuple[str, str]]
    reasons: tuple[str, ...] = ()
    with_itself: int = 0
    relabelled: int = 0
    order: tuple[tuple[int, int], ...] = ()


NO_LABELS_FILE = LabelsFile(NO_LABELS, [], 0, [])


def read_labels(path: Path, tables: Sequence[Table]) -> LabelsFile:
    """Read labelled pairs; of two labels of one pair the later holds.

    Raises UsageError if the file has other columns or labels, or names no record of the tables.
    """
    rows, reasons = list[Row](), list[str]()
    for read in read_rows(path):
        if isinstance(read, Row):
            rows.append(read)
        else:
            reasons.append(f"{path.name}, line {read.line} {read.reason}")
    given = [[_value(path, row, name) for name in COLUMNS] for row in rows]
    left_row = tables[0].rows_of(left_name for left_name, _, _ in given)
    right_row = tables[-1].rows_of(right_name for _, right_name, _ in given)
    answers = dict[tuple[int, int], bool | None]()
    unknown = with_itself = relabelled = 0
    for row, (left_name, right_name, label) in zip(rows, given, strict=True):
        left, right = left_row.get(left_name), right_row.get(right_name)
        answer = _parse_label(path, row.line, label)
        if left is None or right is None:
            unknown += 1
            continue
        if len(tables) == 1:
            left, right = sorted((left, right))
            if left == right:
                with_itself += 1
                continue
        earlier = answers.pop((left, right), answer)
        relabelled += earlier is not answer
        answers[left, right] = answer
    if rows and unknown == len(rows):
        raise UsageError(
            f"{path}: none of its {len(rows)} pairs names records of {tables[0].path.name}: "
            "name them by their line, or by --id COLUMN"
        )
    labelled = {pair: answer for pair, answer in answers.items() if answer is not None}
    pairs = np.array([*labelled], dtype=np.int64).reshape(-1, 2)
    labels = Labels(pairs, np.array([*labelled.values()], bool))
    skipped = [pair for pair, answer in answers.items() if answer is None]
    return LabelsFile(
        labels,
        skipped,
        unknown,
        _find_contradictory(labels, tables),
        tuple(reasons),
        with_itself,
        relabelled,
        tuple(answers),
    )


def _find_contradictory(labels: Labels, tables: Sequence[Table]) -> list[tuple[str, str]]:
    """Return the names of the pairs labelled as distinct that chains of duplicates join."""
    # Records of the right table get numbers of their own.
    offset = len(tables[0].records) if len(tables) > 1 else 0
    edges = labels.pairs + np.array([0, offset])
    records, component = label_components(edges[labels.are_duplicates])
    component_of = dict(zip(records.tolist(), component.tolist(), strict=True))
    contradictory = []
    for left, right in edges[~labels.are_duplicates].tolist():
        if left in component_of and component_of[left] == component_of.get(right):
            names = tables[0].names[left], tables[-1].names[right - offset]
            contradictory.append(names)
    return contradictory


def check_appendable(path: Path) -> None:
    """Raise UsageError if answers cannot be appended to a file, as it has other columns or is no CSV."""
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline(MAX_HEADER).strip()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    if header != ",".join(COLUMNS):
        raise UsageError(
            f"{path}: answers are added to a CSV whose first line is {','.join(COLUMNS)}; name another "
            "file by --labels"
        )


def append_answer(path: Path, left: str, right: str, label: str) -> None:
    """Append an answer and flush it to the disk. Raises ScoutError."""
    try:
        is_new = not path.exists() or path.stat().st_size == 0
        with path.open("a", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            if is_new:
                table.writerow(COLUMNS)
            elif not _ends_with_line_feed(path):
                file.write("\n")
            table.writerow((left, right, label))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ScoutError(f"{path} cannot be written: {error.strerror or error}") from error


def _ends_with_line_feed(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _value(path: Path, row: Row, name: str) -> str:
    columns = {column.lower(): texts for column, texts in row.texts.items()}
    for column in (name, *_ALIASES[name]):
        if columns.get(column):
            return columns[column][0].strip()
        if column in columns and name == "label":
            return ""
    raise UsageError(f"{path}, line {row.line}: labels have the columns {', '.join(COLUMNS)}")


def _parse_label(path: Path, line: int, label: str) -> bool | None:
    word = label.lower()
    if word in DUPLICATE_WORDS:
        return True
    if word in DISTINCT_WORDS:
        return False
    if word in (UNSURE_WORD, "?", ""):
        return None
    raise UsageError(f"{path}, line {line}: label {label!r} is none of 1, 0, yes, no, unsure")
