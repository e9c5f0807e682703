"""What people's words teach: a finding that was accepted or rejected is an example for the classifier.

Who accepts a finding says that none of the catalog's offers is this one: its likest candidates are examples of another
offer. Who rejects it says that the catalog does list it, most likely as its likest candidate. People look at the
doubtful ones, which rehearsals have few of, so that each of their words weighs as much as many rehearsed pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.models import Word
from matcher.blocking.nearest_rows import Pairs

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
WEIGHT = 10.0
LIKEST = 3


@dataclass(frozen=True)
class Lessons:
    """Rows of features with the answer that people gave."""

    table: Floats
    same: Bools

    @property
    def weight(self) -> Floats:
        """How much each counts beside a rehearsed pair, which counts 1."""
        return np.full(len(self.same), WEIGHT, np.float32)


def lessons(pairs: Pairs, table: Floats, likeness: Floats, words: Sequence[Word | None]) -> Lessons:
    """The examples in these words, one per offer of the shop; `likeness` tells which of its candidates are likest."""
    rows: list[int] = []
    same: list[bool] = []
    for offer in [row for row, word in enumerate(words) if word in {Word.ACCEPT, Word.REJECT}]:
        own = np.flatnonzero(pairs[:, 0] == offer)
        likest = own[np.argsort(-likeness[own], kind="stable")][
            : LIKEST if words[offer] is Word.ACCEPT else 1
        ]
        rows += likest.tolist()
        same += [words[offer] is Word.REJECT] * len(likest)
    return Lessons(table[rows], np.array(same, dtype=bool))
