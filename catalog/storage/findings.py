"""Findings and counts of finished runs in the database: written whole, read in pages.

A run's findings are replaced in one transaction, so that a killed writer leaves the former ones and
a repeated one no duplicates. Counts are always made from the stored findings, by one function:
after a review decision they are made again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, insert, update
from sqlalchemy import select as sql_select
from sqlmodel import Session, and_, col, delete, func, or_, select

from catalog.errors import UsageError
from catalog.models import Match, RunCounts, StoredFinding, Verdict, utc_now
from catalog.runtime.batches import batches, iterate_batches

_BATCH_SIZE = 1000  # rows written or read at a time
# Values of a column that a query names one by one; with more of them, LIKE decides.
_MAX_VALUES = 5000
_LIKE_ESCAPE = "\\"
_CATEGORY_SEPARATOR = " > "


class Change(StrEnum):
    """Change of an offer since the previous finished run, as far as it concerns missing offers.

    Missing now: `new` (never missing before), `still` (missing in the previous run), `reappeared`
    (missing in an earlier run, not in the previous one). Missing in the previous run: `resolved`
    (listed now), `unsure` (unsure now), `gone` (not seen now; such a finding is one of the previous
    run).
    """

    NEW = "new"
    STILL = "still"
    REAPPEARED = "reappeared"
    RESOLVED = "resolved"
    UNSURE = "unsure"
    GONE = "gone"


@dataclass(frozen=True)
class FindingFilter:
    """Conditions that all have to hold; None or empty: any.

    Without `includes_ignored` ignored findings are left out; `only_ignored` keeps nothing else.
    `category` is a whole path or its first steps. `cause` is any part of a cause's name. The price
    range includes both ends, in any currency. `since_run_id` and `since_at` keep the findings that
    got their verdict in a later run, or at that time or later.
    """

    verdicts: frozenset[Verdict] = frozenset()
    includes_ignored: bool = False
    only_ignored: bool = False
    category: str | None = None
    brand: str | None = None
    price_from: Decimal | None = None
    price_to: Decimal | None = None
    cause: str | None = None
    change: Change | None = None
    since_run_id: int | None = None
    since_at: datetime | None = None


# Columns by which findings are sorted. Each list ends with the rank, so that pages never overlap.
_SORT_COLUMNS: Mapping[str, Any] = {
    "value": col(StoredFinding.rank),
    "price": col(StoredFinding.amount),
    "title": col(StoredFinding.title),
    "brand": col(StoredFinding.brand_key),
    "category": col(StoredFinding.category_key),
    "cause": col(StoredFinding.cause),
    "verdict": col(StoredFinding.verdict),
    "score": col(StoredFinding.score),
    "url": col(StoredFinding.url),
    "first-seen": col(StoredFinding.first_seen_at),
    "last-seen": col(StoredFinding.last_seen_at),
    "since": col(StoredFinding.since_at),
}
SORT_NAMES = tuple(_SORT_COLUMNS)


@dataclass(frozen=True)
class PageKey:
    """The place of a finding in a sorted list, after which the next page begins.

    `value` is that of the column which the list is sorted by, times as ISO 8601.
    """

    value: str | float | None
    rank: int


def replace_findings(session: Session, run_id: int, rows: Iterable[dict[str, Any]]) -> None:
    """Write a run's findings in place of its former ones, as dicts of column to value."""
    connection = session.connection()
    was_lost = select(StoredFinding.url, StoredFinding.lost_run_id).where(
        StoredFinding.run_id == run_id, col(StoredFinding.lost_run_id).is_not(None)
    )
    lost_run_ids = dict(session.exec(was_lost).all())
    connection.execute(delete(StoredFinding).where(col(StoredFinding.run_id) == run_id))
    for batch in iterate_batches(rows, _BATCH_SIZE):
        for row in batch:
            row["lost_run_id"] = lost_run_ids.get(row["url"])
        connection.execute(insert(StoredFinding), batch)


def mark_vanished(session: Session, previous_run_id: int, run_id: int, urls: Sequence[str]) -> None:
    """Mark the previous run's findings at these URLs as not seen in a run; all others as seen."""
    table = StoredFinding
    of_previous = col(table.run_id) == previous_run_id
    session.connection().execute(update(table).where(of_previous).values(lost_run_id=None))
    for batch in batches(urls, _BATCH_SIZE):
        lost = col(table.url).in_(batch)
        session.connection().execute(
            update(table).where(of_previous, lost).values(lost_run_id=run_id)
        )


def store_counts(session: Session, counts: RunCounts) -> RunCounts:
    """Count a run's stored findings and write the counts; the fields that no finding has stay."""
    for name, value in _count_findings(session, counts.run_id).items():
        setattr(counts, name, value)
    counts.stored_at = utc_now()
    return session.merge(counts)


