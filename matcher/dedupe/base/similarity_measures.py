"""Three similarities of texts as bags of tokens, and the token overlap that a threshold requires.

Edit similarity is 1 - distance / longer length; its tokens are the characters, each with the number
of its occurrence. The tokens of Jaccard and cosine similarity are the distinct words. All bounds
are whole numbers, computed from fractions. Two texts without tokens have similarity 1; a text
without tokens and one with tokens have similarity 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints
from matcher.dedupe.base.edit_distance import max_distance
from matcher.dedupe.base.text_columns import (
    TextColumn,
    code_points,
    number_occurrences,
    run_offsets,
)
from matcher.records.word_breaks import split_words

SimilarityName = Literal["edit", "jaccard", "cosine"]


@dataclass(frozen=True)
class Measure:
    """A similarity with its threshold."""

    name: SimilarityName
    threshold: Fraction

    def min_overlap(self, left_size: int, right_size: int) -> int:
        """Return the fewest tokens that similar texts with so many tokens share.

        >>> Measure("edit", Fraction(4, 5)).min_overlap(9, 10)
        8
        >>> Measure("jaccard", Fraction(4, 5)).min_overlap(9, 10)
        9
        """
        larger = max(left_size, right_size)
        if self.name == "edit":
            return larger - max_distance(larger, self.threshold)
        if not left_size or not right_size:
            return larger
        if self.name == "jaccard":
            return ceil(self.threshold * (left_size + right_size) / (1 + self.threshold))
        # ceil(sqrt(x)) of a whole number without floating point.
        squared_overlap = ceil(self.threshold**2 * left_size * right_size)
        return isqrt(squared_overlap - 1) + 1

    def min_overlap_any(self, size: int) -> int:
        """Return the fewest tokens that a text shares with any similar text."""
        if self.name == "edit":
            return size - max_distance(size, self.threshold)
        if self.name == "jaccard":
            return ceil(size * self.threshold)
        return ceil(size * self.threshold**2)

    def score(self, overlap: int, left_size: int, right_size: int) -> float:
        """Compute the Jaccard or cosine similarity of two sets of words from their sizes."""
        if not left_size or not right_size:
            return float(left_size == right_size)
        if self.name == "jaccard":
            return overlap / (left_size + right_size - overlap)
        return overlap / sqrt(left_size * right_size)


@dataclass(frozen=True)
class TokenBags:
    """The tokens of each text, end to end, as numbers with one meaning on both sides of a join."""

    tokens: Ints | NDArray[np.uint32]
    sizes: Ints

    def offsets(self) -> Ints:
        """Return where the tokens of each text start, and where the last ones end."""
        return run_offsets(self.sizes)


def tokenize_columns(
    columns: Sequence[TextColumn], similarity: SimilarityName
) -> tuple[list[TokenBags], int]:
    """Return the tokens of some columns, numbered from 0, and the number of distinct tokens."""
    vocabulary: dict[str, int] = {}
    raw_bags = list[TokenBags]()
    for column in columns:
        if similarity == "edit":
            raw_bags.append(_character_bags(column))
        else:
            raw_bags.append(_word_bags(column, vocabulary))
    all_tokens = np.concatenate([bags.tokens for bags in raw_bags])
    distinct, numbered = np.unique(all_tokens, return_inverse=True)
    cuts = np.cumsum([len(bags.tokens) for bags in raw_bags])[:-1]
    numbered_bags = list[TokenBags]()
    for tokens, bags in zip(np.split(numbered, cuts), raw_bags, strict=True):
        numbered_bags.append(TokenBags(tokens, bags.sizes))
    return numbered_bags, len(distinct)


def distinct_words(text: str) -> list[str]:
    """Return the distinct words of a text, case-folded, in order.

    >>> distinct_words("Red mug, red!")
    ['red', 'mug']
    """
    return list(dict.fromkeys(split_words(text)))


def tabulate(function: Callable[[int, int], int], row_sizes: Ints, column_sizes: Ints) -> Ints:
    """Tabulate a function of two sizes, calling it once for each pair of different sizes."""
    rows, row_of = np.unique(row_sizes, return_inverse=True)
    columns, column_of = np.unique(column_sizes, return_inverse=True)
    values = np.empty((len(rows), len(columns)), dtype=np.int64)
    for row, row_size in enumerate(rows.tolist()):
        for column, column_size in enumerate(columns.tolist()):
            values[row, column] = function(row_size, column_size)
    table: Ints = values[row_of[:, None], column_of[None, :]]
    return table


def _character_bags(column: TextColumn) -> TokenBags:
    points, occurrence = number_occurrences(code_points(column.texts), column.lengths)
    return TokenBags(points.astype(np.int64) << 40 | occurrence, column.lengths)


def _word_bags(column: TextColumn, vocabulary: dict[str, int]) -> TokenBags:
    """Number the distinct words of each text; new words are added to the vocabulary."""
    tokens, sizes = list[int](), list[int]()
    for text in column.texts:
        text_words = distinct_words(text)
        sizes.append(len(text_words))
        for word in text_words:
            tokens.append(vocabulary.setdefault(word, len(vocabulary)))
    return TokenBags(np.array(tokens, dtype=np.int64), np.array(sizes, dtype=np.int64))
