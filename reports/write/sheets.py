"""Sheets: the report for spreadsheets - one CSV of the findings, one XLSX with everything.

Rows are written as they come and never held (`constant_memory`); no cell can become a formula or a link.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from catalog.models import Verdict
from reports.model.report_model import Story
from reports.statistics.findings_reader import Finding, plain
from reports.statistics.formatting import band_name, minute
from reports.statistics.statistics import Group, Tally, wilson
from reports.write.cell_escaping import Cell, row

_MOST_ROWS = 1_000_000
_COLUMNS = (
    ("verdict", 10), ("title", 50), ("price", 12), ("currency", 9), ("brand", 18), ("category", 32), ("cause", 28),
    ("evidence", 60), ("also", 40), ("score", 8), ("since", 8), ("url", 50), ("ean", 16), ("han", 16), ("sku", 16),
    ("availability", 13), ("nearest_title", 40), ("nearest_price", 12), ("nearest_url", 40), ("reasons", 60),
    ("word", 9), ("note", 30), ("fetched_at", 22), ("variant_of", 50),
)  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """A table: name, columns with their widths, and rows, made when asked for."""

    name: str
    columns: Sequence[tuple[str, int]]
    rows: Iterable[Sequence[Cell]]


def write_csv(path: Path, story: Story) -> None:
    """The findings as CSV (UTF-8, comma, header)."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _ in _COLUMNS])
        for finding in story.findings:
            writer.writerow(
                [
                    plain(cell) if isinstance(cell, Decimal) else cell
                    for cell in row(_cells(finding))
                ]
            )


def write_xlsx(path: Path, story: Story) -> None:
    """Everything as a workbook: a sheet a table, header frozen, filters on. Raises OSError."""
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    try:
        with xlsxwriter.Workbook(str(path), options) as book:
            bold = book.add_format({"bold": True, "bottom": 1})
            for table in sheets(story):
                _write_sheet(book.add_worksheet(table.name), table, bold)
    except FileCreateError as error:
        raise OSError(*error.args[0].args) from error


def _write_sheet(sheet: xlsxwriter.worksheet.Worksheet, table: Sheet, bold: object) -> None:
    for column, (_, width) in enumerate(table.columns):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    for column, (name, _) in enumerate(table.columns):
        sheet.write_string(0, column, name, bold)
    number = 0
    for number, cells in zip(range(1, _MOST_ROWS), table.rows, strict=False):
        for column, cell in enumerate(row(cells)):
            if isinstance(cell, str):
                sheet.write_string(number, column, cell)
            elif cell is not None:
                sheet.write_number(number, column, cell)
    sheet.autofilter(0, 0, number, len(table.columns) - 1)


def sheets(story: Story) -> Iterator[Sheet]:
    """All tables of the report."""
    money, figures, health = story.completeness.currency, story.completeness, story.health
    yield Sheet("Summary", [("figure", 44), ("value", 24), ("note", 60)], _summary(story))
    yield Sheet("Missing", _COLUMNS, map(_cells, story.of(Verdict.MISSING)))
    yield Sheet("Unsure", _COLUMNS, map(_cells, story.of(Verdict.UNSURE)))
    causes = (
        (one.kind.value, one.offers, one.tally.worth(money), money, one.evidence[0][0])
        for one in story.causes
    )
    yield Sheet(
        "Causes",
        [("cause", 32), ("missing", 10), ("value", 14), ("currency", 9), ("evidence", 70)],
        causes,
    )
    yield _grouped("Categories", "category", figures.by_category, money)
    yield _grouped("Price bands", "price band", figures.by_band, money)
    for name, groups in figures.bands_elsewhere:
        yield _grouped(f"Price bands {name}"[:31], "price band", groups, name)
    yield _grouped("Brands", "brand", figures.by_brand, money)
    prices = (
        (one.title, one.page, one.catalog, one.currency, one.share, one.url)
        for one in health.prices
    )
    columns = [
        ("title", 50),
        ("price on page", 14),
        ("in catalog", 14),
        ("currency", 9),
        ("difference", 11),
        ("url", 50),
    ]
    yield Sheet("Price differences", columns, prices)
    titles = ((one.page, one.catalog, round(one.alike), one.url) for one in health.titles)
    columns = [("title on page", 50), ("title in catalog", 50), ("alike (0-100)", 13), ("url", 50)]
    yield Sheet("Title differences", columns, titles)
    bad = ((one.reason, one.rows, *one.examples[0]) for one in health.bad.values())
    yield Sheet(
        "Rejected rows",
        [("reason", 60), ("rows", 8), ("e.g. in", 30), ("line", 8), ("raw", 80)],
        bad,
    )
    unseen = (
        (one.ref, one.title, one.price, one.currency, one.sight.value, one.reason, one.url)
        for one in health.unseen
    )
    columns = [
        ("ref", 20),
        ("title", 50),
        ("price", 12),
        ("currency", 9),
        ("what", 14),
        ("reason", 30),
        ("url", 50),
    ]
    yield Sheet("Not seen on the shop", columns, unseen)
    pages = ((one.state, one.reason, one.pages) for one in figures.coverage.reasons)
    yield Sheet("Crawl", [("pages", 14), ("reason", 60), ("number", 10)], pages)


