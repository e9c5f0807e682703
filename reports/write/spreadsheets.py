"""Reports for spreadsheets: one CSV file with the findings, one XLSX workbook with everything.

Rows are written as they come and never held in memory. No cell can become a formula or a link. CSV
is for programs, and English; the workbook is in the reader's language.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from catalog.language.languages import ENGLISH, Language
from catalog.language.sentences import Sentence, gettext_noop
from catalog.models import ReviewDecision, Verdict
from matcher.decision.reason_texts import MATCH_REASONS
from reports.causes.feed_quality import FeedQuality, RejectionReason
from reports.model.cause_shares import CauseShare
from reports.model.report_model import Report
from reports.statistics.completeness import Completeness, Group
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, NearestOffer, decimal_text, time_text
from reports.statistics.page_reasons import PAGE_REASONS, REJECTION_REASONS
from reports.statistics.price_bands import format_band
from reports.statistics.sightings import VanishedOffer
from reports.statistics.value_names import DECISION_NAMES, RUN_STATE_NAMES
from reports.write.cell_escaping import Cell, escape_row
from reports.write.workbook import Workbook

# Columns of the findings: name in the CSV file, heading in the workbook, width in characters.
_FINDING_COLUMNS = (
    ("verdict", gettext_noop("verdict"), 10),
    ("title", gettext_noop("title"), 50),
    ("price", gettext_noop("price"), 12),
    ("currency", gettext_noop("currency"), 9),
    ("brand", gettext_noop("brand"), 18),
    ("category", gettext_noop("category"), 32),
    ("cause", gettext_noop("probable cause"), 28),
    ("evidence", gettext_noop("evidence"), 60),
    ("also", gettext_noop("further observations"), 40),
    ("score", gettext_noop("probability listed"), 10),
    ("since", gettext_noop("since the last run"), 12),
    ("url", gettext_noop("url"), 50),
    ("ean", gettext_noop("EAN"), 16),
    ("han", gettext_noop("manufacturer's number"), 16),
    ("sku", gettext_noop("article number"), 16),
    ("availability", gettext_noop("availability"), 13),
    ("nearest_title", gettext_noop("nearest catalog offer"), 40),
    ("nearest_price", gettext_noop("its price"), 12),
    ("nearest_url", gettext_noop("its url"), 40),
    ("reasons", gettext_noop("reasons of the matcher"), 60),
    ("word", gettext_noop("review decision"), 12),
    ("note", gettext_noop("note"), 30),
    ("fetched_at", gettext_noop("page fetched (UTC)"), 17),
    ("variant_of", gettext_noop("page with all variants"), 50),
    ("rank", gettext_noop("rank"), 8),
    ("value", gettext_noop("value at stake"), 12),
    ("first_seen", gettext_noop("first seen (UTC)"), 17),
    ("last_seen", gettext_noop("last seen (UTC)"), 17),
    ("verdict_since", gettext_noop("verdict since (UTC)"), 17),
    ("reviewed_at", gettext_noop("decided (UTC)"), 17),
    ("other_urls", gettext_noop("further urls"), 50),
    ("reviewer", gettext_noop("decided by"), 18),
)
_WORKBOOK_COLUMNS = tuple((heading, width) for _, heading, width in _FINDING_COLUMNS)
# A cell before its texts are in a language: sentences are translated, several are joined.
_Value = Cell | Sentence | tuple[Sentence, ...]
_NO_OFFER = NearestOffer(title=None, url=None, price=None, currency=None)


@dataclass(frozen=True)
class Sheet:
    """Table of a workbook; rows are made when they are written."""

    name: Sentence
    columns: Sequence[tuple[str | Sentence, int]]
    rows: Iterable[Sequence[_Value]]


def write_csv(path: Path, report: Report) -> None:
    """Write the findings of a report as CSV (UTF-8, comma, header). Raises OSError."""
    write_findings_csv(path, report.findings)


def write_findings_csv(path: Path, findings: Iterable[Finding]) -> None:
    """Write findings as CSV, one at a time. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _, _ in _FINDING_COLUMNS])
        for finding in findings:
            cells = _texts_in(_finding_cells(finding, ENGLISH), ENGLISH)
            writer.writerow(map(_csv_cell, escape_row(cells)))


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, Decimal):
        return decimal_text(cell)
    if isinstance(cell, datetime):
        return time_text(cell)
    return cell


