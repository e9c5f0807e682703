"""Records: what a rung compares, read from CSV, TSV, JSON Lines, Parquet or plain lines of text.

Only the key columns are held in memory; whoever needs whole rows (the merge) reads the file again. Files may be packed
by gzip or xz. A line of a text file is a record as it stands, even an empty one; in a table a row whose key columns are
all empty says nothing that could be compared, and is left out.
"""

import gzip
import lzma
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds import delimited, files, jsonlines, parquet
from catalog.feeds.rows import Row, Rows, Texts, Unread
from catalog.runtime.progress import Progress, silent

LINE = "line"
STEP = 20_000
_PACKED = (".xz", ".gz")


@dataclass(frozen=True)
class Records:
    """The key columns of a set of records; `texts` are the keys of a record as one, `lines` where each stood."""

    fields: tuple[list[str], ...]
    texts: list[str]
    lines: Sequence[int]
    names: tuple[str, ...] = (LINE,)
    left_out: int = 0
    bad: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def only(self, rows: Iterable[int]) -> "Records":
        """Some of the records."""
        kept = list(rows)
        fields = tuple([column[row] for row in kept] for column in self.fields)
        texts = fields[0] if len(fields) == 1 else [self.texts[row] for row in kept]
        return Records(fields, texts, [self.lines[row] for row in kept], self.names)


def of_texts(texts: Sequence[str]) -> Records:
    """Records that are a text each."""
    held = list(texts)
    return Records((held,), held, range(1, len(held) + 1))


def of_fields(*fields: Sequence[str]) -> Records:
    """Records of several fields, given column by column."""
    columns = tuple(map(list, fields))
    names = tuple(f"field {number}" for number in range(1, len(columns) + 1))
    return Records(columns, _as_one(columns), range(1, len(columns[0]) + 1), names)


def load(path: Path, keys: Sequence[str] = (), progress: Progress = silent) -> Records:
    """The records of a file. Raises UnreadableFeed, UsageError where a key column is not there."""
    if is_lines(path):
        texts = [row.texts[LINE][0] for row in _told(rows(path), progress) if isinstance(row, Row)]
        return of_texts(texts)
    if not keys:
        raise UsageError(f"{path.name} has columns: name those to compare by --key COLUMN[,COLUMN]")
    return _keyed(path, tuple(keys), progress)


def rows(path: Path) -> Rows:
    """The whole rows of a file, in order. Raises UnreadableFeed."""
    if is_lines(path):
        yield from (Row(number, {LINE: [line]}) for number, line in enumerate(_lines(path), 1))
        return
    with _unpacked(path) as plain:
        if plain.stat().st_size == 0:
            raise UnreadableFeed(f"{path} is empty")
        kind = files.format_of(plain)
        if kind == "google-xml":
            raise UnreadableFeed(
                f"{path} is XML: dedupe reads CSV, TSV, JSON Lines, Parquet and lines of text"
            )
        readers = {"parquet": parquet.read, "jsonl": jsonlines.read}
        yield from readers.get(kind, delimited.read)(plain)


def key_of(texts: Texts, keys: Sequence[str]) -> tuple[str, ...]:
    """The key columns of a row, lists as one text.

    >>> key_of({"name": ["Mug"], "tags": ["red", "blue"]}, ["name", "tags", "ean"])
    ('Mug', 'red blue', '')
    """
    return tuple(" ".join(texts.get(key, ())) for key in keys)


def printed(
    path: Path, keys: Sequence[str], progress: Progress = silent
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The records of a file one by one, never all in memory: a name that stays the same, and the key columns."""
    names, where = (LINE,) if is_lines(path) else tuple(keys), path.resolve()
    if not names:
        raise UsageError(f"{path.name} has columns: name those to compare by --key COLUMN[,COLUMN]")
    seen = dict[str, None]()
    for row in _told(rows(path), progress):
        seen |= dict.fromkeys(row.texts) if isinstance(row, Row) else {}
        if isinstance(row, Row) and (any(key := key_of(row.texts, names)) or names == (LINE,)):
            yield f"{where}:{row.line}", key
    _there(path, () if names == (LINE,) else names, seen)


def is_lines(path: Path) -> bool:
    """Whether a file is read as lines of text: told by its name."""
    return Path(_inner_name(path)).suffix.lower() in (".txt", "")


def _keyed(path: Path, keys: tuple[str, ...], progress: Progress) -> Records:
    columns: tuple[list[str], ...] = tuple([] for _ in keys)
    lines, seen, left_out, bad = list[int](), dict[str, None](), 0, 0
    for row in _told(rows(path), progress):
        if isinstance(row, Unread):
            bad += 1
            continue
        seen |= dict.fromkeys(row.texts)
        key = key_of(row.texts, keys)
        if not any(part.strip() for part in key):
            left_out += 1
            continue
        lines.append(row.line)
        for column, part in zip(columns, key, strict=True):
            column.append(part)
    _there(path, keys, seen)
    return Records(columns, _as_one(columns), lines, keys, left_out, bad)


def _there(path: Path, keys: Sequence[str], seen: dict[str, None]) -> None:
    missing = [key for key in keys if key not in seen]
    if missing and not seen:
        raise UnreadableFeed(f"{path} holds no record that can be read")
    if missing:
        there = ", ".join(sorted(seen)[:30])
        raise UsageError(f"{path}: no column {missing[0]!r}; its columns are {there}")


def as_one(key: Sequence[str]) -> str:
    """The key columns of a record as one text."""
    return key[0] if len(key) == 1 else " ".join(filter(None, key))


def _as_one(columns: tuple[list[str], ...]) -> list[str]:
    return columns[0] if len(columns) == 1 else [as_one(row) for row in zip(*columns, strict=True)]


def _told(rows: Rows, progress: Progress) -> Rows:
    number = 0
    for number, row in enumerate(rows, 1):
        if number % STEP == 0:
            progress("records read", number)
        yield row
    progress("records read", number, number)


def _lines(path: Path) -> Iterator[str]:
    """Lines end at a line feed and at nothing else; a carriage return before it belongs to the end."""
    with _found(path), _stream(path) as stream:
        encoding = "utf-8-sig"
        while line := stream.readline(files.LONGEST_LINE):
            yield line.decode(encoding, "replace").removesuffix("\n").removesuffix("\r")
            encoding = "utf-8"


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """The file itself, or where it is packed by xz, which the feeds' readers do not know, an unpacked copy."""
    if path.suffix.lower() != ".xz":
        with _found(path):
            yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        with _found(path), _stream(path) as packed, plain.open("wb") as copy:
            shutil.copyfileobj(packed, copy)
        yield plain


def _stream(path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".xz":
        return lzma.open(path, "rb")
    return gzip.open(path, "rb") if suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


@contextmanager
def _found(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UnreadableFeed(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error


def _inner_name(path: Path) -> str:
    return path.stem if path.suffix.lower() in _PACKED else path.name