def _count_findings(session: Session, run_id: int) -> dict[str, Any]:
    columns: list[Any] = [
        col(StoredFinding.verdict),
        col(StoredFinding.is_ignored),
        col(StoredFinding.decision),
        col(StoredFinding.change),
        col(StoredFinding.cause),
        col(StoredFinding.currency),
        col(StoredFinding.price),
    ]
    query = sql_select(*columns).where(col(StoredFinding.run_id) == run_id)
    rows = session.connection().execute(query.execution_options(yield_per=_BATCH_SIZE))
    verdicts: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    changes: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    values: dict[str, Decimal] = defaultdict(Decimal)
    cause_values: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    ignored, unpriced = 0, 0
    for verdict, is_ignored, decision, change, cause, currency, price in rows:
        if decision is not None:
            decisions[decision] += 1
        if is_ignored:
            ignored += 1
            continue
        verdicts[verdict] += 1
        if change is not None:
            changes[change] += 1
        if verdict != Verdict.MISSING:
            continue
        causes[cause or ""] += 1
        if price is None:
            unpriced += 1
            continue
        values[currency or ""] += price
        cause_values[cause or ""][currency or ""] += price
    by_cause = []
    for cause, number in sorted(causes.items(), key=lambda item: (-item[1], item[0])):
        amounts = _amounts_as_text(cause_values[cause])
        by_cause.append({"cause": cause or None, "missing": number, "values": amounts})
    lost = select(func.count()).where(StoredFinding.lost_run_id == run_id)
    newest_match = select(func.max(StoredFinding.match_id)).where(StoredFinding.run_id == run_id)
    return {
        "listed": verdicts[Verdict.LISTED],
        "missing": verdicts[Verdict.MISSING],
        "unsure": verdicts[Verdict.UNSURE],
        "ignored": ignored,
        "unpriced": unpriced,
        "newest_match_id": session.exec(newest_match).one(),
        "no_longer_seen": session.exec(lost).one(),
        "values": _amounts_as_text(values),
        "decisions": dict(decisions),
        "changes": dict(changes),
        "causes": by_cause,
    }


def _amounts_as_text(values: Mapping[str, Decimal]) -> dict[str, str]:
    return {currency: f"{value:f}" for currency, value in sorted(values.items())}


def read_counts(session: Session, run_id: int) -> RunCounts | None:
    """Return the stored counts of a run; None if its findings were not stored."""
    return session.get(RunCounts, run_id)


def has_stored_matches(session: Session, counts: RunCounts) -> bool:
    """Return True if the findings of a run were stored from the matches that it has now."""
    # The greatest id alone is read from an index at once; counting the matches takes 20 ms.
    newest = session.exec(select(func.max(Match.id)).where(Match.run_id == counts.run_id)).one()
    return newest == counts.newest_match_id


def read_findings_page(
    session: Session,
    run_id: int,
    where: FindingFilter,
    sort: str = "value",
    limit: int | None = None,
    offset: int = 0,
    after: PageKey | None = None,
) -> list[StoredFinding]:
    """Read one page of a run's findings, sorted by one of `SORT_NAMES` (`-` in front: descending).

    Findings without a value in that column come last. The page begins at `offset`, or behind the
    finding of `after`, which costs the same for every page. Raises UsageError for another name.
    """
    # Rows are wide and indexes are not: the ids of the page come first, from an index alone.
    query = select(StoredFinding.id).where(*filter_conditions(session, run_id, where))
    if after is not None:
        query = query.where(_is_behind(sort, after))
    if limit is not None:
        query = query.limit(limit)
    ids = list(session.exec(query.order_by(*_order(sort)).offset(offset)))
    rows: dict[int | None, StoredFinding] = {}
    for batch in batches(ids, _BATCH_SIZE):
        of_batch = col(StoredFinding.id).in_(batch)
        rows |= {row.id: row for row in session.exec(select(StoredFinding).where(of_batch))}
    return [rows[finding_id] for finding_id in ids]


def page_key(row: StoredFinding, sort: str) -> PageKey:
    """Return the place of a finding in a list that is sorted so. Raises UsageError."""
    value = getattr(row, _sort_column(sort).key)
    if isinstance(value, datetime):
        return PageKey(value.isoformat(), row.rank)
    return PageKey(value, row.rank)


def count_matching(session: Session, run_id: int, where: FindingFilter) -> int:
    """Count the findings of a run that a filter keeps."""
    return session.exec(
        select(func.count()).where(*filter_conditions(session, run_id, where))
    ).one()


def read_match_urls(session: Session, run_id: int, where: FindingFilter) -> list[str]:
    """Read the URLs of the matches whose findings a filter keeps, the most valuable first."""
    query = (
        select(Match.url)
        .join(StoredFinding, col(StoredFinding.match_id) == col(Match.id))
        .where(*filter_conditions(session, run_id, where))
        .order_by(col(StoredFinding.rank))
    )
    return list(session.exec(query))


