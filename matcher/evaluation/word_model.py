"""Which words matter: what two titles share and what only one of them has, weighed by labelled pairs.

Rarity says what tells offers apart before anybody has labelled a pair. Labels say more: one product is sold with and
without "smartphone" or a colour in its title, but hardly with and without "lite". Thousands of words are too many for
boosted trees, so a linear judge weighs them, beside a few features of the whole pair, and the trees take its log-odds
as one more feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from matcher.blocking.nearest_rows import Pairs
from matcher.blocking.vectors import Matrix, hashed
from matcher.features.pair_features import TRENDS
from matcher.records.record import Record
from matcher.training.classifier import Floats

COLUMNS = 2**17
WORD = 0.5
LOOSE = 0.3
_BESIDE = "grams words token_set shared shared_of_shop shared_of_known rarest_shared rarest_only_shop rarest_only_known"
_PLACES = [
    list(TRENDS).index(name)
    for name in f"{_BESIDE} codes_shared codes_only_shop codes_only_known".split()
]


def wording(shop: Sequence[Record], known: Sequence[Record], pairs: Pairs) -> Matrix:
    """A row per pair: the words that only one title has, then those that both have, each hashed into a column."""
    ours, theirs = (hashed((record.words for record in side), COLUMNS) for side in (shop, known))
    spelt, spelt_there = (
        hashed((record.spellings for record in side), COLUMNS) for side in (shop, known)
    )
    i, j = pairs[:, 0], pairs[:, 1]
    shared = ours[i].multiply(spelt_there[j])
    alone = (ours[i] - shared) + (theirs[j] - theirs[j].multiply(spelt[i]))
    both = sparse.hstack((alone, shared), format="csr", dtype=np.float32)
    both.eliminate_zeros()
    return both


@dataclass(frozen=True)
class Weigher:
    """What labelled pairs taught: the columns of their words, how their features lie, and the weights of both."""

    columns: NDArray[np.int64]
    mean: Floats
    spread: Floats
    weights: NDArray[np.float64]
    base: float

    def __call__(self, words: Matrix, table: Floats) -> Floats:
        """The log-odds of each pair, from its words and its features."""
        odds = _joined(self, words, table) @ self.weights + self.base
        return np.asarray(odds, dtype=np.float32)


def weigher(words: Matrix, table: Floats, same: NDArray[np.bool_]) -> Weigher:
    """A linear judge of the words and of a few features, learnt from pairs; labels that are all alike teach nothing."""
    if not 0 < same.sum() < len(same):
        none = np.zeros(len(_PLACES), np.float32)
        return Weigher(np.empty(0, np.int64), none, none + 1, none.astype(np.float64), 0.0)
    beside = np.nan_to_num(table[:, _PLACES])
    mean, spread = beside.mean(0), beside.std(0) + np.float32(1e-6)
    blank = Weigher(np.unique(words.indices).astype(np.int64), mean, spread, np.zeros(0), 0.0)
    model = LogisticRegression(C=LOOSE, solver="liblinear", tol=0.01).fit(
        _joined(blank, words, table), same
    )
    return replace(blank, weights=model.coef_[0], base=float(model.intercept_[0]))


def _joined(one: Weigher, words: Matrix, table: Floats) -> Matrix:
    beside = (np.nan_to_num(table[:, _PLACES]) - one.mean) / one.spread
    return sparse.hstack((words[:, one.columns] * WORD, sparse.csr_array(beside)), format="csr")
