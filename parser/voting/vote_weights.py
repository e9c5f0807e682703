"""What a rule's vote weighs: the cube of its score, so that one good rule outweighs two middling ones that agree.

What the page's head says for others weighs less, and of titles that tie, one is the likeliest.
"""

import re

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt

IN_HEAD = 0.25
SHOWN = 0.97
LEAST = 0.94
OF_A_VARIANT = re.compile(r"variant|offers|track\(", re.IGNORECASE)
TITLE_IN_HEAD = re.compile(
    r'(?:html > head\S* > )?title\b|meta\[(?:property|name)="(?:og|twitter):title"'
)
ANYWHERE_IN_HEAD = re.compile(r"title\b|html > head\b|meta\[(?:property|name)\b")
FOR_SCRIPTS = re.compile(r"data-(?!.*(?:alt|caption|label))")
OF_PICTURES = re.compile(r"image|img|photo|gallery|media|slide|thumb|zoom", re.IGNORECASE)


def weight_of(rule: Rule) -> float:
    """What a rule's vote weighs."""
    return weight_at(rule.score, rule.attribute, rule.selector)


def weight_at(score: float, attribute: Attribute, selector: AnySelector) -> float:
    """What the vote of a rule on that place weighs: the cube of its score; a quarter of that in the head's titles.

    Shops fill all of these from one text, and that they may have written for search engines. Where other attributes are
    cut out of it, the shop's own name may stand in their place.
    """
    weight: float = max(score, 0.01) ** 3
    is_title = attribute is Attribute.TITLE
    if (ANYWHERE_IN_HEAD if is_title else TITLE_IN_HEAD).match(selector.css):
        return weight * IN_HEAD
    return weight * _among_titles(selector) if is_title else weight


def _among_titles(selector: AnySelector) -> float:
    """What settles ties of titles. Some layouts add words to those that they show, which data does not.

    What data calls a variant may have its size behind it, and other attributes describe a picture or a link.
    """
    if isinstance(selector, TextAt):
        return SHOWN
    if isinstance(selector, JsonAt):
        return LEAST if OF_A_VARIANT.search(f"{selector.block} {selector.path}") else 1.0
    return (
        1.0 if FOR_SCRIPTS.match(selector.name) and not OF_PICTURES.search(selector.css) else LEAST
    )


def is_in_meta(rule: Rule) -> bool:
    """Whether it reads what a page says for search engines and others, mostly in its head."""
    return rule.selector.css.startswith("meta[")


def is_in_head(rule: Rule) -> bool:
    """Whether it reads what the page's head says for others to show."""
    return isinstance(rule.selector, AttributeAt) and rule.selector.css.startswith("meta[property")
