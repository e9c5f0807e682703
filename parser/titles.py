"""Titles without the brand that some layouts of a shop show before them.

On pages of a layout that no known offer has, the heading may say more than on all others. Where none of the known
titles begins with its brand, and another place of the page has the title without it, that one is meant.
"""

from catalog.models import Attribute
from catalog.values import same
from parser.votes import Reading, decide

TITLE = Attribute.TITLE
BETWEEN = " -–—|:·"
APART = frozenset(BETWEEN)


def bared(title: Reading, brand: Reading) -> Reading:
    """The title as other places of the page have it, where these lack just the brand before it.

    What rules say that people have set or locked is left as it is.
    """
    bare = without(title.value or "", brand.value or "")
    if not bare or not any(vote.value and same(TITLE, vote.value, bare) for vote in title.votes):
        return title
    saying_more = [vote for vote in title.votes if vote.value and same(TITLE, vote.value, title.value or "")]
    if any(vote.rule.kept for vote in saying_more):
        return title
    left = tuple(vote for vote in title.votes if vote not in saying_more)
    return decide(TITLE, left)._replace(votes=title.votes, all_votes=title.all_votes)


def without(title: str, brand: str) -> str:
    """What stands behind the brand that a title begins with; nothing where it begins otherwise.

    >>> without("Bosch Drill 500 W", "BOSCH"), without("Boschetti Drill", "Bosch"), without("Drill", "")
    ('Drill 500 W', '', '')
    """
    rest = title[len(brand) :]
    stands_apart = bool(brand) and rest[:1] in APART
    return rest.lstrip(BETWEEN) if stands_apart and same(TITLE, title[: len(brand)], brand) else ""
