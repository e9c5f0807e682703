"""Partners: whether records have one partner or several, read from the candidates alone.

Where records have one partner, the candidates of a record share its one chance of being a match.
"""

from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Floats, Ints, Pairs

# Share of the evidence that counts where records have several partners. With all of it goods by size
# lose .25, with .75 goods of shops .04.
DAMPING = 0.9
# Similarity of all columns from which on two candidates of a record of two tables are both its
# partners.
PARTNER_SIMILARITY = 0.9
# Share of records with two partners from which on records have several.
MAX_SHARE_WITH_TWO = 0.1
# Records with a partner that are needed to tell.
MIN_RECORDS = 20
# Bound of log-odds, so that exponentials stay finite.
MAX_ODDS = 50.0


@dataclass(frozen=True)
class Partners:
    """Whether a record of the left, and of the right side, has one partner at most."""

    left_has_one: bool
    right_has_one: bool

    @property
    def are_shared(self) -> bool:
        """Whether the candidates of some record share its one chance of being a match."""
        return self.left_has_one or self.right_has_one

    def damping(self) -> float:
        """Return the share of the evidence that counts."""
        return 1.0 if self.are_shared else DAMPING


def partners_of_tables(
    pairs: Pairs, overall: Floats, has_several: tuple[bool, bool] = (False, False)
) -> Partners:
    """Tell from the candidates of two tables whether records have one partner or several.

    `overall` is the similarity of all columns. With too few similar candidates to tell, they have
    one. `has_several` are the sides known to have several (`find_side_with_several`).
    """
    is_similar = overall >= PARTNER_SIMILARITY
    left_has_one, right_has_one = (
        not is_known and _has_one_partner(pairs[is_similar, side], True)
        for side, is_known in enumerate(has_several)
    )
    return Partners(left_has_one, right_has_one)


def find_side_with_several(pairs: Pairs, is_sure: Bools) -> tuple[bool, bool]:
    """Tell which of two tables has records with several partners, from matches without sharing.

    Sure matches tell where copies are too dirty to be very similar. Rivals may be sure by mistake,
    but then on both sides; where one side has one partner nearly always, the other's are real.

    >>> pairs = np.array([[row // 2, row] for row in range(100)])
    >>> find_side_with_several(pairs, np.ones(100, bool))
    (True, False)
    """
    left_has_one, right_has_one = (_has_one_partner(pairs[is_sure, side], True) for side in (0, 1))
    return not left_has_one and right_has_one, not right_has_one and left_has_one


def has_one_partner(pairs: Pairs, is_match: Bools) -> bool:
    """Tell from the matches in one table, found without sharing, whether records have one partner.

    With too few matches to tell, they have several. Similarity alone cannot tell: in a table with
    many errors few copies are very similar, and hardly any record has two such copies.
    """
    return _has_one_partner(pairs[is_match].ravel(), False)


def _has_one_partner(owner: Ints, default: bool) -> bool:
    count = np.bincount(owner)
    records = int((count > 0).sum())
    if records < MIN_RECORDS:
        return default
    return int((count > 1).sum()) <= MAX_SHARE_WITH_TWO * records


def share_with_partner(pairs: Pairs, is_match: Bools) -> float:
    """Return which share of the records of the smaller of two tables has a match.

    Only records with candidates are counted.

    >>> share_with_partner(np.array([[0, 5], [1, 5], [2, 6]]), np.array([True, True, False]))
    0.5
    """
    sides = [np.unique(pairs[:, side]).size for side in (0, 1)]
    side = int(np.argmin(sides))
    return np.unique(pairs[is_match, side]).size / max(1, sides[side])


def share_among_rivals(
    odds: Doubles, pairs: Pairs, partners: Partners, is_self_join: bool
) -> Doubles:
    """Return probabilities such that those of a record with one partner sum to 1 at most.

    >>> pairs = np.array([[0, 0], [0, 1]])
    >>> share_among_rivals(np.zeros(2), pairs, Partners(True, True), False).round(2).tolist()
    [0.33, 0.33]
    """
    weight = np.exp(np.clip(odds, -MAX_ODDS, MAX_ODDS))
    rivals = np.zeros(len(pairs))
    if is_self_join:
        if partners.left_has_one:
            total = np.bincount(pairs.ravel(), np.repeat(weight, 2))
            rivals = total[pairs[:, 0]] + total[pairs[:, 1]] - 2 * weight
    else:
        for side, has_one in enumerate((partners.left_has_one, partners.right_has_one)):
            if has_one:
                rivals += np.bincount(pairs[:, side], weight)[pairs[:, side]] - weight
    shared: Doubles = weight / (1 + weight + np.maximum(rivals, 0))
    return shared
