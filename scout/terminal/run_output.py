"""The result of a run on the terminal.

Totals, missing offers by category, price and cause, and the paths of the report.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scout.pipeline.run_summary import RunSummary
from scout.terminal.output import format_cell, print_lines, print_table, shorten

if TYPE_CHECKING:
    from reports.model.report_model import Report
    from reports.statistics.completeness import Completeness, Group, VerdictCounts
    from reports.statistics.findings_reader import Finding

MAX_TABLE_ROWS = 10
"""Rows of each table: a summary that fits on a screen; the report holds all."""

MAX_EVIDENCE_LENGTH = 100
"""Characters of the evidence of a cause."""


def print_run(summary: RunSummary, report: "Report") -> None:
    """Print the findings of a run, as collected by `reports.model.report_model.build_report`."""
    from catalog.models import Verdict

    _print_totals(summary, report.completeness)
    if not report.has_import:
        print_lines(
            "No offers of this shop were imported into the catalog, so every offer counts as "
            "missing: import them with 'scout catalog import'."
        )
    if report.is_read_by_heuristics:
        print_lines(
            "No rules could be learnt from known offers: the pages were read with general rules, "
            "which are less reliable."
        )
    _print_by_category(report.completeness)
    _print_by_price(report.completeness)
    _print_by_cause(report)
    _print_most_valuable(report.findings_with(Verdict.MISSING))
    _print_rules(summary)
    _print_report_paths(summary)


def _print_totals(summary: RunSummary, completeness: "Completeness") -> None:
    total, coverage = completeness.total, completeness.coverage
    print_lines(
        "",
        f"{format_cell(summary.shop)}: {total.seen} offers on "
        f"{coverage.fetched} fetched pages, of {coverage.pages} discovered.",
        f"The catalog lists {total.listed} and lacks {total.missing} ({total.missing_share:.0%}); "
        f"{total.unsure} are unsure.",
    )
    if summary.ignored:
        print_lines(f"Reviewers ignored {summary.ignored} further offers, which are not counted.")
    if total.value:
        print_lines(f"The missing offers cost {_value(total)} in the shop.")
    if completeness.ranking.describe():
        print_lines(completeness.ranking.describe())
    estimate = completeness.estimate
    if estimate is not None and total.seen:
        print_lines(
            f"The catalog lists between {estimate.low:.0%} and {estimate.high:.0%} of all offers "
            "of the shop (95% confidence interval)."
        )
    if coverage.is_complete:
        return
    unread = ""
    if coverage.sitemaps_unread:
        unread = f"; {coverage.sitemaps_unread} sitemaps could not be read"
    print_lines(
        f"The crawl is incomplete: {coverage.waiting} pages are waiting, "
        f"{coverage.failed} failed{unread}."
    )


def _print_by_category(completeness: "Completeness") -> None:
    groups = completeness.categories()
    _print_missing("category", [(shorten(group.name) or "(none)", group) for group in groups])


def _print_by_price(completeness: "Completeness") -> None:
    currency = completeness.currency
    # Offers in other currencies have bands of their own in the report only.
    remark = f" ({format_cell(currency)} only)" if completeness.other_currencies else ""
    groups = [(_band_label(group, currency), group) for group in completeness.by_band]
    _print_missing("price", groups, remark)


def _print_missing(grouping: str, groups: "Sequence[tuple[str, Group]]", remark: str = "") -> None:
    rows = []
    for name, group in groups:
        tally = group.counts
        if tally.missing:
            rows.append(
                (name, tally.missing, tally.seen, f"{tally.missing_share:.0%}", _value(tally))
            )
    if not rows:
        return
    print_lines("")
    columns = (grouping, "missing", "of", "share", "value")
    print_table(columns, rows[:MAX_TABLE_ROWS], f"Missing by {grouping}{remark}")
    if len(rows) > MAX_TABLE_ROWS:
        print_lines(f"... and {len(rows) - MAX_TABLE_ROWS} more: see the report")


def _value(tally: "VerdictCounts") -> str:
    amounts = sorted(tally.value.items())
    return ", ".join(f"{value:,} {currency}".strip() for currency, value in amounts)


def _band_label(group: "Group", currency: str | None) -> str:
    low, high = (group.band.low, group.band.high) if group.band else (None, None)
    unit = currency or ""
    if low is None:
        return "any" if high is None else f"below {high} {unit}"
    if high is None:
        return f"{low} {unit} and more"
    return f"{low} to {high}"


def _print_by_cause(report: "Report") -> None:
    if not report.causes:
        return
    print_lines("")
    rows = []
    for cause in report.causes[:MAX_TABLE_ROWS]:
        evidence = shorten(cause.evidence[0].text, MAX_EVIDENCE_LENGTH)
        rows.append((cause.kind.value, cause.offers, _value(cause.counts), evidence))
    print_table(("cause", "offers", "value", "evidence"), rows, "Missing by cause")
    if len(report.causes) > MAX_TABLE_ROWS:
        print_lines(f"... and {len(report.causes) - MAX_TABLE_ROWS} more: see the report")


def _print_most_valuable(missing: "Sequence[Finding]") -> None:
    if not missing:
        return
    print_lines("")
    rows = []
    for finding in missing[:MAX_TABLE_ROWS]:
        rows.append((finding.price, finding.currency, shorten(finding.title, 50), finding.url))
    title = f"{len(rows)} of {len(missing)} missing offers, by value"
    print_table(("price", "", "title", "url"), rows, title)


def _print_rules(summary: RunSummary) -> None:
    """Print the drift of the shop's earlier rules; nothing on a first run."""
    if not summary.drift:
        return
    pinned = f"; {summary.kept} locked or manual ones were kept" if summary.kept else ""
    print_lines(
        "",
        f"Rules: {format_cell(summary.drift)}.",
        f"They were learnt again as version {summary.rules}{pinned}.",
    )


def _print_report_paths(summary: RunSummary) -> None:
    print_lines("")
    for kind, path in summary.reports.items():
        print_lines(f"{kind}: {Path(path).resolve()}")
