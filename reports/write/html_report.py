"""HTML report: one file that needs no network and runs no script but its own.

Styles and the one script are inlined. The content security policy allows that script by its hash
and nothing else, so a shop's title that slipped through the escaping could still not load or run
anything. The shop's images are not shown, because opening a report must not show up in the shop's
statistics.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from catalog.models import RunState, Verdict
from catalog.storage.findings import Change
from reports.causes.cause_kinds import ADVICE, CauseKind
from reports.causes.feed_quality import UnseenOffer, group_by_status
from reports.model.report_model import Report
from reports.statistics import formatting
from reports.statistics.completeness import Group, VerdictCounts
from reports.statistics.coverage import Coverage, OfferStatus
from reports.statistics.findings_reader import Finding
from reports.statistics.sightings import VanishedOffer
from reports.write import charts

# Rows shown per list: what a browser draws without delay. The other formats hold all rows.
MAX_MISSING = 2000
MAX_UNSURE = 500
MAX_ROWS = 200

_FALLEN_COVERAGE = 0.05  # loss in the share of pages with a response that makes figures doubtful
_MAX_CATEGORY_CHOICES = 500  # entries of the category filter
_MAX_BARS = 14  # bars that fit on a screen
_MAX_BRAND_BARS = 10


@dataclass(frozen=True)
class ShortenedGroups:
    """First groups of a ranking.

    `hidden` sums up the groups that are not shown, None if there are none.
    """

    shown: tuple[Group, ...]
    hidden: Group | None = None


@dataclass(frozen=True)
class UnseenList:
    """Catalog offers with one status: their number, and the first ones."""

    count: int
    shown: Sequence[UnseenOffer]


def write_html(path: Path, report: Report) -> None:
    """Write the report as one self-contained page."""
    template = _environment().get_template("report.html")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(template.generate(_template_values(report)))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "count": formatting.format_count,
        "totals": formatting.format_totals,
        "price": formatting.format_price,
        "category": formatting.format_category,
        "percent": formatting.format_percent,
        "change": formatting.format_change,
        "date": formatting.format_date,
        "minute": formatting.format_minute,
        "web_link": web_link,
        "host": host_name,
    }
    environment.filters.update(filters)
    environment.globals.update(
        plural=formatting.format_plural, band_name=formatting.format_band, charts=charts
    )
    return environment


def _template_values(report: Report) -> dict[str, Any]:
    """Return the variables of the template, long lists shortened."""
    figures = report.completeness
    missing = report.findings_with(Verdict.MISSING)
    unsure = report.findings_with(Verdict.UNSURE)
    ignored = report.ignored
    script = _static_file("report.js")
    return {
        "report": report,
        "shop": report.shop,
        "run": report.run,
        "figures": figures,
        "total": figures.total,
        "coverage": figures.coverage,
        "coverage_fell": has_coverage_fallen(report),
        "notes": run_notes(report),
        "ranking": figures.ranking.describe(),
        "changes": _changed_offers(report),
        "currency": figures.currency,
        "categories": _shorten(figures.categories(), _MAX_BARS),
        "category_choices": _category_choices(report),
        "brands": _shorten_brands(figures.by_brand),
        "bands": figures.by_band,
        "causes": report.causes,
        "has_pattern": any(cause.kind is not CauseKind.OTHER for cause in report.causes),
        # Several groups may have one kind of cause.
        "cause_choices": list(dict.fromkeys(cause.kind.value for cause in report.causes)),
        "advice": {kind.value: text for kind, text in ADVICE.items()},
        "trend": report.trend,
        "feed_quality": report.feed_quality,
        "missing": missing[:MAX_MISSING],
        "missing_count": len(missing),
        "unsure": unsure[:MAX_UNSURE],
        "unsure_count": len(unsure),
        "ignored": ignored[:MAX_ROWS],
        "ignored_count": len(ignored),
        "unseen": _unseen_lists(report),
        # An offer with the first status, "seen", is on no list.
        "statuses": tuple(OfferStatus)[1:],
        "max_rows": MAX_ROWS,
        "style": _static_file("report.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _changed_offers(report: Report) -> dict[str, Sequence[Finding | VanishedOffer]]:
    """Return the offers that changed since the previous run by the name of the change."""
    return {
        "Newly missing": report.changed(Change.NEW),
        "Still missing": report.changed(Change.STILL),
        "Missing again": report.changed(Change.REAPPEARED),
        "Resolved": report.resolved,
        "No longer seen": report.no_longer_seen,
    }


def _static_file(name: str) -> str:
    """Read a file of this package that is inlined unchanged."""
    return files("reports").joinpath("static", name).read_text("utf-8").strip()


def _category_choices(report: Report) -> list[str]:
    shown = report.findings_with(Verdict.MISSING)[:MAX_MISSING]
    return sorted({finding.category for finding in shown if finding.category})[
        :_MAX_CATEGORY_CHOICES
    ]


def _unseen_lists(report: Report) -> dict[OfferStatus, UnseenList]:
    groups = group_by_status(report.feed_quality.unseen)
    return {status: UnseenList(len(offers), offers[:MAX_ROWS]) for status, offers in groups.items()}


def _shorten(groups: tuple[Group, ...], limit: int) -> ShortenedGroups:
    hidden = groups[limit:]
    if not hidden:
        return ShortenedGroups(groups)
    counts = VerdictCounts()
    for group in hidden:
        counts.merge(group.counts)
    summary = Group(f"{formatting.format_count(len(hidden))} others", counts)
    return ShortenedGroups(groups[:limit], summary)


def _shorten_brands(groups: tuple[Group, ...]) -> ShortenedGroups:
    """Shorten the brands for the chart.

    No brands are shown if the shop has fewer than two, for they would repeat the total.
    """
    named = [group for group in groups if group.name]
    if len(named) < 2:
        return ShortenedGroups(())
    return _shorten(groups, _MAX_BRAND_BARS)


def run_notes(report: Report) -> list[str]:
    """Return the limits of a run as sentences, the reason of a failed one first."""
    notes = []
    if report.run.state == RunState.FAILED and report.run.reason:
        notes.append(f"The run failed: {report.run.reason.rstrip('.')}.")
    coverage = report.completeness.coverage
    return [*notes, *drift_notes(report.run.figures), *coverage_notes(coverage)]


def has_coverage_fallen(report: Report) -> bool:
    """Return True if the crawl saw much less of the shop than that of the previous run."""
    share, previous = report.completeness.coverage.page_share, report.trend.previous_page_share
    if share is None or previous is None:
        return False
    return share < previous - _FALLEN_COVERAGE


def coverage_notes(coverage: Coverage) -> list[str]:
    """Return the limits of the crawl's coverage as sentences; none if it saw everything."""
    plural = formatting.format_plural
    notes = []
    if not coverage.pages:
        notes.append("No page of the shop was discovered.")
    elif not coverage.answered:
        notes.append("No page was answered by the shop.")
    if coverage.waiting:
        pages = plural(coverage.waiting, "page")
        notes.append(f"{pages} discovered but not visited before the crawl ended.")
    if coverage.failed:
        notes.append(f"{plural(coverage.failed, 'page')} failed to load.")
    if coverage.sitemaps_unread:
        notes.append(f"{plural(coverage.sitemaps_unread, 'sitemap')} could not be read.")
    if coverage.refused:
        pages = plural(coverage.refused, "page")
        notes.append(f"{pages} skipped on purpose (robots.txt, traps, other files).")
    if coverage.not_crawled:
        offers = plural(coverage.not_crawled, "offer")
        notes.append(f"{offers} of the catalog could not be looked up.")
    return notes


def drift_notes(figures: Mapping[str, Any]) -> list[str]:
    """Return a sentence if the rules were learnt again because the shop's pages had changed.

    >>> drift_notes({"learn": {"version": 4, "drift": "the rules hold: all is well"}})
    []
    """
    learnt = figures.get("learn") or {}
    drift = str(learnt.get("drift") or "")
    if not drift or drift.startswith("the rules hold"):
        return []
    sentence = f"{drift[0].upper()}{drift[1:]}"
    return [f"{sentence}. The rules were learnt again as version {learnt.get('version')}."]


def web_link(url: str | None) -> str | None:
    """Return the URL if it is safe to link to (http or https with a host), else None.

    >>> web_link("https://shop.example/p/1"), web_link("javascript:alert(1)"), web_link("//x")
    ('https://shop.example/p/1', None, None)
    """
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    if parts.scheme in ("http", "https") and parts.netloc:
        return url
    return None


def host_name(url: str | None) -> str:
    """Return the host of a URL; a text that is no web link comes back unchanged.

    >>> host_name("https://www.shop.example/p/1")
    'www.shop.example'
    """
    if web_link(url):
        return urlsplit(url or "").netloc
    return url or ""
