"""Records to compare, read from CSV, TSV, JSON Lines, Parquet, or plain lines of text.

Only the key columns are held in memory; merging, which needs whole rows, reads the file again.
Files may be compressed with gzip or xz. Each line of a text file is a record, even an empty one. In
a table, a row whose key columns are all empty has nothing to compare and is left out.
"""

import gzip
import lzma
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds import files
from catalog.feeds.formats import delimited, jsonlines, parquet
from catalog.feeds.rows import RepairNotice, Row, Rows, Texts, UnreadableRow, no_notice
from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Ints
from matcher.dedupe.base.packed_texts import JoinedTexts, PackedTexts, take_texts

LINE_COLUMN = "line"  # name of the only column of a text file
PROGRESS_INTERVAL = 20_000  # records between two progress reports
MAX_REASONS = 5  # unreadable rows of a file whose reasons are kept
MAX_NAMED_COLUMNS = 30  # columns; cap on an error message
_COMPRESSED = (".xz", ".gz")
# The names that columns are read under, by their names in the file.
NewNames = Mapping[str, str]
KEEP_NAMES: NewNames = MappingProxyType({})


@dataclass(frozen=True)
class Records:
    """The key columns of a set of records.

    `fields` has the values of each key column, `texts` the keys of each record as one text, `lines`
    its position in the source. `left_out` counts rows without a key, `bad` rows that are unreadable;
    `reasons` says why of the first of these, `notes` what was changed in reading.
    """

    fields: tuple[Sequence[str], ...]
    texts: Sequence[str]
    lines: Sequence[int]
    names: tuple[str, ...] = (LINE_COLUMN,)
    left_out: int = 0
    bad: int = 0
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def select(self, rows: Sequence[int] | Ints) -> "Records":
        """Return the records of some rows."""
        numbers = np.asarray(rows, np.int64)
        fields = tuple(take_texts(column, numbers) for column in self.fields)
        lines = [self.lines[row] for row in numbers.tolist()]
        return Records(fields, join_keys(fields), lines, self.names)


@dataclass
class SkippedRows:
    """Counts of the rows of a table that are no records: without a key, and unreadable.

    `reasons` says why of the first unreadable ones, `notes` what was changed in reading.
    """

    left_out: int = 0
    bad: int = 0
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_unreadable(self, path: Path, row: UnreadableRow) -> None:
        """Count an unreadable row, and keep its reason if it is one of the first."""
        self.bad += 1
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(f"{path.name}, line {row.line} {row.reason}")


