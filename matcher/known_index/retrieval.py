"""Retrieval: the known offers that a match of a shop needs, and the statistics of all others."""

from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Row
from sqlmodel import Session

from catalog.errors import StoreError
from catalog.models import OfferFields
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.known_index_parts import read_catalog_state
from catalog.storage.store import Store
from matcher.array_types import Ints, Pairs
from matcher.blocking.candidates import NEIGHBOURS
from matcher.catalog_statistics import CatalogStatistics
from matcher.known_index.build import build_index
from matcher.known_index.known_index import BrokenIndex, OpenIndex, open_index
from matcher.known_index.offer_rows import read_known_offers, read_titles
from matcher.known_index.ranking import rank_by_grams, rank_by_words
from matcher.known_index.search import find_by_keys, find_promising, identifier_keys
from matcher.known_index.statistics import catalog_statistics
from matcher.known_index.update import BUSY, MAX_ATTEMPTS, update_index
from matcher.records.record import (
    BrandNames,
    Record,
    add_alternate_links,
    build_records,
    build_title_record,
    strip_brands,
)

# Candidates per offer and kind of text: more than are compared, as siblings are often equally near.
RANKED = NEIGHBOURS + 12
# Offers of the shop whose candidates are compared at once; bounds memory.
OFFERS_PER_STEP = 1_000


@dataclass(frozen=True)
class Retrieved:
    """Rows of known offers, sorted by key, and the state and statistics of the whole catalog."""

    rows: Sequence[Row[Any]]
    catalog_state: str
    statistics: CatalogStatistics


def retrieve_offers(
    store: Store,
    shop_id: int,
    offers: Sequence[OfferFields],
    further_urls: Sequence[Sequence[str]],
    *,
    progress: Progress = no_progress,
) -> Retrieved:
    """Retrieve the known offers that some offers of the shop may be.

    `further_urls` are those of each offer: its page, redirects, and versions in other languages.
    The index is brought up to date first. Raises StoreError if other processes keep changing it.
    """
    for _ in range(MAX_ATTEMPTS):
        update_index(store, shop_id, progress=progress)
        with store.read_snapshot() as session:
            index = open_index(session, shop_id)
            if index is not None:
                # Another process may have imported in between.
                if read_catalog_state(session, shop_id) != index.row.catalog_state:
                    continue
                with suppress(BrokenIndex):
                    return _retrieve(session, index, offers, further_urls)
        build_index(store, shop_id, progress=progress)
    raise StoreError(BUSY)


def _retrieve(
    session: Session,
    index: OpenIndex,
    offers: Sequence[OfferFields],
    further_urls: Sequence[Sequence[str]],
) -> Retrieved:
    documents = _find_documents(session, index, offers, further_urls)
    known = read_known_offers(session, index.documents.ids[documents].tolist())
    rows = sorted(known.values(), key=lambda row: str(row.ref))
    return Retrieved(rows, index.row.catalog_state, catalog_statistics(index))


def _find_documents(
    session: Session,
    index: OpenIndex,
    offers: Sequence[OfferFields],
    further_urls: Sequence[Sequence[str]],
) -> Ints:
    """Find the documents that share a key with an offer, and those with the most similar titles."""
    records = build_records(offers)
    brands = {record.brand for record in records}.union(index.statistics["brands"])
    linked = add_alternate_links(records, further_urls)
    documents = [find_by_keys(index, identifier_keys(linked))]
    # Pages of one title have the same candidates.
    titled = {record.search_text: record for record in strip_brands(records, brands)}
    shop = list(titled.values())
    for start in range(0, len(shop), OFFERS_PER_STEP):
        step = shop[start : start + OFFERS_PER_STEP]
        promising = find_promising(index, step)
        candidates = _read_candidates(session, index, promising, brands)
        for rank in (rank_by_grams, rank_by_words):
            nearest: Pairs = rank(index, step, candidates, RANKED)
            documents.append(promising[np.unique(nearest[:, 1])])
    return np.unique(np.concatenate(documents))


def _read_candidates(
    session: Session, index: OpenIndex, documents: Ints, brands: Set[str]
) -> list[Record]:
    """Read the titles of documents as records; an offer that is gone has an empty one."""
    ids = index.documents.ids[documents].tolist()
    rows = read_titles(session, ids)
    names = BrandNames(brands)
    records = []
    for known in ids:
        row = rows.get(known)
        if row is None:
            records.append(Record())
        else:
            records.append(build_title_record(names, row.title, row.brand, row.description))
    return records
