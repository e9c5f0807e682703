"""An open index: its documents, their terms and postings, and the changes since it was built.

A document is a known offer as it was when it was indexed, numbered in the order of indexing. A
changed offer is a new document, and its former one is dead. Frequencies count dead documents too,
until the index is built again (as in Lucene): they are few (`update.MAX_CHANGED_SHARE`).
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from catalog.models import KnownIndex
from catalog.storage.known_index_parts import read_index, read_part, read_parts
from matcher.array_types import Bools, Ints, Keys
from matcher.known_index.frequency import FrequencyTable, merge_tables
from matcher.known_index.postings import (
    Documents,
    add_postings,
    blocks_of_keys,
    read_block,
    sort_postings,
)
from matcher.known_index.terms import Terms
from matcher.packed_arrays import Arrays, pack_arrays, unpack_arrays
from matcher.records.record import Record

# Version of the parts: an index of another one is built again. Also to be raised when other terms
# are made of the same offer.
LAYOUT = 3
HAS_TITLE = 1
HAS_LINK = 2


class BrokenIndex(Exception):
    """A part of an index is missing or cannot be read: it is to be built again."""


@dataclass(frozen=True)
class DocumentTable:
    """Per document: id and content key of its offer, HAS_TITLE and HAS_LINK, searched terms."""

    ids: Ints
    keys: Ints
    flags: NDArray[np.uint8]
    gram_counts: NDArray[np.uint16]
    token_counts: NDArray[np.uint16]

    def arrays(self) -> Arrays:
        """Return the columns by name."""
        return vars(self)


class OpenIndex:
    """The index of a shop's known offers, read from the store as far as it is needed."""

    def __init__(self, session: Session, row: KnownIndex) -> None:
        """Read documents and updates. Raises BrokenIndex."""
        self.row = row
        self._session = session
        self._updates = self._read_updates()
        self.documents = join_documents([self._arrays("documents"), *self._updates])
        self.alive: Bools = np.ones(len(self.documents.ids), bool)
        for update in self._updates:
            self.alive[update["removed"]] = False
        if len(self.alive) != row.documents:
            raise BrokenIndex

    @property
    def size(self) -> int:
        """The number of known offers."""
        return int(self.alive.sum())

    @property
    def built_size(self) -> int:
        """The number of offers when the index was built."""
        return len(self.documents.ids) - sum(len(update["ids"]) for update in self._updates)

    @cached_property
    def statistics(self) -> Mapping[str, Any]:
        """Statistics of the build that are no arrays (`matcher.known_index.statistics`).

        Raises BrokenIndex.
        """
        try:
            decoded: Mapping[str, Any] = json.loads(zlib.decompress(self._part("statistics")))
        except (zlib.error, ValueError) as error:
            raise BrokenIndex from error
        return decoded

    @cached_property
    def grams(self) -> FrequencyTable:
        """How many documents have an n-gram."""
        return self._frequency("grams")

    @cached_property
    def tokens(self) -> FrequencyTable:
        """How many documents have a token, by its hashed column."""
        return self._frequency("tokens")

    @cached_property
    def words(self) -> FrequencyTable:
        """How many sampled descriptions have a word."""
        arrays = self._arrays("words")
        return FrequencyTable(arrays["keys"], arrays["counts"])

    def find(self, keys: Keys) -> dict[int, Documents]:
        """Return the living documents of each of some different keys."""
        postings: dict[int, Documents] = {}
        blocks = blocks_of_keys(self._directory, keys)
        contents = read_parts(self._session, self.row, "postings", sorted(blocks))
        if len(contents) != len(blocks):
            raise BrokenIndex
        for number, block_keys in blocks.items():
            postings |= read_block(contents[number], block_keys)
        add_postings(postings, keys, *self._new_postings)
        return {key: documents[self.alive[documents]] for key, documents in postings.items()}

    @cached_property
    def _directory(self) -> Keys:
        return np.asarray(self._arrays("directory")["first_keys"], np.uint64)

    @cached_property
    def _new_postings(self) -> tuple[Keys, Documents]:
        """The postings of all updates, sorted by key."""
        keys = [np.empty(0, np.uint64), *(update["postings"] for update in self._updates)]
        documents = [
            np.empty(0, np.uint32),
            *(update["posting_documents"] for update in self._updates),
        ]
        return sort_postings(np.concatenate(keys), np.concatenate(documents))

    def _frequency(self, kind: str) -> FrequencyTable:
        base = self._arrays(kind)
        updates = []
        for update in self._updates:
            updates.append(FrequencyTable(update[f"{kind}_keys"], update[f"{kind}_counts"]))
        return merge_tables(FrequencyTable(base["keys"], base["counts"]), updates)

    def _read_updates(self) -> list[Arrays]:
        numbers = list(range(self.row.updates))
        contents = read_parts(self._session, self.row, "update", numbers)
        if len(contents) != len(numbers):
            raise BrokenIndex
        return [_unpack(contents[number]) for number in numbers]

    def _arrays(self, kind: str) -> Arrays:
        return _unpack(self._part(kind))

    def _part(self, kind: str) -> bytes:
        content = read_part(self._session, self.row, kind)
        if content is None:
            raise BrokenIndex
        return content


def join_documents(tables: Sequence[Arrays]) -> DocumentTable:
    """Return one table of the documents of some tables, which are given by their columns."""
    columns = []
    for name in DocumentTable.__dataclass_fields__:
        columns.append(np.concatenate([table[name] for table in tables]))
    return DocumentTable(*columns)


def open_index(session: Session, shop_id: int) -> OpenIndex | None:
    """Open the index of a shop; None if it has none that can be used."""
    row = read_index(session, shop_id, LAYOUT)
    if row is None:
        return None
    try:
        return OpenIndex(session, row)
    except BrokenIndex:
        return None


def pack_update(
    documents: DocumentTable, terms: Terms, removed: Ints, first_document: int
) -> bytes:
    """Return an update as bytes: new documents with their terms, and the numbers of dead ones."""
    keys, numbers = sort_postings(terms.postings, terms.posting_rows + first_document)
    grams, gram_counts = np.unique(terms.grams, return_counts=True)
    tokens, token_counts = np.unique(terms.tokens, return_counts=True)
    return pack_arrays(
        **documents.arrays(),
        removed=removed,
        postings=keys,
        posting_documents=numbers,
        grams_keys=grams,
        grams_counts=gram_counts,
        tokens_keys=tokens,
        tokens_counts=token_counts,
    )


def pack_statistics(statistics: Mapping[str, Any]) -> bytes:
    """Return statistics as bytes."""
    return zlib.compress(json.dumps(statistics).encode("utf-8", "surrogatepass"))


def make_flags(records: Iterable[Record]) -> NDArray[np.uint8]:
    """Return the flags of the documents of some records."""
    flags = []
    for record in records:
        flags.append(HAS_TITLE * bool(record.title) + HAS_LINK * bool(record.link.address))
    return np.array(flags, np.uint8)


def _unpack(content: bytes) -> Arrays:
    try:
        return unpack_arrays(content)
    except ValueError as error:
        raise BrokenIndex from error
