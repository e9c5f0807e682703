"""Fingerprints: digests of everything that the result of a stage depends on.

A stage whose fingerprint is that of an earlier run would come to the same result, so it takes over
that one. Each fingerprint has the version of the code that the stage consists of
(`catalog.runtime.code_version`).
"""

import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from sqlalchemy import select as sql_select
from sqlmodel import Session, col, func, select

from catalog.models import KnownOffer, OfferFields, Run, Stage

DIGEST_BYTES = 16
# Newest runs of a shop among which a result is looked for.
MAX_RUNS = 5

# Columns of a known offer that are content: the others tell when and by which import it came.
KNOWN_OFFER_COLUMNS = tuple(
    getattr(KnownOffer, name)
    for name in ("id", "ref", "link", "product", *OfferFields.model_fields)
)


class Digest:
    """A digest of values that are added one after the other."""

    def __init__(self, *values: object) -> None:
        self._hash = blake2b(digest_size=DIGEST_BYTES)
        self.add(*values)

    def add(self, *values: object) -> None:
        """Add values: those of JSON, times, decimals, and tuples of these."""
        for value in values:
            encoded = json.dumps(value, default=_as_json, ensure_ascii=False)
            # A line for each value: none of them has a line break once it is JSON.
            self._hash.update(encoded.encode("utf-8", "surrogatepass") + b"\n")

    def add_rows(self, rows: Iterable[Any]) -> None:
        """Add the rows of a query, and their number."""
        count = 0
        for row in rows:
            self.add(tuple(row))
            count += 1
        self.add(count)

    def hexdigest(self) -> str:
        """Return the digest of all values added so far."""
        return self._hash.hexdigest()


def known_offers_digest(session: Session, shop_id: int) -> str:
    """Return a digest of the known offers of a shop, whenever they were imported."""
    digest = Digest()
    query = sql_select(*KNOWN_OFFER_COLUMNS).where(col(KnownOffer.shop_id) == shop_id)
    digest.add_rows(session.connection().execute(query.order_by(col(KnownOffer.id))))
    return digest.hexdigest()


def imports_of_others(session: Session, shop_id: int) -> list[tuple[int, int, int]]:
    """Return (shop, its newest import, its number of known offers) of all other shops."""
    query = (
        select(KnownOffer.shop_id, func.max(KnownOffer.generation), func.count())
        .where(KnownOffer.shop_id != shop_id)
        .group_by(col(KnownOffer.shop_id))
        .order_by(col(KnownOffer.shop_id))
    )
    return [(shop, newest or 0, number) for shop, newest, number in session.exec(query)]


def store_fingerprint(session: Session, run_id: int, stage: Stage, **values: Any) -> None:
    """Store the fingerprint of a stage with the run, and where its result stands."""
    run = session.get_one(Run, run_id)
    run.fingerprints = {**run.fingerprints, stage.value: values}


def find_fingerprint(
    session: Session, shop_id: int, stage: Stage, digest: str
) -> tuple[int, dict[str, Any]] | None:
    """Return the newest run of a shop whose stage had this fingerprint, and its stored values."""
    runs = select(Run.id, Run.fingerprints).where(Run.shop_id == shop_id)
    newest = runs.order_by(col(Run.id).desc()).limit(MAX_RUNS)
    for run_id, fingerprints in session.exec(newest):
        values = (fingerprints or {}).get(stage.value)
        if values and values.get("digest") == digest:
            return run_id or 0, values
    return None


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Iterable):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no digest")
