"""Cells of spreadsheets: untrusted text that cannot become a formula (CWE-1236), and back.

A spreadsheet evaluates a cell that begins like a formula, and does so again when an XLSX file is
saved as CSV. Such a text gets an apostrophe in front, which spreadsheets read as "this is text".
"""

import re

# Full-width forms are included: spreadsheets normalise them.
_FORMULA = re.compile(r"\s*[\t\r\n=+\-@＝＋－＠]")
_APOSTROPHE = "'"


def escape_formula(text: str) -> str:
    r"""Return the text in a form that a spreadsheet cannot evaluate.

    >>> escape_formula("=1+1"), escape_formula(" @SUM(A1)"), escape_formula("Lamp - red")
    ("'=1+1", "' @SUM(A1)", 'Lamp - red')
    >>> escape_formula("\tx")
    "'\tx"
    """
    # Most texts begin with a letter or a digit, and none of these begins a formula.
    if text[:1].isalnum() or not _FORMULA.match(text):
        return text
    return f"{_APOSTROPHE}{text}"


def unescape_formula(cell: str) -> str:
    """Return the text of a cell without the apostrophe in front of a formula.

    >>> unescape_formula("'=1+1"), unescape_formula("'s Hertog"), unescape_formula("Lamp")
    ('=1+1', "'s Hertog", 'Lamp')
    """
    if cell.startswith(_APOSTROPHE) and _FORMULA.match(cell, 1):
        return cell[1:]
    return cell
