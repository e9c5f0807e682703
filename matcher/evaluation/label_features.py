"""What known answers say of their neighbours: a pair seen beside the labelled pairs that share one of its offers.

Who knows some of a catalog's links knows more than those pairs. Where offers are paired one to one, an offer whose
partner is known is hardly another one's too; where one product has many offers, it well may be. Which of both holds is
not assumed but learnt: for a labelled pair its own answer is left out, so that it looks like one that nobody knows.
"""

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs
from matcher.features.rival_margins import rivals
from matcher.training.classifier import Floats

Ints = NDArray[np.int64]
MOST = 3
SURE = np.float32(0.999)


def settled(pairs: Pairs, score: Floats, learnt: Ints, same: NDArray[np.bool_]) -> Floats:
    """Columns for every pair, from either side: how many other partners are known, and the best rival as it is known.

    `learnt` are the rows with an answer, `same` the answers. A rival with an answer counts by it, any other one by its
    `score`; so does the pair itself, which must not see its own answer.

    >>> pairs = np.array([[0, 0], [0, 1], [1, 1]])
    >>> settled(pairs, np.full(3, 0.5, np.float32), np.array([0]), np.array([True]))[:, 0].tolist()
    [0.0, 1.0, 0.0]
    """
    said, partner = score.astype(np.float32), np.zeros(len(pairs), np.float32)
    said[learnt], partner[learnt] = np.where(same, SURE, 1 - SURE), same
    columns = []
    for owner in pairs.T:
        others = np.bincount(owner, partner)[owner] - partner
        best = said - rivals(owner, said)[0]
        columns += [np.minimum(others, MOST), best, score - best]
    return np.column_stack(columns).astype(np.float32)
