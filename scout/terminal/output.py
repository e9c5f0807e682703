"""Printing: tables on a terminal, aligned plain lines elsewhere, JSON for scripts.

Titles and URLs come from untrusted pages. Control characters are taken out of every cell, so that
no shop can move the cursor or colour the screen, and cells are never interpreted as rich's markup.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

JSON_LINES = ContextVar("json_lines", default=False)
"""Whether standard error carries JSON, one object a line, instead of text."""

UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories never in a cell: controls, formats, surrogates, separators of lines."""

SHORT_LENGTH = 60
"""Characters of a shortened text: two such columns and three narrow ones fit a wide terminal."""

Rows = Iterable[Sequence[object]]


def format_cell(value: object) -> str:
    r"""Format a value as one harmless line of text; None gives an empty string.

    >>> format_cell("Mug\x1b[31m\n blue"), format_cell(None), format_cell(0.97), format_cell(1200)
    ('Mug [31m blue', '', '0.970', '1200')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3f}"
    printable = []
    for char in str(value):
        printable.append(" " if unicodedata.category(char) in UNPRINTABLE else char)
    # Splitting and joining folds every run of white space, line breaks included, into one space.
    return " ".join("".join(printable).split())


def shorten(text: str | None, length: int = SHORT_LENGTH) -> str:
    """Cut a text to at most `length` characters, with an ellipsis in place of the end.

    >>> shorten("a very long title", 10)
    'a very lo…'
    """
    line = format_cell(text)
    if len(line) <= length:
        return line
    return line[: length - 1] + "…"


def print_lines(*lines: str) -> None:
    """Print lines on standard output."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def plural(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "offer"), plural(0, "offer")
    ('1 offer', '0 offers')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_note(line: str) -> None:
    """Print a line for people on standard error; no script depends on it."""
    sys.stderr.write(f"{json_log_line(line) if JSON_LINES.get() else line}\n")
    sys.stderr.flush()


def print_error(message: str) -> None:
    """Print an error on standard error, on one line."""
    line = " ".join(message.split())
    if JSON_LINES.get():
        sys.stderr.write(f"{json_log_line(line, level='error')}\n")
    else:
        sys.stderr.write(f"error: {line}\n")


def json_log_line(
    event: str, level: str = "info", fields: Mapping[str, object] | None = None
) -> str:
    """Format a log line as JSON, in the form that `scout.terminal.logs` writes."""
    head = {"event": event, "level": level, "timestamp": datetime.now(UTC).isoformat()}
    return json.dumps(head | dict(fields or {}))


def print_json(value: object) -> None:
    """Print one JSON value on one line of standard output."""
    print_lines(json.dumps(value, ensure_ascii=False, default=json_default))


def json_default(value: object) -> Any:
    """Convert a value that JSON has no type for; meant for `json.dumps(default=...)`.

    >>> json_default(Decimal("12.90"))
    '12.90'
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)


def print_table(columns: Sequence[str], rows: Rows, title: str = "") -> None:
    """Print rows under their column names; a column of numbers only is right-aligned."""
    values = [list(row) for row in rows]
    texts = [[format_cell(value) for value in row] for row in values]
    right = [_is_numeric(values, index) for index in range(len(columns))]
    if sys.stdout.isatty():
        _rich_table(columns, texts, right, title)
    else:
        _plain_table(columns, texts, right, title)


def _is_numeric(rows: Sequence[Sequence[object]], column: int) -> bool:
    return bool(rows) and all(_is_number(row[column]) for row in rows)


def _is_number(value: object) -> bool:
    if value is None:
        return True
    # bool is a subclass of int, but True and False are words in a table.
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _rich_table(
    columns: Sequence[str], texts: list[list[str]], right: list[bool], title: str
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text objects instead of strings: rich would interpret "[red]" in a string as markup.
    heading = Text(title, "bold") if title else None
    table = Table(title=heading, box=SIMPLE_HEAD, title_justify="left")
    for name, is_right in zip(columns, right, strict=True):
        table.add_column(name, justify="right" if is_right else "left", overflow="fold")
    for row in texts:
        table.add_row(*(Text(text) for text in row))
    Console().print(table)


def _plain_table(
    columns: Sequence[str], texts: list[list[str]], right: list[bool], title: str
) -> None:
    lines = [list(columns), *texts]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    if title:
        print_lines(title)
    for line in lines:
        padded = []
        for text, width, is_right in zip(line, widths, right, strict=True):
            padded.append(text.rjust(width) if is_right else text.ljust(width))
        print_lines("  ".join(padded).rstrip())
