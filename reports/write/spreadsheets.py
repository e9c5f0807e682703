"""Reports for spreadsheets: one CSV file with the findings, one XLSX workbook with everything.

Rows are written as they come and never held in memory. No cell can become a formula or a link.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from catalog.language.languages import ENGLISH
from catalog.models import ReviewDecision, Verdict
from reports.causes.feed_quality import FeedQuality, RejectionReason
from reports.model.cause_shares import CauseShare
from reports.model.report_model import Report
from reports.statistics.completeness import Completeness, Group
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, NearestOffer, decimal_text, time_text
from reports.statistics.price_bands import format_band
from reports.statistics.sightings import VanishedOffer
from reports.write.cell_escaping import Cell, escape_row
from reports.write.workbook import Workbook

# Columns of the findings: name in the CSV file, heading in the workbook, width in characters.
_FINDING_COLUMNS = (
    ("verdict", "verdict", 10),
    ("title", "title", 50),
    ("price", "price", 12),
    ("currency", "currency", 9),
    ("brand", "brand", 18),
    ("category", "category", 32),
    ("cause", "probable cause", 28),
    ("evidence", "evidence", 60),
    ("also", "further observations", 40),
    ("score", "probability listed", 10),
    ("since", "since the last run", 12),
    ("url", "url", 50),
    ("ean", "EAN", 16),
    ("han", "manufacturer's number", 16),
    ("sku", "article number", 16),
    ("availability", "availability", 13),
    ("nearest_title", "nearest catalog offer", 40),
    ("nearest_price", "its price", 12),
    ("nearest_url", "its url", 40),
    ("reasons", "reasons of the matcher", 60),
    ("word", "review decision", 12),
    ("note", "note", 30),
    ("fetched_at", "page fetched (UTC)", 17),
    ("variant_of", "page with all variants", 50),
    ("rank", "rank", 8),
    ("value", "value at stake", 12),
    ("first_seen", "first seen (UTC)", 17),
    ("last_seen", "last seen (UTC)", 17),
    ("verdict_since", "verdict since (UTC)", 17),
    ("reviewed_at", "decided (UTC)", 17),
    ("other_urls", "further urls", 50),
    ("reviewer", "decided by", 18),
)
_WORKBOOK_COLUMNS = tuple((heading, width) for _, heading, width in _FINDING_COLUMNS)
_NO_OFFER = NearestOffer(title=None, url=None, price=None, currency=None)


@dataclass(frozen=True)
class Sheet:
    """Table of a workbook; rows are made when they are written."""

    name: str
    columns: Sequence[tuple[str, int]]
    rows: Iterable[Sequence[Cell]]


def write_csv(path: Path, report: Report) -> None:
    """Write the findings as CSV (UTF-8, comma, header)."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _, _ in _FINDING_COLUMNS])
        for finding in report.findings:
            writer.writerow(map(_csv_cell, escape_row(_finding_cells(finding))))


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, Decimal):
        return decimal_text(cell)
    if isinstance(cell, datetime):
        return time_text(cell)
    return cell


def write_xlsx(path: Path, report: Report) -> None:
    """Write everything as a workbook, one sheet per table. Raises OSError."""
    with Workbook(path) as workbook:
        for sheet in build_sheets(report):
            workbook.write_sheet(sheet.name, sheet.columns, map(escape_row, sheet.rows))


def build_sheets(report: Report) -> Iterator[Sheet]:
    """Yield all tables of the report."""
    figures, quality = report.completeness, report.feed_quality
    currency = figures.currency
    currencies = _currencies(figures)
    yield Sheet("Summary", (("figure", 44), ("value", 24), ("note", 60)), _summary_rows(report))
    for name, verdict in (("Missing", Verdict.MISSING), ("Unsure", Verdict.UNSURE)):
        findings = report.findings_with(verdict)
        yield Sheet(name, _WORKBOOK_COLUMNS, map(_finding_cells, findings))
    yield Sheet("Ignored", _WORKBOOK_COLUMNS, map(_finding_cells, report.ignored))
    yield Sheet("Resolved", _WORKBOOK_COLUMNS, map(_finding_cells, report.resolved))
    yield _vanished_offers_sheet(report.no_longer_seen)
    yield _causes_sheet(report.causes, currencies)
    yield _groups_sheet("Categories", "category", figures.by_category, currencies)
    yield _groups_sheet("Price bands", "price band", figures.by_band, [currency or ""])
    for other_currency, groups in figures.other_currency_bands:
        name = f"Price bands {other_currency}"
        yield _groups_sheet(name, "price band", groups, [other_currency])
    yield _groups_sheet("Brands", "brand", figures.by_brand, currencies)
    yield _price_differences_sheet(quality)
    yield _title_differences_sheet(quality)
    yield _rejections_sheet(quality.rejections.values())
    yield _unseen_sheet(quality)
    yield _crawl_sheet(figures.coverage)


