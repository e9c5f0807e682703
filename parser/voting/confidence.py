"""How sure a reading is: the probability that a value is right, from the votes for it and against it.

A share of votes is no probability: one rule alone has all of them. So the share goes together with how many rules
agree, with how many known offers the best of them was right, and in what part of those on which it found anything. The
weights of the four are a logistic regression's, and plain numbers; `python -m rules_generator.evaluation.calibrate DATA` makes
them anew. They come from 128,000 readings of 18 real shops, in three views, learnt from 2 to 50 pages with and without
stale offers; on shops left out, values said to be 95 to 98 % sure were right in 99.1 %, those above 99 % in 99.7 %.
"""

from collections.abc import Sequence
from math import exp, log1p

from catalog.models import Attribute
from parser.rules.model import Rule

BASE = 0.87
SUPPORT = 1.28
AGREEING = 0.83
AGREED = 1.83
DISSENT = -6.7
MOST_AGREEING = 3
BY_HAND = 30
HIGHEST = 0.998
USUALLY_UNTAUGHT = 0.95
UNTAUGHT = {
    **{Attribute.TITLE: 0.98, Attribute.PRICE: 0.98, Attribute.EAN: 0.98, Attribute.HAN: 0.9},
    **{Attribute.CATEGORY: 0.9, Attribute.AVAILABILITY: 0.9, Attribute.DESCRIPTION: 0.75},
}


def features(share: float, rules: Sequence[Rule]) -> tuple[float, float, float, float]:
    """What the probability is made of: known offers, further rules, their share right, and the share of dissent.

    `rules` are those that agree on the value, `share` their part of all votes.
    """
    support, agreed = 0, 0.0
    for rule in rules:
        support = max(support, BY_HAND if rule.origin == "manual" else rule.support)
        agreed = max(agreed, rule.agreed)
    return log1p(support), min(len(rules), MOST_AGREEING) - 1, agreed, 1 - share


def confidence(share: float, rules: Sequence[Rule]) -> float:
    """The probability that the value on which these rules agree is right.

    >>> from catalog.models import Attribute
    >>> from parser.rules.selector import TextAt
    >>> rule = Rule(attribute=Attribute.SKU, selector=TextAt(css="b"), support=10)
    >>> round(confidence(1.0, [rule]), 2), round(confidence(0.5, [rule]), 2)
    (1.0, 0.92)
    """
    support, agreeing, agreed, dissent = features(share, rules)
    said = BASE + SUPPORT * support + AGREEING * agreeing + AGREED * agreed + DISSENT * dissent
    sure = min(1 / (1 + exp(-said)), HIGHEST)
    if not any(rule.taught for rule in rules):
        return sure * agreed * UNTAUGHT.get(rules[0].attribute, USUALLY_UNTAUGHT)
    return sure
