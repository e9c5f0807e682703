"""The price before a reduction among the votes for a price.

A shop's script or meta element may still state it, while the page shows it struck through beside
the price. Where the votes differ, one for the page's old price is no vote for the price.
"""

from collections.abc import Iterator, Sequence

from catalog.values.prices.price import old_amounts
from parser.page.document import Document
from parser.page.struck_prices import find_outdated, price_box, struck_amounts
from parser.rules.model import Rule
from parser.rules.selector import reads_one_element
from parser.voting.votes import Vote


def is_shown(rule: Rule) -> bool:
    """Return True if a rule reads an element that a visitor sees."""
    return reads_one_element(rule.selector) and "meta" not in rule.selector.css.rpartition(" ")[2]


def without_old_prices(votes: Sequence[Vote], document: Document) -> tuple[Vote, ...]:
    """Take the value from each vote for the page's old price, if another vote has a lower price."""
    values = {vote.value for vote in votes if vote.value is not None}
    if len(values) < 2:
        return tuple(votes)
    dropped = find_outdated(values, [*_old_prices(votes, document), *document.old_prices])
    return tuple(vote._replace(value=None) if vote.value in dropped else vote for vote in votes)


def _old_prices(votes: Sequence[Vote], document: Document) -> Iterator[str]:
    for vote in votes:
        if vote.raw is not None:
            yield from old_amounts(vote.raw)
        node = document.first(vote.rule.selector.css) if is_shown(vote.rule) else None
        if node is not None:
            yield from struck_amounts(price_box(node))
