"""The catalog's side of a match: all known offers of a shop, or the candidates of a large catalog.

A catalog is read as a whole where it is small, or where the shop's offers need most of it anyway.
Else the index of the catalog gives the candidates and the statistics of all others
(`matcher.known_index`). Verdicts are the same in both ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row
from sqlalchemy import select as sql_select
from sqlmodel import Session, SQLModel, func, select

from catalog.models import KnownOffer, Shop
from catalog.runtime.progress import Progress
from catalog.storage.known_index_parts import read_catalog_state
from catalog.storage.store import Store
from matcher.config import LARGE_CATALOG
from matcher.shop_side import ShopSide

if TYPE_CHECKING:
    from matcher.catalog_statistics import CatalogStatistics

# Known offers per offer of the shop from which on candidates are retrieved: below, they would be
# most of the catalog, and reading it once is cheaper.
MIN_KNOWN_PER_OFFER = 50
# Rows that are read at once.
_ROW_BATCH = 10_000
_TABLE = SQLModel.metadata.tables[str(KnownOffer.__tablename__)]


@dataclass(frozen=True)
class KnownSide:
    """Known offers as rows, sorted by key: row ids tell only the order of the import.

    `version` stands for all known offers in the fingerprint of a match; None where the rows do.
    `statistics` stand for the offers that `rows` lacks.
    """

    rows: Sequence[Row[Any]]
    version: str | None = None
    statistics: "CatalogStatistics | None" = None


def read_known_side(session: Session, shop: Shop, offer_count: int) -> KnownSide:
    """Read the known offers of a shop with so many offers; of a large catalog the version only."""
    count = session.exec(select(func.count()).where(KnownOffer.shop_id == shop.id)).one()
    if count > LARGE_CATALOG and offer_count * MIN_KNOWN_PER_OFFER <= count:
        return KnownSide([], _version(read_catalog_state(session, shop.id or 0)))
    query = sql_select(_TABLE).where(_TABLE.c.shop_id == shop.id)
    result = session.connection().execute(query, execution_options={"stream_results": True})
    rows: list[Row[Any]] = []
    for partition in result.partitions(_ROW_BATCH):
        rows += partition
    return KnownSide(sorted(rows, key=lambda row: str(row.ref)))


def retrieve_known_side(store: Store, shop: Shop, side: ShopSide, progress: Progress) -> KnownSide:
    """Retrieve from a large catalog the known offers that the shop's offers may be."""
    # Imported late: a small catalog needs no index.
    from matcher.known_index.retrieval import retrieve_offers

    retrieved = retrieve_offers(
        store, shop.id or 0, side.offers, side.linked_urls(), progress=progress
    )
    return KnownSide(retrieved.rows, _version(retrieved.catalog_state), retrieved.statistics)


def _version(catalog_state: str) -> str:
    return f"index of {catalog_state}"
