"""Character n-grams of texts as hashed keys, counted with numpy.

The n-grams are those of scikit-learn's analyzer `char_wb`: within words, which have a space on
either side. Counting hashes takes a third of the time that a dictionary of all n-grams takes. A
collision of 48 bits makes two titles hardly more similar.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.array_types import Floats, Ints, Keys, Matrix
from matcher.mixed_bits import GOLDEN_RATIO_64, mix_bits
from matcher.text_arrays import code_points

# Lengths of the character n-grams that titles are compared by.
NGRAM_RANGE = (2, 4)
# Bits of a key; the others of 64 hold a row while keys are counted.
KEY_BITS = 48
ROW_BITS = 64 - KEY_BITS
# Rows whose keys can be counted at once.
MAX_ROWS = 1 << ROW_BITS
# Rows whose n-grams are counted at once; bounds memory.
_ROWS_PER_PART = 16_384
_SPACE = ord(" ")
# Odd factor of the polynomial hash.
_FACTOR = np.uint64(GOLDEN_RATIO_64)
# Keeps divisions by the length of an empty row finite.
_MIN_NORM = 1e-9


def gram_keys(texts: Sequence[str], length: int) -> tuple[Ints, Keys]:
    """Return row and key of each character n-gram of some texts, with repetitions."""
    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    points = code_points(padded)
    rows = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    count = max(0, len(points) - length + 1)
    is_space = points == _SPACE
    is_gram = np.ones(count, bool)
    if length == 2:
        # Between two texts stand two spaces.
        is_gram = ~(is_space[:count] & is_space[1 : 1 + count])
    for place in range(1, length - 1):
        is_gram &= ~is_space[place : place + count]
    starts = np.flatnonzero(is_gram)
    letters = np.stack([points[starts + place] for place in range(length)])
    return rows[starts], _hash_letters(letters)


def _count_per_text(texts: Sequence[str]) -> Iterator[tuple[Ints, Keys, Ints]]:
    """Yield row, key and number of occurrences of the n-grams of each text, in parts of rows.

    A part is sorted by key.
    """
    for start in range(0, len(texts), _ROWS_PER_PART):
        part = texts[start : start + _ROWS_PER_PART]
        rows: list[Ints] = []
        keys: list[Keys] = []
        for length in range(NGRAM_RANGE[0], NGRAM_RANGE[1] + 1):
            gram_rows, grams = gram_keys(part, length)
            rows.append(gram_rows)
            keys.append(grams)
        part_rows, unique, counts = count_per_row(np.concatenate(rows), np.concatenate(keys))
        yield part_rows + start, unique, counts


def count_grams(texts: Sequence[str]) -> tuple[Matrix, Keys]:
    """Count the n-grams of texts: a matrix of one row per text, and the keys of its columns.

    Columns are sorted by key. Texts without any n-gram give one empty column, of key 0.
    """
    # Filled part by part: parts and their copy would double the memory. Space that is never written
    # takes none.
    size = sum(_max_grams(text) for text in texts)
    data = np.empty(size, np.float32)
    columns = np.empty(size, np.int32)
    lengths = [np.zeros(1, np.int64)]
    part_keys: list[Keys] = [np.empty(0, np.uint64)]
    ends = [0]
    for start, (rows, keys, counts) in zip(
        range(0, len(texts), _ROWS_PER_PART), _count_per_text(texts), strict=True
    ):
        height = min(_ROWS_PER_PART, len(texts) - start)
        part, distinct_keys = _as_matrix(rows - start, keys, counts, height)
        part_keys.append(distinct_keys)
        ends.append(ends[-1] + part.nnz)
        data[ends[-2] : ends[-1]] = part.data
        columns[ends[-2] : ends[-1]] = part.indices
        lengths.append(np.diff(part.indptr))
    all_keys = np.unique(np.concatenate(part_keys))
    # From the columns of each part to those of all texts.
    for keys, start, end in zip(part_keys[1:], ends, ends[1:], strict=False):
        columns[start:end] = np.searchsorted(all_keys, keys)[columns[start:end]]
    starts = np.cumsum(np.concatenate(lengths))
    if ends[-1] <= np.iinfo(np.int32).max:
        # Of the same type as the columns: otherwise scipy copies both to the wider type.
        starts = starts.astype(np.int32)
    if not len(all_keys):
        all_keys = np.zeros(1, np.uint64)
    shape = (len(texts), len(all_keys))
    return sparse.csr_array((data[: ends[-1]], columns[: ends[-1]], starts), shape=shape), all_keys


def _as_matrix(rows: Ints, keys: Keys, counts: Ints, height: int) -> tuple[Matrix, Keys]:
    """Return counts that are sorted by key as a matrix, and the keys of its columns."""
    # A column starts where the key changes.
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    columns = np.cumsum(is_first) - 1
    shape = (height, max(1, int(is_first.sum())))
    matrix = sparse.csr_array((counts.astype(np.float32), (rows, columns)), shape=shape)
    return matrix, keys[is_first]


def _max_grams(text: str) -> int:
    """Return a bound of the number of different n-grams; a word's spaces belong to both sides."""
    lengths = NGRAM_RANGE[1] - NGRAM_RANGE[0] + 1
    return lengths * (len(text.lower()) + 1)


def weigh_grams(counts: Matrix, rarity: Floats) -> Matrix:
    """Turn counts into unit vectors of TF-IDF weights, in place; returns the same matrix.

    A repeated n-gram weighs as much as the logarithm of its number. `rarity` is the inverse
    document frequency of each column.
    """
    for first in range(0, counts.shape[0], _ROWS_PER_PART):
        row_starts = counts.indptr[first : first + _ROWS_PER_PART + 1]
        weights = counts.data[row_starts[0] : row_starts[-1]]
        np.log(weights, out=weights)
        weights += 1
        weights *= rarity[counts.indices[row_starts[0] : row_starts[-1]]]
        lengths = np.diff(row_starts)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        squares = np.bincount(rows, np.square(weights, dtype=np.float64), minlength=len(lengths))
        norms = np.sqrt(squares)
        weights /= np.maximum(norms, _MIN_NORM).astype(np.float32)[rows]
    return counts


def unique_per_row(rows: Ints, keys: Keys) -> tuple[Ints, Keys]:
    """Return each pair of row and key once, sorted by key. Rows are below MAX_ROWS."""
    return _unpack_pairs(np.unique(_pack_pairs(rows, keys)))


def count_per_row(rows: Ints, keys: Keys) -> tuple[Ints, Keys, Ints]:
    """Return each pair of row and key once, sorted by key, and how often it occurs.

    Rows are below MAX_ROWS.
    """
    packed, counts = np.unique(_pack_pairs(rows, keys), return_counts=True)
    return *_unpack_pairs(packed), counts


def _pack_pairs(rows: Ints, keys: Keys) -> Keys:
    return (keys << np.uint64(ROW_BITS)) | rows.astype(np.uint64)


def _unpack_pairs(packed: Keys) -> tuple[Ints, Keys]:
    return (packed & np.uint64(MAX_ROWS - 1)).astype(np.int64), packed >> np.uint64(ROW_BITS)


def _hash_letters(letters: NDArray[np.integer[Any]]) -> Keys:
    """Return the keys of n-grams; `letters` has a row for each place."""
    hashed = np.full(letters.shape[1], len(letters), np.uint64)
    for row in letters:
        hashed = hashed * _FACTOR + row.astype(np.uint64)
    return mix_bits(hashed) >> np.uint64(ROW_BITS)
