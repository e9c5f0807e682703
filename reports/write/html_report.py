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
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from catalog.models import DriftKind, RunState, Verdict
from catalog.storage.findings import Change
from reports.causes.cause_kinds import ADVICE, CauseKind
from reports.causes.feed_quality import UnseenOffer, group_by_status
from reports.model.report_model import Report
from reports.statistics import formatting
from reports.statistics.completeness import Group, VerdictCounts
from reports.statistics.coverage import Coverage, OfferStatus
from reports.statistics.findings_reader import Finding, decimal_text
from reports.statistics.price_bands import Band
from reports.statistics.sightings import VanishedOffer
from reports.write import charts
from reports.write.offer_data import (
    DETAILS_PER_CHUNK,
    CauseKeys,
    DetailBudget,
    DetailReader,
    OfferList,
    cause_key,
)

# Rows of a list that are in the page as a table. Of missing and unsure offers the script draws all.
MAX_OFFERS = 100
MAX_ROWS = 200

_FALLEN_COVERAGE = 0.05  # loss in the share of pages with a response that makes figures doubtful
_MAX_BARS = 14  # bars that fit on a screen
_MAX_BRAND_BARS = 10
# Value of a facet for offers that do not state the attribute.
NOT_STATED = "-"

# Texts of the script.
MESSAGES = {
    "all": "all",
    "not_stated": "not stated",
    "out_of_stock": "out of stock",
    "first_seen": "first seen",
    "last_seen": "last seen",
    "nothing_similar": "nothing similar",
    "untitled": "untitled",
    "probability": "probability of being the same offer",
    "change_new": "new",
    "change_reappeared": "missing again",
    "word_accept": "confirmed",
    "word_reject": "rejected",
    "word_ignore": "ignored",
    "several": "one of several offers on its page",
    "shown": "{shown} of {all} offers",
    "none": "No offer matches these filters.",
    "loading": "Loading all offers …",
    "old_browser": "This browser is too old for filters: it shows the first rows only.",
    "more": "Show {number} more",
    "details": "Details",
    "attribute": "Attribute",
    "on_page": "On the page",
    "in_catalog": "In the catalog (nearest)",
    "reading": "Read with",
    "confidence": "confidence {share}, rules: {votes}",
    "values": "Values that were compared",
    "evidence": "For and against being the same offer",
    "evidence_hint": "Each bar begins where the one above ends. Bars with + move to the right and "
    "speak for the same offer; bars with − speak against it.",
    "candidates": "Nearest offers of the catalog",
    "no_candidates": "The catalog has no similar offer.",
    "page": "Page",
    "fetched": "fetched",
    "snapshot": "snapshot",
    "open": "Open in the shop",
    "also_at": "also at",
    "decision": "Review decision",
    "no_decision": "none yet",
    "no_details": "This report has details of the most valuable offers only. "
    "“scout offers --json” has those of all.",
    "download": "missing offers",
}


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


def write_html(path: Path, report: Report, read_details: DetailReader | None = None) -> None:
    """Write the report as one self-contained page.

    `read_details` reads what an opened row shows; without it, rows cannot be opened.
    """
    template = _environment().get_template("report.html")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(template.generate(_template_values(report, read_details)))


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
        "offer_texts": offer_texts,
    }
    environment.filters.update(filters)
    environment.globals.update(
        plural=formatting.format_plural,
        band_name=formatting.format_band,
        charts=charts,
        cause_key=cause_key,
        rows_link=rows_link,
        band_range=band_range,
        no_texts=RowTexts(),
        details_per_chunk=DETAILS_PER_CHUNK,
    )
    return environment


