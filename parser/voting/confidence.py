"""Confidence of a reading: the probability that its value is right.

The share of votes is no probability: a single rule has all of them. So it is combined with the
number of rules that agree, the support of the best of them, and their precision, by logistic
regression. The default weights come from 128,000 readings of 18 real shops, in three views, with
rules learnt from 2 to 50 pages, with and without stale offers. On shops left out of the fit, values
with a confidence of 95 to 98 % were right in 99.1 %, those above 99 % in 99.7 %. `python -m
rules_generator.evaluation.calibrate DATA` fits the weights again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log1p
from typing import NamedTuple

from catalog.models import Attribute
from parser.rules.model import Rule

# Rules that agree beyond this number add no confidence (cap of the regression's feature).
MAX_AGREEING = 3
# Support that a rule set by hand counts as: it has no training pages.
MANUAL_SUPPORT = 30
# Upper bound: no reading is certain.
MAX_CONFIDENCE = 0.998
# Factor on the confidence of readings by heuristic rules alone, which no known offer has confirmed.
HEURISTIC_FACTOR = 0.95
HEURISTIC_FACTORS = {
    Attribute.TITLE: 0.98,
    Attribute.PRICE: 0.98,
    Attribute.EAN: 0.98,
    Attribute.HAN: 0.9,
    Attribute.CATEGORY: 0.9,
    Attribute.AVAILABILITY: 0.9,
    Attribute.DESCRIPTION: 0.75,
}


@dataclass(frozen=True)
class ConfidenceWeights:
    """The weights of the logistic regression, fitted by `rules_generator.evaluation.calibrate`."""

    intercept: float = 0.87
    log_support: float = 1.28
    further_rules: float = 0.83
    precision: float = 1.83
    dissent: float = -6.7


DEFAULT_WEIGHTS = ConfidenceWeights()


class ConfidenceFeatures(NamedTuple):
    """The features of the regression, in the order of its weights."""

    log_support: float
    further_rules: float
    precision: float
    dissent: float


def confidence_features(share: float, rules: Sequence[Rule]) -> ConfidenceFeatures:
    """Return the features of a value: the rules for it, and their share of the votes."""
    support, precision = 0, 0.0
    for rule in rules:
        support = max(support, MANUAL_SUPPORT if rule.origin == "manual" else rule.support)
        precision = max(precision, rule.precision)
    further_rules = min(len(rules), MAX_AGREEING) - 1
    return ConfidenceFeatures(log1p(support), further_rules, precision, 1 - share)


def estimate_confidence(
    share: float, rules: Sequence[Rule], weights: ConfidenceWeights = DEFAULT_WEIGHTS
) -> float:
    """Return the probability that the value on which these rules agree is right.

    >>> from catalog.models import Attribute
    >>> from parser.rules.selector import TextAt
    >>> rule = Rule(attribute=Attribute.SKU, selector=TextAt(css="b"), support=10)
    >>> round(estimate_confidence(1.0, [rule]), 2), round(estimate_confidence(0.5, [rule]), 2)
    (1.0, 0.92)
    """
    features = confidence_features(share, rules)
    log_odds = (
        weights.intercept
        + weights.log_support * features.log_support
        + weights.further_rules * features.further_rules
        + weights.precision * features.precision
        + weights.dissent * features.dissent
    )
    probability = min(1 / (1 + exp(-log_odds)), MAX_CONFIDENCE)
    if any(rule.is_learnt for rule in rules):
        return probability
    factor = HEURISTIC_FACTORS.get(rules[0].attribute, HEURISTIC_FACTOR)
    return probability * features.precision * factor
