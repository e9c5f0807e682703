"""Assessment of shops: the problems of each, as of its newest run and its newest import.

A shop is assessed when somebody looks at the list and its newest run or import has changed since
the last assessment. So nothing has to be done at the end of a run, and a killed run cannot leave
a wrong entry behind. After a night all shops have a new run: the timetable has assessed them by
then, many at a time, and a look assesses some only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, String, bindparam, cast, insert, literal, update
from sqlmodel import Session, col, delete, func, select

from catalog.models import (
    AttentionItem,
    CatalogImport,
    DriftKind,
    Run,
    RunState,
    Shop,
    ShopAssessment,
    utc_now,
)
from catalog.runtime.batches import batches
from catalog.storage.store import Store, lock_shop
from scout.attention.notices import AttentionKind, Notice
from scout.attention.shop_states import ShopState, read_shop_states

MAX_ASSESSED = 1000
"""Shops that one call assesses at most: the others follow at the next call."""

MAX_ASSESSED_AT_LOOK = 300
"""Shops that are assessed while somebody waits for a page: about 0.2 s on PostgreSQL."""

# Kinds of drift after which rules are learnt again.
_CHANGED_PAGES = frozenset({DriftKind.DRIFTED, DriftKind.REDESIGNED})
_BATCH_SIZE = 200  # shops of one transaction
_UPDATE_ITEM = update(AttentionItem.__table__).where(  # type: ignore[attr-defined]
    col(AttentionItem.id) == bindparam("item_id")
)


@dataclass(frozen=True)
class AttentionConfig:
    """Thresholds of the assessment.

    `coverage_drop` and `import_drop` are shares: of the pages, and of the offers imported before.
    `missing_jump` is the growth of the missing offers, of at least `min_missing_jump` offers.
    `rejected_share` is the share of the rows of an import that were refused.
    """

    coverage_drop: float = 0.1
    import_drop: float = 0.1
    missing_jump: float = 0.2
    min_missing_jump: int = 10
    rejected_share: float = 0.05


DEFAULT_CONFIG = AttentionConfig()


def refresh_attention(
    store: Store,
    config: AttentionConfig = DEFAULT_CONFIG,
    *,
    shop_id: int | None = None,
    limit: int = MAX_ASSESSED,
) -> int:
    """Assess the shops whose newest run or import has changed; return their number.

    Of all shops, at most `limit` are assessed, in the order of their addition. With `shop_id` only
    that shop is.
    """
    with store.read() as session:
        changed = _changed_shops(session, shop_id, limit)
    # In order, so that two processes never wait for each other's shops.
    for batch in batches(sorted(changed.items()), _BATCH_SIZE):
        basis = dict(batch)
        with store.write() as session:
            lock_shop(session, *basis)
            notices = {}
            for assessed_id, state in read_shop_states(session, list(basis)).items():
                notices[assessed_id] = list(assess_shop(state, config))
            _replace_items(session, notices)
            _replace_basis(session, basis)
    return len(changed)


def _changed_shops(session: Session, shop_id: int | None, limit: int) -> dict[int, str]:
    """Return the shops whose assessment is of an earlier run or import, with the new basis."""
    newest_run = (
        select(cast(col(Run.id), String) + literal(" ") + col(Run.state))
        .where(col(Run.shop_id) == col(Shop.id), col(Run.state) != RunState.ABANDONED)
        .order_by(col(Run.id).desc())
        .limit(1)
        .correlate(Shop)
        .scalar_subquery()
    )
    newest_import = (
        select(func.max(CatalogImport.id))
        .where(col(CatalogImport.shop_id) == col(Shop.id), col(CatalogImport.undone_at).is_(None))
        .correlate(Shop)
        .scalar_subquery()
    )
    basis = (
        func.coalesce(newest_run, "")
        + literal("/")
        + func.coalesce(cast(newest_import, String), "")
    )
    query = (
        select(Shop.id, basis)
        .outerjoin(ShopAssessment, col(ShopAssessment.shop_id) == col(Shop.id))
        .where(func.coalesce(col(ShopAssessment.basis), "none") != basis)
        .order_by(col(Shop.id))
        .limit(limit)
    )
    if shop_id is not None:
        query = query.where(Shop.id == shop_id)
    return {changed_id: text for changed_id, text in session.exec(query) if changed_id is not None}


def _replace_basis(session: Session, basis: Mapping[int, str]) -> None:
    connection = session.connection()
    connection.execute(delete(ShopAssessment).where(col(ShopAssessment.shop_id).in_(basis)))
    now = utc_now()
    rows = [
        {"shop_id": shop_id, "basis": text, "assessed_at": now} for shop_id, text in basis.items()
    ]
    connection.execute(insert(ShopAssessment), rows)


def assess_shop(state: ShopState, config: AttentionConfig = DEFAULT_CONFIG) -> Iterator[Notice]:
    """Yield the reasons why a shop needs a look, the most urgent first."""
    newest = state.newest_run
    if newest is not None and newest.state == RunState.FAILED:
        arguments = {"reason": newest.reason or "unknown"}
        yield Notice(AttentionKind.FAILED, f"run {newest.id}", arguments)
    elif newest is not None and newest.state == RunState.RUNNING and newest.reason:
        # A run that is going on has no reason: it is stored when a stage ends with an error.
        yield Notice(AttentionKind.INTERRUPTED, f"run {newest.id}", {"reason": newest.reason})
    yield from _assess_runs(state, config)
    yield from _assess_imports(state.imports, config)


def _assess_runs(state: ShopState, config: AttentionConfig) -> Iterator[Notice]:
    if not state.finished_runs:
        return
    run, *earlier_runs = state.finished_runs
    counts = state.counts.get(run.id)
    if counts is None:
        return
    subject = f"run {run.id}"
    if not counts.known_offers:
        yield Notice(AttentionKind.NO_IMPORT, subject)
    before = earlier_runs[0] if earlier_runs else None
    share, share_before = _page_share(run), _page_share(before)
    if share is None or share_before is None:
        share = share_before = 1.0
    if share < share_before - config.coverage_drop:
        yield Notice(AttentionKind.COVERAGE, subject, {"share": share, "before": share_before})
    learnt: Mapping[str, Any] = run.figures.get("learn") or {}
    if learnt.get("drift_kind") in _CHANGED_PAGES:
        yield Notice(AttentionKind.DRIFT, subject)
    counts_before = state.counts.get(before.id) if before else None
    if counts_before is not None and counts_before.known_offers:
        growth = counts.missing - counts_before.missing
        least = max(config.min_missing_jump, config.missing_jump * counts_before.missing)
        if growth >= least:
            numbers = {"missing": counts.missing, "before": counts_before.missing}
            yield Notice(AttentionKind.MISSING, subject, numbers)


def _page_share(run: Row[Any] | None) -> float | None:
    """Return the share of a run's pages that answered; None where it was not counted."""
    share = (run.figures.get("coverage") or {}).get("page_share") if run else None
    return share if isinstance(share, float) else None


