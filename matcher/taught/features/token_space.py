"""The texts of one column, of both sides, as sparse rows: words weighed by rarity, and 3-grams.

Inverse document frequencies are counted over both sides together and need no labels. Joined
spellings (`wh 1000` = `wh1000`) count as words that a text has, never as words that it misses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from matcher.array_types import Floats, Ints, Matrix
from matcher.blocking.vectors import (
    hash_tokens,
    inverse_document_frequency,
    normalise_rows,
    row_sums,
)
from matcher.dedupe.minhash.shingles import Shingling
from matcher.records.text import fold, has_digit, join_neighbours, tokenize
from matcher.taught.features.shingle_counts import count_shingles

# Characters of a text that are compared as a whole; cap against hostile input.
MAX_CHARACTERS = 1_000
# Hashed columns of words and of 3-grams, as powers of two: hardly two tokens share one.
WORD_BITS = 22
GRAM_BITS = 20
GRAM_SIZE = 3


@dataclass(frozen=True)
class SideTokens:
    """The texts of one side of a column.

    `words` holds the weights of the words, `spellings` ones for all words and joined spellings,
    `codes` ones for words with a digit, `initials` ones for first letters, `unit_words` and
    `grams` unit vectors.
    """

    texts: list[str]
    words: Matrix
    spellings: Matrix
    codes: Matrix
    initials: Matrix
    unit_words: Matrix
    grams: Matrix

    @cached_property
    def word_weight(self) -> Floats:
        """The total weight of the words of each text."""
        return row_sums(self.words)

    @cached_property
    def is_given(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Whether each text is not empty."""
        return np.fromiter(map(bool, self.texts), bool, len(self.texts))


@dataclass(frozen=True)
class TokenSpace:
    """Both sides of a column in one vocabulary; in a self-join both are the same object.

    `max_weight` is the weight of the rarest word.
    """

    left: SideTokens
    right: SideTokens
    max_weight: float


def build_token_space(left: Sequence[str], right: Sequence[str] | None) -> TokenSpace:
    """Vectorise a column of one table (`right` is None) or of two."""
    texts = [fold(text, MAX_CHARACTERS) for text in left]
    if right is not None:
        texts += [fold(text, MAX_CHARACTERS) for text in right]
    tokens = [tokenize(text) for text in texts]
    present = hash_tokens(tokens, 1 << WORD_BITS)
    spellings = hash_tokens(
        (words + tuple(join_neighbours(words)) for words in tokens), 1 << WORD_BITS
    )
    codes = hash_tokens((filter(has_digit, words) for words in tokens), 1 << WORD_BITS)
    initials = hash_tokens(({word[0] for word in words} for words in tokens), 1 << WORD_BITS)
    weights = (present @ sparse.diags_array(inverse_document_frequency(spellings))).tocsr()
    matrices = (
        weights,
        spellings,
        codes,
        initials,
        normalise_rows(weights),
        _weigh_grams(texts),
    )
    max_weight = float(weights.max()) if weights.nnz else 1.0
    size = len(left)
    left_side = SideTokens(texts[:size], *(matrix[:size] for matrix in matrices))
    if right is None:
        return TokenSpace(left_side, left_side, max_weight)
    right_side = SideTokens(texts[size:], *(matrix[size:] for matrix in matrices))
    return TokenSpace(left_side, right_side, max_weight)


def _weigh_grams(texts: Sequence[str]) -> Matrix:
    """Return the TF-IDF vectors of the texts' character 3-grams, word ends included."""
    grams = count_shingles(texts, Shingling("characters", GRAM_SIZE), GRAM_BITS, padding=" ")
    idf = inverse_document_frequency(grams)
    grams.data = (1 + np.log(grams.data)) * idf[grams.indices]
    return normalise_rows(grams)


def row_products(left: Matrix, left_rows: Ints, right: Matrix, right_rows: Ints) -> Floats:
    """Return the dot products of pairs of rows."""
    return row_sums(left[left_rows].multiply(right[right_rows]))
