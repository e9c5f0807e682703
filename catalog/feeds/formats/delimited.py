"""CSV and TSV: rows of columns under a header line, with any of four separators.

`csv.Sniffer` guesses separators from letters as readily as from semicolons. Here the separator wins
under which most of the header's names are known and most of the first rows have as many columns as
it. A quote that is never closed costs its own line, not the rest of the file: a record that runs
over lines and does not fit is read again from its second line.

Some exports escape a quote with a backslash (`"27\\" wide"`), others end a cell in one (`"C:\\"`),
and some do both. So a record with such a sign is read in both ways, and the way counts in which it
has the header's width and closes all quotes: first the usual one, behind a proof of the other that
one.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalog.errors import UnreadableFeed
from catalog.feeds import columns
from catalog.feeds.files import MAX_LINE_LENGTH, detect_encoding, open_feed
from catalog.feeds.rows import (
    MAX_COLUMNS,
    MAX_NAME_LENGTH,
    RepairNotice,
    Row,
    Rows,
    UnreadableRow,
)
from catalog.values.spreadsheet_cells import unescape_formula

DELIMITERS = ",;\t|"
# Lines of one record. Bound against a quote that is never closed.
MAX_RECORD_LINES = 1_000
# Lines that show the separator.
SAMPLE_LINES = 50
# Names of fields that tell a header from lines before it, as reports begin with.
MIN_KNOWN_NAMES = 2

_ESCAPED_QUOTE = '\\"'
_BACKSLASHES_AND_QUOTE = re.compile(r'(?<!\\)(\\++)"')


class _LineReader:
    """Lines for a csv.reader; remembers those of the current record, which can be taken back."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream = stream
        self._returned = deque[str]()
        self._next_number = 1
        self.taken: list[str] = []
        self.start = 1
        self.has_escapes = False

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
        return double_quotes(self.taken[-1]) if self.has_escapes else self.taken[-1]

    def begin(self) -> None:
        """Begin a new record at the next line."""
        self.taken = []
        self.start = self._next_number

    def peek(self) -> str:
        """Return the next line without taking it."""
        if not self._returned:
            line = self._stream.readline(MAX_LINE_LENGTH)
            if not line:
                return ""
            self._skip_rest(line)
            self._returned.append(line)
        return self._returned[0]

    def take_back(self) -> None:
        """Take back all lines of the record."""
        self._returned.extendleft(reversed(self.taken))
        self._next_number -= len(self.taken)
        self.taken = []

    def keep_first(self) -> str:
        """Take back all lines of the record but its first, and return that."""
        first, *later = self.taken
        self._returned.extendleft(reversed(later))
        self._next_number -= len(later)
        return first

    def _skip_rest(self, line: str) -> None:
        while len(line) >= MAX_LINE_LENGTH and not line.endswith(("\n", "\r")):
            line = self._stream.readline(MAX_LINE_LENGTH)


def read(path: Path, delimiter: str | None = None, renaming: RepairNotice | None = None) -> Rows:
    """Yield the rows of a CSV or TSV file. Raises UnreadableFeed.

    Columns of one name are one column with several texts. With `renaming` each column has a name of
    its own (`name`, `name_2`), also one without a name (`column 3`); it is called with each change.
    """
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
        delimiter = declared or delimiter or sniff(head)
        preamble = _preamble_size(_split_rows(head, delimiter))
        yield from _read_records(lines, delimiter, path, preamble, renaming)


def sniff(head: list[str]) -> str:
    r"""Detect the separator by the first lines of a file.

    >>> sniff(["id;titel;preis\n", '1;"Lampe, rot";1,50\n'])
    ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _fit(head, delimiter))


def _fit(head: list[str], delimiter: str) -> tuple[int, float, int]:
    """Score a separator: known names in the header, share of rows of its width, width."""
    rows = _split_rows(head, delimiter)
    rows = rows[_preamble_size(rows) :]
    if not rows or len(rows[0]) < 2:
        return 0, 0.0, 0
    width = len(rows[0])
    fitting = sum(len(row) == width for row in rows)
    return columns.count_known(rows[0]), fitting / len(rows), width


def _split_rows(head: list[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells; blank ones, and those that are no CSV, are left out."""
    reader = csv.reader(head, delimiter=delimiter)
    rows: list[list[str]] = []
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return rows
        except csv.Error:
            continue
        if any(map(str.strip, row)):
            rows.append(row)


