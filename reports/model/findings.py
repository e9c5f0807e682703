"""Findings of a run as `scout offers` prints them, each with verdict, cause and evidence."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlmodel import select

from catalog.models import Match, Shop, Verdict
from catalog.storage.store import Store
from reports.model.report_model import build_report
from reports.statistics.findings_reader import MAX_URL_LENGTH, Finding, clean_text


def list_findings(
    store: Store, shop: Shop, run_id: int, verdicts: Collection[Verdict] | None = None
) -> list[Finding]:
    """List the findings of a run with the given verdicts (None: all), the most valuable first.

    Verdicts follow the review decisions: a rejected finding is listed, an accepted one missing.
    Ignored findings are left out if verdicts are given. Raises UsageError if the shop has no such
    run.
    """
    selected = set(Verdict)
    if verdicts is not None:
        selected = set(verdicts)
    findings = [
        finding
        for finding in build_report(store, shop, run_id, keep=selected).findings
        if finding.verdict in selected and not (finding.is_ignored and verdicts is not None)
    ]
    _add_explanations(store, run_id, findings)
    return findings


def _add_explanations(store: Store, run_id: int, findings: Sequence[Finding]) -> None:
    """Fill in the matcher's explanations, which are too long to be read for every report."""
    by_url = {finding.url: finding for finding in findings}
    with store.read() as session:
        for url, why in session.exec(select(Match.url, Match.why).where(Match.run_id == run_id)):
            finding = by_url.get(clean_text(url, MAX_URL_LENGTH) or "")
            if why and finding is not None:
                candidates = [_printable(candidate) for candidate in why["candidates"]]
                finding.why = {**why, "candidates": candidates}


def _printable(candidate: Mapping[str, Any]) -> dict[str, Any]:
    title, url = clean_text(candidate.get("title")), clean_text(candidate.get("url"))
    return {**candidate, "title": title, "url": url}
