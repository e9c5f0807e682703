"""Notes on a run: the limits of its figures, as sentences in the reader's language."""

from collections.abc import Mapping
from typing import Any

from catalog.language.languages import ENGLISH, Language
from catalog.models import DriftKind, RunState
from reports.model.report_model import Report
from reports.statistics.coverage import Coverage


def run_notes(report: Report, language: Language) -> list[str]:
    """Return the limits of a run as sentences, the reason of a failed one first."""
    notes = []
    if report.run.state == RunState.FAILED and report.run.reason:
        text = language.gettext("The run failed: {reason}.")
        notes.append(text.format(reason=report.run.reason.rstrip(".")))
    coverage = report.completeness.coverage
    return [
        *notes,
        *drift_notes(report.run.figures, language),
        *coverage_notes(coverage, language),
    ]


def coverage_notes(coverage: Coverage, language: Language) -> list[str]:
    """Return the limits of the crawl's coverage as sentences; none if it saw everything."""
    ngettext = language.ngettext
    notes = []
    if not coverage.pages:
        notes.append(language.gettext("No page of the shop was discovered."))
    elif not coverage.answered:
        notes.append(language.gettext("The shop answered for no page."))
    counted = (
        (
            coverage.waiting,
            ngettext(
                "{number} discovered page was not visited before the crawl ended.",
                "{number} discovered pages were not visited before the crawl ended.",
                coverage.waiting,
            ),
        ),
        (
            coverage.failed,
            ngettext(
                "{number} page failed to load.", "{number} pages failed to load.", coverage.failed
            ),
        ),
        (
            coverage.sitemaps_unread,
            ngettext(
                "{number} sitemap could not be read.",
                "{number} sitemaps could not be read.",
                coverage.sitemaps_unread,
            ),
        ),
        (
            coverage.refused,
            ngettext(
                "{number} page was skipped on purpose (robots.txt, traps, other files).",
                "{number} pages were skipped on purpose (robots.txt, traps, other files).",
                coverage.refused,
            ),
        ),
        (
            coverage.not_crawled,
            ngettext(
                "{number} offer of the catalog could not be looked up.",
                "{number} offers of the catalog could not be looked up.",
                coverage.not_crawled,
            ),
        ),
    )
    for number, text in counted:
        if number:
            notes.append(text.format(number=language.count(number)))
    return notes


def drift_notes(figures: Mapping[str, Any], language: Language = ENGLISH) -> list[str]:
    """Return a sentence if the rules were learnt again because the shop's pages had changed.

    >>> drift_notes({"learn": {"version": 4, "drift_kind": "holds"}})
    []
    """
    learnt = figures.get("learn") or {}
    kind = learnt.get("drift_kind")
    if kind not in (DriftKind.DRIFTED, DriftKind.REDESIGNED):
        return []
    if kind == DriftKind.REDESIGNED:
        text = language.gettext(
            "The shop was redesigned. The rules were learnt again as version {version}."
        )
    else:
        text = language.gettext(
            "Some rules no longer fitted the shop’s pages. The rules were learnt again as version "
            "{version}."
        )
    return [text.format(version=learnt.get("version"))]
