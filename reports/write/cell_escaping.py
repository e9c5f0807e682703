"""Escaping of untrusted text in the rows of a spreadsheet."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from catalog.values.spreadsheet_cells import escape_formula

Cell = str | int | float | Decimal | datetime | None


def escape_row(cells: Sequence[Cell]) -> list[Cell]:
    """Escape the texts of a row; numbers are our own and stay numbers."""
    return [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
