"""The files that `scout dedupe` writes: pairs, clusters, merged records. A file appears when
complete.

Titles come from strangers: no text in a CSV can become a formula of a spreadsheet.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import IO, Any, Protocol

from catalog.errors import UsageError
from catalog.feeds.rows import Row
from catalog.runtime.complete_file import complete_file
from matcher.dedupe.base.records import NewNames, read_rows
from matcher.dedupe.cluster.merging import MergedRow, merge_rows
from matcher.taught.columns.dates import parse_date
from reports.write import cell_escaping
from scout.dedupe.dedupe_run import DedupeRun
from scout.dedupe.disk_run import NamedPair

SIMILARITY_DIGITS = 6  # decimal places of a similarity in a file
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson", ".json")


def write_pairs(run: DedupeRun, path: Path) -> None:
    """Write a line per pair: both records' lines, similarity, reason, keys, and their ids."""
    pairs = run.duplicates.pairs
    # Rows of a right file are numbered after the left ones.
    right_offset = len(run.duplicates.left) if run.duplicates.right is not None else 0
    with complete_file(path) as file:
        names = ["left", "right", "similarity", "reason", "left_text", "right_text"]
        table = _start_table(file, names + (["left_id", "right_id"] if run.has_ids else []))
        for left, right, similarity, reason in zip(
            pairs.left.tolist(),
            (pairs.right + right_offset).tolist(),
            pairs.similarity.tolist(),
            pairs.reason.tolist(),
            strict=True,
        ):
            _, left_line = run.place(left)
            _, right_line = run.place(right)
            cells = (
                left_line,
                right_line,
                round(similarity, SIMILARITY_DIGITS),
                pairs.reasons[reason],
                run.text(left),
                run.text(right),
                *run.ids(left, right),
            )
            table.writerow(cell_escaping.escape_row(cells))


def write_named_pairs(pairs: Iterator[NamedPair], path: Path | None, have_ids: bool = False) -> int:
    """Write a line per pair as it is found (to no file without a path). Returns their number."""
    if path is None:
        return sum(1 for _ in pairs)
    count = 0
    with complete_file(path) as file:
        names = ["left", "right", "similarity", "reason"]
        table = _start_table(file, names + (["left_id", "right_id"] if have_ids else []))
        for pair in pairs:
            similarity = round(pair.similarity, SIMILARITY_DIGITS)
            cells: list[cell_escaping.Cell] = [pair.first, pair.later, similarity, pair.reason]
            table.writerow(cell_escaping.escape_row([*cells, *pair.ids]))
            count += 1
    return count


def write_clusters(run: DedupeRun, path: Path) -> None:
    """Write a line per record that is in a cluster, cluster by cluster."""
    with complete_file(path) as file:
        names = ["cluster", "file", "line", "text"]
        table = _start_table(file, names + (["id"] if run.has_ids else []))
        for number, members in enumerate(run.duplicates.clusters, 1):
            for row in members:
                source, line = run.place(row)
                cells: list[cell_escaping.Cell] = [number, source.name, line, run.text(row)]
                table.writerow(cell_escaping.escape_row([*cells, *run.ids(row)]))


def write_merged(run: DedupeRun, path: Path) -> None:
    """Write the records, each cluster as one, with the sources of its values.

    The suffix of the path decides between CSV and JSON Lines.
    """
    with complete_file(path) as file:
        if path.suffix.lower() in JSON_LINES_SUFFIXES:
            writer: _MergedWriter = _JsonLinesWriter(file)
        else:
            writer = _CsvWriter(file, run)
        for record in _merge_clusters(run):
            writer.write(record)


@dataclass(frozen=True)
class _MergedRecord:
    """A merged record with the places ("file:line") of the records that it was merged from."""

    merged: MergedRow
    places: list[str]

    def sources(self) -> dict[str, list[str]]:
        """Return the places of each column's values; empty for a record of no cluster."""
        if len(self.places) < 2:
            return {}
        sources = dict[str, list[str]]()
        for name, positions in self.merged.sources.items():
            sources[name] = [self.places[position] for position in positions]
        return sources


