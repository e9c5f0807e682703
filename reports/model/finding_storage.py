"""Storage of a finished run's findings and counts, from the same report that its files show."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from heapq import merge
from typing import Any

from sqlalchemy import Row, bindparam, update
from sqlmodel import Session, col, select

from catalog.models import Run, RunCounts, RunState, Shop, StoredFinding, Verdict
from catalog.runtime.batches import batches, iterate_batches
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.findings import (
    Change,
    fold_key,
    mark_vanished,
    read_counts,
    replace_findings,
    store_counts,
)
from catalog.storage.runs import is_pruned
from catalog.storage.store import Store, lock_shop
from reports.model.report_model import Report, build_report
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, read_findings_at

# A report to store needs the findings of every verdict.
ALL_VERDICTS = frozenset(Verdict)

FindingState = dict[str, Any]
"""Run, verdict, cause, evidence and change of a stored finding, ready for JSON."""
_NO_STATES: Mapping[str, FindingState] = {}
_BATCH_SIZE = 500  # findings updated at a time
_UPDATE = update(StoredFinding.__table__).where(  # type: ignore[attr-defined]
    col(StoredFinding.id) == bindparam("finding_id")
)


def store_findings(store: Store, report: Report) -> None:
    """Write a run's findings and counts in place of its former ones, in one transaction.

    The report has to have all verdicts.
    """
    run, shop = report.run, report.shop
    assert run.id is not None
    assert shop.id is not None
    previous_run_id = report.trend.previous_run_id
    with store.write() as session:
        # Decisions change findings and counts as well.
        lock_shop(session, shop.id)
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
        "reviewer": finding.reviewer,
        "fetched_at": finding.fetched_at,
        "first_seen_at": finding.first_seen_at,
        "first_seen_run_id": finding.first_seen_run_id,
        "last_seen_at": finding.last_seen_at,
        "since_at": finding.since_at,
        "since_run_id": finding.since_run_id,
        "was_missing": finding.was_missing or finding.is_missing,
        "variant_of": finding.variant_of,
        "urls": list(finding.urls),
        "evidence": [sentence.as_json() for sentence in finding.evidence],
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
    unstored = select(Run).where(
        Run.shop_id == shop.id, Run.state == RunState.DONE, col(Run.id).not_in(stored)
    )
    if before is not None:
        unstored = unstored.where(col(Run.id) < before)
    with store.read() as session:
        runs = session.exec(unstored.order_by(col(Run.id))).all()
    run_ids = [run.id for run in runs if run.id is not None and not is_pruned(run)]
    for number, run_id in enumerate(run_ids):
        progress("runs of earlier versions", number, len(run_ids))
        store_run_findings(store, shop, run_id, rates or {})
    if run_ids:
        progress("runs of earlier versions", len(run_ids), len(run_ids))


def update_findings(
    session: Session,
    shop: Shop,
    run_id: int,
    urls: Sequence[str],
    former: Mapping[str, FindingState] = _NO_STATES,
) -> dict[str, FindingState]:
    """Bring stored findings and their run's counts up to the present review decisions.

    `urls` are those of the matches. Returns the state that each finding had before, by URL; given
    back as `former`, it restores the findings. A finding that becomes missing otherwise has no
    cause until the next report: causes are inferred from all findings together.
    """
    counts = read_counts(session, run_id)
    if counts is None:
        return {}
    before: dict[str, FindingState] = {}
    findings = read_findings_at(session, shop, run_id, urls)
    for batch in iterate_batches(findings, _BATCH_SIZE):
        of_batch = [finding for _, finding in batch]
        stored_findings = _stored_by_match(session, run_id, of_batch)
        were_missing = _missing_urls(session, counts.previous_run_id, of_batch)
        updates = []
        for match_url, finding in batch:
            stored = stored_findings.get(finding.match_id)
            if stored is None:
                continue
            before[match_url] = _state_of(run_id, stored)
            change = _change_after_review(finding, counts.previous_run_id, were_missing)
            # It was missing in an earlier run, which no decision on it changes.
            if change is Change.NEW and stored.change == Change.REAPPEARED:
                change = Change.REAPPEARED
            reviewed = _reviewed_columns(stored, finding) | {"change": change}
            _restore_state(reviewed, run_id, former.get(match_url))
            updates.append({"finding_id": stored.id, **reviewed})
        if updates:
            session.connection().execute(_UPDATE, updates)
    store_counts(session, counts)
    return before


def _stored_by_match(
    session: Session, run_id: int, findings: Sequence[Finding]
) -> dict[int | None, Row[Any]]:
    """Return the rows of stored findings, with the columns that a review may change, by match."""
    fields = (
        StoredFinding.id,
        StoredFinding.match_id,
        StoredFinding.verdict,
        StoredFinding.cause,
        StoredFinding.evidence,
        StoredFinding.change,
    )
    query = select(*map(col, fields)).where(
        StoredFinding.run_id == run_id,
        col(StoredFinding.url).in_([finding.url for finding in findings]),
    )
    return {stored.match_id: stored for stored in session.connection().execute(query)}


def _state_of(run_id: int, stored: Row[Any]) -> FindingState:
    """Return the part of a finding that no review decision brings back, ready for JSON."""
    return {
        "run_id": run_id,
        "verdict": str(stored.verdict),
        "cause": stored.cause,
        "evidence": list(stored.evidence),
        "change": stored.change,
    }


def _restore_state(reviewed: dict[str, Any], run_id: int, state: FindingState | None) -> None:
    """Restore the state of a finding, unless it is of another run or verdict."""
    if state is None:
        return
    if (state["run_id"], state["verdict"]) != (run_id, str(reviewed["verdict"])):
        return
    reviewed["cause"], reviewed["evidence"] = state["cause"], list(state["evidence"])
    reviewed["change"] = state["change"]


def _reviewed_columns(stored: Row[Any], finding: Finding) -> dict[str, Any]:
    """Return the columns of a stored finding that its review decision changes."""
    keeps_cause = finding.verdict == stored.verdict
    return {
        "verdict": finding.verdict,
        "is_ignored": finding.is_ignored,
        "value": finding.value,
        "decision": finding.decision,
        "note": finding.note,
        "reviewed_at": finding.reviewed_at,
        "reviewer": finding.reviewer,
        "cause": stored.cause if keeps_cause else None,
        "evidence": list(stored.evidence) if keeps_cause else [],
    }


def _missing_urls(
    session: Session, previous_run_id: int | None, findings: Sequence[Finding]
) -> set[str]:
    """Return the URLs of these findings under which the previous run found them missing."""
    if previous_run_id is None:
        return set()
    urls = sorted({url for finding in findings for url in finding.all_urls()})
    missing: set[str] = set()
    for batch in batches(urls, _BATCH_SIZE):
        query = select(StoredFinding.url).where(
            StoredFinding.run_id == previous_run_id,
            col(StoredFinding.url).in_(batch),
            StoredFinding.verdict == Verdict.MISSING,
            col(StoredFinding.is_ignored).is_(False),
        )
        missing.update(session.exec(query))
    return missing


def _change_after_review(
    finding: Finding, previous_run_id: int | None, were_missing: Collection[str]
) -> Change | None:
    """Return the change of a reviewed finding: a rejected or ignored one was never missing."""
    if previous_run_id is None or not finding.is_missing:
        return None
    if any(url in were_missing for url in finding.all_urls()):
        return Change.STILL
    return Change.NEW
