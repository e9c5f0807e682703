"""Postings: the offers of each key, in blocks that are read one by one.

An index of a million offers has some forty million postings. While it is made, they are sorted in
partitions on disk. A block holds the postings of neighbouring keys; the directory has the first key
of each block.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import pairwise
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, Keys
from matcher.blocking.grams import KEY_BITS

Documents = NDArray[np.uint32]
# Offers of a key above which only some are kept: so frequent a key finds nothing in particular.
MAX_POSTINGS = 20_000
# Offers that are kept of such a key, which show that it identifies none of them.
KEPT_OF_FREQUENT = 16
# Postings of one block; one key may have more.
BLOCK_POSTINGS = 1_024
# Partitions of the sort, as a power of two; bounds memory.
_PARTITION_BITS = 5
_NO_DOCUMENTS = np.empty(0, np.uint32)


class PostingSpool:
    """Postings in temporary files, partitioned by key; a killed process leaves none."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._files: list[tuple[IO[bytes], IO[bytes]]] = []
        for _ in range(1 << _PARTITION_BITS):
            self._files.append((self._open_file(), self._open_file()))

    def add(self, keys: Keys, documents: NDArray[np.integer[Any]]) -> None:
        """Add postings."""
        partition = (keys >> np.uint64(KEY_BITS - _PARTITION_BITS)).astype(np.int64)
        order = np.argsort(partition, kind="stable")
        bounds = np.searchsorted(partition[order], np.arange(len(self._files) + 1)).tolist()
        sorted_keys, sorted_documents = keys[order], documents[order].astype(np.uint32)
        for number, (key_file, document_file) in enumerate(self._files):
            start, end = bounds[number], bounds[number + 1]
            key_file.write(sorted_keys[start:end].tobytes())
            document_file.write(sorted_documents[start:end].tobytes())

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the first key and the content of each block, in the order of keys."""
        for key_file, document_file in self._files:
            keys = _read_array(key_file, np.uint64)
            documents = _read_array(document_file, np.uint32)
            order = np.lexsort((documents, keys))
            yield from _cut_blocks(keys[order], documents[order])

    def _open_file(self) -> IO[bytes]:
        return self._opened.enter_context(TemporaryFile())

    def close(self) -> None:
        """Close the files that are open, which frees their space."""
        self._opened.close()


def _read_array(file: IO[bytes], kind: type[np.generic]) -> NDArray[Any]:
    """Read a file as an array, and close it, which frees its space."""
    with file:
        file.seek(0)
        return np.fromfile(file, kind)


def _cut_blocks(keys: Keys, documents: Documents) -> Iterator[tuple[int, bytes]]:
    """Cut sorted postings into blocks; of too frequent keys some offers are kept."""
    unique, counts = np.unique(keys, return_counts=True)
    if not len(unique):
        return
    if counts.max() > MAX_POSTINGS:
        rank = np.arange(len(keys)) - np.repeat(np.cumsum(counts) - counts, counts)
        documents = documents[rank < np.repeat(_kept_counts(counts), counts)]
        counts = _kept_counts(counts)
    ends = np.cumsum(counts)
    block = (ends - counts) // BLOCK_POSTINGS
    first = np.flatnonzero(np.diff(block, prepend=-1))
    bounds = [*first.tolist(), len(unique)]
    for start, end in pairwise(bounds):
        from_document = int(ends[start] - counts[start])
        content = (
            np.array([end - start], np.uint64).tobytes()
            + unique[start:end].tobytes()
            + counts[start:end].astype(np.uint32).tobytes()
            + documents[from_document : int(ends[end - 1])].tobytes()
        )
        yield int(unique[start]), content


def _kept_counts(counts: Ints) -> Ints:
    return np.where(counts > MAX_POSTINGS, KEPT_OF_FREQUENT, counts)


def read_block(content: bytes, keys: Keys) -> dict[int, Documents]:
    """Return the documents of those of the keys that a block has."""
    size = int(np.frombuffer(content, np.uint64, 1)[0])
    block_keys = np.frombuffer(content, np.uint64, size, 8)
    counts = np.frombuffer(content, np.uint32, size, 8 + 8 * size)
    documents = np.frombuffer(content, np.uint32, -1, 8 + 12 * size)
    ends = np.cumsum(counts, dtype=np.int64)
    postings: dict[int, Documents] = {}
    for key, place in zip(keys.tolist(), np.searchsorted(block_keys, keys).tolist(), strict=True):
        if place < size and int(block_keys[place]) == key:
            end = int(ends[place])
            postings[key] = documents[end - int(counts[place]) : end]
    return postings


def sort_postings(keys: Keys, documents: NDArray[np.integer[Any]]) -> tuple[Keys, Documents]:
    """Sort the postings of an update by key."""
    order = np.lexsort((documents, keys))
    return keys[order], documents[order].astype(np.uint32)


def add_postings(
    postings: dict[int, Documents], keys: Keys, update_keys: Keys, documents: Documents
) -> None:
    """Add to the postings of some keys those of updates, which are sorted by key."""
    starts = np.searchsorted(update_keys, keys, "left").tolist()
    ends = np.searchsorted(update_keys, keys, "right").tolist()
    for key, start, end in zip(keys.tolist(), starts, ends, strict=True):
        if end > start:
            earlier = postings.get(key, _NO_DOCUMENTS)
            postings[key] = np.concatenate((earlier, documents[start:end]))


def blocks_of_keys(directory: Keys, keys: Keys) -> Mapping[int, Keys]:
    """Return the numbers of the blocks that may have some keys, each with its keys."""
    if not len(directory) or not len(keys):
        return {}
    block: Ints = np.searchsorted(directory, keys, "right") - 1
    order = np.argsort(block, kind="stable")
    order = order[block[order] >= 0]
    starts = np.flatnonzero(np.diff(block[order], prepend=-1))
    parts = np.split(keys[order], starts[1:])
    return dict(zip(block[order][starts].tolist(), parts, strict=False))
