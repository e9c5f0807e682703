"""TF-IDF vectors of both sides in one vocabulary: character n-grams to search, words to weigh.

Inverse document frequencies are counted over both sides together and need no labels: rare tokens of
a shop, such as model numbers or colours, tell its offers apart.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.array_types import Doubles, Floats, Ints, Matrix
from matcher.blocking.grams import count_grams, weigh_grams
from matcher.records.record import Record
from matcher.records.text import tokenize
from matcher.sorted_values import look_up_sorted

# Words of descriptions that get a column; cap on memory.
MAX_DESCRIPTION_WORDS = 400_000
# Hashed columns per record: so many that hardly two tokens share one.
COLUMNS_PER_RECORD = 128
# Cells of a matrix that are counted at once; bounds memory.
_CELLS_PER_PART = 16_000_000
# Bounds of the number of hashed columns, as powers of two.
MIN_WIDTH_BITS = 16
MAX_WIDTH_BITS = 24


@dataclass(frozen=True)
class SideVectors:
    """The records of one side as rows of sparse matrices.

    `grams`, `title_words` and `description` are unit vectors. `weights` holds the token weights of
    the title, `spellings` also those of joined spellings, `texts` also those of the description.
    """

    grams: Matrix
    title_words: Matrix
    weights: Matrix
    spellings: Matrix
    texts: Matrix
    description: Matrix


@dataclass(frozen=True)
class VectorSpace:
    """The vectors of both sides; `max_weight` is the greatest token weight."""

    shop: SideVectors
    catalog: SideVectors
    max_weight: float


def build_vector_space(shop: Sequence[Record], catalog: Sequence[Record]) -> VectorSpace:
    """Vectorise both sides with weights fitted on both together."""
    records = [*shop, *catalog]
    weights, spellings, texts = _weigh_words(records)
    max_weight = float(weights.max()) if weights.nnz else 1.0
    grams = _vectorise_grams(records)
    present, _ = count_description_words(records, MAX_DESCRIPTION_WORDS)
    description = normalise_rows(ColumnRarity(present).weigh(present))
    matrices = (grams, normalise_rows(weights), weights, spellings, texts, description)
    return split_sides(matrices, len(shop), max_weight)


def split_sides(matrices: Sequence[Matrix], shop_size: int, max_weight: float) -> VectorSpace:
    """Split the matrices of `SideVectors`, which have the rows of the shop first."""
    shop = SideVectors(*(_view_rows(matrix, 0, shop_size) for matrix in matrices))
    catalog = SideVectors(*(_view_rows(matrix, shop_size, matrix.shape[0]) for matrix in matrices))
    return VectorSpace(shop, catalog, max_weight)


def _view_rows(matrix: Matrix, first: int, end: int) -> Matrix:
    """Return some rows of a matrix, without a copy: those of a million titles would fill memory."""
    starts = matrix.indptr[first : end + 1]
    cells = slice(starts[0], starts[-1])
    parts = (matrix.data[cells], matrix.indices[cells], starts - starts[0])
    return sparse.csr_array(parts, shape=(end - first, matrix.shape[1]))


def _vectorise_grams(records: Sequence[Record]) -> Matrix:
    """Return the n-grams of titles as unit vectors."""
    counts, _ = count_grams([record.search_text for record in records])
    return weigh_grams(counts, inverse_frequency(len(records), rows_per_column(counts)))


def _weigh_words(records: Sequence[Record]) -> tuple[Matrix, Matrix, Matrix]:
    """Weigh the tokens of titles, of their spellings, and of title and description together.

    Columns are hashes: a dictionary of every spelling of a million titles would fill memory.
    """
    width = hash_width(len(records))
    spellings = hash_tokens((record.spellings for record in records), width)
    words = hash_tokens((record.words for record in records), width)
    texts = hash_tokens((record.text_spellings for record in records), width)
    rarity = ColumnRarity(spellings)
    return rarity.weigh(words), rarity.weigh(spellings), rarity.weigh(texts)


def vectorise_titles(records: Sequence[Record]) -> Matrix:
    """Return title words as unit vectors, each word weighed by its rarity among these records."""
    present = hash_tokens((record.words for record in records), hash_width(len(records)))
    return normalise_rows(ColumnRarity(present).weigh(present))


def hash_width(record_count: int) -> int:
    """Return the number of hashed columns for so many records, a power of two."""
    bits = (record_count * COLUMNS_PER_RECORD).bit_length()
    return 1 << min(MAX_WIDTH_BITS, max(MIN_WIDTH_BITS, bits))


def hash_tokens(documents: Iterable[Iterable[str]], width: int) -> Matrix:
    """Return a matrix of ones: the hashed columns that the tokens of each document fall into.

    `width` is a power of two. Hashes are those of scikit-learn's FeatureHasher.
    """
    hashes = array("i")
    ends = [0]
    for tokens in documents:
        hashes.extend(map(mmh3.hash, tokens))
        ends.append(len(hashes))
    columns = np.asarray(hashes)  # the same memory
    np.abs(columns, out=columns)
    columns &= width - 1
    present = _mark_columns(columns, ends, width)
    # Presence, not counts: a word repeated in a title is no stronger evidence.
    present.sum_duplicates()
    present.data[:] = 1
    return present


def count_description_words(
    records: Sequence[Record], max_words: int | None = None
) -> tuple[Matrix, Mapping[str, int]]:
    """Return a matrix of ones where a description has a word, and the column of each word.

    Columns are in the order of the words. With `max_words`, the most frequent ones only. Without
    any word there is one empty column.
    """
    number_of: dict[str, int] = {}
    numbers = array("i")
    ends = [0]
    for record in records:
        # In the order of the text: a set would be in another order in each process.
        described = dict.fromkeys(tokenize(record.description))
        numbers.extend(sorted(number_of.setdefault(word, len(number_of)) for word in described))
        ends.append(len(numbers))
    if not number_of:
        return sparse.csr_array((len(records), 1), dtype=np.float32), {}
    words = sorted(number_of)
    column_of_number = np.empty(len(words), np.int32)
    column_of_number[[number_of[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    present = _mark_columns(column_of_number[np.array(numbers, np.int32)], ends, len(words))
    if max_words is not None and len(words) > max_words:
        most_frequent = np.argsort(-rows_per_column(present), kind="stable")[:max_words]
        kept = np.sort(most_frequent)
        present, words = present[:, kept], [words[column] for column in kept]
    return present, {word: column for column, word in enumerate(words)}


def _mark_columns(columns: NDArray[np.integer[Any]], ends: Sequence[int], width: int) -> Matrix:
    """Return a matrix with a one in each of some columns; a row ends where the next one starts."""
    # scikit-learn takes no wider indices.
    index_type = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
    ones = np.ones(len(columns), np.float32)
    parts = (ones, columns.astype(index_type, copy=False), np.array(ends, index_type))
    return sparse.csr_array(parts, shape=(len(ends) - 1, width))


class ColumnRarity:
    """Inverse document frequencies of the columns of a matrix of ones, hashed or numbered.

    Weights are kept by the number of documents, as there are few such numbers and many columns.
    """

    def __init__(self, present: Matrix) -> None:
        """Count in how many rows each column is."""
        self._counts = rows_per_column(present).astype(np.int32)
        largest = int(self._counts.max(initial=0))
        self._weights = inverse_frequency(present.shape[0], np.arange(largest + 1))

    def weigh(self, present: Matrix) -> Matrix:
        """Return a matrix of ones with the weight of its column at each place."""
        weighed = present.copy()
        weighed.data = self._weights[self._counts[present.indices]]
        return weighed


def rows_per_column(counts: Matrix) -> Ints:
    """Return the number of rows that have each column; a row holds each of its columns once."""
    width = counts.shape[1]
    numbers = np.bincount(counts.indices[:_CELLS_PER_PART], minlength=width)
    # In parts, as numpy copies the indices to a wider type.
    for start in range(_CELLS_PER_PART, counts.nnz, _CELLS_PER_PART):
        part = counts.indices[start : start + _CELLS_PER_PART]
        numbers += np.bincount(part, minlength=width)
    return numbers


def inverse_frequency(total: int, counts: Ints | Doubles) -> Floats:
    """Return the smoothed inverse document frequency, as scikit-learn defines it.

    `counts` are the numbers of documents with each term, of `total` documents.
    """
    return (np.log((1 + total) / (1 + counts)) + 1).astype(np.float32)


def select_columns(matrix: Matrix, columns: Ints) -> Matrix:
    """Return a sparse matrix with some of its columns, which are sorted; one empty one for none."""
    places, is_selected = look_up_sorted(columns, matrix.indices)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    entries = (rows[is_selected], places[is_selected])
    shape = (matrix.shape[0], max(1, len(columns)))
    return sparse.csr_array((matrix.data[is_selected], entries), shape=shape)


def row_sums(matrix: Matrix) -> Floats:
    """Return the sum of each row of a sparse matrix."""
    return np.asarray(matrix.sum(axis=1), dtype=np.float32).ravel()


def row_maxima(matrix: Matrix) -> Floats:
    """Return the greatest value of each row of a sparse matrix, 0 for an empty row."""
    return np.asarray(matrix.max(axis=1).toarray(), dtype=np.float32).ravel()


def normalise_rows(matrix: Matrix) -> Matrix:
    """Scale the rows of a sparse matrix to length 1."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    # Empty rows stay empty instead of becoming NaN.
    factors = 1 / np.maximum(norms, 1e-9).astype(np.float32)
    unit = matrix.copy()
    unit.data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return unit
