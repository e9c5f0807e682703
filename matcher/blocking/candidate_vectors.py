"""TF-IDF vectors of a shop's offers and their candidates, with the frequencies of a whole catalog.

The vectors are those that `matcher.blocking.vectors` makes of both sides, for the rows at hand.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from matcher.array_types import Matrix
from matcher.blocking.grams import count_grams, weigh_grams
from matcher.blocking.vectors import (
    VectorSpace,
    count_description_words,
    hash_tokens,
    hash_width,
    inverse_frequency,
    normalise_rows,
    rows_per_column,
    select_columns,
    split_sides,
)
from matcher.catalog_statistics import CatalogStatistics
from matcher.records.record import Record


def build_candidate_space(
    shop: Sequence[Record], candidates: Sequence[Record], statistics: CatalogStatistics
) -> VectorSpace:
    """Vectorise a shop's records and candidates of a catalog, weighed as in the whole catalog."""
    records = [*shop, *candidates]
    size = len(shop)
    total = size + statistics.size
    weights, spellings, texts = _weigh_words(records, size, statistics)
    matrices = (
        _weigh_grams(records, size, statistics),
        normalise_rows(weights),
        weights,
        spellings,
        texts,
        _weigh_descriptions(records, size, statistics),
    )
    rarest = inverse_frequency(total, np.array([statistics.min_token_count]))
    max_weight = max(float(rarest[0]), float(weights.max()) if weights.nnz else 1.0)
    return split_sides(matrices, size, max_weight)


def _weigh_grams(records: Sequence[Record], size: int, statistics: CatalogStatistics) -> Matrix:
    counts, keys = count_grams([record.search_text for record in records])
    frequency = statistics.gram_counts(keys) + rows_per_column(counts[:size])
    return weigh_grams(counts, inverse_frequency(size + statistics.size, frequency))


def _weigh_words(
    records: Sequence[Record], size: int, statistics: CatalogStatistics
) -> tuple[Matrix, Matrix, Matrix]:
    total = size + statistics.size
    width = hash_width(total)
    spellings = hash_tokens((record.spellings for record in records), width)
    words = hash_tokens((record.words for record in records), width)
    texts = hash_tokens((record.text_spellings for record in records), width)
    # Columns that no record has would fill memory.
    columns = np.unique(np.concatenate((spellings.indices, words.indices, texts.indices)))
    spellings, words, texts = (
        select_columns(matrix, columns) for matrix in (spellings, words, texts)
    )
    frequency = statistics.token_counts(columns.astype(np.int64), width)
    idf = sparse.diags_array(
        inverse_frequency(total, frequency + rows_per_column(spellings[:size]))
    )
    return (words @ idf).tocsr(), (spellings @ idf).tocsr(), (texts @ idf).tocsr()


def _weigh_descriptions(
    records: Sequence[Record], size: int, statistics: CatalogStatistics
) -> Matrix:
    present, column_of = count_description_words(records)
    if not column_of:
        return present
    words = sorted(column_of, key=column_of.__getitem__)
    frequency = statistics.word_counts(words) + rows_per_column(present[:size])
    idf = sparse.diags_array(inverse_frequency(size + statistics.size, frequency))
    return normalise_rows((present @ idf).tocsr())
