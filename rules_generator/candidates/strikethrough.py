"""Prices that are struck through: what was asked before a sale stands beside the price, often in the same markup.

A class that all of a shop's prices have finds the first of them, which on sale is the old one. Where the known offers'
pages strike prices through, such selectors are tried with what is struck through left out as well.
"""

import re
from collections.abc import Iterable, Iterator

from parser.rules.selector import STRUCK, UNSTRUCK, AnySelector, JsonAt
from rules_generator.training.page_cache import Lookup

MOST_LOOKED_AT = 200
DIGIT = re.compile(r"\d")


def unstruck(selectors: Iterable[AnySelector], pages: Iterable[Lookup]) -> Iterator[AnySelector]:
    """The same selectors without what is struck through, where any of these pages strikes numbers through.

    An element that has a name of its own (`[id="price"]`) is not one of several that look alike.
    """
    if any(map(_strikes, pages)):
        alike = (
            one for one in selectors if not isinstance(one, JsonAt) and not one.css.endswith("]")
        )
        yield from (one.model_copy(update={"css": f"{one.css}{UNSTRUCK}"}) for one in alike)


def _strikes(page: Lookup) -> bool:
    return any(DIGIT.search(node.text() or "") for node in page.all(STRUCK)[:MOST_LOOKED_AT])