def _texts_in(values: Iterable[_Value], language: Language) -> list[Cell]:
    """Return the cells with their sentences in a language; no sentence makes an empty cell."""
    cells: list[Cell] = []
    for value in values:
        if isinstance(value, Sentence):
            cells.append(value.in_language(language))
        elif isinstance(value, tuple):
            texts = (sentence.in_language(language) for sentence in value)
            cells.append("; ".join(texts) or None)
        else:
            cells.append(value)
    return cells


def write_xlsx(path: Path, report: Report, language: Language = ENGLISH) -> None:
    """Write everything as a workbook, one sheet per table. Raises OSError."""
    _write_workbook(path, build_sheets(report, language), language)


def write_findings_xlsx(
    path: Path, findings: Iterable[Finding], language: Language = ENGLISH
) -> None:
    """Write findings as a workbook with one sheet, one at a time. Raises OSError."""
    rows = (_finding_cells(finding, language) for finding in findings)
    sheet = Sheet(Sentence("Findings"), _WORKBOOK_COLUMNS, rows)
    _write_workbook(path, [sheet], language)


def _write_workbook(path: Path, sheets: Iterable[Sheet], language: Language) -> None:
    with Workbook(path) as workbook:
        for sheet in sheets:
            columns = []
            for name, width in sheet.columns:
                heading = name if isinstance(name, Sentence) else Sentence(name)
                columns.append((heading.in_language(language), width))
            rows = (escape_row(_texts_in(cells, language)) for cells in sheet.rows)
            workbook.write_sheet(sheet.name.in_language(language), columns, rows)


def build_sheets(report: Report, language: Language = ENGLISH) -> Iterator[Sheet]:
    """Yield all tables of the report; labels with numbers are in `language`."""
    figures, quality = report.completeness, report.feed_quality
    currency = figures.currency
    currencies = _currencies(figures)
    columns = ((gettext_noop("figure"), 44), ("value", 24), ("note", 60))
    yield Sheet(Sentence("Summary"), columns, _summary_rows(report, language))
    lists = (
        (Sentence("Missing"), report.findings_with(Verdict.MISSING)),
        (Sentence("Unsure"), report.findings_with(Verdict.UNSURE)),
        (Sentence("Ignored"), report.ignored),
        (Sentence("Resolved"), report.resolved),
    )
    for name, findings in lists:
        rows = (_finding_cells(finding, language) for finding in findings)
        yield Sheet(name, _WORKBOOK_COLUMNS, rows)
    yield _vanished_offers_sheet(report.no_longer_seen)
    yield _causes_sheet(report.causes, currencies)
    bands, band = Sentence("Price bands"), gettext_noop("price band")
    groups = _GroupSheets(currencies, language)
    yield groups.sheet(Sentence("Categories"), gettext_noop("category"), figures.by_category)
    yield _GroupSheets([currency or ""], language).sheet(bands, band, figures.by_band)
    for other_currency, other_bands in figures.other_currency_bands:
        name = Sentence("Price bands {currency}", {"currency": other_currency})
        yield _GroupSheets([other_currency], language).sheet(name, band, other_bands)
    yield groups.sheet(Sentence("Brands"), gettext_noop("brand"), figures.by_brand)
    yield _price_differences_sheet(quality)
    yield _title_differences_sheet(quality)
    yield _rejections_sheet(quality.rejections.values())
    yield _unseen_sheet(quality)
    yield _crawl_sheet(figures.coverage)


def _currencies(figures: Completeness) -> list[str]:
    """Return the currencies of the missing offers, that of most offers first; "" for none."""
    values = figures.total.value
    return [currency for currency in figures.ranking.order if currency in values]


def _value_columns(currencies: Sequence[str]) -> list[tuple[str | Sentence, int]]:
    """Return a column for each currency, since amounts of several have no sum."""
    columns: list[tuple[str | Sentence, int]] = []
    for currency in currencies:
        name = Sentence("missing value")
        if currency:
            name = Sentence("missing value {currency}", {"currency": currency})
        columns.append((name, 18))
    return columns


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
    return Sheet(Sentence("No longer seen"), columns, map(cells, offers))


