"""Facets of findings: how many a filter would keep with each value of one of its conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session, col, func, select

from catalog.models import StoredFinding
from catalog.storage.findings import FindingFilter, filter_conditions

_WITHOUT: dict[str, dict[str, Any]] = {
    "verdict": {"verdicts": frozenset(), "includes_ignored": False, "only_ignored": False},
    "cause": {"cause": None},
    "category": {"category": None},
    "brand": {"brand": None},
    "change": {"change": None},
}
_COLUMNS: dict[str, Any] = {
    "verdict": StoredFinding.verdict,
    "cause": StoredFinding.cause,
    "category": StoredFinding.category_key,
    "brand": StoredFinding.brand_key,
    "change": StoredFinding.change,
}
FACETS = tuple(_COLUMNS)
"""Names of the facets."""


@dataclass(frozen=True)
class FacetValue:
    """A value of a facet with the number of findings; brands and categories as they are written."""

    value: str
    count: int


def count_facet(
    session: Session, run_id: int, where: FindingFilter, facet: str, limit: int
) -> list[FacetValue]:
    """Count the findings of a run by one facet, the most frequent values first.

    The filter's own condition on that facet is left out, so that the other values can be chosen.
    """
    column = col(_COLUMNS[facet])
    conditions = filter_conditions(session, run_id, replace(where, **_WITHOUT[facet]))
    number, rank = func.count(), func.min(StoredFinding.rank)
    query = select(column, number, rank).where(*conditions).group_by(column)
    rows = session.exec(query.order_by(number.desc(), column).limit(limit + 1)).all()
    # Findings without a value are counted as the empty one, or None.
    counted = [row for row in rows if row[0]][:limit]
    labels: dict[int, str | None] = {}
    if facet in ("category", "brand"):
        labels = _read_labels(session, run_id, facet, [rank for _, _, rank in counted])
    return [FacetValue(labels.get(rank) or str(value), count) for value, count, rank in counted]


def _read_labels(
    session: Session, run_id: int, facet: str, ranks: Sequence[int]
) -> dict[int, str | None]:
    """Return the brand or category of the findings of these ranks, as it is written."""
    label = col(getattr(StoredFinding, facet))
    query = select(StoredFinding.rank, label).where(
        StoredFinding.run_id == run_id, col(StoredFinding.rank).in_(ranks)
    )
    return dict(session.exec(query).all())
