"""CSV and TSV: rows of columns under a header line, whatever separates them.

`csv.Sniffer` guesses separators from letters as readily as from semicolons; here the one wins under which most of the
header's names are known and most of the first rows have as many columns as it. A quote that is never closed costs its
own line, not the rest of the file: a record that runs over lines and does not fit is read again from its second line.
"""

import csv
import io
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from catalog.errors import UnreadableFeed
from catalog.feeds import columns
from catalog.feeds.files import LONGEST_LINE, encoding_of, opened
from catalog.feeds.rows import LONGEST_NAME, MOST_COLUMNS, Row, Rows, Unread

DELIMITERS = ",;\t|"
LONGEST_RECORD = 1000
SAMPLE = 50


class _Lines:
    """Lines for a csv.reader, which remember those of the present record and can be taken back."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream, self._back = stream, deque[str]()
        self.taken: list[str] = []
        self.start = self._next = 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= LONGEST_RECORD:
            raise StopIteration
        line = self._back.popleft() if self._back else self._stream.readline(LONGEST_LINE)
        if not line:
            raise StopIteration
        self._skip_rest(line)
        self._next += 1
        self.taken.append(line.replace("\x00", ""))
        return self.taken[-1]

    def _skip_rest(self, line: str) -> None:
        while len(line) >= LONGEST_LINE and not line.endswith(("\n", "\r")):
            line = self._stream.readline(LONGEST_LINE)

    def begin(self) -> None:
        """A new record starts at the next line."""
        self.taken, self.start = [], self._next

    def keep_first(self) -> str:
        """Take all but the record's first line back; gives that one."""
        first, *others = self.taken
        self._back.extendleft(reversed(others))
        self._next -= len(others)
        return first


def read(path: Path, delimiter: str | None = None) -> Rows:
    """The rows of a CSV or TSV file. Raises UnreadableFeed."""
    csv.field_size_limit(LONGEST_LINE)
    encoding = encoding_of(path)
    with opened(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        lines = _Lines(stream)
        said = _separator_line(lines)
        head = [line for _, line in zip(range(SAMPLE), lines, strict=False)]
        if not head:
            raise UnreadableFeed(f"{path} is empty")
        lines.taken = ["", *lines.taken]
        lines.keep_first()
        yield from _records(lines, said or delimiter or sniff(head), path)


def sniff(head: list[str]) -> str:
    r"""The separator of the first lines of a file.

    >>> sniff(["id;titel;preis\n", '1;"Lampe, rot";1,50\n'])
    ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _fit(head, delimiter))


def _fit(head: list[str], delimiter: str) -> tuple[int, float, int]:
    rows = [row for row in csv.reader(head, delimiter=delimiter) if row]
    if not rows or len(rows[0]) < 2:
        return 0, 0.0, 0
    width = len(rows[0])
    return columns.known(rows[0]), sum(len(row) == width for row in rows) / len(rows), width


def _separator_line(lines: _Lines) -> str | None:
    """The separator that a first line like `sep=;` names (Excel's habit); any other first line is taken back."""
    first = next(lines, "")
    said = first.strip().lower()
    if said.startswith("sep=") and len(said) <= 5:
        lines.begin()
        return first.strip()[4:] or "\t"
    lines.taken = ["", first] if first else [""]
    lines.keep_first()
    lines.begin()
    return None


def _records(lines: _Lines, delimiter: str, path: Path) -> Rows:
    header: list[str] = []
    while True:
        lines.begin()
        try:
            cells = next(csv.reader(lines, delimiter=delimiter))
        except StopIteration:
            break
        except csv.Error as error:
            yield Unread(lines.start, f"is no CSV: {error}", lines.keep_first())
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = _header(cells, path)
        else:
            yield _row(header, cells, lines, delimiter)


def _header(cells: list[str], path: Path) -> list[str]:
    if len(cells) > MOST_COLUMNS:
        raise UnreadableFeed(f"{path}: its first line has {len(cells)} columns; is it a feed?")
    return [_as_text(cell.strip())[:LONGEST_NAME] for cell in cells]


def _row(header: list[str], cells: list[str], lines: _Lines, delimiter: str) -> Row | Unread:
    start, raw = lines.start, "".join(lines.taken)
    while len(cells) > len(header) and not cells[-1].strip():
        cells.pop()
    if any(len(line) >= LONGEST_LINE for line in lines.taken):
        return Unread(start, f"is longer than {LONGEST_LINE:,} characters", raw)
    if len(lines.taken) > 1 and (
        len(cells) != len(header) or not _is_strict(lines.taken, delimiter)
    ):
        return Unread(start, "has a quote that is not closed", lines.keep_first())
    if len(cells) != len(header):
        return Unread(start, f"has {len(cells)} columns, the header has {len(header)}", raw)
    texts: dict[str, list[str]] = {}
    for name, cell in zip(header, cells, strict=True):
        text = _as_text(cell)
        texts.setdefault(name, []).extend([text] if text.strip() else [])
    return Row(start, texts, raw)


def _as_text(cell: str) -> str:
    """A cell without Excel's way of having digits left alone.

    >>> _as_text('="0012345678905"'), _as_text('27" wide')
    ('0012345678905', '27" wide')
    """
    return cell[2:-1] if len(cell) > 2 and cell.startswith('="') and cell.endswith('"') else cell


def _is_strict(lines: list[str], delimiter: str) -> bool:
    """Whether each quote in a record opens or closes a cell: one that was left open closes in the midst of another."""
    try:
        next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True
