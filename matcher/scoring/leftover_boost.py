"""A second look at what is left over once the clear pairs are made.

A catalog lists few offers that the shop has given up. So where nearly all known offers have found their page, one that
is left over most likely has its page among the pages left over too, under a title that was cut or rewritten. Such a
pair, each the other's best, is given better odds - the better, the fewer are left.
"""

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs
from matcher.model.calibration import log_odds
from matcher.scoring.assignment import assign
from matcher.training.classifier import Floats

CLEAR = 0.6
USUAL_SHARE = 0.85
LIFT = 2.0


def look_again(pairs: Pairs, probability: Floats, known: int) -> Floats:
    """The probabilities, with those of the leftover pairs lifted."""
    if not len(pairs):
        return probability
    logit = log_odds(probability)
    chosen = assign(pairs, np.where(probability >= CLEAR, logit, -1.0))
    share = len(chosen) / known
    lift = LIFT * max(0.0, share - USUAL_SHARE) / (1 - USUAL_SHARE)
    free = ~(np.isin(pairs[:, 0], pairs[chosen, 0]) | np.isin(pairs[:, 1], pairs[chosen, 1]))
    lifted = logit + lift * (
        free & _first(pairs[:, 0], logit, free) & _first(pairs[:, 1], logit, free)
    )
    return (1 / (1 + np.exp(-lifted))).astype(np.float32)


def _first(
    owner: NDArray[np.int64], logit: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Where a free pair is the best of its owner's free pairs."""
    best = np.full(int(owner.max()) + 1, -np.inf)
    np.maximum.at(best, owner[free], logit[free])
    return free & (logit >= best[owner])