class _MergedWriter(Protocol):
    def write(self, record: _MergedRecord) -> None: ...


class _JsonLinesWriter:
    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, record: _MergedRecord) -> None:
        """Write a record as an object; columns without values are left out."""
        values = dict[str, str | list[str]]()
        for name, texts in record.merged.texts.items():
            if texts:
                values[name] = texts[0] if len(texts) == 1 else texts
        line = {"values": values, "records": record.places, "sources": record.sources()}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


class _CsvWriter:
    def __init__(self, file: IO[str], run: DedupeRun) -> None:
        names = dict[str, None]()
        for path in run.request.files():
            for row in _readable_rows(path, run.request.new_names):
                names |= dict.fromkeys(row.texts)
        self._names = tuple(names)
        self._table = _start_table(file, (*names, "records", "sources"))

    def write(self, record: _MergedRecord) -> None:
        """Write a record as a row; several values of a column are joined by bars."""
        texts: Mapping[str, list[str]] = record.merged.texts
        values = [" | ".join(texts.get(name, ())) for name in self._names]
        sources = record.sources()
        sources_cell = json.dumps(sources) if sources else ""
        self._table.writerow(
            cell_escaping.escape_row((*values, " ".join(record.places), sources_cell))
        )


def _merge_clusters(run: DedupeRun) -> Iterator[_MergedRecord]:
    """Yield records of no cluster in file order, then each cluster merged into one record.

    Only the rows of clusters are held in memory. Raises UsageError if no row has the age column.
    """
    age_column = run.request.age
    has_age_column = age_column is None
    cluster_of = dict[tuple[Path, int], int]()
    for number, members in enumerate(run.duplicates.clusters):
        for row_number in members:
            cluster_of[run.place(row_number)] = number
    rows_of_cluster: list[list[tuple[Row, str]]] = [[] for _ in run.duplicates.clusters]
    for path in run.request.files():
        for row in _readable_rows(path, run.request.new_names):
            place = f"{path.name}:{row.line}"
            has_age_column = has_age_column or age_column in row.texts
            cluster = cluster_of.get((path, row.line))
            if cluster is None:
                yield _MergedRecord(merge_rows([row]), [place])
            else:
                rows_of_cluster[cluster].append((row, place))
    if not has_age_column:
        raise UsageError(f"--age {age_column}: no record has such a column")
    for placed_rows in rows_of_cluster:
        placed_rows.sort(key=lambda placed_row: _age_order(placed_row[0], age_column))
        merged = merge_rows([row for row, _ in placed_rows], run.request.prefer)
        yield _MergedRecord(merged, [place for _, place in placed_rows])


def _age_order(row: Row, column: str | None) -> tuple[int, float, str]:
    """Return a sort key that puts the oldest row first: numbers, then dates, other texts, none.

    >>> old = Row(1, {"added": ["31.12.2021"]})
    >>> _age_order(old, "added") < _age_order(Row(2, {"added": ["2022-01-01"]}), "added")
    True
    """
    texts = row.texts.get(column or "")
    if not texts:
        return 3, 0.0, ""
    text = texts[0].strip()
    try:
        number = float(text)
    except ValueError:
        number = nan
    if isfinite(number):
        return 0, number, ""
    day = parse_date(text)
    # Of two times of one day the text decides.
    return (2, 0.0, text) if day is None else (1, day.toordinal(), text)


def _readable_rows(path: Path, new_names: NewNames) -> Iterator[Row]:
    rows = read_rows(path, new_names=new_names)
    return (row for row in rows if isinstance(row, Row))


def _start_table(file: IO[str], columns: Sequence[str]) -> Any:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(cell_escaping.escape_row(columns))
    return table
