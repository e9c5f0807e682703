"""Agreement without labels: the log-odds that each level of agreement of each column adds.

Fellegi and Sunter (1969): a column that agrees at some level multiplies the odds of a pair by m /
u, the shares of matches and of other pairs that agree so. `fit_agreement` in `expectation` finds
both from the candidates alone.

Records with long texts have a third class of pairs beside matches and unrelated ones (Larsen and
Rubin, 2001): related pairs share a part of their texts and most other columns, as two adverts of
one company do. There the odds are those of a match against either.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcher.array_types import Doubles, Floats, Ints
from matcher.taught.model.similarities import level_of


@dataclass(frozen=True)
class Level:
    """The levels of one comparison: its group, cuts, and the weight of each level.

    `weights` are log m / u of matches and unrelated pairs; `related` are those of related and
    unrelated pairs, empty where no pairs are related.
    """

    group: str
    cuts: tuple[float, ...]
    weights: tuple[float, ...]
    related: tuple[float, ...] = ()


@dataclass(frozen=True)
class AgreementModel:
    """A fitted model: the levels of each comparison and the log-odds of a random candidate.

    `prior` is that of a match against an unrelated pair, `related_prior` that of a related pair
    against an unrelated one, None where no pairs are related. `has_one_partner` says of one table
    that its records have one partner at most, `has_several` of each of two tables that its records
    have several partners.
    """

    levels: tuple[Level, ...]
    prior: float
    related_prior: float | None = None
    has_one_partner: bool = False
    has_several: tuple[bool, bool] = (False, False)

    @property
    def base(self) -> float:
        """The log-odds of a pair of which nothing is known."""
        if self.related_prior is None:
            return self.prior
        return self.prior - float(np.logaddexp(0, self.related_prior))

    def log_odds(self, similarities: Mapping[str, Floats]) -> Doubles:
        """Return the log-odds of each pair, given the similarity of each group."""
        count = len(next(iter(similarities.values())))
        return self.log_odds_of_levels(self._cut(similarities), count)

    def log_odds_of_levels(self, levels: Mapping[str, Ints], count: int) -> Doubles:
        """Return the log-odds of `count` pairs, given the level of each in each group."""
        odds = sum(self._class_weights(levels).values(), np.full(count, self.prior))
        related = self.related_log_odds(levels, count)
        return odds if related is None else odds - np.logaddexp(0, related)

    def related_log_odds(self, levels: Mapping[str, Ints], count: int) -> Doubles | None:
        """Return the log-odds of related against unrelated pairs; None where none are related."""
        if self.related_prior is None:
            return None
        weights = self._class_weights(levels, are_related=True)
        return sum(weights.values(), np.full(count, self.related_prior))

    def weights(self, similarities: Mapping[str, Floats]) -> dict[str, Doubles]:
        """Return the log-odds that each group adds to each pair; 0 where it is unknown.

        They sum to the log-odds less `base`. With related pairs a group's weight depends on the
        groups before it: the mean is given of both orders, from the first and from the last.
        """
        levels = self._cut(similarities)
        weights = self._class_weights(levels)
        if self.related_prior is None:
            return weights
        related = self._class_weights(levels, are_related=True)
        for groups in ([*weights], [*weights][::-1]):
            known = np.full(len(weights[groups[0]]), self.related_prior)
            for group in groups:
                lost = np.logaddexp(0, known + related[group]) - np.logaddexp(0, known)
                weights[group] = weights[group] - lost / 2
                known = known + related[group]
        return weights

    def _cut(self, similarities: Mapping[str, Floats]) -> dict[str, Ints]:
        return {
            level.group: level_of(similarities[level.group], level.cuts) for level in self.levels
        }

    def _class_weights(
        self, levels: Mapping[str, Ints], are_related: bool = False
    ) -> dict[str, Doubles]:
        """Return the log-odds of matches, or of related pairs, against unrelated ones."""
        weights = dict[str, Doubles]()
        for level in self.levels:
            of_level = np.array([*(level.related if are_related else level.weights), 0.0])
            weights[level.group] = of_level[levels[level.group]]
        return weights

    def as_json(self) -> dict[str, Any]:
        """Return the model as plain values."""
        levels = list[dict[str, Any]]()
        for level in self.levels:
            value = {"group": level.group, "cuts": [*level.cuts], "weights": [*level.weights]}
            levels.append(value | ({"related": [*level.related]} if level.related else {}))
        return {
            "prior": self.prior,
            "related_prior": self.related_prior,
            "has_one_partner": self.has_one_partner,
            "has_several": [*self.has_several],
            "levels": levels,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "AgreementModel":
        """Restore a model. Raises KeyError, TypeError or ValueError for other values."""
        related_prior = value.get("related_prior")
        if related_prior is not None:
            related_prior = float(related_prior)
        levels = list[Level]()
        for level in value["levels"]:
            cuts = tuple(map(float, level["cuts"]))
            weights = tuple(map(float, level["weights"]))
            related = weights[:0]
            if related_prior is not None:
                related = tuple(map(float, level["related"]))
            if any(len(part) != len(cuts) + 1 for part in (weights, related or weights)):
                raise ValueError("levels and cuts do not fit")
            levels.append(Level(str(level["group"]), cuts, weights, related))
        has_one_partner = bool(value.get("has_one_partner"))
        # Models of earlier versions do not have it.
        left, right = map(bool, value.get("has_several", (False, False)))
        prior = float(value["prior"])
        return cls(tuple(levels), prior, related_prior, has_one_partner, (left, right))
