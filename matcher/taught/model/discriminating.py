"""Columns that discriminate related things: editions by the year, concerts of one tour by the
date, flats of one house by the rooms and the rent.

Only years, dates, amounts and sizes are asked, and the digits of numbers, which are the same
however they are written. Names and e-mail addresses of two sources differ together, and so would
keep copies apart.

Such a column is found among the matches of two classes, which are things and related things mixed
up. They have the same value in it, or another one; and a third column, the witness, agrees in many
matches of the same value and in far fewer of the others. Where a price is merely wrong, the witness
agrees in as many.

Some duplicates have another value all the same, by mistake. Of these the witness knows how many: it
agrees as often in duplicates of other values as in those of the same one. So where the insurance
number agrees in .45 of the matches of one date of birth and in .09 of the others, a fifth of the
latter are duplicates (.14 by the truth).

Visits of one patient differ in nothing but their date: there is no witness. But their dates are
repeated: two records have the one, and two the other. A wrong date stands alone.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Doubles, Floats, Pairs
from matcher.taught.features.feature import ALL_COLUMNS, RIVALS
from matcher.taught.model.group_roles import GroupRoles

# Similarity from which on a column of texts agrees; values that may discriminate are equal.
AGREEING = 0.9
EQUAL = 0.9999
# Matches of the same value, and of other ones, that it takes.
MIN_MATCHES = 20
# Share of the matches of the same value in which a witness agrees, at least; and of the others
# relative to it, at most. In bibliographies the latter is 0 to .4 for ISBNs.
MIN_AGREEING_SHARE = 0.2
MAX_AGREEING_RATIO = 0.5
# Share of the matches of other values that are duplicates at least, as no witness is so exact; and
# share of the duplicates that may always have other values. Twice or half as many change F1 by .01.
MIN_DUPLICATE_SHARE = 0.002
MIN_DIFFERING_SHARE = 0.01
# Share of the matches that must have other values. A fee that differs in .02 of them says nothing.
MIN_OTHERS_SHARE = 0.05
# Where no column is a witness: share of the matches that have other dates, at least, and of these, the
# share of which both dates are repeated, beyond chance (as Cohen's kappa counts).
MIN_OTHER_DATES = 0.3
MIN_REPEATED_SHARE = 0.25
# Share of the duplicates that may then have other dates.
DIFFERING_DATES = 0.05
# Similarity from which on digits agree: they are 1 or 0.
SAME_DIGITS = 0.5
# Probability of a match of the same value, and of a related pair of another one, to start with.
STARTING_PROBABILITY = 0.9


@dataclass(frozen=True)
class DiscriminatingColumn:
    """How a column discriminates duplicates from related pairs.

    From the similarity `same_from` on two values are the same. At most the share `max_differing`
    of the duplicates has other values. Of the related pairs that seem to have the same value, the
    share `kept_agreeing` is believed to be related.
    """

    same_from: float
    max_differing: float = 1.0
    kept_agreeing: float = 1.0

    def agree(self, similarity: Floats) -> Floats:
        """Return 1 for pairs of the same value, 0 for pairs of other ones, NaN if one is unknown."""
        is_same = np.where(np.isnan(similarity), np.nan, similarity >= self.same_from)
        return is_same.astype(np.float32)

    def limit_matches(self, counts: Doubles, are_same: Bools) -> Doubles:
        """Return the number of matches by level, of other values no more than may have them."""
        others = float(counts[~are_same].sum())
        if self.max_differing >= 1 or others <= 0:
            return counts
        allowed = self.max_differing / (1 - self.max_differing) * float(counts[are_same].sum())
        return np.where(are_same, 1, min(1.0, allowed / others)) * counts


def find_discriminating_columns(
    similarities: Mapping[str, Floats], roles: GroupRoles, pairs: Pairs, matches: Doubles
) -> dict[str, DiscriminatingColumn]:
    """Find the groups that discriminate: years, dates, amounts and sizes, or digits.

    `similarities` has the groups that are known in some pairs, `matches` the probability of each
    pair by a model of two classes. Where both discriminate, those are returned in one of which
    fewer duplicates differ; where none does, dates that are repeated.
    """
    evidence = _Evidence(similarities, roles, matches > 0.5)
    # Digits are no witnesses: what they would say, their columns say.
    witnesses = similarities.keys() - roles.numbers.keys() - {ALL_COLUMNS, RIVALS}
    values, numbers = dict[str, DiscriminatingColumn](), dict[str, DiscriminatingColumn]()
    for group, same_from in roles.measured.items():
        evidence.add_column(values, group, same_from, witnesses - {group})
    # Whoever moves has another telephone number, town and street, and is the same person.
    witnesses -= roles.contacts
    for group, column in roles.numbers.items():
        if column not in roles.postal_codes:
            evidence.add_column(numbers, group, SAME_DIGITS, witnesses - {column})
    if values or numbers:
        # Together they lose recall: paperbacks have other ISBNs.
        return min(values, numbers, key=_least_differing)
    repeated = (group for group in sorted(roles.dates) if evidence.repeats(group, pairs))
    return {
        group: DiscriminatingColumn(roles.measured[group], DIFFERING_DATES) for group in repeated
    }


def _least_differing(columns: Mapping[str, DiscriminatingColumn]) -> float:
    return min((column.max_differing for column in columns.values()), default=np.inf)


def agree_in_all(
    similarities: Mapping[str, Floats], columns: Mapping[str, DiscriminatingColumn]
) -> Floats:
    """Return 1 for pairs that agree in all known columns, 0 for others, NaN if none is known."""
    agree = np.full(len(next(iter(similarities.values()))), np.float32(np.nan))
    for group, column in columns.items():
        agree = np.fmin(agree, column.agree(similarities[group]))
    return agree


def guess_by_values(
    similarities: Mapping[str, Floats],
    columns: Mapping[str, DiscriminatingColumn],
    matches: Doubles,
) -> tuple[Doubles, Doubles]:
    """Return the probabilities of matches and of related pairs to start with.

    Of the `matches` found so far those with another value in any of the `columns` are related.
    Where values are unknown, they stay.
    """
    is_match = np.ones(len(matches))
    for group, column in columns.items():
        agree = column.agree(similarities[group])
        starting = np.where(agree == 1, STARTING_PROBABILITY, 1 - STARTING_PROBABILITY)
        is_match *= np.where(np.isnan(agree), 1, starting)
    return matches * is_match, matches * (1 - is_match)


@dataclass(frozen=True)
class _Evidence:
    """The similarities of all pairs, and which of these two classes take for matches."""

    similarities: Mapping[str, Floats]
    roles: GroupRoles
    is_match: Bools

    def add_column(
        self,
        columns: dict[str, DiscriminatingColumn],
        group: str,
        same_from: float,
        witnesses: Set[str],
    ) -> None:
        """Add a group to `columns` if it is known and discriminates."""
        if group in self.similarities:
            share = self._differing_share(self.similarities[group], same_from, witnesses)
            if share is not None:
                columns[group] = DiscriminatingColumn(same_from, max(share, MIN_DIFFERING_SHARE))

    def repeats(self, group: str, pairs: Pairs) -> bool:
        """Return True if many matches have two dates that other matches repeat.

        `pairs` number the records of two tables apart.
        """
        if group not in self.similarities:
            return False
        similarity = self.similarities[group]
        is_same, is_other = self._same_and_other(similarity, self.roles.measured[group])
        matches = int(is_same.sum() + is_other.sum())
        if is_other.sum() < max(MIN_MATCHES, MIN_OTHER_DATES * matches):
            return False
        unmatched = similarity[~self.is_match & ~np.isnan(similarity)]
        same_by_chance = float((unmatched == 1).mean()) if len(unmatched) else 0.0
        size = int(pairs.max()) + 1
        repetitions = np.bincount(pairs[is_same].ravel(), minlength=size)
        others = np.bincount(pairs[is_same | is_other].ravel(), minlength=size) - 1
        by_chance = 1 - (1 - same_by_chance) ** others
        expected = float(by_chance[pairs[is_other]].prod(axis=1).mean())
        observed = float((repetitions[pairs[is_other]] > 0).all(axis=1).mean())
        return observed - expected >= MIN_REPEATED_SHARE * (1 - expected)

    def _same_and_other(self, similarity: Floats, same_from: float) -> tuple[Bools, Bools]:
        """Return the matches of the same value, and those of other ones."""
        return self.is_match & (similarity == 1), self.is_match & (similarity < same_from)

    def _differing_share(
        self, similarity: Floats, same_from: float, witnesses: Set[str]
    ) -> float | None:
        """Return the share of the duplicates with other values; None if values do not discriminate.

        Related pairs may agree in a witness as well, so each gives a bound only: the least one
        counts. That of a witness which agrees no more often than in unmatched pairs is its plain
        ratio, and its share 0.
        """
        is_same, is_other = self._same_and_other(similarity, same_from)
        known = int((self.is_match & ~np.isnan(similarity)).sum())
        if is_other.sum() < MIN_OTHERS_SHARE * known:
            return None
        least_bound, differing_share = np.inf, None
        for witness in sorted(witnesses):
            value = self.similarities[witness]
            agreeing = EQUAL if witness in self.roles.measured else AGREEING
            same, other, unmatched = (
                value[rows & ~np.isnan(value)] >= agreeing
                for rows in (is_same, is_other, ~self.is_match)
            )
            if min(len(same), len(other)) < MIN_MATCHES:
                continue
            of_same, of_other = float(same.mean()), float(other.mean())
            if of_same < MIN_AGREEING_SHARE or of_other > MAX_AGREEING_RATIO * of_same:
                continue
            by_chance = float(unmatched.mean()) if len(unmatched) else 0.0
            # Where it agrees no more often than in any pair, chance is all there is.
            share = max(0.0, of_other - by_chance) / max(of_same - by_chance, 1e-9)
            bound = share or of_other / of_same
            if bound < least_bound:
                duplicates = max(share, MIN_DUPLICATE_SHARE) * float(is_other.sum())
                least_bound = bound
                differing_share = duplicates / (float(is_same.sum()) + duplicates)
        return differing_share
