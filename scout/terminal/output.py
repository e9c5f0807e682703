"""What a command says: tables on a terminal, aligned plain lines elsewhere, JSON where a script asks for it.

Titles and URLs come from strangers' pages. Control characters are taken out of every cell, so that no shop can move
the cursor or colour the screen, and cells are never read as rich's markup.
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
"""Whether all that goes to standard error is to be JSON, an object a line."""

Rows = Iterable[Sequence[object]]


def cell(value: object) -> str:
    r"""A value as one harmless line of text; nothing for None.

    >>> cell("Mug\x1b[31m\n blue"), cell(None), cell(0.97), cell(1200)
    ('Mug [31m blue', '', '0.970', '1200')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3f}"
    text = "".join(
        " " if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") else sign
        for sign in str(value)
    )
    return " ".join(text.split())


def short(text: str | None, most: int = 60) -> str:
    """The text, with its end left out where it is longer than `most`.

    >>> short("a very long title", 10)
    'a very lo…'
    """
    line = cell(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def say(*lines: str) -> None:
    """Print lines on standard output."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def note(line: str) -> None:
    """Print a line on standard error: what a person should know and no script reads."""
    sys.stderr.write(f"{as_json(line) if JSON_LINES.get() else line}\n")
    sys.stderr.flush()


def complain(line: str) -> None:
    """Print an error on standard error, on one line."""
    said = " ".join(line.split())
    sys.stderr.write(f"{as_json(said, level='error') if JSON_LINES.get() else f'error: {said}'}\n")


def as_json(event: str, level: str = "info", more: Mapping[str, object] | None = None) -> str:
    """A line of the log as JSON, like those that `scout.terminal.logs` writes."""
    head = {"event": event, "level": level, "timestamp": datetime.now(UTC).isoformat()}
    return json.dumps(head | dict(more or {}))


def say_json(value: object) -> None:
    """Print one JSON value on one line."""
    say(json.dumps(value, ensure_ascii=False, default=plain))


def plain(value: object) -> Any:
    """What JSON has no word for, in words it has.

    >>> plain(Decimal("12.90"))
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


def table(columns: Sequence[str], rows: Rows, title: str = "") -> None:
    """Print rows under their columns; right-aligned where all cells of a column are numbers."""
    kept = [list(row) for row in rows]
    texts = [[cell(value) for value in row] for row in kept]
    right = [
        bool(kept) and all(_is_number(row[place]) for row in kept) for place in range(len(columns))
    ]
    if sys.stdout.isatty():
        _rich_table(columns, texts, right, title)
    else:
        _plain_table(columns, texts, right, title)


def _is_number(value: object) -> bool:
    return value is None or (
        isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    )


def _rich_table(
    columns: Sequence[str], texts: list[list[str]], right: list[bool], title: str
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(title, "bold") if title else None, box=SIMPLE_HEAD, title_justify="left"
    )
    for name, is_right in zip(columns, right, strict=True):
        made.add_column(name, justify="right" if is_right else "left", overflow="fold")
    for row in texts:
        made.add_row(*(Text(text) for text in row))
    Console().print(made)


def _plain_table(
    columns: Sequence[str], texts: list[list[str]], right: list[bool], title: str
) -> None:
    lines = [list(columns), *texts]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    if title:
        say(title)
    for line in lines:
        padded = (
            text.rjust(width) if is_right else text.ljust(width)
            for text, width, is_right in zip(line, widths, right, strict=True)
        )
        say("  ".join(padded).rstrip())