def _sort_column(sort: str) -> Any:
    name = sort.removeprefix("-")
    if name not in _SORT_COLUMNS:
        raise UsageError(f"cannot sort by {name[:40]!r}: choose from {', '.join(SORT_NAMES)}")
    return _SORT_COLUMNS[name]


def _order(sort: str) -> list[Any]:
    column = _sort_column(sort)
    is_descending = sort.startswith("-")
    rank = col(StoredFinding.rank)
    if column is _SORT_COLUMNS["value"]:
        return [rank.desc() if is_descending else rank]
    order = column.desc() if is_descending else column
    return [order.nulls_last(), rank]


def _is_behind(sort: str, after: PageKey) -> Any:
    """Return the condition that a finding comes behind a place. Raises UsageError."""
    column = _sort_column(sort)
    is_descending = sort.startswith("-")
    rank = col(StoredFinding.rank)
    if column is _SORT_COLUMNS["value"]:
        return rank < after.rank if is_descending else rank > after.rank
    if after.value is None:
        return and_(column.is_(None), rank > after.rank)
    value = _key_value(column, after.value)
    is_behind = column < value if is_descending else column > value
    return or_(is_behind, and_(column == value, rank > after.rank), column.is_(None))


def _key_value(column: Any, value: str | float) -> Any:
    """Return the value of a place in the type of its column. Raises UsageError."""
    try:
        if column.key in ("amount", "score"):
            return float(value)
        if column.key.endswith("_at"):
            return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError("the cursor is not one of this list") from error
    return str(value)


def filter_conditions(
    session: Session, run_id: int, where: FindingFilter
) -> list[ColumnElement[bool]]:
    """Return the conditions of a query that keeps the findings of a run which the filter keeps."""
    table = StoredFinding
    is_of_run: Any = col(table.run_id) == run_id
    if where.change is Change.GONE:
        is_of_run = col(table.lost_run_id) == run_id
    conditions: list[Any] = [is_of_run]
    if where.change not in (None, Change.GONE):
        conditions.append(col(table.change) == where.change)
    if where.only_ignored:
        conditions.append(col(table.is_ignored).is_(True))
    elif not where.includes_ignored:
        conditions.append(col(table.is_ignored).is_(False))
    if where.verdicts and where.verdicts != frozenset(Verdict):
        conditions.append(col(table.verdict).in_(sorted(where.verdicts)))
    if where.category is not None:
        column = col(table.category_key)
        conditions.append(_is_one_of(session, is_of_run, column, _is_below(where.category)))
    if where.brand is not None:
        conditions.append(col(table.brand_key) == fold_key(where.brand))
    if where.price_from is not None:
        conditions.append(col(table.amount) >= float(where.price_from))
    if where.price_to is not None:
        conditions.append(col(table.amount) <= float(where.price_to))
    if where.cause is not None:
        pattern = f"%{_escape_like(where.cause.lower())}%"
        matches = func.lower(table.cause).like(pattern, escape=_LIKE_ESCAPE)
        conditions.append(_is_one_of(session, is_of_run, col(table.cause), matches))
    if where.since_run_id is not None:
        conditions.append(col(table.since_run_id) > where.since_run_id)
    if where.since_at is not None:
        conditions.append(col(table.since_at) >= where.since_at)
    return conditions


def _is_one_of(session: Session, is_of_run: Any, column: Any, matches: Any) -> Any:
    """Return the condition that a column has one of the run's values that match.

    Runs have few causes and categories. Equality with them is found in an index, LIKE is not.
    """
    distinct = select(column).where(is_of_run, matches).distinct().limit(_MAX_VALUES + 1)
    values = list(session.exec(distinct))
    if len(values) > _MAX_VALUES:
        return matches
    return column.in_(values)


def is_in_category(category: str | None, ancestor: str) -> bool:
    """Return True if a category is an ancestor, or below it.

    >>> is_in_category("Garden > Hoses", "garden"), is_in_category("Gardening", "garden")
    (True, False)
    """
    key, ancestor_key = fold_key(category), fold_key(ancestor)
    return key == ancestor_key or key.startswith(f"{ancestor_key}{_CATEGORY_SEPARATOR}")


def _is_below(category: str) -> Any:
    """Return the condition that a finding is in a category or below it."""
    key = fold_key(category)
    column = col(StoredFinding.category_key)
    pattern = f"{_escape_like(key)}{_CATEGORY_SEPARATOR}%"
    return or_(column == key, column.like(pattern, escape=_LIKE_ESCAPE))


def fold_key(text: str | None) -> str:
    """Return the key under which brands and category paths are compared.

    >>> fold_key("Garden  >Hoses")
    'garden > hoses'
    """
    if not text:
        return ""
    steps = [" ".join(step.split()) for step in text.casefold().split(">")]
    return _CATEGORY_SEPARATOR.join(steps).strip()


def _escape_like(text: str) -> str:
    for character in (_LIKE_ESCAPE, "%", "_"):
        text = text.replace(character, f"{_LIKE_ESCAPE}{character}")
    return text
