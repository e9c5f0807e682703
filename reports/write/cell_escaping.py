"""Cells: a stranger's text made safe for a spreadsheet.

A spreadsheet runs a cell that begins like a formula, whoever wrote it (CWE-1236), and does so again when an XLSX is
saved as CSV. Such texts get an apostrophe in front, which spreadsheets take for "this is text".
"""

import re
from collections.abc import Sequence
from decimal import Decimal

Cell = str | int | float | Decimal | None
_FORMULA = re.compile(r"\s*[\t\r\n=+\-@＝＋－＠]")


def safe(text: str) -> str:
    r"""The text, unable to run as a formula.

    >>> safe("=1+1"), safe(" @SUM(A1)"), safe("\tx"), safe("Lamp - red")
    ("'=1+1", "' @SUM(A1)", "'\tx", 'Lamp - red')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def row(cells: Sequence[Cell]) -> list[Cell]:
    """A row whose texts are safe; numbers are our own and stay numbers."""
    return [safe(cell) if isinstance(cell, str) else cell for cell in cells]
