"""Keeping the index of a shop's known offers up to date: lazily, before a match needs it.

An import replaces all rows of a shop. Content keys tell which offers have changed: these are added
to the index, and their former documents are dead. Where many have changed, or the index is of
another layout or damaged, it is built again.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from sqlmodel import Session

from catalog.errors import StoreError
from catalog.models import KnownIndex
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.known_index_parts import add_update, read_catalog_state, read_index
from catalog.storage.store import Store
from matcher.array_types import Ints
from matcher.blocking.grams import MAX_ROWS
from matcher.known_index.build import build_index, index_records, make_documents
from matcher.known_index.known_index import (
    LAYOUT,
    BrokenIndex,
    OpenIndex,
    open_index,
    pack_update,
)
from matcher.known_index.offer_rows import (
    find_changed_ranges,
    read_content_keys,
    read_offers,
)
from matcher.known_index.terms import extract_terms
from matcher.sorted_values import look_up_sorted

# Share of the offers that may change until the index is built again: its frequencies and samples
# are those of the build.
MAX_CHANGED_SHARE = 0.05
# Updates until the index is built again: each is read as a whole by every match.
MAX_UPDATES = 64
# Attempts to bring the index up to date while other processes import or index.
MAX_ATTEMPTS = 5
BUSY = (
    "the known offers are being imported or indexed by other processes: wait for them to end, then "
    "run the same command again"
)


@dataclass(frozen=True)
class _Changes:
    """Ids of new and changed offers, and numbers of documents whose offers changed or are gone."""

    ids: Ints
    removed: Ints


def update_index(store: Store, shop_id: int, *, progress: Progress = no_progress) -> KnownIndex:
    """Bring the index of a shop up to date, and return its row.

    Raises StoreError if other processes change the catalog all the time.
    """
    for _ in range(MAX_ATTEMPTS):
        index = _update(store, shop_id, progress)
        if index is not None:
            return index
    raise StoreError(BUSY)


def _update(store: Store, shop_id: int, progress: Progress) -> KnownIndex | None:
    """Make one attempt; returns None if another process was faster."""
    with store.read_snapshot() as session:
        state = read_catalog_state(session, shop_id)
        row = read_index(session, shop_id, LAYOUT)
        if row is not None and row.catalog_state == state:
            return row
        opened = open_index(session, shop_id) if row is not None else None
        changes = _find_changes(session, opened, shop_id) if opened else None
        update = None
        if opened and changes and _is_small(opened, changes):
            # Where a part is damaged, the index is built again.
            with suppress(BrokenIndex):
                update = _pack_changes(session, opened, changes)
    if update is None or row is None:
        return build_index(store, shop_id, progress=progress)
    changed = KnownIndex(**row.model_dump() | {"catalog_state": state})
    with store.write() as session:
        documents = len(changes.ids) if changes else 0
        if not add_update(session, changed, update, documents):
            return None
        return session.get(KnownIndex, shop_id)


def _find_changes(session: Session, index: OpenIndex, shop_id: int) -> _Changes:
    """Compare the offers of the store with the documents of the index."""
    alive = np.flatnonzero(index.alive)
    alive = alive[np.argsort(index.documents.ids[alive])]
    indexed_ids, indexed_keys = index.documents.ids[alive], index.documents.keys[alive]
    new_ids = [np.empty(0, np.int64)]
    is_current = np.ones(len(alive), bool)
    for first, end in find_changed_ranges(session, shop_id, indexed_ids, indexed_keys):
        ids, keys = read_content_keys(session, shop_id, first, end)
        start, stop = np.searchsorted(indexed_ids, (first, end))
        places, is_same = look_up_sorted(indexed_ids[start:stop], ids)
        # Of the offers that are indexed, those of the same content.
        is_same[is_same] = indexed_keys[start:stop][places[is_same]] == keys[is_same]
        is_current[start:stop] = False
        is_current[start:stop][places[is_same]] = True
        new_ids.append(ids[~is_same])
    return _Changes(np.concatenate(new_ids), alive[~is_current])


def _is_small(index: OpenIndex, changes: _Changes) -> bool:
    dead = len(index.alive) - index.size + len(changes.removed)
    new = len(index.documents.ids) - index.built_size + len(changes.ids)
    if max(dead, new) > MAX_CHANGED_SHARE * index.built_size or len(changes.ids) > MAX_ROWS:
        return False
    return index.row.updates < MAX_UPDATES


def _pack_changes(session: Session, index: OpenIndex, changes: _Changes) -> bytes:
    rows = list(read_offers(session, changes.ids.tolist()).values())
    records = index_records(rows, list(index.statistics["brands"]))
    terms = extract_terms(records)
    documents = make_documents(rows, records, terms)
    return pack_update(documents, terms, changes.removed, len(index.documents.ids))
