"""Fit agreement without labels: expectation-maximisation over the levels of each column.

The shares of matches and of other pairs at each level are estimated from the candidates alone
(Winkler, 1988), and so is the share of matches. Five things differ from the textbook:

- Levels of agreement are cut from a similarity per column, rarity of the agreeing words included.
- The lead over rivals is one more comparison: in sets where records have one partner, a clear
  best candidate is a match, and where they have several, EM learns that leads say little.
- Where records have one partner, the candidates of a record share its one chance of being a match
  (`share_among_rivals`). Elsewhere the weights are damped, as columns depend on each other; what
  all columns say together is damped in any case, and the lead unless most records have a partner.
- Related pairs may be a class of their own. With long texts it starts from pairs that share a part
  of their texts, as a copy has nearly all of the shorter one. Elsewhere it starts from pairs of
  other years, dates, amounts or sizes, where these are of other things (`discriminating`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from matcher.array_types import Doubles, Floats, Ints, Pairs
from matcher.taught.features.feature import ALL_COLUMNS, RIVALS
from matcher.taught.model.agreement import AgreementModel, Level
from matcher.taught.model.discriminating import (
    STARTING_PROBABILITY,
    DiscriminatingColumn,
    agree_in_all,
    find_discriminating_columns,
    guess_by_values,
)
from matcher.taught.model.group_roles import GroupRoles
from matcher.taught.model.partners import (
    Partners,
    find_side_with_several,
    has_one_partner,
    partners_of_tables,
    share_among_rivals,
    share_with_partner,
)
from matcher.taught.model.similarities import level_of

# Cuts between levels of similarity.
CUTS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.9999)
# Cuts between levels of the lead over the best rival.
LEAD_CUTS = (-0.3, -0.15, -0.05, -0.001, 0.001, 0.05, 0.1, 0.2, 0.3)
# Least share of a class, so that logarithms stay finite; greatest share of the matches among the
# candidates. Citations of few works, 70 copies each, have .83; with .5 at most F1 is .76 instead of .99.
MIN_SHARE = 1e-6
MAX_SHARE = 0.95
# Rounds of expectation-maximisation, at most; and the change of the match share that ends them.
MAX_ROUNDS = 100
TOLERANCE = 1e-5
# Pairs of each class that the levels start with: matches mostly agree, others mostly do not. They
# steady tables of a few records, and are nothing beside thousands of candidates.
PRIOR_PAIRS = 5.0
# Power by which these grow with the level.
PRIOR_POWER = 3
# Shares of the shorter text that related pairs have in common at least, and copies do.
RELATED_SHARE = 0.2
COPIED_SHARE = 0.8
# Of the seemingly related pairs that have copied texts, the share that is believed. With all, copies
# under another title are taken for related pairs (re-posted adverts: recall .91 instead of .996).
KEPT_COPIED = 0.05
# Of the matches that two classes give, the share with copied texts from which on related pairs are a
# third one: of re-posted adverts .44 have, of goods that two shops describe .03.
MIN_COPIED = 0.2
# Share of the evidence of all columns that counts: each column has said most of it before. With all of
# it goods by size lose .28, companies .01 and drugs .06, with a half .21, nothing and .06. Beside
# related pairs the same share of the lead over rivals counts, and of all columns nothing if no text is
# long: with all of both a bibliography has .855 instead of .995.
REPEATED_EVIDENCE = 0.3
# Share of the evidence of the lead over rivals that counts where records have one partner, if any:
# sharing has counted the rivals before. With all of it, and of all columns, people of whom each tenth
# is entered twice have .73 (RLdata10000) instead of .98, as many lead who have no partner. Where this
# share of the records of the smaller of two tables has a partner, all of it counts: of abt-buy all
# have one (.89, with .7 of it .84); with one in twenty left in abt it is .61 and .72.
LEAD_EVIDENCE = 0.6
MOST_RECORDS = 0.6
# Log-odds without sharing from which on a match is sure. Of publications cited in several ways .44 have
# two such matches, and .04 of the citations; of songs by version .06, with log-odds of 4 .14.
SURE_ODDS = 6.0
# Share of the matches to start with that must stay matches beside related pairs. Of good fits .45
# stay at least; where a column discriminates by chance, it is none.
MIN_KEPT = 0.25
# Share of the unmatched pairs with the same values below which the same values are no chance: then
# related pairs of the same values do not outnumber those of other ones. Of good fits with more of
# them .2 to .5 are by chance.
RARE_VALUES = 0.05
NO_COLUMNS: Mapping[str, DiscriminatingColumn] = {}
UNSHARED = Partners(left_has_one=False, right_has_one=False)


def fit_agreement(
    similarities: Mapping[str, Floats],
    pairs: Pairs,
    is_self_join: bool,
    roles: GroupRoles,
) -> AgreementModel:
    """Fit a model to candidate pairs, without any label.

    Related pairs are a class of their own where many matches have copied texts, or where no text is
    long and other values or numbers are other things. Groups of digits take part only where they
    discriminate.
    """
    fit = partial(_fit_classes, similarities, pairs, is_self_join, roles)
    if not is_self_join:
        return _fit_two_tables(fit, similarities, pairs)
    model = fit(UNSHARED)
    if not has_one_partner(pairs, model.log_odds(similarities) > 0):
        return model
    return replace(fit(Partners(left_has_one=True, right_has_one=True)), has_one_partner=True)


def _fit_two_tables(
    fit: Callable[..., AgreementModel], similarities: Mapping[str, Floats], pairs: Pairs
) -> AgreementModel:
    """Fit with the partners that the candidates of two tables show; `fit` takes these."""
    overall, several = similarities[ALL_COLUMNS], (False, False)
    partners = partners_of_tables(pairs, overall)
    if partners.left_has_one and partners.right_has_one:
        is_sure = fit(UNSHARED).log_odds(similarities) > SURE_ODDS
        several = find_side_with_several(pairs, is_sure)
        partners = partners_of_tables(pairs, overall, several)
    model = fit(partners)
    if partners.are_shared:
        is_match = model.log_odds(similarities) > 0
        if share_with_partner(pairs, is_match) >= MOST_RECORDS:
            model = fit(partners, lead_evidence=1.0)
    return replace(model, has_several=several)


def _fit_classes(
    similarities: Mapping[str, Floats],
    pairs: Pairs,
    is_self_join: bool,
    roles: GroupRoles,
    partners: Partners,
    lead_evidence: float = LEAD_EVIDENCE,
) -> AgreementModel:
    """Fit two classes of pairs, or three where some are related."""
    known = {group: value for group, value in similarities.items() if _differs(value)}
    fit = _Fit(known, pairs, partners, is_self_join, roles, lead_evidence)
    guessed = share_among_rivals(_guess_odds(similarities), pairs, partners, is_self_join)
    two_classes, matches, _ = fit.maximise(guessed, np.zeros(len(guessed)))
    if fit.long_texts:
        return _fit_related_texts(fit, known, matches) or two_classes
    offset = 0 if is_self_join else int(pairs[:, 0].max(initial=-1)) + 1
    columns = find_discriminating_columns(known, roles, pairs + np.array([0, offset]), matches)
    if not columns:
        return two_classes
    return _fit_related_values(fit, known, columns, matches) or two_classes


def _differs(similarity: Floats) -> bool:
    """Return True if a group is known in some pairs, and not the same in all of them."""
    is_known = ~np.isnan(similarity)
    return bool(is_known.any() and np.ptp(similarity[is_known]) > 0)


def _fit_related_values(
    fit: "_Fit",
    known: Mapping[str, Floats],
    columns: Mapping[str, DiscriminatingColumn],
    matches: Doubles,
) -> AgreementModel | None:
    """Fit related pairs as those of other values; None where these take duplicates with them."""
    starting = guess_by_values(known, columns, matches)
    model, remaining, _ = fit.maximise(*starting, columns)
    is_start, is_end = starting[0] > 0.5, remaining > 0.5
    if (is_start & is_end).sum() < MIN_KEPT * is_start.sum():
        return None
    agree = agree_in_all(known, columns)
    is_match = matches > 0.5
    lost = (is_match & (agree == 1) & ~is_end).sum()
    unmatched = agree[~is_match & ~np.isnan(agree)]
    by_chance = unmatched.mean() if len(unmatched) else 0.0
    if by_chance < RARE_VALUES and lost > (is_match & (agree == 0)).sum():
        # People who have moved were taken for their housemates.
        return None
    return model


def _fit_related_texts(
    fit: "_Fit", known: Mapping[str, Floats], matches: Doubles
) -> AgreementModel | None:
    """Fit related pairs as those that share a part of their texts; None where there are none."""
    # The text that is contained most discriminates; NaN where none is known.
    most_contained = np.fmax.reduce([known[group] for group in fit.long_texts])
    is_copied = most_contained >= COPIED_SHARE
    if matches[is_copied].sum() < MIN_COPIED * matches[~np.isnan(most_contained)].sum():
        return None
    starting = _guess_by_texts(most_contained, matches)
    copied = DiscriminatingColumn(COPIED_SHARE, kept_agreeing=KEPT_COPIED)
    columns = dict.fromkeys(fit.long_texts, copied)
    model, _, related = fit.maximise(*starting, columns)
    is_partial = (most_contained >= RELATED_SHARE) & ~is_copied
    # Where no pairs are related, that class takes a part of the matches.
    return model if related[is_partial].sum() > related[is_copied].sum() else None


class _Fit:
    """Fits weights to the levels of some candidates.

    `long_texts` are the groups of long texts that are known in some of them.
    """

    def __init__(
        self,
        similarities: Mapping[str, Floats],
        pairs: Pairs,
        partners: Partners,
        is_self_join: bool,
        roles: GroupRoles,
        lead_evidence: float,
    ) -> None:
        self._cuts = {group: LEAD_CUTS if group == RIVALS else CUTS for group in similarities}
        self._levels = {
            group: level_of(value, self._cuts[group]) for group, value in similarities.items()
        }
        self._pairs = pairs
        self._partners = partners
        self._is_self_join = is_self_join
        self._lead_evidence = lead_evidence
        self._numbers = roles.numbers.keys()
        self.long_texts = [group for group in roles.long_texts if group in similarities]

    def maximise(
        self,
        matches: Doubles,
        related: Doubles,
        columns: Mapping[str, DiscriminatingColumn] = NO_COLUMNS,
    ) -> tuple[AgreementModel, Doubles, Doubles]:
        """Fit a model, starting with the probabilities of matches and of related pairs.

        `columns` has the groups in which hardly any related pair agrees; without them no pairs are
        related. Returns the model and both probabilities.
        """
        model = AgreementModel((), 0.0)
        greatest_sum = float((matches + related).sum())
        for _ in range(MAX_ROUNDS):
            model = self._weigh(matches, related, columns)
            before = matches
            odds = model.log_odds_of_levels(self._levels, len(matches))
            matches = share_among_rivals(odds, self._pairs, self._partners, self._is_self_join)
            related_odds = model.related_log_odds(self._levels, len(matches))
            if related_odds is not None:
                related = (1 - matches) / (1 + np.exp(-related_odds))
                # Related pairs were matches of two classes: they are never more than these.
                room = max(0.0, greatest_sum - float(matches.sum()))
                related *= min(1.0, room / max(MIN_SHARE, float(related.sum())))
            if not len(matches) or float(np.abs(matches - before).mean()) < TOLERANCE:
                break
        return model, matches, related

    def _weigh(
        self, matches: Doubles, related: Doubles, columns: Mapping[str, DiscriminatingColumn]
    ) -> AgreementModel:
        """Return the model that the pairs give with some probability of each class."""
        share = _clip_share(matches)
        related_share = _clip_share(related) if columns else 0.0
        unrelated_share = max(1 - share - related_share, MIN_SHARE)
        fitted = list[Level]()
        for group, level in self._levels.items():
            if group in self._numbers and group not in columns:
                continue
            damping = self._damping(group, bool(columns))
            cuts = self._cuts[group]
            counts = _count_levels(level, len(cuts) + 1, matches, related)
            of_matches, of_related = counts.matches, counts.related
            if group in columns:
                column = columns[group]
                are_same = np.array([*cuts, np.inf]) > column.same_from
                of_matches = column.limit_matches(of_matches, are_same)
                of_related = np.where(are_same, column.kept_agreeing, 1) * of_related
            weights = _log_ratio(of_matches, counts.unrelated)
            related_weights = np.empty(0)
            if columns:
                # Matches whose weights must not fall with agreement would lose to related pairs, whose
                # weights may, where sources write in ways of their own.
                related_weights = damping * _log_ratio(of_related, counts.unrelated)
            else:
                # Chance in rare levels must not invert them.
                weights = _increasing(weights, of_matches + counts.unrelated)
            level_weights = tuple((damping * weights).tolist()), tuple(related_weights.tolist())
            fitted.append(Level(group, cuts, *level_weights))
        related_prior = None
        if columns:
            related_prior = float(np.log(related_share / unrelated_share))
        return AgreementModel(tuple(fitted), float(np.log(share / unrelated_share)), related_prior)

    def _damping(self, group: str, has_related: bool) -> float:
        """Return the share of the evidence of a group that counts."""
        if has_related:
            # Related pairs explain most of what columns have in common.
            shares = {ALL_COLUMNS: float(bool(self.long_texts)), RIVALS: REPEATED_EVIDENCE}
            return shares.get(group, 1.0)
        damping = self._partners.damping()
        if group == ALL_COLUMNS:
            return damping * REPEATED_EVIDENCE
        if group == RIVALS and self._partners.are_shared:
            return self._lead_evidence
        return damping


def _clip_share(probability: Doubles) -> float:
    """Return the share of a class among the candidates, within its bounds."""
    return float(np.clip(probability.mean() if len(probability) else 0.0, MIN_SHARE, MAX_SHARE))


def _guess_odds(similarities: Mapping[str, Floats]) -> Doubles:
    """Guess the log-odds to start with: similar pairs that lead over their rivals are matches."""
    overall = np.nan_to_num(similarities[ALL_COLUMNS]).astype(np.float64)
    lead = np.nan_to_num(similarities[RIVALS]).astype(np.float64)
    odds: Doubles = 12 * (overall - 0.6) + 8 * np.clip(lead, -0.3, 0.3)
    return odds


def _guess_by_texts(contained: Floats, matches: Doubles) -> tuple[Doubles, Doubles]:
    """Return the probabilities of matches and of related pairs to start with.

    Where no text is known, the `matches` found so far stay, and no pair is related.
    """
    is_known = ~np.isnan(contained)
    rest = (1 - STARTING_PROBABILITY) / 2
    is_match = contained >= COPIED_SHARE
    is_related = (contained >= RELATED_SHARE) & ~is_match
    starting = np.where(is_match, STARTING_PROBABILITY, rest)
    related = np.where(is_related, STARTING_PROBABILITY, rest)
    return np.where(is_known, starting, matches), np.where(is_known, related, 0.0)


class _Counts(NamedTuple):
    """The number of pairs of each class at each level of one comparison."""

    matches: Doubles
    unrelated: Doubles
    related: Doubles


def _count_levels(level: Ints, count: int, matches: Doubles, related: Doubles) -> _Counts:
    """Count the pairs of each class at each level, and a few more of each.

    Unknown values are left out.
    """
    is_known = level < count
    position = (np.arange(count) + 0.5) / count
    growing = PRIOR_PAIRS * position**PRIOR_POWER / (position**PRIOR_POWER).sum()
    even = np.full(count, PRIOR_PAIRS / count)
    of_matches, of_unrelated, of_related = (
        np.bincount(level[is_known], probability[is_known], count)
        for probability in (matches, 1 - matches - related, related)
    )
    return _Counts(of_matches + growing, of_unrelated + growing[::-1], of_related + even)


def _log_ratio(first: Doubles, second: Doubles) -> Doubles:
    """Return the logarithm of the ratio of two distributions, given as counts."""
    ratio: Doubles = np.log(first / first.sum()) - np.log(second / second.sum())
    return ratio


def _increasing(values: Doubles, weight: Doubles) -> Doubles:
    """Return the nearest values that never fall (pool adjacent violators)."""
    pools = list[list[float]]()  # mean, weight, length
    for value, mass in zip(values.tolist(), weight.tolist(), strict=True):
        pools.append([value, mass, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, pool_mass, length = pools.pop()
            total = pools[-1][1] + pool_mass
            pools[-1] = [
                (pools[-1][0] * pools[-1][1] + mean * pool_mass) / total,
                total,
                pools[-1][2] + length,
            ]
    return np.concatenate([np.full(int(length), mean) for mean, _, length in pools])
