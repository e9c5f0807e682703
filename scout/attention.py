"""Shops that need a look: what is wrong at each, as of its newest run and its newest import.

A shop is assessed when somebody looks at the list and its newest run or import has changed since
the last assessment. So nothing has to be done at the end of a run, and a killed run cannot leave
a wrong entry behind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import String, cast, literal
from sqlmodel import Session, col, delete, func, select

from catalog.language.sentences import Argument, Sentence, gettext_noop
from catalog.models import (
    AttentionItem,
    CatalogImport,
    DriftKind,
    Run,
    RunCounts,
    RunState,
    Shop,
    ShopAssessment,
    utc_now,
)
from catalog.runtime.batches import batches
from catalog.storage.runs import last_finished_run, read_shop_runs
from catalog.storage.store import Store, lock_shop

MAX_ASSESSED = 2000
"""Shops that one call assesses at most: the others follow at the next call."""

# Kinds of drift after which rules are learnt again.
_CHANGED_PAGES = frozenset({DriftKind.DRIFTED, DriftKind.REDESIGNED})
_BATCH_SIZE = 200  # shops of one transaction


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


class AttentionKind(StrEnum):
    """Reason why a shop needs a look, the most urgent first."""

    FAILED = "failed"
    INTERRUPTED = "interrupted"
    NO_IMPORT = "no import"
    COVERAGE = "coverage fell"
    IMPORT_SHRANK = "import shrank"
    IMPORT_REJECTED = "import rows refused"
    DRIFT = "drift"
    MISSING = "more missing"


SENTENCES = {
    AttentionKind.FAILED: gettext_noop("The last run failed: {reason}"),
    AttentionKind.INTERRUPTED: gettext_noop("The last run stopped before its end: {reason}"),
    AttentionKind.NO_IMPORT: gettext_noop(
        "Nothing was imported, so every offer counts as missing."
    ),
    AttentionKind.COVERAGE: gettext_noop(
        "The crawl answered for {share} of the pages, {before} in the run before."
    ),
    AttentionKind.IMPORT_SHRANK: gettext_noop(
        "The last import has {rows} offers, the one before had {before}."
    ),
    AttentionKind.IMPORT_REJECTED: gettext_noop(
        "{bad} of {rows} rows of the last import were refused."
    ),
    AttentionKind.DRIFT: gettext_noop(
        "The pages of the shop have changed: the rules were learnt again."
    ),
    AttentionKind.MISSING: gettext_noop(
        "{missing} offers are missing, {before} in the run before."
    ),
}
NEXT_STEPS = {
    AttentionKind.FAILED: gettext_noop("See the run, then run the shop again."),
    AttentionKind.INTERRUPTED: gettext_noop("Resume the run."),
    AttentionKind.NO_IMPORT: gettext_noop("Import the shop's feed."),
    AttentionKind.COVERAGE: gettext_noop("See which pages failed, and why."),
    AttentionKind.IMPORT_SHRANK: gettext_noop("Compare the feed with the one before."),
    AttentionKind.IMPORT_REJECTED: gettext_noop("See the rows that were refused."),
    AttentionKind.DRIFT: gettext_noop("Check the new rules."),
    AttentionKind.MISSING: gettext_noop("See the new findings."),
}
# Page of the shop that a step leads to.
_PAGES = {
    AttentionKind.FAILED: "runs",
    AttentionKind.INTERRUPTED: "runs",
    AttentionKind.NO_IMPORT: "imports",
    AttentionKind.COVERAGE: "runs",
    AttentionKind.IMPORT_SHRANK: "imports",
    AttentionKind.IMPORT_REJECTED: "imports",
    AttentionKind.DRIFT: "rules",
    AttentionKind.MISSING: "findings?change=new",
}


@dataclass(frozen=True)
class Notice:
    """A reason why a shop needs a look; `subject` names the run or import that it is about."""

    kind: AttentionKind
    subject: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)

    @property
    def severity(self) -> int:
        """The place of the kind in the order of urgency, from 0."""
        return list(AttentionKind).index(self.kind)

    @property
    def sentence(self) -> Sentence:
        """The reason in one sentence."""
        return Sentence(SENTENCES[self.kind], self.arguments)

    @property
    def next_step(self) -> str:
        """The next step, as a message to translate."""
        return NEXT_STEPS[self.kind]

    @property
    def page(self) -> str:
        """The page of the shop that the next step leads to."""
        return _PAGES[self.kind]


def refresh_attention(store: Store, config: AttentionConfig = DEFAULT_CONFIG) -> int:
    """Assess the shops whose newest run or import has changed; return their number.

    At most `MAX_ASSESSED` shops are assessed, those that were added first.
    """
    with store.read() as session:
        changed = _changed_shops(session)
    # In order, so that two processes never wait for each other's shops.
    for batch in batches(sorted(changed.items()), _BATCH_SIZE):
        with store.write() as session:
            for shop_id, basis in batch:
                lock_shop(session, shop_id)
                shop = session.get(Shop, shop_id)
                if shop is not None:
                    _replace_items(session, shop_id, list(assess_shop(session, shop, config)))
                    session.merge(ShopAssessment(shop_id=shop_id, basis=basis))
    return len(changed)


def _changed_shops(session: Session) -> dict[int, str]:
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
        .limit(MAX_ASSESSED)
    )
    return {shop_id: text for shop_id, text in session.exec(query) if shop_id is not None}


def assess_shop(
    session: Session, shop: Shop, config: AttentionConfig = DEFAULT_CONFIG
) -> Iterator[Notice]:
    """Yield the reasons why a shop needs a look, the most urgent first."""
    assert shop.id is not None
    runs = read_shop_runs(session, shop.id)
    if runs.failed is not None:
        reason = runs.failed.reason or "unknown"
        yield Notice(AttentionKind.FAILED, f"run {runs.failed.id}", {"reason": reason})
    elif runs.under_way is not None and runs.under_way.reason:
        # A run that is going on has no reason: it is stored when a stage ends with an error.
        arguments = {"reason": runs.under_way.reason}
        yield Notice(AttentionKind.INTERRUPTED, f"run {runs.under_way.id}", arguments)
    counts = session.get(RunCounts, runs.finished.id) if runs.finished else None
    if runs.finished is not None and counts is not None:
        yield from _assess_run(session, runs.finished, counts, config)
    yield from _assess_import(session, shop.id, config)


def _assess_run(
    session: Session, run: Run, counts: RunCounts, config: AttentionConfig
) -> Iterator[Notice]:
    subject = f"run {run.id}"
    if not counts.known_offers:
        yield Notice(AttentionKind.NO_IMPORT, subject)
    before = last_finished_run(session, run.shop_id, before=run.id)
    share, share_before = _page_share(run), _page_share(before)
    if share is None or share_before is None:
        share = share_before = 1.0
    if share < share_before - config.coverage_drop:
        arguments = {"share": share, "before": share_before}
        yield Notice(AttentionKind.COVERAGE, subject, arguments)
    learnt: Mapping[str, Any] = run.figures.get("learn") or {}
    if learnt.get("drift_kind") in _CHANGED_PAGES:
        yield Notice(AttentionKind.DRIFT, subject)
    counts_before = session.get(RunCounts, before.id) if before else None
    if counts_before is not None and counts_before.known_offers:
        growth = counts.missing - counts_before.missing
        least = max(config.min_missing_jump, config.missing_jump * counts_before.missing)
        if growth >= least:
            numbers = {"missing": counts.missing, "before": counts_before.missing}
            yield Notice(AttentionKind.MISSING, subject, numbers)


def _page_share(run: Run | None) -> float | None:
    """Return the share of a run's pages that answered; None where it was not counted."""
    share = (run.figures.get("coverage") or {}).get("page_share") if run else None
    return share if isinstance(share, float) else None


