"""The texts of one column, of both sides, as sparse rows: words weighed by rarity, and 3-grams.

Inverse document frequencies are counted over both sides together and need no labels. They can be
counted beforehand, so that few of many records are vectorised, with the weights of all. Joined
spellings (`wh 1000` = `wh1000`) count as words that a text has, never as words that it misses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalog.runtime.batches import iterate_batches
from matcher.array_types import Floats, Ints, Matrix
from matcher.blocking.vectors import (
    hash_tokens,
    inverse_frequency,
    normalise_rows,
    row_sums,
    rows_per_column,
)
from matcher.dedupe.minhash.shingles import Shingling
from matcher.records.text import fold, has_digit, join_neighbours, tokenize
from matcher.taught.features.shingle_counts import TEXTS_PER_CHUNK, count_shingles

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


@dataclass(frozen=True)
class TokenWeights:
    """Weights of words and of 3-grams by their rarity in a column, by hashed column.

    `max_weight` is the weight of the rarest word.
    """

    words: Floats
    grams: Floats
    max_weight: float


class _TokenCounter:
    """Counts in how many texts each word and each 3-gram stands."""

    def __init__(self) -> None:
        self._total = 0
        self._spellings = np.zeros(1 << WORD_BITS, np.int64)
        self._grams = np.zeros(1 << GRAM_BITS, np.int64)
        # Words as texts have them: a joined spelling is no word.
        self._is_word = np.zeros(1 << WORD_BITS, bool)

    def add(self, words: Matrix, spellings: Matrix, grams: Matrix) -> None:
        """Count the tokens of some texts; a row has each of its columns once."""
        self._total += words.shape[0]
        self._spellings += rows_per_column(spellings)
        self._grams += rows_per_column(grams)
        self._is_word[words.indices] = True

    def weights(self) -> TokenWeights:
        """Return the weights among all texts that were added."""
        words = inverse_frequency(self._total, self._spellings)
        grams = inverse_frequency(self._total, self._grams)
        return TokenWeights(words, grams, float(words[self._is_word].max(initial=0)) or 1.0)


def weigh_tokens(texts: Iterable[str]) -> TokenWeights:
    """Weigh the tokens of a column by a pass over all of its texts, without holding their rows."""
    counter = _TokenCounter()
    for chunk in iterate_batches(texts, TEXTS_PER_CHUNK):
        folded = [fold(text, MAX_CHARACTERS) for text in chunk]
        tokens = [tokenize(text) for text in folded]
        words = hash_tokens(tokens, 1 << WORD_BITS)
        counter.add(words, _hash_spellings(tokens), _count_grams(folded))
    return counter.weights()


def build_token_space(
    left: Sequence[str], right: Sequence[str] | None, weights: TokenWeights | None = None
) -> TokenSpace:
    """Vectorise a column of one table (`right` is None) or of two.

    `weights` are those of a larger column that has all these texts; by default they are counted in
    these.
    """
    texts = [fold(text, MAX_CHARACTERS) for text in left]
    if right is not None:
        texts += [fold(text, MAX_CHARACTERS) for text in right]
    tokens = [tokenize(text) for text in texts]
    words, spellings = hash_tokens(tokens, 1 << WORD_BITS), _hash_spellings(tokens)
    codes = hash_tokens((filter(has_digit, text_words) for text_words in tokens), 1 << WORD_BITS)
    initials = hash_tokens(
        ({word[0] for word in text_words} for text_words in tokens), 1 << WORD_BITS
    )
    grams = _count_grams(texts)
    if weights is None:
        counter = _TokenCounter()
        counter.add(words, spellings, grams)
        weights = counter.weights()
    words.data = weights.words[words.indices]
    grams.data = (1 + np.log(grams.data)) * weights.grams[grams.indices]
    matrices = (words, spellings, codes, initials, normalise_rows(words), normalise_rows(grams))
    size = len(left)
    left_side = SideTokens(texts[:size], *(matrix[:size] for matrix in matrices))
    if right is None:
        return TokenSpace(left_side, left_side, weights.max_weight)
    right_side = SideTokens(texts[size:], *(matrix[size:] for matrix in matrices))
    return TokenSpace(left_side, right_side, weights.max_weight)


def _hash_spellings(tokens: Iterable[tuple[str, ...]]) -> Matrix:
    spellings = (words + tuple(join_neighbours(words)) for words in tokens)
    return hash_tokens(spellings, 1 << WORD_BITS)


def _count_grams(texts: Sequence[str]) -> Matrix:
    """Count the character 3-grams of each text, word ends included."""
    return count_shingles(texts, Shingling("characters", GRAM_SIZE), GRAM_BITS, padding=" ")


def row_products(left: Matrix, left_rows: Ints, right: Matrix, right_rows: Ints) -> Floats:
    """Return the dot products of pairs of rows."""
    return row_sums(left[left_rows].multiply(right[right_rows]))