class _RecordCollector:
    """Collects the keys of the rows of a table, and leaves out rows without any."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._fields = tuple(PackedTexts() for _ in self._names)
        self._lines = array("q")
        self.skipped = SkippedRows()

    def add(self, line: int, key: tuple[str, ...]) -> None:
        """Add the key of a row, or count the row as left out."""
        if not _has_key(key):
            self.skipped.left_out += 1
            return
        self.append(line, key)

    def append(self, line: int, key: tuple[str, ...]) -> None:
        """Add the key of a record that may be empty."""
        self._lines.append(line)
        for column, part in zip(self._fields, key, strict=True):
            column.append(part)

    def records(self) -> Records:
        """Return the records collected."""
        skipped = self.skipped
        return Records(
            self._fields,
            join_keys(self._fields),
            self._lines,
            self._names,
            skipped.left_out,
            skipped.bad,
            tuple(skipped.reasons),
            tuple(skipped.notes),
        )


def records_from_texts(texts: Sequence[str]) -> Records:
    """Make each text a record; positions count from 1."""
    return Records((texts,), texts, range(1, len(texts) + 1))


def records_from_fields(*fields: Sequence[str]) -> Records:
    """Make records of several fields, given column by column; positions count from 1."""
    columns = tuple(map(list, fields))
    names = tuple(f"field {number}" for number in range(1, len(columns) + 1))
    return Records(columns, join_keys(columns), range(1, len(columns[0]) + 1), names)


def records_from_rows(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> Records:
    """Make records of the key columns of mappings; positions count from 0.

    Values are converted to text, None and missing columns to an empty one, lists joined by spaces.
    """
    collector = _RecordCollector(keys)
    for position, row in enumerate(rows):
        collector.add(position, tuple(_value_text(row.get(key)) for key in keys))
    return collector.records()


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)


def load_records(
    path: Path,
    keys: Sequence[str] = (),
    progress: Progress = no_progress,
    new_names: NewNames = KEEP_NAMES,
) -> Records:
    """Load the records of a file. Raises UnreadableFeed, or UsageError for a missing key."""
    holds_lines = is_text_file(path)
    keys = (LINE_COLUMN,) if holds_lines else keys
    _require_keys(path, keys)
    collector = _RecordCollector(keys)
    columns = dict[str, None]()
    rows = read_rows(path, collector.skipped.notes.append, new_names)
    for row in _report_progress(rows, progress):
        if isinstance(row, UnreadableRow):
            collector.skipped.add_unreadable(path, row)
        elif holds_lines:
            # An empty line is a record, a table row without keys is not.
            collector.append(row.line, (row.texts[LINE_COLUMN][0],))
        else:
            columns |= dict.fromkeys(row.texts)
            collector.add(row.line, row_key(row.texts, keys))
    if not holds_lines:
        _check_columns(path, keys, columns)
    return collector.records()


def read_rows(
    path: Path, notice: RepairNotice = no_notice, new_names: NewNames = KEEP_NAMES
) -> Rows:
    """Read the whole rows of a file, in order.

    Columns of a CSV file that have one name get names of their own; `notice` is called with each.
    Raises UnreadableFeed, and UsageError if a new name is that of another column, too.
    """
    rows = _read_file(path, notice)
    return _rename_columns(path, rows, new_names) if new_names else rows


def _rename_columns(path: Path, rows: Rows, new_names: NewNames) -> Rows:
    for row in rows:
        if isinstance(row, UnreadableRow):
            yield row
            continue
        texts = Texts()
        for column, values in row.texts.items():
            name = new_names.get(column, column)
            if name in texts:
                raise UsageError(f"{path}, line {row.line}: two columns would be called {name!r}")
            texts[name] = values
        yield replace(row, texts=texts)


def _read_file(path: Path, notice: RepairNotice) -> Rows:
    if is_text_file(path):
        yield from _read_lines(path)
        return
    with _decompressed(path) as plain:
        if plain.stat().st_size == 0:
            raise UnreadableFeed(f"{path} is empty")
        kind = files.detect_format(plain)
        if kind == "google-xml":
            raise UnreadableFeed(
                f"{path} is XML: dedupe reads CSV, TSV, JSON Lines, Parquet and lines of text"
            )
        match kind:
            case "parquet":
                yield from parquet.read(plain)
            case "jsonl":
                yield from jsonlines.read(plain)
            case _:
                yield from delimited.read(plain, renaming=notice)


def row_key(texts: Texts, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the key columns of a row, each list of texts joined to one.

    >>> row_key({"name": ["Mug"], "tags": ["red", "blue"]}, ["name", "tags", "ean"])
    ('Mug', 'red blue', '')
    """
    return tuple(" ".join(texts.get(key, ())) for key in keys)


