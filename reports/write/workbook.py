"""XLSX workbooks with plain tables, written row by row with XlsxWriter.

A workbook has texts, numbers and times only, so that no text can become a formula or a link. A
Decimal is an amount of money, a float a share; times are in UTC. Nothing of a sheet stays in memory.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from reports.write.cell_escaping import Cell

MAX_SHEET_ROWS = 1_000_000  # the format allows 1,048,576
MAX_SHEET_NAME = 31  # characters, the limit of the format
_MAX_CELL_LENGTH = 32_767  # characters, the limit of Excel

_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": True,
}
# Formats of numbers: 4 is #,##0.00 and 10 is 0.00% in every spreadsheet, in the notation of the
# reader's country.
_AMOUNT_FORMAT = {"num_format": 4}
_SHARE_FORMAT = {"num_format": 10}
_TIME_FORMAT = {"num_format": "yyyy-mm-dd hh:mm"}
_HEADING_FORMAT = {"bold": True, "bottom": 1}

_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
# Control characters that XML 1.0 cannot hold; XlsxWriter escapes them in a way that only Excel reads.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Workbook:
    """XLSX file that is written sheet by sheet; a context manager that completes it."""

    def __init__(self, path: Path) -> None:
        self._workbook: Any = xlsxwriter.Workbook(str(path), _OPTIONS)
        self._names: list[str] = []
        self._heading = self._workbook.add_format(_HEADING_FORMAT)
        self._amount = self._workbook.add_format(_AMOUNT_FORMAT)
        self._share = self._workbook.add_format(_SHARE_FORMAT)
        self._time = self._workbook.add_format(_TIME_FORMAT)

    def __enter__(self) -> "Workbook":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Complete the file, unless an error ended the block. Raises OSError."""
        if kind is not None:
            return
        try:
            self._workbook.close()
        except FileCreateError as failure:
            raise OSError(*failure.args[0].args) from failure

    def write_sheet(
        self, name: str, columns: Sequence[tuple[str, int]], rows: Iterable[Sequence[Cell]]
    ) -> None:
        """Write a sheet: headings that stay in view with filters, and one row each.

        `columns` are headings with widths in characters. Rows beyond `MAX_SHEET_ROWS` are left out.
        """
        valid_name = self._valid_name(name)
        self._names.append(valid_name)
        sheet = self._workbook.add_worksheet(valid_name)
        # Widths come first: in constant_memory mode rows are written in order and not changed later.
        for column, (_, width) in enumerate(columns):
            sheet.set_column(column, column, width)
        sheet.freeze_panes(1, 0)
        for column, (heading, _) in enumerate(columns):
            sheet.write_string(0, column, heading, self._heading)
        number = 0
        for number, cells in zip(range(1, MAX_SHEET_ROWS + 1), rows, strict=False):
            self._write_row(sheet, number, cells)
        sheet.autofilter(0, 0, number, len(columns) - 1)

    def _write_row(self, sheet: Any, number: int, cells: Sequence[Cell]) -> None:
        for column, cell in enumerate(cells):
            if isinstance(cell, str):
                sheet.write_string(number, column, _plain_text(cell))
            elif isinstance(cell, datetime):
                # Spreadsheets know no time zones: all times are in UTC.
                sheet.write_datetime(number, column, cell.replace(tzinfo=None), self._time)
            elif isinstance(cell, Decimal):
                sheet.write_number(number, column, cell, self._amount)
            elif isinstance(cell, float):
                sheet.write_number(number, column, cell, self._share)
            elif cell is not None:
                sheet.write_number(number, column, cell)

    def _valid_name(self, name: str) -> str:
        """Return a sheet's name without forbidden characters, different from all others."""
        cleaned = _FORBIDDEN_IN_NAMES.sub("_", name)[:MAX_SHEET_NAME]
        taken = {other.casefold() for other in self._names}
        valid, number = cleaned, 1
        while valid.casefold() in taken:
            number += 1
            suffix = f" {number}"
            valid = cleaned[: MAX_SHEET_NAME - len(suffix)] + suffix
        return valid


def _plain_text(text: str) -> str:
    r"""Return a text that a cell can hold: cut, and without characters that XML forbids.

    >>> _plain_text("a < b\x00")
    'a < b'
    """
    text = text[:_MAX_CELL_LENGTH]
    if text.isprintable():
        return text
    return _FORBIDDEN.sub("", text)
