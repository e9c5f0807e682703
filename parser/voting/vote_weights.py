"""The weight of a rule's vote: the cube of its score.

Titles in the page's head weigh less.
"""

import re

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AnySelector

# Factor on votes from the titles in the head: shops fill all of them from one text, and may write
# it for search engines.
HEAD_FACTOR = 0.25
# Scores below are weighted as this one, so that every vote has a weight.
MIN_SCORE = 0.01
TITLE_IN_HEAD = re.compile(
    r'(?:html > head\S* > )?title\b|meta\[(?:property|name)="(?:og|twitter):title"'
)
ANYWHERE_IN_HEAD = re.compile(r"title\b|html > head\b|meta\[(?:property|name)\b")


def weight_of(rule: Rule) -> float:
    """Return the weight of a rule's vote."""
    return weight_at(rule.score, rule.attribute, rule.selector)


def weight_at(score: float, attribute: Attribute, selector: AnySelector) -> float:
    """Return the weight of the vote of a rule with this score and selector.

    A title weighs a quarter where it stands anywhere in the head; other attributes do where they
    are cut out of the head's titles, as the shop's own name may stand in their place.
    """
    weight: float = max(score, MIN_SCORE) ** 3
    head = ANYWHERE_IN_HEAD if attribute is Attribute.TITLE else TITLE_IN_HEAD
    return weight * HEAD_FACTOR if head.match(selector.css) else weight


def is_in_meta(rule: Rule) -> bool:
    """Return True if a rule reads a meta element: text for search engines and others."""
    return rule.selector.css.startswith("meta[")
