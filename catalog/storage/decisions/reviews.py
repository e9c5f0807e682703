"""Review decisions with a log of the steps that made them, so that each step can be undone.

A step is a decision on one offer or on thousands, or an import. The log has the decision before and
after each change. The changes of one URL are undone in reverse order only, so the decision that
comes back is always the one that the change replaced.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, update
from sqlmodel import Session, and_, col, delete, func, or_, select

from catalog.models import Review, ReviewChange, ReviewDecision, ReviewStep
from catalog.runtime.batches import batches

_BATCH_SIZE = 500  # rows written or read at a time


@dataclass(frozen=True)
class ReviewEntry:
    """A decision on the offer at a URL."""

    url: str
    decision: ReviewDecision
    reviewed_at: datetime
    note: str | None = None
    reviewer: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry without its URL, as the log has it."""
        return {
            "decision": str(self.decision),
            "note": self.note,
            "reviewer": self.reviewer,
            "reviewed_at": self.reviewed_at.isoformat(),
        }

    @classmethod
    def from_json(cls, url: str, stored: Mapping[str, Any]) -> "ReviewEntry":
        """Return the entry that the log has."""
        return cls(
            url=url,
            decision=ReviewDecision(stored["decision"]),
            reviewed_at=datetime.fromisoformat(stored["reviewed_at"]),
            note=stored["note"],
            reviewer=stored["reviewer"],
        )


def read_reviews(session: Session, shop_id: int, urls: Iterable[str] | None = None) -> list[Review]:
    """Read the decisions of a shop (None: all, else those on the given URLs), the newest first."""
    ordered = (
        select(Review)
        .where(Review.shop_id == shop_id)
        .order_by(col(Review.reviewed_at).desc(), col(Review.url))
    )
    if urls is None:
        return list(session.exec(ordered))
    reviews: list[Review] = []
    for batch in batches(sorted(set(urls)), _BATCH_SIZE):
        reviews.extend(session.exec(ordered.where(col(Review.url).in_(batch))))
    return reviews


def read_reviews_page(
    session: Session, shop_id: int, limit: int, after: tuple[datetime, str] | None = None
) -> list[Review]:
    """Read decisions of a shop, the newest first, behind the time and URL of a decision."""
    query = select(Review).where(Review.shop_id == shop_id)
    if after is not None:
        moment, url = after
        at_once = and_(col(Review.reviewed_at) == moment, col(Review.url) > url)
        query = query.where(or_(col(Review.reviewed_at) < moment, at_once))
    order = col(Review.reviewed_at).desc(), col(Review.url)
    return list(session.exec(query.order_by(*order).limit(limit)))


def replace_reviews(
    session: Session, shop_id: int, after: Mapping[str, ReviewEntry | None]
) -> dict[str, ReviewEntry | None]:
    """Write the decision on each URL (None: remove it); returns the former ones."""
    before: dict[str, ReviewEntry | None] = dict.fromkeys(after)
    connection = session.connection()
    # Rows without objects: a filter may decide on tens of thousands of offers at once.
    columns: list[Any] = [
        col(Review.url),
        col(Review.decision),
        col(Review.reviewed_at),
        col(Review.note),
        col(Review.reviewer),
    ]
    stored = select(*columns).where(Review.shop_id == shop_id)
    for batch in batches(list(after), _BATCH_SIZE):
        of_batch = col(Review.url).in_(batch)
        for url, decision, reviewed_at, note, reviewer in connection.execute(
            stored.where(of_batch)
        ):
            before[url] = ReviewEntry(url, ReviewDecision(decision), reviewed_at, note, reviewer)
        connection.execute(delete(Review).where(col(Review.shop_id) == shop_id, of_batch))
        rows = []
        for url in batch:
            entry = after[url]
            if entry is not None:
                rows.append({"shop_id": shop_id, **vars(entry)})
        if rows:
            session.exec(insert(Review), params=rows)
    return before


def log_step(
    session: Session,
    step: ReviewStep,
    before: Mapping[str, ReviewEntry | None],
    after: Mapping[str, ReviewEntry | None],
    states: Mapping[str, dict[str, Any]],
) -> None:
    """Log a step with its changes; `states` are the states that the findings had before, by URL."""
    session.add(step)
    session.flush()
    rows = []
    for url, entry in after.items():
        former = before[url]
        rows.append(
            {
                "step_id": step.id,
                "shop_id": step.shop_id,
                "url": url,
                "before": former and former.as_json(),
                "after": entry and entry.as_json(),
                "finding": states.get(url),
            }
        )
    for batch in batches(rows, _BATCH_SIZE):
        session.connection().execute(insert(ReviewChange), batch)


def read_last_step(session: Session, shop_id: int) -> ReviewStep | None:
    """Return the shop's newest step that is not undone as a whole, or None."""
    is_open = (
        select(ReviewChange.id)
        .where(ReviewChange.step_id == ReviewStep.id, col(ReviewChange.undone_at).is_(None))
        .exists()
    )
    steps = select(ReviewStep).where(ReviewStep.shop_id == shop_id, is_open)
    return session.exec(steps.order_by(col(ReviewStep.id).desc()).limit(1)).first()


def read_open_changes(session: Session, step: ReviewStep) -> list[ReviewChange]:
    """Read the changes of a step that are not undone."""
    query = select(ReviewChange).where(
        ReviewChange.step_id == step.id, col(ReviewChange.undone_at).is_(None)
    )
    return list(session.exec(query.order_by(col(ReviewChange.id))))


def read_last_changes(session: Session, shop_id: int, urls: Sequence[str]) -> list[ReviewChange]:
    """Read the last change on each URL that is not undone."""
    last: dict[str, ReviewChange] = {}
    for batch in batches(urls, _BATCH_SIZE):
        query = select(ReviewChange).where(
            ReviewChange.shop_id == shop_id,
            col(ReviewChange.url).in_(batch),
            col(ReviewChange.undone_at).is_(None),
        )
        for change in session.exec(query.order_by(col(ReviewChange.id))):
            last[change.url] = change
    return list(last.values())


def mark_undone(
    session: Session, changes: Iterable[ReviewChange], reviewer: str | None, undone_at: datetime
) -> None:
    """Mark changes as undone."""
    ids = [change.id for change in changes if change.id is not None]
    for batch in batches(ids, _BATCH_SIZE):
        of_batch = col(ReviewChange.id).in_(batch)
        session.connection().execute(
            update(ReviewChange).where(of_batch).values(undone_at=undone_at, undone_by=reviewer)
        )


def count_steps(
    session: Session, shop_id: int, limit: int | None
) -> list[tuple[ReviewStep, int, int]]:
    """Return the shop's newest steps, each with its changes and those of them that are undone."""
    changes = func.count(col(ReviewChange.id))
    undone = func.count(col(ReviewChange.undone_at))
    query = (
        select(ReviewStep, changes, undone)
        .join(ReviewChange, col(ReviewChange.step_id) == col(ReviewStep.id))
        .where(ReviewStep.shop_id == shop_id)
        .group_by(col(ReviewStep.id))
        .order_by(col(ReviewStep.id).desc())
    )
    if limit is not None:
        query = query.limit(limit)
    return list(session.exec(query))
