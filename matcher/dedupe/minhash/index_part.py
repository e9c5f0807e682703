"""A part of the MinHash index on disk: some records in a folder, as memory-mapped arrays.

It holds for each band the sorted keys and their owners; the shingles of each record, so that
records that share a band are verified exactly; the records' names; and identifiers hashed from name
and text, which recognise a record that is stored already.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Doubles, Ints, UInts
from matcher.dedupe.base.pair_codes import (
    PAIRS_PER_CHUNK,
    collect_unique,
    pack_pairs,
    unpack_pairs,
)
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import expand_ranges, run_offsets, slice_chunks
from matcher.dedupe.base.token_overlap import count_shared_tokens
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import chunk_texts
from matcher.dedupe.minhash.signatures import BandPlan

DESCRIPTION_FILE = "about.json"


@dataclass(frozen=True)
class Batch:
    """Records to store or to look up: names, identifiers, keys band by band, and shingle sets."""

    names: list[bytes]
    ids: UInts
    keys: Iterable[UInts]
    bands: int
    bags: TokenBags

    @classmethod
    def from_texts(
        cls, names: Sequence[str], texts: Sequence[str], method: MinHash, plan: BandPlan
    ) -> "Batch":
        """Hash some records."""
        # The empty arrays give the concatenations their types when there are no texts.
        keys = [np.empty((plan.bands, 0), dtype=np.uint64)]
        tokens, sizes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for chunk in chunk_texts(texts):
            chunk_keys, bags = method.hash_texts(texts[chunk], plan)
            keys.append(np.stack(chunk_keys))
            tokens.append(bags.tokens.astype(np.int64, copy=False))
            sizes.append(bags.sizes)
        encoded_names = [_encode(name) for name in names]
        ids = [_record_id(name, text) for name, text in zip(encoded_names, texts, strict=True)]
        return cls(
            encoded_names,
            np.array(ids, dtype=np.uint64),
            [*np.concatenate(keys, axis=1)],
            plan.bands,
            TokenBags(np.concatenate(tokens), np.concatenate(sizes)),
        )

    def __len__(self) -> int:
        return len(self.names)

    def select(self, rows: Ints) -> "Batch":
        """Return the records of some rows."""
        sizes = self.bags.sizes[rows]
        tokens = self.bags.tokens[expand_ranges(self.bags.offsets()[:-1][rows], sizes)]
        names = [self.names[row] for row in rows.tolist()]
        keys = [band_keys[rows] for band_keys in self.keys]
        return Batch(names, self.ids[rows], keys, self.bands, TokenBags(tokens, sizes))


@dataclass(frozen=True)
class PartMatches:
    """Similar pairs of a looked-up record and a record of a part, and the work it took."""

    queries: Ints
    places: Ints
    similarity: Doubles
    candidates: int
    comparisons: int


class Part:
    """Stored records of a folder, whose name has the first and last addition that it holds."""

    def __init__(self, folder: Path) -> None:
        """Open a part that has been written."""
        self.folder = folder
        self.count = int(json.loads((folder / DESCRIPTION_FILE).read_text())["count"])
        self._keys = self._open("keys")
        self._order = self._open("order")
        self._ids = self._open("ids")
        self._id_order = self._open("id_order")
        self._tokens = self._open("tokens")
        self._sizes = self._open("sizes")
        self._names = self._open("names")
        self._name_ends = self._open("name_ends")
        self.bands = len(self._keys)
        self._token_offsets = run_offsets(self._sizes.astype(np.int64))

    def _open(self, name: str) -> NDArray[Any]:
        if not self.count:
            return np.empty(0, dtype=np.uint64)
        array: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return array

    def name(self, place: int) -> str:
        """Return the name of a record."""
        start = 0
        if place:
            start = int(self._name_ends[place - 1])
        encoded = bytes(self._names[start : int(self._name_ends[place])])
        return encoded.decode("utf-8", "surrogatepass")

    def find_places(self, ids: UInts) -> Ints:
        """Return the place of each record by identifier; -1 if it is not stored."""
        place = np.minimum(np.searchsorted(self._ids, ids), self.count - 1)
        return np.where(self._ids[place] == ids, self._id_order[place].astype(np.int64), -1)

    def find_similar(self, queries: Batch, threshold: Fraction) -> PartMatches:
        """Find the pairs of a query and a stored record with at least some Jaccard similarity."""
        candidates, codes = collect_unique(self._match_bands(queries.keys))
        rows, places = unpack_pairs(codes)
        stored, stored_of = np.unique(places, return_inverse=True)
        sizes = self._sizes[stored].astype(np.int64)
        tokens = self._tokens[expand_ranges(self._token_offsets[:-1][stored], sizes)]
        bags = TokenBags(tokens.astype(np.int64), sizes)
        shared = count_shared_tokens(queries.bags, bags, rows, stored_of)
        union = queries.bags.sizes[rows] + sizes[stored_of] - shared
        is_similar = shared * threshold.denominator >= union * threshold.numerator
        similarity = shared[is_similar] / union[is_similar]
        return PartMatches(rows[is_similar], places[is_similar], similarity, candidates, len(rows))

    def keys_by_record(self) -> Iterator[UInts]:
        """Yield the keys band by band, in the order of the records."""
        for keys, order in zip(self._keys, self._order, strict=True):
            by_record = np.empty(self.count, dtype=np.uint64)
            by_record[order] = keys
            yield by_record

    def ids_by_record(self) -> UInts:
        """Return the identifiers in the order of the records."""
        by_record = np.empty(self.count, dtype=np.uint64)
        by_record[self._id_order] = self._ids
        return by_record

    def bags(self) -> TokenBags:
        """Return the shingle sets of all records."""
        return TokenBags(self._tokens.astype(np.int64), self._sizes.astype(np.int64))

    def _match_bands(self, query_keys: Iterable[UInts]) -> Iterator[Ints]:
        """Yield packed pairs of a query and a stored record that share a key, band by band."""
        for keys, order, band_queries in zip(self._keys, self._order, query_keys, strict=True):
            # Sorted queries walk through the memory map in one direction.
            rows = np.argsort(band_queries)
            sorted_queries = band_queries[rows]
            first = np.searchsorted(keys, sorted_queries, side="left")
            counts = np.searchsorted(keys, sorted_queries, side="right") - first
            for chunk in slice_chunks(counts, PAIRS_PER_CHUNK):
                stored = order[expand_ranges(first[chunk], counts[chunk])]
                queries = np.repeat(rows[chunk], counts[chunk])
                yield pack_pairs(queries, stored.astype(np.int64))


def unite_parts(parts: Sequence[Part]) -> Batch:
    """Return the records of some parts as one batch; their keys are read band by band."""
    names = [_encode(part.name(place)) for part in parts for place in range(part.count)]
    bags_of_part = [part.bags() for part in parts]
    bags = TokenBags(
        np.concatenate([bags.tokens for bags in bags_of_part]),
        np.concatenate([bags.sizes for bags in bags_of_part]),
    )
    # A generator, so that never more than one band of all parts is in memory.
    bands = zip(*(part.keys_by_record() for part in parts), strict=True)
    keys = (np.concatenate(band) for band in bands)
    ids = np.concatenate([part.ids_by_record() for part in parts])
    return Batch(names, ids, keys, parts[0].bands, bags)


def write_part(folder: Path, batch: Batch) -> None:
    """Write a part; its description is written last, and marks the part as complete."""
    folder.mkdir(exist_ok=True)
    shape = (batch.bands, len(batch))
    open_memmap = np.lib.format.open_memmap
    keys = open_memmap(folder / "keys.npy", mode="w+", dtype=np.uint64, shape=shape)
    orders = open_memmap(folder / "order.npy", mode="w+", dtype=np.uint32, shape=shape)
    for number, band in enumerate(batch.keys):
        order = np.argsort(band, kind="stable")
        keys[number], orders[number] = band[order], order
    keys.flush()
    orders.flush()
    by_id = np.argsort(batch.ids)
    columns: dict[str, NDArray[Any]] = {
        "ids": batch.ids[by_id],
        "id_order": by_id.astype(np.uint32),
        "tokens": batch.bags.tokens.astype(np.uint32),
        "sizes": batch.bags.sizes.astype(np.uint32),
        "names": np.frombuffer(b"".join(batch.names), dtype=np.uint8),
        "name_ends": np.cumsum([len(name) for name in batch.names]),
    }
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    write_description(folder / DESCRIPTION_FILE, {"count": len(batch)})


def write_description(path: Path, description: dict[str, object]) -> None:
    """Write a description atomically: a reader sees all of it or no file."""
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(description), encoding="utf-8")
    temporary.replace(path)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _record_id(name: bytes, text: str) -> int:
    return int.from_bytes(blake2b(name + b"\x1f" + _encode(text), digest_size=8).digest())
