"""Making the index of a shop's known offers: all are read once, in one snapshot of the store.

What is read goes to temporary files first, so that no transaction is open for minutes. The index
appears with the last part: a process that is killed before leaves the former one, or none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
from sqlalchemy import Row
from sqlmodel import Session

from catalog.models import KnownIndex
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.known_index_parts import (
    Part,
    finish_build,
    read_catalog_state,
    start_build,
    write_parts,
)
from catalog.storage.store import Store
from matcher.array_types import Ints, Keys
from matcher.features.variant_words import family_key
from matcher.known_index.frequency import FrequencyCounter, FrequencyTable
from matcher.known_index.keys import text_key, text_keys
from matcher.known_index.known_index import (
    LAYOUT,
    BrokenIndex,
    DocumentTable,
    OpenIndex,
    join_documents,
    make_flags,
    pack_statistics,
)
from matcher.known_index.offer_rows import key_of_row, read_all_offers, read_brands
from matcher.known_index.postings import PostingSpool
from matcher.known_index.statistics import (
    common_images,
    draw_training_offers,
    pack_training_offers,
    sample_texts,
)
from matcher.known_index.terms import Terms, extract_terms, hash_title_words
from matcher.packed_arrays import Arrays, pack_arrays
from matcher.records.brand_aliases import MAX_BRANDS, groups_of_offer
from matcher.records.record import MAX_KEY, Record, build_records, strip_brands
from matcher.records.stored_offers import to_fields
from matcher.records.text import fold

# Keys of groups that are held as Python numbers before they are packed; bounds memory.
_MAX_PENDING_KEYS = 1_000_000


def build_index(
    store: Store, shop_id: int, *, progress: Progress = no_progress
) -> KnownIndex | None:
    """Index all known offers of a shop; returns the index, None if another process was faster."""
    build = start_build(store, shop_id)
    with closing(PostingSpool()) as spool:
        with store.read_snapshot() as session:
            reader = _Reader(session, shop_id, spool, progress)
        count = write_parts(store, shop_id, build, reader.parts())
    index = KnownIndex(
        shop_id=shop_id,
        build=build,
        layout=LAYOUT,
        catalog_state=reader.state,
        documents=len(reader.documents.ids),
        parts=count + 1,
    )
    try:
        with store.read() as session:
            opened = OpenIndex(session, index)
            rounds = draw_training_offers(session, opened, reader.brands, reader.title_words)
            training = pack_training_offers(session, rounds)
    except BrokenIndex:
        # Another process has finished a later build, and deleted these parts.
        return None
    statistics = pack_statistics(reader.statistics | {"training": training})
    write_parts(store, shop_id, build, [("statistics", 0, statistics)])
    with store.write() as session:
        return index if finish_build(session, index) else None


class _Reader:
    """Reads all offers of a shop: postings go to the spool, all else stays here."""

    def __init__(
        self, session: Session, shop_id: int, spool: PostingSpool, progress: Progress
    ) -> None:
        self.state = read_catalog_state(session, shop_id)
        self.brands = sorted({fold(brand, MAX_KEY) for brand in read_brands(session, shop_id)})
        self._spool = spool
        self._grams, self._tokens = FrequencyCounter(), FrequencyCounter()
        self._images, self._title_words = FrequencyCounter(), FrequencyCounter()
        self._groups = _BrandGroups()
        self._tables: list[Arrays] = []
        families: list[Keys] = [np.empty(0, np.uint64)]
        size = 0
        for rows in read_all_offers(session, shop_id):
            families.append(self._add(rows, size))
            size += len(rows)
            progress("offers indexed", size, None)
        self.documents = join_documents(self._tables)
        sampled, self._words = sample_texts(
            session, self.documents, np.concatenate(families), self.brands
        )
        self.statistics = sampled | {
            "brands": dict(self._groups.frequency),
            "brand_groups": self._groups.ambiguous(),
            "images": common_images(self._images.table(), size),
        }

    def _add(self, rows: Sequence[Row[tuple[object, ...]]], first_document: int) -> Keys:
        """Add the next offers; returns their family keys."""
        records = index_records(rows, self.brands)
        terms = extract_terms(records)
        self._spool.add(terms.postings, terms.posting_rows + first_document)
        self._grams.add(terms.grams)
        self._tokens.add(terms.tokens)
        self._title_words.add(hash_title_words(records))
        images = [image for record in records for image in record.images]
        self._images.add(text_keys("image", images))
        for row, record in zip(rows, records, strict=True):
            self._groups.add(record, row.product or "")
        self._tables.append(make_documents(rows, records, terms).arrays())
        return np.fromiter(map(family_key, records), np.uint64, len(records))

    @property
    def title_words(self) -> FrequencyTable:
        """How many offers have a word in their titles, by its hashed column."""
        return self._title_words.table()

    def parts(self) -> Iterator[Part]:
        """Yield all parts of the index but the statistics."""
        yield "documents", 0, pack_arrays(**self.documents.arrays())
        for kind, table in (
            ("grams", self._grams.table()),
            ("tokens", self._tokens.table()),
            ("words", self._words),
        ):
            yield kind, 0, pack_arrays(keys=table.keys, counts=table.counts)
        first_keys: list[int] = []
        for first_key, content in self._spool.blocks():
            yield "postings", len(first_keys), content
            first_keys.append(first_key)
        yield "directory", 0, pack_arrays(first_keys=np.array(first_keys, np.uint64))


class _BrandGroups:
    """Brands by the product, EAN or link of their offers."""

    def __init__(self) -> None:
        self.frequency: Counter[str] = Counter()
        self._number_of: dict[str, int] = {}
        self._keys: list[int] = []
        self._numbers: list[int] = []
        self._arrays: list[tuple[Keys, Ints]] = []

    def add(self, record: Record, product: str) -> None:
        """Add the brand of an offer."""
        self.frequency[record.brand] += 1
        if not record.brand:
            return
        number = self._number_of.setdefault(record.brand, len(self._number_of))
        for kind, value in groups_of_offer(record, product):
            self._keys.append(text_key(kind, value))
            self._numbers.append(number)
        if len(self._keys) > _MAX_PENDING_KEYS:
            self._pack()

    def ambiguous(self) -> dict[str, list[str]]:
        """Return the brands of each key that has several, by the key as text."""
        self._pack()
        keys = np.concatenate([keys for keys, _ in self._arrays])
        numbers = np.concatenate([numbers for _, numbers in self._arrays])
        order = np.lexsort((numbers, keys))
        keys, numbers = keys[order], numbers[order]
        is_new = np.ones(len(keys), bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
        keys, numbers = keys[is_new], numbers[is_new]
        unique, starts, counts = np.unique(keys, return_index=True, return_counts=True)
        names = list(self._number_of)
        groups: dict[str, list[str]] = {}
        for place in np.flatnonzero(counts > 1).tolist():
            # One brand above the limit shows that the group is no evidence.
            end = starts[place] + min(counts[place], MAX_BRANDS + 1)
            members = numbers[starts[place] : end].tolist()
            groups[str(unique[place])] = [names[number] for number in members]
        return groups

    def _pack(self) -> None:
        self._arrays.append((np.array(self._keys, np.uint64), np.array(self._numbers, np.int64)))
        self._keys, self._numbers = [], []


def index_records(rows: Sequence[Row[tuple[object, ...]]], brands: Sequence[str]) -> list[Record]:
    """Build the records of rows, without descriptions that are not searched with."""
    offers = []
    for row in rows:
        offer = to_fields(row)
        if offer.title:
            offer.description = None
        offers.append(offer)
    return strip_brands(build_records(offers), brands)


def make_documents(
    rows: Sequence[Row[tuple[object, ...]]], records: Sequence[Record], terms: Terms
) -> DocumentTable:
    """Return the table of the documents of some rows."""
    return DocumentTable(
        ids=np.array([row.id for row in rows], np.int64),
        keys=np.array([key_of_row(row) for row in rows], np.int64),
        flags=make_flags(records),
        gram_counts=terms.gram_counts,
        token_counts=terms.token_counts,
    )