def _preamble_size(rows: list[list[str]]) -> int:
    """Return the number of rows before the header, which has names of fields.

    >>> _preamble_size([["Export of May"], ["id", "title", "price"], ["1", "Lamp", "9.90"]])
    1
    >>> _preamble_size([["a", "b"], ["1", "Lamp"]]), _preamble_size([["id"], ["title"]])
    (0, 0)
    """
    for number, row in enumerate(rows):
        if columns.count_known(row) >= MIN_KNOWN_NAMES:
            return number
    return 0


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


@dataclass(frozen=True)
class _Record:
    """Cells of a record, its lines as the CSV reader saw them, or why it cannot be read."""

    cells: list[str]
    lines: list[str]
    error: str = ""


def double_quotes(line: str) -> str:
    r"""Rewrite quotes that a backslash escapes as CSV does; a backslash escapes another one before
    a quote.

    >>> print(double_quotes(r'"27\" wide","C:\\",C:\temp'))
    "27"" wide","C:\",C:\temp
    """
    return _BACKSLASHES_AND_QUOTE.sub(_double_quote, line)


def _double_quote(match: re.Match[str]) -> str:
    escaped, is_quote_escaped = divmod(len(match[1]), 2)
    return "\\" * escaped + ('""' if is_quote_escaped else '"')


def _read_records(
    lines: _LineReader, delimiter: str, path: Path, preamble: int, renaming: RepairNotice | None
) -> Rows:
    """Yield the rows of a file; the first `preamble` records stand before its header."""
    header: list[str] = []
    names: list[str] = []
    prefers_escapes = False
    while True:
        lines.begin()
        record = None
        if header and prefers_escapes and _ESCAPED_QUOTE in lines.peek():
            record = _read_escaped(lines, delimiter, len(header))
        if record is None:
            record = _read_record(lines, delimiter)
            if header and _has_escapes(lines) and not _is_sound(record, delimiter, len(header)):
                escaped = _read_again(lines, delimiter, len(header))
                prefers_escapes = prefers_escapes or escaped is not None
                record = escaped or record
        if record is None:
            break
        if record.error:
            yield UnreadableRow(lines.start, record.error, lines.keep_first())
        elif not any(cell.strip() for cell in record.cells):
            continue
        elif preamble > 0:
            preamble -= 1
            yield UnreadableRow(lines.start, "stands before the header", "".join(lines.taken))
        elif header and _is_header(record.cells, header):
            yield UnreadableRow(lines.start, "repeats the header", "".join(lines.taken))
        elif header:
            yield _make_row(names, record, lines, delimiter)
        else:
            header = _make_header(record.cells, path)
            names = header if renaming is None else _name_columns(header, renaming)


def _read_record(lines: _LineReader, delimiter: str) -> _Record | None:
    """Read the next record; None at the end of the file."""
    try:
        cells = next(csv.reader(lines, delimiter=delimiter))
    except StopIteration:
        return None
    except csv.Error as error:
        reason = f"is no CSV: {error}"
        if "field limit" in str(error):
            reason = f"has a cell of more than {MAX_LINE_LENGTH:,} characters"
        return _Record([], [], reason)
    return _Record(cells, lines.taken)


def _read_again(lines: _LineReader, delimiter: str, width: int) -> _Record | None:
    """Read an unsound record again with escaped quotes; None, and the lines as they were, where
    that is no better.
    """
    taken = len(lines.taken)
    lines.take_back()
    escaped = _read_escaped(lines, delimiter, width)
    if escaped is None:
        for _ in range(taken):
            next(lines)
    return escaped


