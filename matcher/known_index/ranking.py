"""Ranking of promising documents: their titles are compared with a shop's in full."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Matrix, Pairs
from matcher.blocking.grams import count_grams, weigh_grams
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


def rank_by_grams(
    index: OpenIndex, shop: Sequence[Record], candidates: Sequence[Record], count: int
) -> Pairs:
    """Find for each shop record the `count` candidates of the most similar n-grams."""
    counts, keys = count_grams([record.search_text for record in (*shop, *candidates)])
    frequency = np.maximum(index.grams.count(keys), 1)
    vectors = weigh_grams(counts, inverse_frequency(index.size, frequency))
    return _find_nearest(vectors[: len(shop)], vectors[len(shop) :], count)


def rank_by_words(
    index: OpenIndex, shop: Sequence[Record], candidates: Sequence[Record], count: int
) -> Pairs:
    """Find for each shop record the `count` candidates of the most similar words."""
    weights = WordWeights(index.tokens, TOKEN_WIDTH, index.size)
    return _find_nearest(weights.vectors(shop), weights.vectors(candidates), count)


def _find_nearest(shop: Matrix, candidates: Matrix, count: int) -> Pairs:
    """Find the nearest candidates by the columns that the shop has, of millions."""
    columns = np.unique(shop.indices)
    return find_nearest(select_columns(shop, columns), select_columns(candidates, columns), count)


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
