"""CSV and TSV: rows of columns under a header line, with any of four separators.

`csv.Sniffer` guesses separators from letters as readily as from semicolons. Here the separator wins
under which most of the header's names are known and most of the first rows have as many columns as
it. A quote that is never closed costs its own line, not the rest of the file: a record that runs
over lines and does not fit is read again from its second line.
"""

import csv
import io
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from catalog.errors import UnreadableFeed
from catalog.feeds import columns
from catalog.feeds.files import MAX_LINE_LENGTH, detect_encoding, open_feed
from catalog.feeds.rows import MAX_COLUMNS, MAX_NAME_LENGTH, Row, Rows, UnreadableRow

DELIMITERS = ",;\t|"
# Lines of one record. Bound against a quote that is never closed.
MAX_RECORD_LINES = 1_000
# Lines that show the separator.
SAMPLE_LINES = 50


class _LineReader:
    """Lines for a csv.reader; remembers those of the current record, which can be taken back."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream = stream
        self._returned = deque[str]()
        self._next_number = 1
        self.taken: list[str] = []
        self.start = 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= MAX_RECORD_LINES:
            raise StopIteration
        if self._returned:
            line = self._returned.popleft()
        else:
            line = self._stream.readline(MAX_LINE_LENGTH)
        if not line:
            raise StopIteration
        self._skip_rest(line)
        self._next_number += 1
        self.taken.append(line.replace("\x00", ""))
        return self.taken[-1]

    def begin(self) -> None:
        """Begin a new record at the next line."""
        self.taken = []
        self.start = self._next_number

    def keep_first(self) -> str:
        """Take back all lines of the record but its first, and return that."""
        first, *later = self.taken
        self._returned.extendleft(reversed(later))
        self._next_number -= len(later)
        return first

    def _skip_rest(self, line: str) -> None:
        while len(line) >= MAX_LINE_LENGTH and not line.endswith(("\n", "\r")):
            line = self._stream.readline(MAX_LINE_LENGTH)


def read(path: Path, delimiter: str | None = None) -> Rows:
    """Yield the rows of a CSV or TSV file. Raises UnreadableFeed."""
    csv.field_size_limit(MAX_LINE_LENGTH)
    encoding = detect_encoding(path)
    with open_feed(path) as file:
        stream = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        lines = _LineReader(stream)
        declared = _read_separator_line(lines)
        head = [line for _, line in zip(range(SAMPLE_LINES), lines, strict=False)]
        if not head:
            raise UnreadableFeed(f"{path} is empty")
        # An empty line stands in for the first, so that all lines of the sample are taken back.
        lines.taken = ["", *lines.taken]
        lines.keep_first()
        yield from _read_records(lines, declared or delimiter or sniff(head), path)


def sniff(head: list[str]) -> str:
    r"""Detect the separator by the first lines of a file.

    >>> sniff(["id;titel;preis\n", '1;"Lampe, rot";1,50\n'])
    ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _fit(head, delimiter))


def _fit(head: list[str], delimiter: str) -> tuple[int, float, int]:
    """Score a separator: known names in the header, share of rows of its width, width."""
    rows = [row for row in csv.reader(head, delimiter=delimiter) if row]
    if not rows or len(rows[0]) < 2:
        return 0, 0.0, 0
    width = len(rows[0])
    fitting = sum(len(row) == width for row in rows)
    return columns.count_known(rows[0]), fitting / len(rows), width


def _read_separator_line(lines: _LineReader) -> str | None:
    """Read the separator that a first line like `sep=;` names (Excel writes it); take any other
    line back.
    """
    first = next(lines, "")
    declaration = first.strip().lower()
    if declaration.startswith("sep=") and len(declaration) <= 5:
        lines.begin()
        return first.strip()[4:] or "\t"
    lines.taken = ["", first] if first else [""]
    lines.keep_first()
    lines.begin()
    return None


def _read_records(lines: _LineReader, delimiter: str, path: Path) -> Rows:
    header: list[str] = []
    while True:
        lines.begin()
        try:
            cells = next(csv.reader(lines, delimiter=delimiter))
        except StopIteration:
            break
        except csv.Error as error:
            yield UnreadableRow(lines.start, f"is no CSV: {error}", lines.keep_first())
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if header:
            yield _make_row(header, cells, lines, delimiter)
        else:
            header = _make_header(cells, path)


def _make_header(cells: list[str], path: Path) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise UnreadableFeed(f"{path}: its first line has {len(cells)} columns; is it a feed?")
    return [_unquote(cell.strip())[:MAX_NAME_LENGTH] for cell in cells]


def _make_row(
    header: list[str], cells: list[str], lines: _LineReader, delimiter: str
) -> Row | UnreadableRow:
    start = lines.start
    raw = "".join(lines.taken)
    # Many exports end each line with a separator.
    while len(cells) > len(header) and not cells[-1].strip():
        cells.pop()
    if any(len(line) >= MAX_LINE_LENGTH for line in lines.taken):
        return UnreadableRow(start, f"is longer than {MAX_LINE_LENGTH:,} characters", raw)
    has_header_width = len(cells) == len(header)
    if len(lines.taken) > 1 and (
        not has_header_width or not _has_closed_quotes(lines.taken, delimiter)
    ):
        return UnreadableRow(start, "has a quote that is not closed", lines.keep_first())
    if not has_header_width:
        reason = f"has {len(cells)} columns, the header has {len(header)}"
        return UnreadableRow(start, reason, raw)
    texts: dict[str, list[str]] = {}
    for name, cell in zip(header, cells, strict=True):
        column = texts.setdefault(name, [])
        text = _unquote(cell)
        if text.strip():
            column.append(text)
    return Row(start, texts, raw)


def _unquote(cell: str) -> str:
    """Remove the formula that keeps Excel from reading digits as a number.

    >>> _unquote('="0012345678905"'), _unquote('27" wide')
    ('0012345678905', '27" wide')
    """
    if len(cell) > 2 and cell.startswith('="') and cell.endswith('"'):
        return cell[2:-1]
    return cell


def _has_closed_quotes(lines: list[str], delimiter: str) -> bool:
    """Return True if each quote opens or closes a cell: one left open would close in the middle of
    another cell.
    """
    try:
        next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True
