"""Agreement without labels: expectation-maximisation over the agreement of each column.

Fellegi and Sunter (1969): a column that agrees at some level multiplies the odds of a pair by m /
u, the shares of matches and of other pairs that agree so. Both are estimated from the candidates
alone (Winkler, 1988), and so is the share of matches. Three things differ from the textbook:

- Levels of agreement are cut from a similarity per column, rarity of the agreeing words included.
- The lead over rivals is one more comparison: in sets where records have one partner, a clear
  best candidate is a match, and where they have several, EM learns that leads say little.
- Where records have one partner, the candidates of a record share its one chance of being a match
  (`share_among_rivals`). Elsewhere the weights are damped, as columns depend on each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcher.array_types import Doubles, Floats, Ints, Pairs
from matcher.taught.features.feature import ALL_COLUMNS, RIVALS, VARIANTS, Feature

# Cuts between levels of similarity.
CUTS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.9999)
# Cuts between levels of the lead over the best rival.
LEAD_CUTS = (-0.3, -0.15, -0.05, -0.001, 0.001, 0.05, 0.1, 0.2, 0.3)
# Rounds of expectation-maximisation, at most; and the change of the match share that ends them.
MAX_ROUNDS = 100
TOLERANCE = 1e-5
# Pairs of each class that the levels start with: matches mostly agree, others mostly do not. They
# steady tables of a few records, and are nothing beside thousands of candidates.
PRIOR_PAIRS = 5.0
# Power by which these grow with the level.
PRIOR_POWER = 3
# Share of the evidence that counts where records have several partners.
DAMPING = 0.75
# Similarity of all columns from which on two candidates of a record are both its partners.
PARTNER_SIMILARITY = 0.9
# Share of records with two such candidates from which on records have several partners.
MAX_SHARE_WITH_TWO = 0.1
# Records with such a candidate that are needed to tell.
MIN_RECORDS = 20
# Bound of log-odds, so that exponentials stay finite.
MAX_ODDS = 50.0
# Feature that is the similarity of a long text: a shortened copy has all its shingles in common.
LONG_SIMILARITY = "rare shingles contained, more"
# Features whose mean is the similarity of a text column.
_TEXT_SIMILARITY = ("sorted words", "3-grams", "shared words")


@dataclass(frozen=True)
class Level:
    """The levels of one comparison: its group, cuts, and the weight (log m / u) of each level."""

    group: str
    cuts: tuple[float, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class AgreementModel:
    """A fitted model: the levels of each comparison and the log-odds of a random candidate."""

    levels: tuple[Level, ...]
    prior: float

    def log_odds(self, similarities: Mapping[str, Floats]) -> Doubles:
        """Return the log-odds of each pair, given the similarity of each group."""
        first = next(iter(similarities.values()))
        return sum(self.weights(similarities).values(), np.full(len(first), self.prior))

    def weights(self, similarities: Mapping[str, Floats]) -> dict[str, Doubles]:
        """Return the log-odds that each group adds to each pair; 0 where it is unknown."""
        weights = dict[str, Doubles]()
        for level in self.levels:
            of_level = np.array([*level.weights, 0.0])
            weights[level.group] = of_level[_level_of(similarities[level.group], level.cuts)]
        return weights

    def as_json(self) -> dict[str, Any]:
        """Return the model as plain values."""
        levels = [
            {"group": level.group, "cuts": [*level.cuts], "weights": [*level.weights]}
            for level in self.levels
        ]
        return {"prior": self.prior, "levels": levels}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "AgreementModel":
        """Restore a model. Raises KeyError, TypeError or ValueError for other values."""
        levels = list[Level]()
        for level in value["levels"]:
            cuts = tuple(map(float, level["cuts"]))
            weights = tuple(map(float, level["weights"]))
            if len(weights) != len(cuts) + 1:
                raise ValueError("levels and cuts do not fit")
            levels.append(Level(str(level["group"]), cuts, weights))
        return cls(tuple(levels), float(value["prior"]))


def group_similarities(table: Floats, features: Sequence[Feature]) -> dict[str, Floats]:
    """Return one similarity per column, of all columns, and the lead over rivals."""
    places = dict[str, dict[str, int]]()
    for number, feature in enumerate(features):
        places.setdefault(feature.group, {})[feature.name] = number
    similarities = dict[str, Floats]()
    # Variants are decided by rules, or by a classifier; few pairs have a marker at all.
    places.pop(VARIANTS, None)
    for group, columns in places.items():
        if group == RIVALS:
            names = [name for name in columns if name.endswith(", lead, smaller")]
            similarities[group] = table[:, [columns[name] for name in names]].mean(axis=1)
        else:
            similarities[group] = _similarity(table, columns)
    return similarities


def _similarity(table: Floats, columns: Mapping[str, int]) -> Floats:
    """Return the similarity of one column, 0 to 1, 1 only for equal values; NaN if unknown."""
    if LONG_SIMILARITY in columns:
        value: Floats = table[:, columns[LONG_SIMILARITY]]
        return value
    if "similarity" in columns:
        similarity: Floats = table[:, columns["similarity"]].copy()
        if "ratio apart" in columns:
            # Amounts are compared by their ratio, not by their digits.
            ratio = table[:, columns["ratio apart"]]
            similarity = np.where(np.isnan(ratio), similarity, np.exp(-3 * ratio))
        is_equal = table[:, columns["equal"]] == 1
    else:
        similarity = table[:, [columns[name] for name in _TEXT_SIMILARITY]].mean(axis=1)
        is_equal = table[:, columns["equal"]] == 1
    return np.where(is_equal, 1, np.minimum(similarity, 0.999)).astype(np.float32)


@dataclass(frozen=True)
class Partners:
    """Whether a record of the left, and of the right side, has one partner at most."""

    left_has_one: bool
    right_has_one: bool

    def damping(self) -> float:
        """Return the share of the evidence that counts."""
        return 1.0 if self.left_has_one or self.right_has_one else DAMPING


def detect_partners(pairs: Pairs, overall: Floats, is_self_join: bool) -> Partners:
    """Tell from the candidates whether records have one partner or several.

    `overall` is the similarity of all columns. With too few similar candidates to tell, records of
    two tables have one partner, and those of one table several.
    """
    is_similar = overall >= PARTNER_SIMILARITY
    if is_self_join:
        has_one = _has_one_partner(pairs[is_similar].ravel(), False)
        return Partners(has_one, has_one)
    return Partners(
        _has_one_partner(pairs[is_similar, 0], True), _has_one_partner(pairs[is_similar, 1], True)
    )


def _has_one_partner(owner: Ints, default: bool) -> bool:
    count = np.bincount(owner)
    records = int((count > 0).sum())
    if records < MIN_RECORDS:
        return default
    return int((count > 1).sum()) <= MAX_SHARE_WITH_TWO * records


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


def fit_agreement(
    similarities: Mapping[str, Floats], pairs: Pairs, partners: Partners, is_self_join: bool
) -> AgreementModel:
    """Fit a model to candidate pairs, without any label."""
    groups = [group for group, value in similarities.items() if not np.isnan(value).all()]
    cuts = {group: LEAD_CUTS if group == RIVALS else CUTS for group in groups}
    level_of = {group: _level_of(similarities[group], cuts[group]) for group in groups}
    damping = partners.damping()
    model = AgreementModel((), 0.0)
    probability = share_among_rivals(_guess_odds(similarities), pairs, partners, is_self_join)
    for _ in range(MAX_ROUNDS):
        # More than every second candidate is never a match.
        share = float(np.clip(probability.mean() if len(pairs) else 0.0, 1e-6, 0.5))
        prior = float(np.log(share / (1 - share)))
        odds = np.full(len(pairs), prior)
        levels = list[Level]()
        for group in groups:
            weights = _weigh(level_of[group], len(cuts[group]) + 1, probability, damping)
            levels.append(Level(group, cuts[group], weights))
            odds += np.array([*weights, 0.0])[level_of[group]]
        model = AgreementModel(tuple(levels), prior)
        updated = share_among_rivals(odds, pairs, partners, is_self_join)
        change = float(np.abs(updated - probability).mean()) if len(pairs) else 0.0
        probability = updated
        if change < TOLERANCE:
            break
    return model


def _guess_odds(similarities: Mapping[str, Floats]) -> Doubles:
    """Guess the log-odds to start with: similar pairs that lead over their rivals are matches."""
    overall = np.nan_to_num(similarities[ALL_COLUMNS]).astype(np.float64)
    lead = np.nan_to_num(similarities[RIVALS]).astype(np.float64)
    odds: Doubles = 12 * (overall - 0.6) + 8 * np.clip(lead, -0.3, 0.3)
    return odds


def _weigh(level: Ints, count: int, probability: Doubles, damping: float) -> tuple[float, ...]:
    """Return log m / u of each level; unknown values carry no weight."""
    is_known = level < count
    position = (np.arange(count) + 0.5) / count
    matches = np.bincount(level[is_known], probability[is_known], count).astype(np.float64)
    others = np.bincount(level[is_known], 1 - probability[is_known], count).astype(np.float64)
    matches += PRIOR_PAIRS * position**PRIOR_POWER / (position**PRIOR_POWER).sum()
    others += PRIOR_PAIRS * position[::-1] ** PRIOR_POWER / (position**PRIOR_POWER).sum()
    weights = np.log(matches / matches.sum()) - np.log(others / others.sum())
    # A higher level of agreement never weighs less: chance in rare levels must not invert them.
    ordered = _increasing(weights, matches + others)
    return tuple((damping * ordered).tolist())


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


def _level_of(value: Floats, cuts: Sequence[float]) -> Ints:
    """Return the level of each value; one above the last level for unknown values."""
    level = np.searchsorted(np.array(cuts), value, side="right")
    return np.where(np.isnan(value), len(cuts) + 1, level).astype(np.int64)
