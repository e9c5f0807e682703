"""What a simple way would have made of the same data: one likeness of titles, and the threshold that does best.

Most catalogs are matched like that: by rapidfuzz's token_set_ratio, or by the cosine of character TF-IDF. Each gets its
threshold from the same examples that our judges learn from, and is scored on the same test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from matcher.blocking.nearest_rows import Pairs
from matcher.evaluation.metrics import Figures, precision_recall
from matcher.features.pair_features import TRENDS
from matcher.records.record import Record
from matcher.training.classifier import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
STEPS = np.arange(0.02, 1.0, 0.01).tolist()
_COLUMNS = {
    "token_set": (list(TRENDS).index("token_set"), 100.0),
    "tfidf": (list(TRENDS).index("grams"), 1.0),
}


@dataclass(frozen=True)
class Played:
    """Offers against a catalog: pairs, their features, the catalog offers' products, the asked ones' (-1 = missing)."""

    pairs: Pairs
    table: Floats
    products: Ints
    truth: Ints

    def right(self, peer: str, threshold: float) -> int:
        """How many offers get the right answer from their likest catalog offer, if it is like enough."""
        column, whole = _COLUMNS[peer]
        score = self.table[:, column] / whole
        order = np.lexsort((score, self.pairs[:, 0]))
        order = order[score[order] >= threshold]
        said = np.full(len(self.truth), -1, dtype=np.int64)
        said[self.pairs[order, 0]] = self.products[self.pairs[order, 1]]
        return int((said == self.truth).sum())


def peers_on_catalog(learnt: Sequence[Played], test: Played) -> Figures:
    """Each peer's share of offers handled rightly."""
    found: Figures = {}
    for peer in _COLUMNS:
        totals = [sum(turn.right(peer, step) for turn in learnt) for step in STEPS]
        right = test.right(peer, STEPS[int(np.argmax(totals))])
        found[f"peer_{peer}_right"] = round(right / max(1, len(test.truth)), 4)
    return found


def peers_on_pairs(
    likeness: Mapping[str, Floats], learnt: Ints, same: Bools, test: Ints, truth: Bools
) -> Figures:
    """Each peer's F1 on the test rows, given its likeness of all rows and the answers of the learnt ones."""
    found: Figures = {}
    for peer, score in likeness.items():
        values = [precision_recall(score[learnt] >= step, same)["f1"] for step in STEPS]
        found[f"peer_{peer}_f1"] = precision_recall(
            score[test] >= STEPS[int(np.argmax(values))], truth
        )["f1"]
    return found


def likeness_of(
    left: Sequence[Record], right: Sequence[Record], pairs: Pairs, table: Floats
) -> dict[str, Floats]:
    """Each peer's likeness of every pair, from 0 to 1, of titles as they are given."""
    a, b = [left[i].title for i in pairs[:, 0]], [right[j].title for j in pairs[:, 1]]
    token_set = process.cpdist(a, b, scorer=fuzz.token_set_ratio, dtype=np.float32)
    return {
        "token_set": np.asarray(token_set / 100, dtype=np.float32),
        "tfidf": table[:, _COLUMNS["tfidf"][0]],
    }
