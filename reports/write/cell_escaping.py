"""Escaping of untrusted text for spreadsheets (formula injection, CWE-1236).

A spreadsheet evaluates a cell that begins like a formula, and does so again when an XLSX file is
saved as CSV. Such a text gets an apostrophe in front, which spreadsheets read as "this is text".
"""

import re
from collections.abc import Sequence
from decimal import Decimal

Cell = str | int | float | Decimal | None

# Full-width forms are included: spreadsheets normalise them.
_FORMULA = re.compile(r"\s*[\t\r\n=+\-@＝＋－＠]")


def escape_formula(text: str) -> str:
    r"""Return the text in a form that a spreadsheet cannot evaluate.

    >>> escape_formula("=1+1"), escape_formula(" @SUM(A1)"), escape_formula("Lamp - red")
    ("'=1+1", "' @SUM(A1)", 'Lamp - red')
    >>> escape_formula("\tx")
    "'\tx"
    """
    if _FORMULA.match(text):
        return f"'{text}"
    return text


def escape_row(cells: Sequence[Cell]) -> list[Cell]:
    """Escape the texts of a row; numbers are our own and stay numbers."""
    return [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
