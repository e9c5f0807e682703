"""The tables of a taught run: the columns to compare, and the ids that labels name records by."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from catalog.errors import UsageError
from catalog.feeds.rows import Row
from catalog.runtime.progress import Progress
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
    names: list[str]

    def row_of_name(self) -> dict[str, int]:
        """Return the row of each name."""
        return {name: row for row, name in enumerate(self.names)}


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
        return Table(path, records, [str(line) for line in records.lines])
    loaded = load_records(path, (*columns, id_column), progress)
    *fields, ids = loaded.fields
    # A record with nothing but an id has nothing to compare.
    rows = [row for row, values in enumerate(zip(*fields, strict=True)) if any(values)]
    names = [ids[row] for row in rows]
    for name, count in Counter(names).items():
        if count > 1:
            raise UsageError(f"{path}: --id {id_column}: {name!r} names several records")
    selected_fields = tuple([column[row] for row in rows] for column in fields)
    records = Records(
        selected_fields,
        join_keys(selected_fields),
        [loaded.lines[row] for row in rows],
        columns,
        left_out=loaded.left_out + len(ids) - len(rows),
        bad=loaded.bad,
    )
    return Table(path, records, names)


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
    if not shared:
        raise UsageError("the files share no column to compare")
    return tuple(shared)