def _currencies(figures: Completeness) -> list[str]:
    """Return the currencies of the missing offers, that of most offers first; "" for none."""
    values = figures.total.value
    return [currency for currency in figures.ranking.order if currency in values]


def _value_columns(currencies: Sequence[str]) -> list[tuple[str, int]]:
    """Return a column for each currency, since amounts of several have no sum."""
    return [(f"missing value {currency}".strip(), 18) for currency in currencies]


def _vanished_offers_sheet(offers: Iterable[VanishedOffer]) -> Sheet:
    def cells(offer: VanishedOffer) -> list[Cell]:
        return [
            offer.title,
            offer.price,
            offer.currency,
            offer.first_seen_at,
            offer.last_seen_at,
            offer.url,
        ]

    columns = (
        ("title", 50),
        ("price", 12),
        ("currency", 9),
        ("first seen (UTC)", 17),
        ("last seen (UTC)", 17),
        ("url", 50),
    )
    return Sheet("No longer seen", columns, map(cells, offers))


def _causes_sheet(causes: Iterable[CauseShare], currencies: Sequence[str]) -> Sheet:
    def cells(share: CauseShare) -> list[Cell]:
        group = share.group
        figures: list[Cell] = [None] * 4
        if group is not None:
            figures = [
                group.missing,
                group.offers,
                round(group.missing / group.offers, 4),
                round(group.elsewhere, 4),
            ]
        values = [share.counts.value_in(currency) for currency in currencies]
        return [share.kind.value, share.offers, *values, share.evidence[0].text, *figures]

    columns = (
        ("cause", 36),
        ("missing", 10),
        *_value_columns(currencies),
        ("evidence", 90),
        ("missing in the group", 18),
        ("offers in the group", 18),
        ("missing share of the group", 22),
        ("missing share elsewhere", 22),
    )
    return Sheet("Causes", columns, map(cells, causes))


def _groups_sheet(
    name: str, column: str, groups: Iterable[Group], currencies: Sequence[str]
) -> Sheet:
    columns = (
        (column, 40),
        ("seen", 9),
        ("listed", 9),
        ("missing", 9),
        ("unsure", 9),
        ("missing share", 13),
        ("at least (95 %)", 14),
        ("at most (95 %)", 14),
        *_value_columns(currencies),
    )

    def cells(group: Group) -> list[Cell]:
        counts = group.counts
        low, high = counts.interval()
        label = group.name or "(none)"
        if group.band:
            label = format_band(group.band, currencies[0] or None, ENGLISH)
        return [
            label,
            counts.seen,
            counts.listed,
            counts.missing,
            counts.unsure,
            round(counts.share, 4),
            round(low, 4),
            round(high, 4),
            *(counts.value_in(currency) for currency in currencies),
        ]

    return Sheet(name, columns, map(cells, groups))


def _price_differences_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        ("title", 50),
        ("price on page", 14),
        ("in catalog", 14),
        ("currency", 9),
        ("difference", 11),
        ("url", 50),
    )
    rows = (
        (offer.title, offer.page_price, offer.catalog_price, offer.currency, offer.share, offer.url)
        for offer in quality.prices
    )
    return Sheet("Price differences", columns, rows)


def _title_differences_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        ("title on page", 50),
        ("title in catalog", 50),
        ("similarity (0-100)", 17),
        ("url", 50),
    )
    rows = (
        (offer.page_title, offer.catalog_title, round(offer.similarity), offer.url)
        for offer in quality.titles
    )
    return Sheet("Title differences", columns, rows)


