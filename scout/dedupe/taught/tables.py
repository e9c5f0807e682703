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
    KEEP_NAMES,
    LINE_COLUMN,
    NewNames,
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
    paths: Sequence[Path],
    keys: Sequence[str],
    id_column: str,
    progress: Progress,
    new_names: NewNames = KEEP_NAMES,
    may_be_empty: bool = False,
) -> list[Table]:
    """Load one file or two; without keys all columns that they share are compared.

    `keys` and `id_column` are new names where `new_names` renames a column. A file with nothing but
    a header is no error if `may_be_empty`. Raises UsageError for a missing column, or ids that are
    absent or repeat; UnreadableFeed.
    """
    columns = tuple(keys) or _shared_columns(paths, id_column, new_names)
    tables = list[Table]()
    for path in paths:
        if may_be_empty and next(read_rows(path), None) is None:
            fields = tuple[list[str], ...]([] for _ in columns)
            tables.append(Table(path, Records(fields, [], [], columns), []))
        else:
            tables.append(_load_table(path, columns, id_column, progress, new_names))
    return tables


def read_ids(path: Path, id_column: str, new_names: NewNames = KEEP_NAMES) -> list[str]:
    """Read ids: a column of a table, or the lines of a text; a table may have no row.

    Raises UsageError if the column is missing, or an id cannot be read; UnreadableFeed.
    """
    column = LINE_COLUMN if is_text_file(path) else id_column
    ids = list[str]()
    for row in read_rows(path, new_names=new_names):
        if not isinstance(row, Row):
            raise UsageError(f"{path.name}, line {row.line} {row.reason}: no id can be read there")
        if column not in row.texts:
            raise UsageError(
                f"{path}: no column {column!r}; its columns are {', '.join(row.texts)}"
            )
        ids += [text.strip() for text in row.texts[column] if text.strip()]
    return ids


def _load_table(
    path: Path,
    columns: tuple[str, ...],
    id_column: str,
    progress: Progress,
    new_names: NewNames,
) -> Table:
    if not id_column or is_text_file(path):
        records = load_records(path, columns, progress, new_names)
        return Table(path, records, PackedTexts(map(str, records.lines)))
    loaded = load_records(path, (*columns, id_column), progress, new_names)
    *fields, raw_ids = loaded.fields
    ids: Sequence[str] = PackedTexts(map(str.strip, raw_ids))
    records = replace(loaded, fields=tuple(fields), texts=join_keys(tuple(fields)), names=columns)
    # A record with nothing but an id has nothing to compare.
    rows = array("q")
    for row, values in enumerate(zip(*fields, strict=True)):
        if any(map(str.strip, values)):
            rows.append(row)
    if len(rows) < len(ids):
        left_out = loaded.left_out + len(ids) - len(rows)
        records = replace(
            records.select(rows),
            left_out=left_out,
            bad=loaded.bad,
            reasons=loaded.reasons,
            notes=loaded.notes,
        )
        ids = PackedTexts(ids[row] for row in rows)
    _check_ids(path, id_column, records, ids)
    return Table(path, records, ids)


def _check_ids(path: Path, id_column: str, records: Records, ids: Sequence[str]) -> None:
    """Raise UsageError if a record has no id, or two have the same one."""
    advice = "leave out --id, and lines name records"
    without = [row for row, name in enumerate(ids) if not name]
    if without:
        have = "1 record has" if len(without) == 1 else f"{len(without)} records have"
        raise UsageError(
            f"{path}: --id {id_column}: {have} no id, line {records.lines[without[0]]} first; {advice}"
        )
    repeated = _find_repeated(ids)
    if repeated is not None:
        first, second, *_ = (row for row, name in enumerate(ids) if name == repeated)
        raise UsageError(
            f"{path}: --id {id_column}: {repeated!r} names several records, lines "
            f"{records.lines[first]} and {records.lines[second]} first; {advice}"
        )


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


def _shared_columns(paths: Sequence[Path], id_column: str, new_names: NewNames) -> tuple[str, ...]:
    """Return the columns that all files have, in the order of the first, without the ids."""
    if any(map(is_text_file, paths)):
        return (LINE_COLUMN,)
    columns_of_file = list[dict[str, None]]()
    for path in paths:
        columns = dict[str, None]()
        for row in islice(read_rows(path, new_names=new_names), HEADER_ROWS):
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
        for old, new in new_names.items():
            if new not in columns:
                # A slip in a name would leave a column out without a word.
                raise UsageError(f"--rename {old}={new}: {path} has neither of these columns")
    if not shared:
        if len(paths) == 1:
            raise UsageError(f"{paths[0]} has no column to compare but --id {id_column}")
        raise UsageError(
            "the files share no column to compare; --rename COLUMN=NAME names columns alike"
        )
    return tuple(shared)