def stream_keys(
    path: Path,
    keys: Sequence[str],
    progress: Progress,
    skipped: SkippedRows,
    new_names: NewNames = KEEP_NAMES,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a stable name ("file:line") and the key of each record, one at a time.

    Other rows are counted in `skipped`. Raises UnreadableFeed, and UsageError if a key column is
    missing.
    """
    # A table may have a column of that name, too.
    holds_lines = is_text_file(path)
    key_columns = (LINE_COLUMN,) if holds_lines else tuple(keys)
    _require_keys(path, key_columns)
    source = path.resolve()
    columns = dict[str, None]()
    rows = read_rows(path, skipped.notes.append, new_names)
    for row in _report_progress(rows, progress):
        if isinstance(row, UnreadableRow):
            skipped.add_unreadable(path, row)
            continue
        columns |= dict.fromkeys(row.texts)
        key = row_key(row.texts, key_columns)
        # An empty line is a record, a table row without keys is not.
        if holds_lines or _has_key(key):
            yield f"{source}:{row.line}", key
        else:
            skipped.left_out += 1
    if not holds_lines:
        _check_columns(path, key_columns, columns)


def _has_key(key: tuple[str, ...]) -> bool:
    """Return True if a row has something to compare."""
    return any(part.strip() for part in key)


def is_text_file(path: Path) -> bool:
    """Return True if the name of a file says that it holds lines of text."""
    name = path.name
    if path.suffix.lower() in _COMPRESSED:
        name = path.stem
    return Path(name).suffix.lower() in (".txt", "")


def join_keys(columns: tuple[Sequence[str], ...]) -> Sequence[str]:
    """Join the key columns to one text per record."""
    return columns[0] if len(columns) == 1 else JoinedTexts(columns)


def _require_keys(path: Path, keys: Sequence[str]) -> None:
    if not keys:
        raise UsageError(f"{path.name} has columns: name those to compare by --key COLUMN[,COLUMN]")


def _check_columns(path: Path, keys: Sequence[str], columns: dict[str, None]) -> None:
    """Raise an error if a key column is in no row of the file."""
    missing = [key for key in keys if key not in columns]
    if missing and not columns:
        raise UnreadableFeed(f"{path} holds no record that can be read")
    if missing:
        names = ", ".join(sorted(columns)[:MAX_NAMED_COLUMNS])
        raise UsageError(f"{path}: no column {missing[0]!r}; its columns are {names}")


def _report_progress(rows: Rows, progress: Progress) -> Rows:
    number = 0
    for number, row in enumerate(rows, 1):
        if number % PROGRESS_INTERVAL == 0:
            progress("records read", number)
        yield row
    progress("records read", number, number)


def _read_lines(path: Path) -> Rows:
    """Split a text file at line feeds only, each with the carriage return before it."""
    with _read_errors(path):
        with _open_binary(path) as stream:
            encoding = files.detect_stream_encoding(stream)
        with _open_binary(path) as binary:
            lines = TextIOWrapper(binary, encoding=encoding, errors="replace", newline="\n")
            number = 0
            while line := lines.readline(files.MAX_LINE_LENGTH + 1):
                number += 1
                if len(line) <= files.MAX_LINE_LENGTH or line.endswith("\n"):
                    yield Row(number, {LINE_COLUMN: [line.removesuffix("\n").removesuffix("\r")]})
                    continue
                reason = f"is longer than {files.MAX_LINE_LENGTH:,} characters"
                yield UnreadableRow(number, reason, line)
                while line and not line.endswith("\n"):
                    line = lines.readline(files.MAX_LINE_LENGTH)


@contextmanager
def _decompressed(path: Path) -> Iterator[Path]:
    """Give the file itself, or a decompressed copy of an .xz file (the feed readers know gzip)."""
    if path.suffix.lower() != ".xz":
        with _read_errors(path):
            yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        with _read_errors(path), _open_binary(path) as packed, plain.open("wb") as copy:
            shutil.copyfileobj(packed, copy)
        yield plain


def _open_binary(path: Path) -> BufferedReader:
    suffix = path.suffix.lower()
    # A buffer shows the start of a stream, and reads compressed ones in large pieces.
    if suffix == ".xz":
        return BufferedReader(lzma.open(path, "rb"))
    if suffix == ".gz":
        return BufferedReader(gzip.open(path, "rb"))
    return path.open("rb")


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """Turn errors of reading and decompressing into UnreadableFeed."""
    try:
        yield
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UnreadableFeed(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