def _grouped(name: str, column: str, groups: Iterable[Group], currency: str | None) -> Sheet:
    columns = [
        (column, 40),
        ("seen", 9),
        ("listed", 9),
        ("missing", 9),
        ("unsure", 9),
        ("missing share", 13),
    ]
    columns += [("from", 9), ("to", 9), ("missing value", 14), ("currency", 9)]

    def cells(group: Group) -> list[Cell]:
        tally: Tally = group.tally
        shares = (round(share, 4) for share in (tally.share, *wilson(tally.missing, tally.seen)))
        label = band_name(group.band, currency) if group.band else group.name or "(none)"
        counts = (tally.seen, tally.listed, tally.missing, tally.unsure)
        return [label, *counts, *shares, tally.worth(currency), currency]

    return Sheet(name, columns, map(cells, groups))


def _summary(story: Story) -> Iterator[list[Cell]]:
    figures = story.completeness
    total, seen = figures.total, figures.coverage
    low, high = wilson(total.missing, total.seen)
    yield ["shop", story.shop.name, story.shop.url]
    yield ["run", story.run.id, minute(story.run.finished_at or story.run.started_at)]
    yield ["offers seen on the shop", total.seen, None]
    yield ["listed", total.listed, None]
    yield ["missing", total.missing, None]
    yield ["unsure", total.unsure, "counted neither as listed nor as missing"]
    yield ["missing share", round(total.share, 4), f"95 % interval {low:.4f} to {high:.4f}"]
    yield ["missing value", total.worth(figures.currency), figures.currency]
    yield ["pages met", seen.pages, None]
    yield [
        "pages answered",
        seen.answered,
        f"share {seen.page_share:.4f}" if seen.page_share is not None else None,
    ]
    yield ["offers of the catalog", seen.known, None]
    yield ["... whose page was found", seen.seen + seen.page_found, None]
    yield ["... whose page is not there", seen.not_found, "not found"]
    yield ["... whose page was not fetched", seen.not_crawled, "not crawled"]
    yield ["... whose link leads nowhere", seen.no_link, "opaque or broken link, no page fits"]
    for word, number in figures.words.items():
        yield [f"findings with a person's {word.value}", number, None]


def _cells(one: Finding) -> list[Cell]:
    near = one.nearest
    return [
        "ignored" if one.ignored else one.verdict.value,
        one.title,
        one.price,
        one.currency,
        one.brand,
        one.category,
        one.cause,
        one.evidence[0] if one.evidence else None,
        "; ".join(one.evidence[1:]) or None,
        round(one.score, 4),
        one.since,
        one.url,
        one.ean,
        one.han,
        one.sku,
        one.availability,
        near.title if near else None,
        near.price if near else None,
        near.url if near else None,
        "; ".join(one.reasons) or None,
        one.word and one.word.value,
        one.note,
        one.fetched_at.isoformat(timespec="seconds") if one.fetched_at else None,
        one.variant_of,
    ]