def _causes_sheet(causes: Iterable[CauseShare], currencies: Sequence[str]) -> Sheet:
    def cells(share: CauseShare) -> list[_Value]:
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
        evidence = share.evidence[0].sentence
        return [Sentence(share.kind.value), share.offers, *values, evidence, *figures]

    columns = (
        (gettext_noop("cause"), 36),
        (gettext_noop("missing"), 10),
        *_value_columns(currencies),
        (gettext_noop("evidence"), 90),
        (gettext_noop("missing in the group"), 18),
        (gettext_noop("offers in the group"), 18),
        (gettext_noop("missing share of the group"), 22),
        (gettext_noop("missing share elsewhere"), 22),
    )
    return Sheet(Sentence("Causes"), columns, map(cells, causes))


@dataclass(frozen=True)
class _GroupSheets:
    """Sheets of groups with a column of values per currency."""

    currencies: Sequence[str]
    language: Language

    def sheet(self, name: Sentence, column: str, groups: Iterable[Group]) -> Sheet:
        """Return a sheet with a row per group, whose name stands in `column`."""
        columns: tuple[tuple[str | Sentence, int], ...] = (
            (column, 40),
            (gettext_noop("seen"), 9),
            (gettext_noop("listed"), 9),
            (gettext_noop("missing"), 9),
            (gettext_noop("unsure"), 9),
            (gettext_noop("missing share"), 13),
            (gettext_noop("at least (95%)"), 14),
            (gettext_noop("at most (95%)"), 14),
            *_value_columns(self.currencies),
        )
        return Sheet(name, columns, map(self._cells, groups))

    def _cells(self, group: Group) -> list[_Value]:
        counts = group.counts
        low, high = counts.interval()
        label: _Value = group.name or Sentence("(none)")
        if group.band:
            label = format_band(group.band, self.currencies[0] or None, self.language)
        return [
            label,
            counts.seen,
            counts.listed,
            counts.missing,
            counts.unsure,
            round(counts.missing_share, 4),
            round(low, 4),
            round(high, 4),
            *(counts.value_in(currency) for currency in self.currencies),
        ]


def _price_differences_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        (gettext_noop("title"), 50),
        (gettext_noop("price on page"), 14),
        (gettext_noop("in catalog"), 14),
        (gettext_noop("currency"), 9),
        (gettext_noop("difference"), 11),
        (gettext_noop("url"), 50),
    )
    rows = (
        (offer.title, offer.page_price, offer.catalog_price, offer.currency, offer.share, offer.url)
        for offer in quality.prices
    )
    return Sheet(Sentence("Price differences"), columns, rows)


def _title_differences_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        (gettext_noop("title on page"), 50),
        (gettext_noop("title in catalog"), 50),
        (gettext_noop("similarity (0-100)"), 17),
        (gettext_noop("url"), 50),
    )
    rows = (
        (offer.page_title, offer.catalog_title, round(offer.similarity), offer.url)
        for offer in quality.titles
    )
    return Sheet(Sentence("Title differences"), columns, rows)


def _rejections_sheet(rejections: Iterable[RejectionReason]) -> Sheet:
    def cells(rejection: RejectionReason) -> list[_Value]:
        example = rejection.examples[0]
        reason = REJECTION_REASONS.recognize(rejection.reason)
        return [reason, rejection.rows, example.source, example.line, example.raw]

    columns = (
        (gettext_noop("reason"), 60),
        (gettext_noop("rows"), 8),
        (gettext_noop("example from"), 30),
        (gettext_noop("row"), 8),
        (gettext_noop("its text"), 80),
    )
    return Sheet(Sentence("Rejected rows"), columns, map(cells, rejections))


