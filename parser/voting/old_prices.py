"""The price before a reduction among the votes for a price.

A shop's script or meta element may still state it, while the page shows it struck through beside
the price. Where the votes differ, one for the page's old price is no vote for the price.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import normalise
from catalog.values.prices.price import old_amounts
from parser.page.document import Document
from parser.page.struck_prices import MAX_BOX_LEVELS, OUTER_TAGS, struck_amounts
from parser.rules.model import Rule
from parser.rules.selector import reads_one_element
from parser.scripts.block_lookup import DataQuery
from parser.scripts.price_specifications import list_prices
from parser.scripts.schema_org import SCHEMA_ORG, thing_name
from parser.voting.votes import Vote

# Ancestors of the heading that are searched for struck prices, innermost first.
MAX_HEADING_LEVELS = 6
# Old prices of each kind that are read: bounds against hostile input.
MAX_OLD_PRICES = 20
PRODUCT = thing_name("Product")


def is_shown(rule: Rule) -> bool:
    """Return True if a rule reads an element that a visitor sees."""
    return reads_one_element(rule.selector) and "meta" not in rule.selector.css.rpartition(" ")[2]


def without_old_prices(votes: Sequence[Vote], document: Document) -> tuple[Vote, ...]:
    """Take the value from each vote for the page's old price, if another vote has a lower price."""
    values = {vote.value for vote in votes if vote.value is not None}
    if len(values) < 2:
        return tuple(votes)
    old = values.intersection(_old_prices(votes, document))
    lowest = min(map(float, values - old), default=None)
    if lowest is None:
        return tuple(votes)
    dropped = {value for value in old if float(value) > lowest}
    return tuple(vote._replace(value=None) if vote.value in dropped else vote for vote in votes)


def _old_prices(votes: Sequence[Vote], document: Document) -> Iterator[str]:
    for vote in votes:
        if vote.raw is not None:
            yield from old_amounts(vote.raw)
        if is_shown(vote.rule):
            yield from _struck_beside(document.first(vote.rule.selector.css))
    for data in document.script_index.lookup(DataQuery(SCHEMA_ORG, PRODUCT, "")):
        for price in islice(list_prices(data), MAX_OLD_PRICES):
            amount = normalise(Attribute.PRICE, str(price))
            if amount:
                yield amount
    for heading in document.element_index.headings:
        yield from _struck_near(heading)


def _struck_beside(node: LexborNode | None) -> Iterator[str]:
    """Yield the struck amounts in the same box as an element with a price."""
    box = node
    for _ in range(MAX_BOX_LEVELS):
        if box is None or box.parent is None or box.parent.tag in OUTER_TAGS:
            break
        box = box.parent
    if box is not None:
        yield from islice(struck_amounts(box), MAX_OLD_PRICES)


def _struck_near(heading: LexborNode) -> Iterator[str]:
    """Yield the struck amounts in the innermost element around the heading that has any."""
    ancestor = heading.parent
    for _ in range(MAX_HEADING_LEVELS):
        if ancestor is None or ancestor.tag in OUTER_TAGS:
            return
        amounts = list(islice(struck_amounts(ancestor), MAX_OLD_PRICES))
        if amounts:
            yield from amounts
            return
        ancestor = ancestor.parent