def _assess_import(session: Session, shop_id: int, config: AttentionConfig) -> Iterator[Notice]:
    newest = select(CatalogImport).where(
        CatalogImport.shop_id == shop_id, col(CatalogImport.undone_at).is_(None)
    )
    imports = session.exec(newest.order_by(col(CatalogImport.id).desc()).limit(2)).all()
    if not imports:
        return
    last = imports[0]
    subject = f"import {last.id}"
    if len(imports) > 1 and last.kept < imports[1].kept * (1 - config.import_drop):
        numbers = {"rows": last.kept, "before": imports[1].kept}
        yield Notice(AttentionKind.IMPORT_SHRANK, subject, numbers)
    if last.bad > config.rejected_share * last.read:
        yield Notice(AttentionKind.IMPORT_REJECTED, subject, {"bad": last.bad, "rows": last.read})


def _replace_items(session: Session, shop_id: int, notices: Sequence[Notice]) -> None:
    """Write a shop's items; one about the same run or import keeps its time and its dismissal."""
    former = {
        item.kind: item
        for item in session.exec(select(AttentionItem).where(AttentionItem.shop_id == shop_id))
    }
    for notice in notices:
        item = former.pop(notice.kind, None)
        if item is None or item.subject != notice.subject:
            item = item or AttentionItem(
                shop_id=shop_id, kind=notice.kind, severity=notice.severity, subject=""
            )
            item.noticed_at, item.dismissed_at, item.dismissed_by = utc_now(), None, None
        item.subject = notice.subject
        stored = notice.sentence.as_json()
        item.arguments = {} if isinstance(stored, str) else stored["arguments"]
        session.add(item)
    for item in former.values():
        session.exec(delete(AttentionItem).where(col(AttentionItem.id) == item.id))