def _read_escaped(lines: _LineReader, delimiter: str, width: int) -> _Record | None:
    """Read the next record with escaped quotes; None, without taking a line, where it is not
    sound.
    """
    lines.has_escapes = True
    record = _read_record(lines, delimiter)
    lines.has_escapes = False
    if record is not None and not record.error:
        record = _Record(record.cells, [double_quotes(line) for line in lines.taken])
        if _is_sound(record, delimiter, width):
            return record
    lines.take_back()
    return None


def _has_escapes(lines: _LineReader) -> bool:
    return any(_ESCAPED_QUOTE in line for line in lines.taken)


def _is_sound(record: _Record | None, delimiter: str, width: int) -> bool:
    """Return True if a record has the header's width and closes its quotes."""
    if record is None or record.error:
        return False
    cells = list(record.cells)
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    return len(cells) == width and _has_closed_quotes(record.lines, delimiter)


def _is_header(cells: list[str], header: list[str]) -> bool:
    """Return True if a record is the header again, as in files joined end to end."""
    if len(cells) != len(header) or cells[0].strip() != header[0]:
        return False
    return [cell.strip() for cell in cells] == header


def _make_header(cells: list[str], path: Path) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise UnreadableFeed(f"{path}: its first line has {len(cells)} columns; is it a feed?")
    return [_unquote(cell.strip())[:MAX_NAME_LENGTH] for cell in cells]


def _name_columns(header: list[str], renaming: RepairNotice) -> list[str]:
    """Return a name of its own for each column, and give notice of the changed ones.

    >>> _name_columns(["id", "name", "name", "name_2", ""], print)
    column 3 is called name_3: an earlier one is called name
    ['id', 'name', 'name_3', 'name_2', 'column 5']
    """
    taken = set(header)
    names: list[str] = []
    for place, name in enumerate(header, 1):
        new_name = name
        if not name:
            new_name = _free_name("column ", place, taken)
        elif name in names:
            new_name = _free_name(f"{name}_", 2, taken)
            renaming(f"column {place} is called {new_name}: an earlier one is called {name}")
        taken.add(new_name)
        names.append(new_name)
    return names


def _free_name(start: str, number: int, taken: set[str]) -> str:
    while f"{start}{number}" in taken:
        number += 1
    return f"{start}{number}"


def _make_row(
    header: list[str], record: _Record, lines: _LineReader, delimiter: str
) -> Row | UnreadableRow:
    cells = record.cells
    start = lines.start
    raw = "".join(lines.taken)
    # Many exports end each line with a separator.
    while len(cells) > len(header) and not cells[-1].strip():
        cells.pop()
    if any(len(line) >= MAX_LINE_LENGTH for line in lines.taken):
        return UnreadableRow(start, f"is longer than {MAX_LINE_LENGTH:,} characters", raw)
    has_header_width = len(cells) == len(header)
    is_in_doubt = len(lines.taken) > 1 or _has_escapes(lines)
    if is_in_doubt and (not has_header_width or not _has_closed_quotes(record.lines, delimiter)):
        reason = "has a quote that is not closed"
        if len(lines.taken) >= MAX_RECORD_LINES:
            reason += f", or a cell of more than {MAX_RECORD_LINES:,} lines"
        return UnreadableRow(start, reason, lines.keep_first())
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
    """Remove the formula that keeps Excel from reading digits as a number, and the apostrophe that
    keeps it from reading a formula.

    >>> _unquote('="0012345678905"'), _unquote('27" wide'), _unquote("'-20 % lamp")
    ('0012345678905', '27" wide', '-20 % lamp')
    """
    if len(cell) > 2 and cell.startswith('="') and cell.endswith('"'):
        return cell[2:-1]
    return unescape_formula(cell)


def _has_closed_quotes(lines: list[str], delimiter: str) -> bool:
    """Return True if each quote opens or closes a cell: one left open would close in the middle of
    another cell.
    """
    try:
        next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True
