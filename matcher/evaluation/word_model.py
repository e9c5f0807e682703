"""Word model: a linear model of the words that two titles share and that only one of them has.

Rarity tells offers apart without labels. Labels add more: one product is sold with and without
"smartphone" or a colour in its title, but hardly with and without "lite". Thousands of words are
too many for boosted trees. A logistic regression weighs them with a few features of the pair, and
the trees take its log-odds as one more feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from matcher.array_types import Bools, Doubles, Floats, Ints, Matrix, Pairs
from matcher.blocking.vectors import hash_tokens
from matcher.features.table import COLUMN
from matcher.records.record import Record

# Hashed columns per kind of word (unshared, shared).
HASH_WIDTH = 2**17
# Scale of a word's column beside the standardised features.
WORD_SCALE = 0.5
# Inverse regularisation of the logistic regression.
INVERSE_REGULARISATION = 0.3
# Tolerance at which its solver stops.
TOLERANCE = 0.01
# Features of the pair that stand beside its words.
_PAIR_FEATURES = (
    "grams",
    "words",
    "token_set",
    "shared",
    "shared_of_shop",
    "shared_of_known",
    "rarest_shared",
    "rarest_only_shop",
    "rarest_only_known",
    "codes_shared",
    "codes_only_shop",
    "codes_only_known",
)
_COLUMNS = [COLUMN[name] for name in _PAIR_FEATURES]


def vectorise_word_differences(
    shop: Sequence[Record], catalog: Sequence[Record], pairs: Pairs
) -> Matrix:
    """Hash the words of each pair to columns: the unshared words, then the shared ones."""
    shop_words, shop_spellings = _hash_title(shop)
    catalog_words, catalog_spellings = _hash_title(catalog)
    i, j = pairs[:, 0], pairs[:, 1]
    shared = shop_words[i].multiply(catalog_spellings[j])
    only_shop = shop_words[i] - shared
    only_catalog = catalog_words[j] - catalog_words[j].multiply(shop_spellings[i])
    rows = sparse.hstack((only_shop + only_catalog, shared), format="csr", dtype=np.float32)
    rows.eliminate_zeros()
    return rows


def _hash_title(records: Sequence[Record]) -> tuple[Matrix, Matrix]:
    """Return the hashed words of titles, and the hashed spellings."""
    title_words = hash_tokens((record.words for record in records), HASH_WIDTH)
    return title_words, hash_tokens((record.spellings for record in records), HASH_WIDTH)


@dataclass(frozen=True)
class WordModel:
    """A trained word model: word columns, scale of the features, and the weights of both."""

    columns: Ints
    mean: Floats
    spread: Floats
    weights: Doubles
    intercept: float

    def __call__(self, word_columns: Matrix, table: Floats) -> Floats:
        """Return the log-odds of each pair, from its words and its features."""
        odds = self.design_matrix(word_columns, table) @ self.weights + self.intercept
        return np.asarray(odds, dtype=np.float32)

    def design_matrix(self, word_columns: Matrix, table: Floats) -> Matrix:
        """Return the scaled words and the standardised features side by side."""
        features = (np.nan_to_num(table[:, _COLUMNS]) - self.mean) / self.spread
        scaled_words = word_columns[:, self.columns] * WORD_SCALE
        return sparse.hstack((scaled_words, sparse.csr_array(features)), format="csr")


def fit_word_model(word_columns: Matrix, table: Floats, labels: Bools) -> WordModel:
    """Fit a word model to labelled pairs; one that returns 0 if all labels are the same."""
    if not 0 < labels.sum() < len(labels):
        zeros = np.zeros(len(_COLUMNS), np.float32)
        return WordModel(np.empty(0, np.int64), zeros, zeros + 1, zeros.astype(np.float64), 0.0)
    features = np.nan_to_num(table[:, _COLUMNS])
    # Words that no labelled pair has would only cost memory.
    columns = np.unique(word_columns.indices).astype(np.int64)
    # A constant feature has no spread to divide by.
    spread = features.std(0) + np.float32(1e-6)
    untrained = WordModel(columns, features.mean(0), spread, np.zeros(0), 0.0)
    regression = LogisticRegression(
        C=INVERSE_REGULARISATION, solver="liblinear", tol=TOLERANCE
    ).fit(untrained.design_matrix(word_columns, table), labels)
    return replace(
        untrained, weights=regression.coef_[0], intercept=float(regression.intercept_[0])
    )