def _unseen_sheet(quality: FeedQuality) -> Sheet:
    columns = (
        (gettext_noop("catalog key"), 20),
        (gettext_noop("title"), 50),
        (gettext_noop("price"), 12),
        (gettext_noop("currency"), 9),
        (gettext_noop("page"), 14),
        (gettext_noop("reason"), 30),
        (gettext_noop("url"), 50),
    )
    rows = (
        (
            offer.ref,
            offer.title,
            offer.price,
            offer.currency,
            Sentence(offer.status.value),
            PAGE_REASONS.recognize(offer.reason or ""),
            offer.url,
        )
        for offer in quality.unseen
    )
    return Sheet(Sentence("Not seen in the shop"), columns, rows)


def _crawl_sheet(coverage: Coverage) -> Sheet:
    rows = (
        (PAGE_REASONS.recognize(count.state), PAGE_REASONS.recognize(count.reason), count.pages)
        for count in coverage.reasons
    )
    return Sheet(
        Sentence("Crawl"),
        ((gettext_noop("state"), 14), (gettext_noop("reason"), 60), (gettext_noop("pages"), 10)),
        rows,
    )


def _summary_rows(report: Report, language: Language) -> Iterator[list[_Value]]:
    figures = report.completeness
    total, coverage = figures.total, figures.coverage
    low, high = total.interval()
    page_share = None
    if coverage.page_share is not None:
        page_share = Sentence("{share} of the pages to fetch", {"share": coverage.page_share})
    yield [Sentence("shop"), report.shop.name, report.shop.url]
    yield [Sentence("run"), report.run.id, language.minute(report.run_at)]
    state = Sentence(RUN_STATE_NAMES[report.run_state])
    yield [Sentence("state of the run"), state, report.run.reason]
    yield [Sentence("offers seen in the shop"), total.seen, None]
    yield [Sentence("listed"), total.listed, None]
    yield [Sentence("missing"), total.missing, None]
    yield [Sentence("unsure"), total.unsure, Sentence("counted neither as listed nor as missing")]
    yield [Sentence("missing share"), round(total.missing_share, 4), _interval(low, high)]
    ignored = figures.decisions.get(ReviewDecision.IGNORE, 0)
    yield [Sentence("ignored"), ignored, Sentence("counted nowhere else")]
    if figures.estimate is not None:
        estimate = figures.estimate
        yield [
            Sentence("listed share of the whole shop"),
            round(estimate.share, 4),
            _interval(estimate.low, estimate.high),
        ]
    for currency in _currencies(figures):
        unit = currency or Sentence("no currency")
        yield [Sentence("missing value"), total.value[currency], unit]
    if ranking := figures.ranking.describe(language):
        yield [Sentence("ranking"), None, ranking]
    if not report.has_import:
        note = Sentence("nothing was imported: every offer counts as missing")
        yield [Sentence("catalog"), 0, note]
    yield [Sentence("pages discovered"), coverage.pages, None]
    yield [Sentence("pages with a response"), coverage.answered, page_share]
    yield [Sentence("offers of the catalog"), coverage.known, None]
    found = coverage.seen + coverage.page_found
    yield [Sentence("catalog offers whose page was found"), found, None]
    not_found = Sentence("catalog offers whose page is gone")
    yield [not_found, coverage.not_found, Sentence("not found")]
    not_crawled = Sentence("catalog offers whose page was not fetched")
    yield [not_crawled, coverage.not_crawled, Sentence("not crawled")]
    no_link = Sentence("catalog offers without a usable link")
    yield [no_link, coverage.no_link, Sentence("broken or hidden target, no match")]
    for decision, number in figures.decisions.items():
        name = Sentence(DECISION_NAMES[decision])
        yield [Sentence("review decisions: {decision}", {"decision": name}), number, None]


def _interval(low: float, high: float) -> Sentence:
    return Sentence("95% confidence interval: {low} to {high}", {"low": low, "high": high})


def _finding_cells(finding: Finding, language: Language) -> list[_Value]:
    reasons = [MATCH_REASONS.translate(reason, language) for reason in finding.reasons]
    nearest = finding.nearest or _NO_OFFER
    return [
        Sentence("ignored" if finding.is_ignored else finding.verdict.value),
        finding.title,
        finding.price,
        finding.currency,
        finding.brand,
        finding.category,
        finding.cause and Sentence(finding.cause),
        finding.evidence[:1],
        finding.evidence[1:],
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
        "; ".join(reasons) or None,
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
