"""Columns that tell related things apart: editions by the year, concerts of one tour by the date,
flats of one house by the rooms and the rent.

Only years, dates, amounts and sizes are asked, which are the same however they are written. Names,
phone numbers and the like of two sources differ together, and so would tell copies apart.

Such a column is found among the matches of two classes, which are things and related things mixed
up. They have the same value in it, or another one; and a third column, the witness, agrees in many
matches of the same value and in far fewer of the others. Where a price is merely wrong, the witness
agrees in as many.

Some duplicates have another value all the same, by mistake. Of these the witness knows how many: it
agrees as often in duplicates of other values as in those of the same one. So where the insurance
number agrees in .45 of the matches of one date of birth and in .09 of the others, a fifth of the
latter are duplicates (.14 by the truth).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Floats
from matcher.taught.features.feature import ALL_COLUMNS, RIVALS

# Similarity from which on a column of texts agrees; values that may tell themselves are equal.
AGREEING = 0.9
EQUAL = 0.9999
# Matches of the same value, and of other ones, that it takes to tell.
MIN_TO_TELL = 20
# Share of the matches of the same value in which a witness agrees, at least; and of the others
# relative to it, at most. In bibliographies the latter is 0 to .4 for ISBNs.
MIN_AGREEING_SHARE = 0.2
MAX_AGREEING_RATIO = 0.5
# Share of the matches of other values that are duplicates at least, as no witness is so exact; and
# share of the duplicates that may always have other values. Twice or half as many change F1 by .01.
MIN_DUPLICATES_OF_OTHERS = 0.002
MIN_DEVIATING = 0.01
# Of the related pairs that have copied texts, or agree in all of several telling columns, the share
# that is believed; and the least share of those that agree in one column, or in the only one. Without
# it, copies under another title are taken for related pairs (re-posted adverts: recall .91 instead of
# .996), and half of the same publications for other editions. Flats of one house mostly agree in some
# of the columns.
BELIEVED_SHARE = 0.05
MIN_BELIEVED_EACH = 0.2
# Probability of a match of the same value, and of a related pair of another one, to start with.
STARTING_PROBABILITY = 0.9


@dataclass(frozen=True)
class Telling:
    """How a column tells related pairs apart.

    From the similarity `same_from` on two values are the same. `deviating` is the share of the
    duplicates that may have other values, 1 if it is not limited; `believed` the share of the
    related pairs with the same value that is believed to be related.
    """

    same_from: float
    deviating: float = 1.0
    believed: float = BELIEVED_SHARE

    def limit_matches(self, counts: Doubles, are_same: Bools) -> Doubles:
        """Return the number of matches by level, with no more of other values than may deviate."""
        others = float(counts[~are_same].sum())
        if self.deviating >= 1 or others <= 0:
            return counts
        allowed = self.deviating / (1 - self.deviating) * float(counts[are_same].sum())
        return np.where(are_same, 1, min(1.0, allowed / others)) * counts


def find_telling(
    similarities: Mapping[str, Floats], same_from: Mapping[str, float], matches: Doubles
) -> dict[str, Telling]:
    """Find the groups that tell, among those for which `same_from` gives a similarity.

    `similarities` has the groups that are known in some pairs, `matches` the probability of each
    pair by a model of two classes.
    """
    deviating = dict[str, float]()
    for group in same_from:
        if group in similarities:
            share = _deviating_share(similarities, group, same_from, matches)
            if share is not None:
                deviating[group] = max(share, MIN_DEVIATING)
    believed = max(MIN_BELIEVED_EACH, BELIEVED_SHARE ** (1 / max(1, len(deviating))))
    return {group: Telling(same_from[group], share, believed) for group, share in deviating.items()}


def guess_by_values(
    similarities: Mapping[str, Floats], telling: Mapping[str, Telling], matches: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the probabilities of matches and of related pairs to start with.

    Of the `matches` found so far those with another value in any telling group are related. Where
    values are unknown, they stay.
    """
    is_match = np.ones(len(matches))
    for group, column in telling.items():
        agrees = np.where(
            similarities[group] >= column.same_from, STARTING_PROBABILITY, 1 - STARTING_PROBABILITY
        )
        is_match *= np.where(np.isnan(similarities[group]), 1, agrees)
    return matches * is_match, matches * (1 - is_match)


def _deviating_share(
    similarities: Mapping[str, Floats],
    group: str,
    same_from: Mapping[str, float],
    matches: Doubles,
) -> float | None:
    """Return the share of the duplicates with other values in a group; None if it does not tell.

    Related pairs may agree in a witness as well, so each gives a bound only: the least one counts. That
    of a witness which agrees no more often than in unmatched pairs is its plain ratio, and its share 0.
    """
    is_match = matches > 0.5
    is_same = is_match & (similarities[group] == 1)
    is_other = is_match & (similarities[group] < same_from[group])
    least_bound, deviating = np.inf, None
    for witness, value in similarities.items():
        if witness in (ALL_COLUMNS, RIVALS, group):
            continue
        agreeing = EQUAL if witness in same_from else AGREEING
        same, other, unmatched = (
            value[rows & ~np.isnan(value)] >= agreeing for rows in (is_same, is_other, ~is_match)
        )
        if min(len(same), len(other)) < MIN_TO_TELL:
            continue
        of_same, of_other = float(same.mean()), float(other.mean())
        if of_same < MIN_AGREEING_SHARE or of_other > MAX_AGREEING_RATIO * of_same:
            continue
        by_chance = float(unmatched.mean()) if len(unmatched) else 0.0
        # Where it agrees no more often than in any pair, chance is all there is.
        share = max(0.0, of_other - by_chance) / max(of_same - by_chance, 1e-9)
        bound = share or of_other / of_same
        if bound < least_bound:
            duplicates = max(share, MIN_DUPLICATES_OF_OTHERS) * float(is_other.sum())
            least_bound, deviating = bound, duplicates / (float(is_same.sum()) + duplicates)
    return deviating
