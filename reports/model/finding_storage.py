"""Storage of a finished run's findings and counts, from the same report that its files show."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from heapq import merge
from typing import Any

from sqlmodel import Session, col, select

from catalog.models import Run, RunCounts, RunState, Shop, StoredFinding, Verdict
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.findings import (
    Change,
    fold_key,
    mark_vanished,
    read_counts,
    replace_findings,
    store_counts,
)
from catalog.storage.store import Store
from reports.model.report_model import Report, build_report
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, read_finding

# A report to store needs the findings of every verdict.
ALL_VERDICTS = frozenset(Verdict)


def store_findings(store: Store, report: Report) -> None:
    """Write a run's findings and counts in place of its former ones, in one transaction.

    The report has to have all verdicts.
    """
    run, shop = report.run, report.shop
    assert run.id is not None
    assert shop.id is not None
    previous_run_id = report.trend.previous_run_id
    with store.write() as session:
        replace_findings(session, run.id, _rows(report))
        if previous_run_id is not None:
            lost = [offer.url for offer in report.no_longer_seen]
            mark_vanished(session, previous_run_id, run.id, lost)
        store_counts(
            session,
            RunCounts(
                run_id=run.id,
                shop_id=shop.id,
                previous_run_id=previous_run_id,
                known_offers=report.feed_quality.known_offers,
                currency=report.completeness.currency,
                ranking=report.completeness.ranking.describe(),
                pages=_pages_by_state(report.completeness.coverage),
            ),
        )


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    findings = merge(report.findings, report.listed, key=lambda finding: finding.rank)
    for finding in findings:
        yield {
            "run_id": report.run.id,
            "shop_id": report.shop.id,
            **_columns(finding),
        }


def _columns(finding: Finding) -> dict[str, Any]:
    return {
        "match_id": finding.match_id,
        "url": finding.url,
        "rank": finding.rank,
        "verdict": finding.verdict.value,
        "is_ignored": finding.is_ignored,
        "amount": None if finding.price is None else float(finding.price),
        "price": finding.price,
        "value": finding.value,
        "currency": finding.currency,
        "title": finding.title,
        "brand": finding.brand,
        "brand_key": fold_key(finding.brand),
        "category": finding.category,
        "category_key": fold_key(finding.category),
        "ean": finding.ean,
        "han": finding.han,
        "sku": finding.sku,
        "availability": finding.availability,
        "score": finding.score,
        "cause": finding.cause,
        "change": finding.since,
        "decision": finding.decision,
        "note": finding.note,
        "reviewed_at": finding.reviewed_at,
        "fetched_at": finding.fetched_at,
        "first_seen_at": finding.first_seen_at,
        "first_seen_run_id": finding.first_seen_run_id,
        "last_seen_at": finding.last_seen_at,
        "since_at": finding.since_at,
        "since_run_id": finding.since_run_id,
        "was_missing": finding.was_missing or finding.is_missing,
        "variant_of": finding.variant_of,
        "urls": list(finding.urls),
        "evidence": list(finding.evidence),
    }


def _pages_by_state(coverage: Coverage) -> dict[str, int]:
    """Return the pages of the run by state, without the states that none has."""
    pages = {
        "fetched": coverage.fetched,
        "redirected": coverage.redirected,
        "gone": coverage.gone,
        "refused": coverage.refused,
        "failed": coverage.failed,
        "pending": coverage.waiting,
    }
    return {state: number for state, number in pages.items() if number}


def store_run_findings(store: Store, shop: Shop, run_id: int, rates: Mapping[str, Decimal]) -> None:
    """Infer and store the findings of a run anew."""
    store_findings(store, build_report(store, shop, run_id, keep=ALL_VERDICTS, rates=rates))


def backfill_findings(
    store: Store,
    shop: Shop,
    before: int | None = None,
    progress: Progress = no_progress,
    rates: Mapping[str, Decimal] | None = None,
) -> None:
    """Store the findings of the shop's finished runs that have none, the oldest first.

    Only runs `before` the one with that id, if given. Earlier versions of Scout stored no findings.
    """
    stored = select(RunCounts.run_id).where(RunCounts.shop_id == shop.id)
    unstored = select(Run.id).where(
        Run.shop_id == shop.id, Run.state == RunState.DONE, col(Run.id).not_in(stored)
    )
    if before is not None:
        unstored = unstored.where(col(Run.id) < before)
    with store.read() as session:
        run_ids = list(session.exec(unstored.order_by(col(Run.id))))
    for number, run_id in enumerate(run_ids):
        progress("runs of earlier versions", number, len(run_ids))
        assert run_id is not None
        store_run_findings(store, shop, run_id, rates or {})
    if run_ids:
        progress("runs of earlier versions", len(run_ids), len(run_ids))


def update_finding(store: Store, shop: Shop, run_id: int, url: str) -> None:
    """Bring a stored finding and its run's counts up to the present review decision on it.

    A finding that becomes missing has no cause until the next report: causes are inferred from all
    findings together.
    """
    with store.write() as session:
        finding = read_finding(session, shop, run_id, url)
        counts = read_counts(session, run_id)
        if finding is None or counts is None:
            return
        rows = select(StoredFinding).where(
            StoredFinding.run_id == run_id, StoredFinding.url == finding.url
        )
        stored = session.exec(rows).first()
        if stored is None:
            return
        if finding.verdict != stored.verdict:
            stored.cause, stored.evidence = None, []
        stored.verdict, stored.is_ignored = finding.verdict, finding.is_ignored
        stored.value = finding.value
        stored.decision, stored.note = finding.decision, finding.note
        stored.reviewed_at = finding.reviewed_at
        stored.change = _change_after_review(session, finding, counts.previous_run_id)
        session.add(stored)
        session.flush()
        store_counts(session, counts)


def _change_after_review(
    session: Session, finding: Finding, previous_run_id: int | None
) -> Change | None:
    """Return the change of a reviewed finding: a rejected or ignored one was never missing."""
    if previous_run_id is None or not finding.is_missing:
        return None
    was_missing = select(StoredFinding.id).where(
        StoredFinding.run_id == previous_run_id,
        col(StoredFinding.url).in_(finding.all_urls()),
        StoredFinding.verdict == Verdict.MISSING,
        col(StoredFinding.is_ignored).is_(False),
    )
    if session.exec(was_missing).first() is None:
        return Change.NEW
    return Change.STILL
