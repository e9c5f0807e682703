"""The tables of a taught run: the columns to compare, and the ids that labels name records by."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds.rows import Row
from catalog.runtime.progress import Progress
from matcher.dedupe.base.packed_texts import PackedTexts
from matcher.dedupe.base.records import (
    LINE_COLUMN,
    Records,
    is_text_file,
    join_keys,
    load_records,
    read_rows,
)

# Rows that are read to learn the names of the columns.
HEADER_ROWS = 1_000


@dataclass(frozen=True)
class Table:
    """The records of a file, and the name of each in a labels file: its id, or its line."""

    path: Path
    records: Records
    names: Sequence[str]

    def rows_of(self, names: Iterable[str]) -> dict[str, int]:
        """Return the row of each of some names; names without a record are left out."""
        wanted = frozenset(names)
        return {name: row for row, name in enumerate(self.names) if name in wanted}


def load_tables(
    paths: Sequence[Path], keys: Sequence[str], id_column: str, progress: Progress
) -> list[Table]:
    """Load one file or two; without keys all columns that they share are compared.

    Raises UsageError for a missing column or ids that repeat, UnreadableFeed.
    """
    columns = tuple(keys) or _shared_columns(paths, id_column)
    return [_load_table(path, columns, id_column, progress) for path in paths]


def _load_table(path: Path, columns: tuple[str, ...], id_column: str, progress: Progress) -> Table:
    if not id_column or is_text_file(path):
        records = load_records(path, columns, progress)
        return Table(path, records, PackedTexts(map(str, records.lines)))
    loaded = load_records(path, (*columns, id_column), progress)
    *fields, ids = loaded.fields
    records = replace(loaded, fields=tuple(fields), texts=join_keys(tuple(fields)), names=columns)
    # A record with nothing but an id has nothing to compare.
    rows = array("q")
    for row, values in enumerate(zip(*fields, strict=True)):
        if any(map(str.strip, values)):
            rows.append(row)
    if len(rows) < len(ids):
        left_out = loaded.left_out + len(ids) - len(rows)
        chosen = records.select(rows)
        records = replace(
            loaded, fields=chosen.fields, texts=chosen.texts, lines=chosen.lines, names=columns,
            left_out=left_out,
        )  # fmt: skip
        ids = PackedTexts(ids[row] for row in rows)
    repeated = _find_repeated(ids)
    if repeated is not None:
        raise UsageError(f"{path}: --id {id_column}: {repeated!r} names several records")
    return Table(path, records, ids)


def _find_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that stands there twice; None if all are different."""
    # Hashes first: a set of ten million names would take a gigabyte.
    hashes = np.fromiter(map(hash, names), np.int64, len(names))
    distinct, counts = np.unique(hashes, return_counts=True)
    suspects = np.flatnonzero(np.isin(hashes, distinct[counts > 1]))
    seen = set[str]()
    for row in suspects.tolist():
        if names[row] in seen:
            return names[row]
        seen.add(names[row])
    return None


def _shared_columns(paths: Sequence[Path], id_column: str) -> tuple[str, ...]:
    """Return the columns that all files have, in the order of the first, without the ids."""
    if any(map(is_text_file, paths)):
        return (LINE_COLUMN,)
    columns_of_file = list[dict[str, None]]()
    for path in paths:
        columns = dict[str, None]()
        for row in islice(read_rows(path), HEADER_ROWS):
            if isinstance(row, Row):
                columns |= dict.fromkeys(row.texts)
        columns_of_file.append(columns)
    shared = [
        name
        for name in columns_of_file[0]
        if name != id_column and all(name in columns for columns in columns_of_file)
    ]
    for path, columns in zip(paths, columns_of_file, strict=True):
        if not columns:
            raise UnreadableFeed(f"{path} holds no record that can be read")
    if not shared:
        if len(paths) == 1:
            raise UsageError(f"{paths[0]} has no column to compare but --id {id_column}")
        raise UsageError("the files share no column to compare")
    return tuple(shared)