def _template_values(report: Report, read_details: DetailReader | None) -> dict[str, Any]:
    """Return the variables of the template, long lists shortened."""
    keys, budget = CauseKeys(report.causes), DetailBudget()
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
        "brands": _shorten_brands(figures.by_brand),
        "bands": figures.by_band,
        "causes": report.causes,
        "has_pattern": any(cause.kind is not CauseKind.OTHER for cause in report.causes),
        "advice": {kind.value: text for kind, text in ADVICE.items()},
        "trend": report.trend,
        "feed_quality": report.feed_quality,
        "missing": OfferList("missing", missing, missing[:MAX_OFFERS], keys, read_details, budget),
        "missing_count": len(missing),
        "unsure": OfferList("unsure", unsure, unsure[:MAX_OFFERS], keys, read_details, budget),
        "messages": MESSAGES,
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


def rows_link(offer_list: str, **facets: str | None) -> str:
    """Return the link to the rows of a list with these facets; None stands for "not stated".

    >>> rows_link("missing", category="Garden > Mowers", brand=None)
    '#missing?category=Garden+%3E+Mowers&brand=-'
    """
    query = {name: NOT_STATED if value is None else value for name, value in facets.items()}
    return f"#{offer_list}?{urlencode(query)}"


def band_range(band: Band) -> str:
    """Return a price band as its facet has it: lower border included, upper one excluded.

    >>> from decimal import Decimal
    >>> band_range(Band(Decimal(20), Decimal(50))), band_range(Band(None, Decimal("9.5")))
    ('20-50', '-9.5')
    """
    return f"{decimal_text(band.low) or ''}-{decimal_text(band.high) or ''}"


@dataclass(frozen=True)
class RowTexts:
    """Texts of a row by field, as the script makes them for the rows that are not in the page."""

    identifiers: str = ""
    seen: str = ""
    change: str = ""
    word: str = ""
    category: str = ""
    brand: str = ""
    price: str = ""
    evidence: str = ""
    also: str = ""
    nearest: str = ""


def offer_texts(finding: Finding) -> RowTexts:
    """Return the texts of a finding's row."""
    numbers = [("EAN", finding.ean), ("SKU", finding.sku), ("HAN", finding.han)]
    identifiers = [f"{name} {value}" for name, value in numbers if value]
    if finding.availability == "out_of_stock":
        identifiers.append(MESSAGES["out_of_stock"])
    nearest = MESSAGES["nothing_similar"]
    if finding.nearest is not None:
        currency = finding.nearest.currency or finding.currency
        price = formatting.format_price(finding.nearest.price, currency)
        nearest = f"{price} · {MESSAGES['probability']} {formatting.format_percent(finding.score)}"
    return RowTexts(
        identifiers=" · ".join(identifiers),
        seen=_sighting_text(finding),
        change=MESSAGES.get(f"change_{finding.since}", ""),
        word=_decision_text(finding),
        category=formatting.format_category(finding.category) or "–",
        brand=finding.brand or "",
        price=formatting.format_price(finding.price, finding.currency),
        evidence=finding.evidence[0] if finding.evidence else "",
        also="; ".join(finding.evidence[1:3]),
        nearest=nearest,
    )


def _sighting_text(finding: Finding) -> str:
    if finding.first_seen_at is None:
        return ""
    text = f"{MESSAGES['first_seen']} {formatting.format_minute(finding.first_seen_at)}"
    if finding.last_seen_at == finding.first_seen_at:
        return text
    return f"{text}, {MESSAGES['last_seen']} {formatting.format_minute(finding.last_seen_at)}"


def _decision_text(finding: Finding) -> str:
    if finding.decision is None:
        return ""
    decision = MESSAGES[f"word_{finding.decision.value}"]
    return f"{decision}: {finding.note}" if finding.note else decision


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

    >>> drift_notes({"learn": {"version": 4, "drift": "all is well", "drift_kind": "holds"}})
    []
    """
    learnt = figures.get("learn") or {}
    drift = str(learnt.get("drift") or "")
    if not drift or learnt.get("drift_kind") not in (DriftKind.DRIFTED, DriftKind.REDESIGNED):
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
