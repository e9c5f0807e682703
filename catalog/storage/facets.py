"""Facets of a run's findings: the values of a column with their numbers, under a filter."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select as sql_select
from sqlmodel import Session, col, func

from catalog.models import StoredFinding
from catalog.storage.findings import FindingFilter, finding_conditions

FACET_LIMIT = 12
"""Values of a facet that are counted at most, the most frequent first."""

# Columns of the facets, and the text to show for each value.
_FACETS: Mapping[str, tuple[Any, Any]] = {
    "cause": (col(StoredFinding.cause), col(StoredFinding.cause)),
    "category": (col(StoredFinding.category_key), col(StoredFinding.category)),
    "brand": (col(StoredFinding.brand_key), col(StoredFinding.brand)),
}
FACET_NAMES = tuple(_FACETS)


@dataclass(frozen=True)
class FacetValue:
    """One value of a facet with the number of findings that have it."""

    value: str
    findings: int


def count_facet(
    session: Session, run_id: int, where: FindingFilter, name: str, limit: int = FACET_LIMIT
) -> list[FacetValue]:
    """Count the findings by each value of a facet, one of `FACET_NAMES`.

    The facet's own condition is left out, so that a reader can choose another value.
    """
    key, text = _FACETS[name]
    others = replace(where, **{name: None})
    number = func.count()
    query = (
        sql_select(func.min(text), number)
        .where(*finding_conditions(session, run_id, others))
        .group_by(key)
        .order_by(number.desc(), key)
        # One more than shown: the findings without a value are no value.
        .limit(limit + 1)
    )
    counted = session.connection().execute(query)
    values = [FacetValue(value, findings) for value, findings in counted if value]
    return values[:limit]
