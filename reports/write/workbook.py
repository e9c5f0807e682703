"""XLSX workbooks (ISO/IEC 29500, Office Open XML) with plain tables, written row by row.

A workbook has texts, numbers and times only. Texts are inline strings, so that none can become a
formula or a link, and nothing of a sheet stays in memory. A Decimal is an amount of money, a float
a share; times are in UTC.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile

from reports.write.cell_escaping import Cell

MAX_SHEET_ROWS = 1_000_000  # the format allows 1,048,576
MAX_SHEET_NAME = 31  # characters, the limit of the format
_MAX_CELL_LENGTH = 32_767  # characters, the limit of Excel
# Level 6 makes the file a fifth smaller and takes three times as long.
_COMPRESSION_LEVEL = 2
_LETTERS = 26

# Characters that XML 1.0 forbids, and texts that Excel reads as an escaped character: "_x000D_".
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
_PLAIN = re.compile(r"[\w .,:;/()%+=?#@!*|'\"\-–…·]*")

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# Formats of cells, by their place in the style sheet.
_PLAIN_FORMAT = 0
_HEADING_FORMAT = 1  # bold with a line below
_AMOUNT_FORMAT = 2
_SHARE_FORMAT = 3
_TIME_FORMAT = 4
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}">'
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border>'
    '<border><left/><right/><top/><bottom style="thin"><color auto="1"/></bottom><diagonal/>'
    "</border></borders>"
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="1" xfId="0" applyFont="1" applyBorder="1"/>'
    # 4 is #,##0.00 and 10 is 0.00% in every spreadsheet, in the notation of the reader's country.
    '<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    "</cellXfs>"
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
# Spreadsheets count days from here (with a 29 February 1900 that never was).
_FIRST_DAY = datetime(1899, 12, 30, tzinfo=UTC)
_DAY = timedelta(days=1)


class Workbook:
    """XLSX file that is written sheet by sheet; a context manager that completes it."""

    def __init__(self, path: Path) -> None:
        self._archive = ZipFile(path, "w", ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL)
        self._names: list[str] = []
        self._last_cells: list[str] = []

    def __enter__(self) -> "Workbook":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._write_parts()
        self._archive.close()

    def write_sheet(
        self, name: str, columns: Sequence[tuple[str, int]], rows: Iterable[Sequence[Cell]]
    ) -> None:
        """Write a sheet: headings that stay in view with filters, and one row each.

        `columns` are headings with widths in characters. Rows beyond `MAX_SHEET_ROWS` are left out.
        """
        self._names.append(self._valid_name(name))
        letters = [_column_letters(number) for number in range(len(columns))]
        with (
            self._archive.open(self._sheet_path(len(self._names)), "w", force_zip64=True) as part,
            TextIOWrapper(part, encoding="utf-8") as file,
        ):
            file.write(_sheet_head(columns))
            headings = [
                f'<c r="{letter}1" s="{_HEADING_FORMAT}" t="inlineStr">{_inline_text(heading)}</c>'
                for letter, (heading, _) in zip(letters, columns, strict=True)
            ]
            file.write(f'<row r="1">{"".join(headings)}</row>')
            number = 1
            for number, cells in zip(range(2, MAX_SHEET_ROWS + 1), rows, strict=False):
                file.write(_row(number, cells, letters))
            last_cell = f"{letters[-1]}{number}"
            self._last_cells.append(last_cell)
            file.write(f'</sheetData><autoFilter ref="A1:{last_cell}"/></worksheet>')

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

    @staticmethod
    def _sheet_path(number: int) -> str:
        return f"xl/worksheets/sheet{number}.xml"

    def _write_parts(self) -> None:
        """Write the parts that name the sheets."""
        numbers = range(1, len(self._names) + 1)
        types = [
            _content_type("/xl/workbook.xml", f"{_SHEET_TYPE}.sheet.main+xml"),
            _content_type("/xl/styles.xml", f"{_SHEET_TYPE}.styles+xml"),
        ]
        sheets, links, filters = [], [], []
        for number, name, last_cell in zip(numbers, self._names, self._last_cells, strict=True):
            path = self._sheet_path(number)
            types.append(_content_type(f"/{path}", f"{_SHEET_TYPE}.worksheet+xml"))
            sheets.append(f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>')
            links.append(_relationship(number, "worksheet", path.removeprefix("xl/")))
            cells = re.sub(r"([A-Z]+)(\d+)", r"$\1$\2", f"A1:{last_cell}")
            area = "'" + name.replace("'", "''") + "'!" + cells
            # Excel looks up the range of a sheet's filter under this name.
            filters.append(
                f'<definedName name="_xlnm._FilterDatabase" localSheetId="{number - 1}" '
                f'hidden="1">{escape(area)}</definedName>'
            )
        links.append(_relationship(len(self._names) + 1, "styles", "styles.xml"))
        parts = {
            "[Content_Types].xml": (
                f'<Types xmlns="{_PACKAGE}/content-types">'
                '<Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f"{''.join(types)}</Types>"
            ),
            "_rels/.rels": _relationships([_relationship(1, "officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": (
                f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{"".join(sheets)}</sheets>'
                f"<definedNames>{''.join(filters)}</definedNames></workbook>"
            ),
            "xl/_rels/workbook.xml.rels": _relationships(links),
            "xl/styles.xml": _STYLES,
        }
        for path, content in parts.items():
            self._archive.writestr(path, _DECLARATION + content)


def _content_type(path: str, kind: str) -> str:
    return f'<Override PartName="{path}" ContentType="{kind}"/>'


def _relationship(number: int, kind: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _relationships(links: Sequence[str]) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(links)}</Relationships>'


def _column_letters(number: int) -> str:
    """Return the letters of a column, numbered from 0.

    >>> _column_letters(0), _column_letters(25), _column_letters(26), _column_letters(701)
    ('A', 'Z', 'AA', 'ZZ')
    """
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, _LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters


def _sheet_head(columns: Sequence[tuple[str, int]]) -> str:
    widths = [
        f'<col min="{number}" max="{number}" width="{width}" customWidth="1"/>'
        for number, (_, width) in enumerate(columns, 1)
    ]
    return (
        f'{_DECLARATION}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
        f"</sheetView></sheetViews><cols>{''.join(widths)}</cols><sheetData>"
    )


def _row(number: int, cells: Sequence[Cell], letters: Sequence[str]) -> str:
    """Return a row; empty cells are left out."""
    written = []
    for letter, cell in zip(letters, cells, strict=True):
        if isinstance(cell, str):
            written.append(f'<c r="{letter}{number}" t="inlineStr">{_inline_text(cell)}</c>')
        elif cell is not None:
            value, format_ = _number(cell)
            written.append(f'<c r="{letter}{number}" s="{format_}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(written)}</row>'


def _number(cell: int | float | Decimal | datetime) -> tuple[str, int]:
    """Return a cell's number as text, with its format."""
    if isinstance(cell, datetime):
        return f"{(cell - _FIRST_DAY) / _DAY:.8f}", _TIME_FORMAT
    # 16 digits are more than a spreadsheet computes with.
    if isinstance(cell, Decimal):
        return f"{cell:.16g}", _AMOUNT_FORMAT
    if isinstance(cell, float):
        return f"{cell:.16g}", _SHARE_FORMAT
    return f"{cell}", _PLAIN_FORMAT


def _inline_text(text: str) -> str:
    """Return a text as XML; characters that XML forbids are dropped, long texts are cut.

    >>> _inline_text("a < b\\x00"), _inline_text(" _x000D_")
    ('<is><t>a &lt; b</t></is>', '<is><t xml:space="preserve"> _x005F_x000D_</t></is>')
    """
    text = text[:_MAX_CELL_LENGTH]
    # Few texts need any of the changes.
    if not _PLAIN.fullmatch(text) or "_x" in text:
        text = escape(_ESCAPED.sub("_x005F_", _FORBIDDEN.sub("", text)))
    if text.strip() != text:
        return f'<is><t xml:space="preserve">{text}</t></is>'
    return f"<is><t>{text}</t></is>"
