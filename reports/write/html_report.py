"""HTML report: one file that needs no network and runs no script but its own.

Styles and the one script are inlined. The content security policy allows that script by its hash
and nothing else, so a shop's title that slipped through the escaping could still not load or run
anything. The shop's images are not shown, because opening a report must not show up in the shop's
statistics.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment

from catalog.language.languages import ENGLISH, Language
from catalog.language.sentences import gettext_noop
from catalog.language.templates import safe_link, template_environment
from catalog.models import Verdict
from catalog.storage.findings import Change
from reports.causes.cause_kinds import ADVICE, CauseKind
from reports.causes.feed_quality import UnseenOffer, group_by_status
from reports.model.report_model import Report
from reports.statistics.category_paths import format_category
from reports.statistics.completeness import Group, VerdictCounts
from reports.statistics.coverage import OfferStatus
from reports.statistics.findings_reader import Finding, decimal_text
from reports.statistics.page_reasons import reason_filters
from reports.statistics.price_bands import Band, format_band
from reports.statistics.sightings import VanishedOffer
from reports.statistics.value_names import VERDICT_NAMES
from reports.write import charts
from reports.write.offer_data import (
    DETAILS_PER_CHUNK,
    CauseKeys,
    DataWriter,
    DetailBudget,
    DetailReader,
    OfferList,
    cause_key,
    cause_name,
)
from reports.write.row_texts import RowTexts, RowWriter
from reports.write.run_notes import run_notes
from reports.write.script_messages import script_messages

# Rows of a list that are in the page as a table. Of missing and unsure offers the script draws all.
MAX_OFFERS = 100
MAX_ROWS = 200

_MAX_COVERAGE_LOSS = 0.05  # loss in the share of pages with a response that makes figures doubtful
_MAX_BARS = 14  # bars that fit on a screen
_MAX_BRAND_BARS = 10
# Value of a facet for offers that do not state the attribute.
NOT_STATED = "-"


@dataclass(frozen=True)
class HiddenGroups:
    """Groups that are not shown: their number, and the sum of their counts."""

    number: int
    counts: VerdictCounts


@dataclass(frozen=True)
class ShortenedGroups:
    """First groups of a ranking; `hidden` sums up the others, None if there are none."""

    shown: tuple[Group, ...]
    hidden: HiddenGroups | None = None


@dataclass(frozen=True)
class UnseenList:
    """Catalog offers with one status: their number, and the first ones."""

    count: int
    shown: Sequence[UnseenOffer]


@dataclass(frozen=True)
class ChangedOffers:
    """Offers with one change since the previous run; `anchor` is their list's id in the page."""

    anchor: str
    title: str
    offers: Sequence[Finding | VanishedOffer]


def write_html(
    path: Path,
    report: Report,
    read_details: DetailReader | None = None,
    language: Language = ENGLISH,
) -> None:
    """Write the report as one self-contained page.

    `read_details` reads the content of an opened row; without it, rows cannot be opened.
    """
    template = _environment(language).get_template("report.html")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(template.generate(_template_values(report, read_details, language)))


def compile_templates() -> None:
    """Compile the templates, for all reports of this process and of those that it forks."""
    environment = _environment(ENGLISH)
    for name in environment.list_templates():
        environment.get_template(name)


def _environment(language: Language) -> Environment:
    environment = template_environment("reports", language)
    texts = RowWriter(language)
    filters: dict[str, Callable[..., Any]] = {
        "category": format_category,
        "host": host_name,
        "offer_texts": texts.of,
    }
    environment.filters |= filters | reason_filters(language)
    environment.globals.update(
        band_name=lambda band, currency: format_band(band, currency, language),
        messages=script_messages(language),
        charts=charts,
        cause_key=cause_key,
        cause_name=lambda share: cause_name(share, language),
        rows_link=rows_link,
        band_range=band_range,
        no_texts=RowTexts(),
        details_per_chunk=DETAILS_PER_CHUNK,
    )
    return environment


def _template_values(
    report: Report, read_details: DetailReader | None, language: Language
) -> dict[str, Any]:
    """Return the variables of the template, long lists shortened."""
    budget = DetailBudget()
    data = DataWriter(CauseKeys(report.causes), language, read_details, budget)
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
        "notes": run_notes(report, language),
        "ranking": figures.ranking.describe(language),
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
        "missing": OfferList("missing", missing, missing[:MAX_OFFERS], data),
        "missing_count": len(missing),
        "unsure": OfferList("unsure", unsure, unsure[:MAX_OFFERS], data),
        "verdict_names": VERDICT_NAMES,
        "unsure_count": len(unsure),
        "ignored": ignored[:MAX_ROWS],
        "ignored_count": len(ignored),
        "unseen": _unseen_lists(report),
        # An offer with the first status, "seen", is on no list.
        "statuses": tuple(OfferStatus)[1:],
        "max_rows": MAX_ROWS,
        "style": _static_file("tokens.css") + _static_file("report.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _changed_offers(report: Report) -> list[ChangedOffers]:
    """Return the offers that changed since the previous run, by change."""
    return [
        ChangedOffers("newly-missing", gettext_noop("Newly missing"), report.changed(Change.NEW)),
        ChangedOffers("still-missing", gettext_noop("Still missing"), report.changed(Change.STILL)),
        ChangedOffers(
            "missing-again", gettext_noop("Missing again"), report.changed(Change.REAPPEARED)
        ),
        ChangedOffers("resolved", gettext_noop("Resolved"), report.resolved),
        ChangedOffers("no-longer-seen", gettext_noop("No longer seen"), report.no_longer_seen),
    ]


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
    return ShortenedGroups(groups[:limit], HiddenGroups(len(hidden), counts))


def _shorten_brands(groups: tuple[Group, ...]) -> ShortenedGroups:
    """Shorten the brands for the chart.

    No brands are shown if the shop has fewer than two, for they would repeat the total.
    """
    named = [group for group in groups if group.name]
    if len(named) < 2:
        return ShortenedGroups(())
    return _shorten(groups, _MAX_BRAND_BARS)


def has_coverage_fallen(report: Report) -> bool:
    """Return True if the crawl saw much less of the shop than that of the previous run."""
    share, previous = report.completeness.coverage.page_share, report.trend.previous_page_share
    if share is None or previous is None:
        return False
    return share < previous - _MAX_COVERAGE_LOSS


def host_name(url: str | None) -> str:
    """Return the host of a URL; a text that is no web link comes back unchanged.

    >>> host_name("https://www.shop.example/p/1"), host_name("http://user:word@shop.example:8443/")
    ('www.shop.example', 'shop.example')
    """
    host = urlsplit(url or "").hostname if safe_link(url) else None
    return host or url or ""
