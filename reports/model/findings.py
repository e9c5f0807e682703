"""Findings of a finished run as `scout offers` prints them, in pages that the database selects."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from catalog.errors import UsageError
from catalog.language.sentences import Sentence
from catalog.models import Match, ReviewDecision, Run, RunState, Shop, StoredFinding, Verdict
from catalog.runtime.batches import batches
from catalog.storage.findings import (
    Change,
    FindingFilter,
    PageKey,
    has_stored_matches,
    page_key,
    read_counts,
    read_findings_page,
)
from catalog.storage.runs import is_pruned
from catalog.storage.store import Store
from reports.model.offer_sources import read_sources
from reports.statistics.findings_reader import (
    Finding,
    clean_text,
    read_findings_of,
)

_PAGE_SIZE = 500  # findings read at a time where all are wanted


def list_findings(
    store: Store,
    shop: Shop,
    run_id: int,
    verdicts: Collection[Verdict] | None = None,
    *,
    where: FindingFilter | None = None,
    sort: str = "value",
    limit: int | None = None,
    offset: int = 0,
) -> list[Finding]:
    """List the findings of a run with the given verdicts (None: all), the most valuable first.

    Verdicts follow the review decisions: a rejected finding is listed, an accepted one missing.
    Ignored findings are left out if verdicts are given. `where` replaces both conditions and may
    have more. `sort`, `limit` and `offset` select a page of the list
    (`catalog.storage.findings.SORT_NAMES`). Raises UsageError if the shop has no such run.
    """
    if where is None:
        where = FindingFilter(verdicts=frozenset(verdicts or ()), includes_ignored=verdicts is None)
    ensure_stored(store, shop, run_id)
    return _read_page(store, shop, run_id, where, sort, limit, offset)


def read_finding(store: Store, shop: Shop, stored_id: int) -> Finding | None:
    """Return the stored finding of that key with its evidence; None if the shop has no such one."""
    with store.read() as session:
        row = session.get(StoredFinding, stored_id)
        if row is None or row.shop_id != shop.id:
            return None
    return _with_evidence(store, shop, [row])[0]


def _read_page(
    store: Store,
    shop: Shop,
    run_id: int,
    where: FindingFilter,
    sort: str,
    limit: int | None,
    offset: int,
) -> list[Finding]:
    with store.read() as session:
        rows = read_findings_page(session, run_id, where, sort, limit, offset)
    return _with_evidence(store, shop, rows)


def _with_evidence(store: Store, shop: Shop, rows: Sequence[StoredFinding]) -> list[Finding]:
    """Return stored findings with their matches, explanations and source pages."""
    with store.read() as session:
        match_ids = [row.match_id for row in rows if row.match_id is not None]
        matches = read_findings_of(session, match_ids)
        explanations = _read_explanations(session, match_ids)
        findings = [_with_stored(row, matches.get(row.match_id or 0)) for row in rows]
        sources = read_sources(session, shop.id or 0, findings)
    for finding, source in zip(findings, sources, strict=True):
        finding.why = explanations.get(finding.match_id or 0)
        finding.source = source
    return findings


@dataclass(frozen=True)
class FindingsPage:
    """One page of a run's findings; `next_key` is where the next one begins, None for the last."""

    findings: list[Finding]
    next_key: PageKey | None


def read_page_after(
    store: Store,
    shop: Shop,
    run_id: int,
    where: FindingFilter,
    *,
    sort: str = "value",
    limit: int,
    after: PageKey | None = None,
) -> FindingsPage:
    """Read the page of findings behind a position. Raises UsageError as `list_findings`."""
    ensure_stored(store, shop, run_id)
    with store.read() as session:
        rows = read_findings_page(session, run_id, where, sort, limit + 1, after=after)
    shown = rows[:limit]
    next_key = page_key(shown[-1], sort) if len(rows) > limit else None
    return FindingsPage(_with_evidence(store, shop, shown), next_key)


def iterate_findings(
    store: Store, shop: Shop, run_id: int, where: FindingFilter, sort: str = "value"
) -> Iterator[Finding]:
    """Yield all findings that a filter keeps, read in pages so that few are in memory.

    Each page begins behind the last finding of the one before: decisions that are made meanwhile
    move no finding out of the pages that are left.
    """
    after: PageKey | None = None
    while True:
        page = read_page_after(store, shop, run_id, where, sort=sort, limit=_PAGE_SIZE, after=after)
        yield from page.findings
        if page.next_key is None:
            return
        after = page.next_key


def ensure_stored(store: Store, shop: Shop, run_id: int) -> None:
    """Store the findings of a run now if that was not done since its matches were written.

    Earlier versions of Scout stored none. Those of a pruned run are gone, and its counts stay as
    they are. Raises UsageError if the shop has no such run.
    """
    with store.read() as session:
        run = session.get(Run, run_id)
        counts = read_counts(session, run_id)
        is_stored = counts is not None and has_stored_matches(session, counts)
    if run is None or run.shop_id != shop.id:
        raise UsageError(
            f"{shop.name!r} has no run {run_id}: 'scout report' without --run takes the last one"
        )
    # The matches of an unfinished run may have changed since.
    if is_pruned(run) or (is_stored and run.state == RunState.DONE):
        return
    # Imported late: a report takes half a second to load, and most commands find all stored.
    from reports.model.finding_storage import backfill_findings, store_run_findings

    backfill_findings(store, shop, before=run_id)
    store_run_findings(store, shop, run_id, {})


def _read_explanations(session: Session, match_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Read the matcher's explanations, which are too long to be read for every report."""
    explanations = {}
    for batch in batches(match_ids, _PAGE_SIZE):
        query = select(Match.id, Match.why).where(col(Match.id).in_(batch))
        for match_id, why in session.exec(query):
            if why and match_id is not None:
                candidates = [_printable(candidate) for candidate in why["candidates"]]
                explanations[match_id] = {**why, "candidates": candidates}
    return explanations


def _printable(candidate: Mapping[str, Any]) -> dict[str, Any]:
    title, url = clean_text(candidate.get("title")), clean_text(candidate.get("url"))
    return {**candidate, "title": title, "url": url}


def _with_stored(row: StoredFinding, match: Finding | None) -> Finding:
    """Return a stored finding with the evidence of its match, if the match is still there."""
    return Finding(
        url=row.url,
        urls=tuple(row.urls),
        title=row.title,
        price=row.price,
        currency=row.currency,
        brand=row.brand,
        category=row.category,
        ean=row.ean,
        han=row.han,
        sku=row.sku,
        availability=row.availability,
        verdict=Verdict(row.verdict),
        score=row.score,
        reasons=match.reasons if match else (),
        nearest=match.nearest if match else None,
        known_id=match.known_id if match else None,
        fetched_at=row.fetched_at,
        decision=row.decision and ReviewDecision(row.decision),
        note=row.note,
        reviewer=row.reviewer,
        cause=row.cause,
        evidence=tuple(map(Sentence.from_json, row.evidence)),
        since=Change(row.change) if row.change else None,
        variant_of=row.variant_of,
        match_id=row.match_id,
        stored_id=row.id,
        reviewed_at=row.reviewed_at,
        first_seen_at=row.first_seen_at,
        first_seen_run_id=row.first_seen_run_id,
        last_seen_at=row.last_seen_at,
        since_at=row.since_at,
        since_run_id=row.since_run_id,
        was_missing=row.was_missing,
        rank=row.rank,
    )
