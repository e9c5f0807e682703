"""Titles and categories told from the brand, where layouts of a shop say it in their place.

On pages of a layout that no known offer has, the heading may say the brand before the title; and where a page was
reached through its brand's own page, its breadcrumbs name the brand instead of a category. Where known offers keep
these apart, other places of the page are meant.
"""

from collections.abc import Mapping

from catalog.models import Attribute
from catalog.values import same
from parser.rules.model import Template
from parser.voting.winner import Reading, decide

TITLE = Attribute.TITLE
CATEGORY = Attribute.CATEGORY
BETWEEN = " -–—|:·"
APART = frozenset(BETWEEN)


def told_from_brand(
    readings: Mapping[Attribute, Reading], template: Template
) -> dict[Attribute, Reading]:
    """The title and the category without the brand, where the template's known offers have none there."""
    brand = readings[Attribute.BRAND].value if Attribute.BRAND in readings else None
    told = dict[Attribute, Reading]()
    if brand and template.bare_titles and TITLE in readings:
        told[TITLE] = _bared(readings[TITLE], brand)
    if brand and template.own_categories and CATEGORY in readings:
        told[CATEGORY] = _own(readings[CATEGORY], brand)
    return told


def _bared(title: Reading, brand: str) -> Reading:
    """The title as other places of the page have it, where these lack just the brand before it."""
    bare = without(title.value or "", brand)
    if not bare or not any(vote.value and same(TITLE, vote.value, bare) for vote in title.votes):
        return title
    return _without_votes_for(title, title.value or "")


def _own(category: Reading, brand: str) -> Reading:
    """The category that other places of the page have, or none, where it is the brand."""
    return (
        _without_votes_for(category, brand)
        if same(CATEGORY, category.value or "", brand)
        else category
    )


def _without_votes_for(reading: Reading, value: str) -> Reading:
    """What the other votes say. What rules say that people have set or locked is left as it is."""
    name = reading.attribute
    left_out = tuple(vote for vote in reading.votes if vote.value and same(name, vote.value, value))
    if any(vote.rule.kept for vote in left_out):
        return reading
    others = decide(name, [vote for vote in reading.votes if vote not in left_out])
    return others._replace(votes=reading.votes, all_votes=reading.all_votes, left_out=left_out)


def without(title: str, brand: str) -> str:
    """What stands behind the brand that a title begins with; nothing where it begins otherwise.

    >>> without("Bosch Drill 500 W", "BOSCH"), without("Boschetti Drill", "Bosch"), without("Drill", "")
    ('Drill 500 W', '', '')
    """
    rest = title[len(brand) :]
    stands_apart = bool(brand) and rest[:1] in APART
    return rest.lstrip(BETWEEN) if stands_apart and same(TITLE, title[: len(brand)], brand) else ""