def _rejections_sheet(rejections: Iterable[RejectionReason]) -> Sheet:
    def cells(rejection: RejectionReason) -> list[Cell]:
        example = rejection.examples[0]
        return [rejection.reason, rejection.rows, example.source, example.line, example.raw]

    columns = (("reason", 60), ("rows", 8), ("example from", 30), ("row", 8), ("its text", 80))
    return Sheet("Rejected rows", columns, map(cells, rejections))


def _unseen_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        ("catalog key", 20),
        ("title", 50),
        ("price", 12),
        ("currency", 9),
        ("page", 14),
        ("reason", 30),
        ("url", 50),
    )
    rows = (
        (
            offer.ref,
            offer.title,
            offer.price,
            offer.currency,
            offer.status.value,
            offer.reason,
            offer.url,
        )
        for offer in quality.unseen
    )
    return Sheet("Not seen in the shop", columns, rows)


def _crawl_sheet(coverage: Coverage) -> Sheet:
    rows = ((count.state, count.reason, count.pages) for count in coverage.reasons)
    return Sheet("Crawl", (("state", 14), ("reason", 60), ("pages", 10)), rows)


def _summary_rows(report: Report) -> Iterator[list[Cell]]:
    figures = report.completeness
    total, coverage = figures.total, figures.coverage
    low, high = total.interval()
    page_share = None
    if coverage.page_share is not None:
        page_share = f"{ENGLISH.share(coverage.page_share)} of the pages requested"
    yield ["shop", report.shop.name, report.shop.url]
    yield ["run", report.run.id, ENGLISH.minute(report.run_at)]
    yield ["state of the run", report.run_state.value, report.run.reason]
    yield ["offers seen in the shop", total.seen, None]
    yield ["listed", total.listed, None]
    yield ["missing", total.missing, None]
    yield ["unsure", total.unsure, "counted neither as listed nor as missing"]
    yield ["missing share", round(total.share, 4), _interval_text(low, high)]
    yield ["ignored", figures.decisions.get(ReviewDecision.IGNORE, 0), "counted nowhere else"]
    if figures.estimate is not None:
        estimate = figures.estimate
        yield [
            "listed share of the whole shop",
            round(estimate.share, 4),
            _interval_text(estimate.low, estimate.high),
        ]
    for currency in _currencies(figures):
        yield ["missing value", total.value[currency], currency or "no currency"]
    if figures.ranking.describe():
        yield ["ranking", None, figures.ranking.describe()]
    if not report.has_import:
        yield ["catalog", 0, "nothing was imported: every offer counts as missing"]
    yield ["pages discovered", coverage.pages, None]
    yield ["pages with a response", coverage.answered, page_share]
    yield ["offers of the catalog", coverage.known, None]
    yield ["... whose page was found", coverage.seen + coverage.page_found, None]
    yield ["... whose page is not there", coverage.not_found, "not found"]
    yield ["... whose page was not fetched", coverage.not_crawled, "not crawled"]
    yield ["... without a usable link", coverage.no_link, "opaque or broken link, no match"]
    for decision, number in figures.decisions.items():
        yield [f"findings with review decision “{decision.value}”", number, None]


def _interval_text(low: float, high: float) -> str:
    return f"between {ENGLISH.share(low)} and {ENGLISH.share(high)} (95 % confidence interval)"


def _finding_cells(finding: Finding) -> list[Cell]:
    nearest = finding.nearest or _NO_OFFER
    return [
        "ignored" if finding.is_ignored else finding.verdict.value,
        finding.title,
        finding.price,
        finding.currency,
        finding.brand,
        finding.category,
        finding.cause,
        finding.evidence[0].text if finding.evidence else None,
        "; ".join(sentence.text for sentence in finding.evidence[1:]) or None,
        round(finding.score, 4),
        finding.since,
        finding.url,
        finding.ean,
        finding.han,
        finding.sku,
        finding.availability,
        nearest.title,
        nearest.price,
        nearest.url,
        "; ".join(finding.reasons) or None,
        finding.decision and finding.decision.value,
        finding.note,
        finding.fetched_at,
        finding.variant_of,
        finding.rank,
        finding.value,
        finding.first_seen_at,
        finding.last_seen_at,
        finding.since_at,
        finding.reviewed_at,
        "\n".join(url for url in finding.urls if url != finding.url) or None,
        finding.reviewer,
    ]