def _assess_imports(imports: Sequence[Row[Any]], config: AttentionConfig) -> Iterator[Notice]:
    if not imports:
        return
    last = imports[0]
    subject = f"import {last.id}"
    if len(imports) > 1 and last.kept < imports[1].kept * (1 - config.import_drop):
        numbers = {"rows": last.kept, "before": imports[1].kept}
        yield Notice(AttentionKind.IMPORT_SHRANK, subject, numbers)
    if last.bad > config.rejected_share * last.read:
        yield Notice(AttentionKind.IMPORT_REJECTED, subject, {"bad": last.bad, "rows": last.read})


def _replace_items(session: Session, notices: Mapping[int, Sequence[Notice]]) -> None:
    """Write the items of shops; one about the same run or import keeps its time and dismissal."""
    columns: list[Any] = [
        AttentionItem.id,
        AttentionItem.shop_id,
        AttentionItem.kind,
        AttentionItem.subject,
    ]
    connection = session.connection()
    of_shops = select(*columns).where(col(AttentionItem.shop_id).in_(notices))
    former = {(item.shop_id, item.kind): item for item in connection.execute(of_shops)}
    now = utc_now()
    new_items, kept_items, changed_items = [], [], []
    for shop_id, shop_notices in notices.items():
        for notice in shop_notices:
            stored = notice.sentence.as_json()
            arguments = {} if isinstance(stored, str) else stored["arguments"]
            values = {"subject": notice.subject, "arguments": arguments}
            fresh = {"noticed_at": now, "dismissed_at": None, "dismissed_by": None}
            item = former.pop((shop_id, notice.kind), None)
            if item is None:
                key = {"shop_id": shop_id, "kind": notice.kind, "severity": notice.severity}
                new_items.append(key | values | fresh)
            elif item.subject == notice.subject:
                kept_items.append({"item_id": item.id} | values)
            else:
                changed_items.append({"item_id": item.id} | values | fresh)
    # Each list has the same columns in all rows: one statement writes it.
    for statement, rows in (
        (insert(AttentionItem), new_items),
        (_UPDATE_ITEM, kept_items),
        (_UPDATE_ITEM, changed_items),
    ):
        if rows:
            connection.execute(statement, rows)
    outdated = [item.id for item in former.values()]
    for batch in batches(outdated, _BATCH_SIZE):
        connection.execute(delete(AttentionItem).where(col(AttentionItem.id).in_(batch)))