@dataclass(frozen=True)
class ShopNotice:
    """A notice on a shop, as it is stored under an id."""

    item_id: int
    shop: str
    notice: Notice
    item: AttentionItem


def read_notices(
    store: Store, *, shop_id: int | None = None, limit: int | None = None
) -> list[ShopNotice]:
    """Read the notices that are not dismissed, the most urgent first."""
    query = (
        select(AttentionItem, Shop.name)
        .join(Shop, col(Shop.id) == col(AttentionItem.shop_id))
        .where(col(AttentionItem.dismissed_at).is_(None))
        .order_by(col(AttentionItem.severity), col(AttentionItem.id).desc())
    )
    if shop_id is not None:
        query = query.where(AttentionItem.shop_id == shop_id)
    if limit is not None:
        query = query.limit(limit)
    with store.read() as session:
        rows = session.exec(query).all()
    return [ShopNotice(item.id or 0, name, _notice(item), item) for item, name in rows]


def _notice(item: AttentionItem) -> Notice:
    template = SENTENCES[AttentionKind(item.kind)]
    sentence = Sentence.from_json({"template": template, "arguments": item.arguments})
    return Notice(AttentionKind(item.kind), item.subject, sentence.arguments)


def count_notices(store: Store) -> int:
    """Count the notices that are not dismissed."""
    query = select(func.count()).where(col(AttentionItem.dismissed_at).is_(None))
    with store.read() as session:
        return session.exec(query).one()


def dismiss_notice(store: Store, item_id: int, reviewer: str) -> ShopNotice | None:
    """Dismiss a notice until the shop's next run or import; None where there is no such one."""
    return _set_dismissed(store, item_id, reviewer)


def restore_notice(store: Store, item_id: int) -> ShopNotice | None:
    """Take the dismissal of a notice back; None where there is no such one."""
    return _set_dismissed(store, item_id, None)


def _set_dismissed(store: Store, item_id: int, reviewer: str | None) -> ShopNotice | None:
    with store.write() as session:
        item = session.get(AttentionItem, item_id)
        if item is None:
            return None
        item.dismissed_at = utc_now() if reviewer else None
        item.dismissed_by = reviewer
        session.add(item)
        shop = session.get_one(Shop, item.shop_id)
        return ShopNotice(item_id, shop.name, _notice(item), item)
