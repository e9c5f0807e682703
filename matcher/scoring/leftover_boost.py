"""Leftover boost: better odds for pairs of offers that are left over after the clear pairs.

A catalog lists few offers that the shop has given up. If nearly all catalog offers have a clear
partner, a leftover one most likely has its page among the leftover pages. Its title was cut or
rewritten. Such a pair, each the other's best, gains odds: the fewer offers are left, the more.
"""

import numpy as np

from matcher.array_types import Bools, Doubles, Floats, Ints, Pairs
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.model.calibration import log_odds
from matcher.scoring.assignment import assign_one_to_one


def boost_leftover_pairs(
    pairs: Pairs,
    probability: Floats,
    catalog_size: int,
    config: MatcherConfig = DEFAULT_CONFIG,
) -> Floats:
    """Return the probabilities with those of mutually best leftover pairs raised."""
    if not len(pairs):
        return probability
    logit = log_odds(probability)
    clear_weight = np.where(probability >= config.clear_pair, logit, -1.0)
    clear = assign_one_to_one(pairs, clear_weight)
    share = len(clear) / catalog_size
    excess = max(0.0, share - config.usual_share)
    gain = config.leftover_gain * excess / (1 - config.usual_share)
    has_partner = np.isin(pairs[:, 0], pairs[clear, 0]) | np.isin(pairs[:, 1], pairs[clear, 1])
    is_free = ~has_partner
    is_mutual_best = (
        is_free
        & _is_best_of_owner(pairs[:, 0], logit, is_free)
        & _is_best_of_owner(pairs[:, 1], logit, is_free)
    )
    boosted = logit + gain * is_mutual_best
    return (1 / (1 + np.exp(-boosted))).astype(np.float32)


def _is_best_of_owner(owner: Ints, logit: Doubles, is_free: Bools) -> Bools:
    """Return where a free pair is the best of its owner's free pairs."""
    best = np.full(int(owner.max()) + 1, -np.inf)
    np.maximum.at(best, owner[is_free], logit[is_free])
    return is_free & (logit >= best[owner])
