"""TF-IDF vectors of a shop's offers and their candidates, with the frequencies of a whole catalog.

The vectors are those that `matcher.blocking.vectors` makes of both sides, for the rows at hand.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from matcher.array_types import Matrix
from matcher.blocking.vectors import (
    NGRAM_RANGE,
    SideVectors,
    VectorSpace,
    hash_tokens,
    hash_width,
    inverse_frequency,
    normalise_rows,
    rows_per_column,
    select_columns,
)
from matcher.catalog_statistics import CatalogStatistics
from matcher.records.record import Record
from matcher.records.text import tokenize


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
    return VectorSpace(
        SideVectors(*(matrix[:size] for matrix in matrices)),
        SideVectors(*(matrix[size:] for matrix in matrices)),
        max_weight,
    )


def _weigh_grams(records: Sequence[Record], size: int, statistics: CatalogStatistics) -> Matrix:
    counter = CountVectorizer(analyzer="char_wb", ngram_range=NGRAM_RANGE, dtype=np.float32)
    counted = _count(counter, [record.search_text for record in records])
    if counted is None:
        return _empty_column(records)
    counts, names = counted
    frequency = statistics.gram_counts(names) + rows_per_column(counts[:size])
    transformer = TfidfTransformer(sublinear_tf=True).fit(counts)
    transformer.idf_ = inverse_frequency(size + statistics.size, frequency)
    return transformer.transform(counts).tocsr()


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
    counter = CountVectorizer(
        analyzer=lambda record: tokenize(record.description), binary=True, dtype=np.float32
    )
    counted = _count(counter, records)
    if counted is None:
        return _empty_column(records)
    counts, names = counted
    frequency = statistics.word_counts(names) + rows_per_column(counts[:size])
    idf = sparse.diags_array(inverse_frequency(size + statistics.size, frequency))
    return normalise_rows((counts @ idf).tocsr())


def _count(counter: Any, documents: Sequence[Any]) -> tuple[Matrix, list[str]] | None:
    """Count terms; returns the counts and the terms of the columns, None if there are no terms."""
    try:
        counts = sparse.csr_array(counter.fit_transform(documents))
    except ValueError:
        return None
    return counts, counter.get_feature_names_out().tolist()


def _empty_column(records: Sequence[Record]) -> Matrix:
    return sparse.csr_array((len(records), 1), dtype=np.float32)
