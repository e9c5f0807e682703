"""Ranking of promising documents: their titles are compared with a shop's in full."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from matcher.array_types import Doubles, Ints, Keys, Matrix, Pairs
from matcher.blocking.grams import count_per_text
from matcher.blocking.nearest_rows import find_nearest
from matcher.blocking.vectors import (
    hash_tokens,
    inverse_frequency,
    normalise_rows,
    select_columns,
)
from matcher.known_index.frequency import FrequencyTable
from matcher.known_index.known_index import OpenIndex
from matcher.known_index.terms import TOKEN_WIDTH
from matcher.records.record import Record
from matcher.sorted_values import look_up_sorted


def rank_by_grams(
    index: OpenIndex, shop: Sequence[Record], candidates: Sequence[Record], count: int
) -> Pairs:
    """Find for each shop record the `count` candidates of the most similar n-grams."""
    texts = [record.search_text for record in shop]
    candidate_texts = [record.search_text for record in candidates]
    columns = np.unique(np.concatenate([keys for _, keys, _ in count_per_text(texts)]))
    return find_nearest(
        _gram_vectors(index, texts, columns),
        _gram_vectors(index, candidate_texts, columns),
        count,
    )


def rank_by_words(
    index: OpenIndex, shop: Sequence[Record], candidates: Sequence[Record], count: int
) -> Pairs:
    """Find for each shop record the `count` candidates of the most similar words."""
    weights = WordWeights(index.tokens, TOKEN_WIDTH, index.size)
    words = weights.vectors(shop)
    # Only columns of the shop's words count, of millions.
    columns = np.unique(words.indices)
    return find_nearest(
        select_columns(words, columns),
        select_columns(weights.vectors(candidates), columns),
        count,
    )


@dataclass(frozen=True)
class WordWeights:
    """Numbers of offers with a word, by its column in a matrix of some width, of `size` offers."""

    counts: FrequencyTable
    width: int
    size: int

    def vectors(self, records: Sequence[Record]) -> Matrix:
        """Return the words of titles as unit vectors."""
        words = hash_tokens((record.words for record in records), self.width)
        counts = self.counts.count(words.indices.astype(np.uint64))
        # A word of the shop that the catalog lacks is as rare as can be.
        words.data = inverse_frequency(self.size, np.maximum(counts, 1))
        return normalise_rows(words)


def _gram_vectors(index: OpenIndex, texts: Sequence[str], columns: Keys) -> Matrix:
    """Return unit vectors of n-grams, cut to some columns: the products are the same."""
    all_rows: list[Ints] = []
    places: list[Ints] = []
    weights: list[Doubles] = []
    for rows, keys, counts in count_per_text(texts):
        frequency = np.maximum(index.grams.count(keys), 1)
        weight: Doubles = (1 + np.log(counts)) * inverse_frequency(index.size, frequency)
        place, is_shared = look_up_sorted(columns, keys)
        norms = np.sqrt(np.bincount(rows, weight**2, minlength=len(texts)))
        all_rows.append(rows[is_shared])
        places.append(place[is_shared])
        weights.append((weight / np.maximum(norms, 1e-9)[rows])[is_shared])
    shape = (len(texts), max(1, len(columns)))
    if not all_rows:
        return sparse.csr_array(shape, dtype=np.float32)
    entries = (np.concatenate(all_rows), np.concatenate(places))
    return sparse.csr_array((np.concatenate(weights).astype(np.float32), entries), shape=shape)
