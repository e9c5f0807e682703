"""Counts of the shingles of texts, as sparse rows over hashed columns."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from matcher.array_types import Matrix
from matcher.dedupe.base.text_columns import run_offsets
from matcher.dedupe.minhash.shingles import Shingling, chunk_texts

# Texts whose tokens are counted at once; cap on memory.
TEXTS_PER_CHUNK = 50_000


def count_shingles(
    texts: Sequence[str], shingling: Shingling, bits: int, padding: str = ""
) -> Matrix:
    """Count the shingles of each text: a row a text, 2 ** `bits` hashed columns.

    `padding` is put around texts that are not empty, so that their ends are shingles too.
    """
    counts_of_chunk, columns_of_chunk = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for chunk in chunk_texts(texts):
        padded = [f"{padding}{text}{padding}" if text else "" for text in texts[chunk]]
        hashes, counts = shingling(padded)
        counts_of_chunk.append(counts)
        columns_of_chunk.append((hashes >> np.uint64(64 - bits)).astype(np.int64))
    columns = np.concatenate(columns_of_chunk)
    offsets = run_offsets(np.concatenate(counts_of_chunk))
    ones = np.ones(len(columns), np.float32)
    shingles = sparse.csr_array((ones, columns, offsets), shape=(len(texts), 1 << bits))
    shingles.sum_duplicates()
    return shingles
