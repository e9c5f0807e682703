"""Brands and categories as entries of a menu that the heading names.

A shop's menu lists all its brands, and the heading of an offer often begins with one of them. So where a known value is
an entry of a list and stands in the heading too, the list is a place to look the heading up in, brands that no known
offer has included.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.document import MOST_ENTRIES
from parser.page.texts import text_of
from parser.rules.selector import TextAt
from parser.rules.trim import named_in
from rules_generator.candidates.selectors import rooted
from rules_generator.locate.element_selectors import anchors_of, tag_of
from rules_generator.locate.known_values import Place
from rules_generator.training.page_cache import Lookup

LISTED = frozenset({Attribute.BRAND, Attribute.CATEGORY})
HEADING = "h1"
FEWEST = 3
MOST = 16
MOST_ABOVE = 4
MOST_LISTS = 60
ROOM = 1.2
LONGEST_HEADING = 200
PLACE_AMONG = re.compile(r":nth-of-type\(\d+\)")


def menus(
    known: Sequence[str], found: Sequence[Sequence[Place]], pages: Sequence[Lookup]
) -> list[TextAt]:
    """Selectors of lists with an entry that is the known value and that the heading names, on several pages.

    Of these the ones that have most of the known values among their entries, and little else.
    """
    counts: Counter[str] = Counter()
    seen_on: dict[str, Lookup] = {}
    for places, page in zip(found, pages, strict=True):
        node = page.first(HEADING)
        heading = text_of(node, LONGEST_HEADING) if node is not None else None
        here = list(
            dict.fromkeys(css for place in places for css in _lists_of(place, heading or ""))
        )
        counts.update(here)
        seen_on |= dict.fromkeys(here, page)
    usual = [css for css, count in counts.most_common(MOST_LISTS) if count >= FEWEST]
    entries = {css: _entries(seen_on[css], css) for css in usual}
    wanted = {value.casefold() for value in known}
    most = max((len(wanted & one) for one in entries.values()), default=0)
    full = [css for css in usual if len(wanted & entries[css]) == most]
    least = min((len(entries[css]) for css in full), default=0)
    return [TextAt(css=css, named_in=HEADING) for css in full if len(entries[css]) <= ROOM * least][
        :MOST
    ]


def _entries(page: Lookup, css: str) -> set[str]:
    """What the entries of a list say."""
    nodes = page.all(css)[:MOST_ENTRIES]
    return {text.casefold() for node in nodes if (text := text_of(node, LONGEST_HEADING))}


def _lists_of(place: Place, heading: str) -> Iterator[str]:
    if (
        place.node is None
        or place.name
        or place.own
        or not place.whole
        or place.node.tag in (HEADING, "title")
    ):
        return
    text = text_of(place.node, LONGEST_HEADING)
    if text and len(text) < len(heading) and named_in(heading, (text,)):
        yield from _lists_at(place.node)


def _lists_at(node: LexborNode) -> Iterator[str]:
    """The lists that an entry stands in: by its marks, by those above it, by the way to it without the last steps."""
    steps = [*anchors_of(node)[:2], tag_of(node)]
    yield from steps[:-1]
    above = node.parent
    for _ in range(MOST_ABOVE):
        if above is None or not above.is_element_node:
            break
        yield from (f"{anchor} {step}" for anchor in anchors_of(above)[:2] for step in steps)
        above = above.parent
    for path in islice(rooted(node), 3):
        *first, beyond, last = path.split(" > ") if path.count(" > ") else ("", "", path)
        yield " > ".join(
            [*filter(None, first), *(PLACE_AMONG.sub("", one) for one in (beyond, last) if one)]
        )
