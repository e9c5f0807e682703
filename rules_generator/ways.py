"""Which of all the selectors that lead to known values are worth a try: those that lead there on most pages.

A menu of two hundred links gives each of them a dozen selectors, and all of these find the first link. So a selector
counts only where it finds the very element that it was made from.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from parser.selector import AnySelector
from rules_generator.candidates import Parts, Paths, parts_at, selector_of
from rules_generator.choose import last_step
from rules_generator.locate import Form, Place
from rules_generator.lookup import Lookup

RARE = 0.1
MOST_TRIED = 400
MOST_ALIKE = 8

Way = tuple[Parts, Form]


@dataclass(frozen=True)
class _Origin:
    """Where a way was first seen: how far down in the place's own list, in a text of what size, on which page."""

    nth: int
    size: int
    page: int
    place: Place


class Ways:
    """The ways to the places that were found on some pages, to whole values and to texts that contain one.

    Those come first that lead there on most pages; among equals, each place's own best selectors before any place's
    lesser ones, and short texts before long. Those that lead there on far fewer pages than the best are left out.
    """

    def __init__(self, found: Sequence[Sequence[Place]], pages: Sequence[Lookup]) -> None:
        self._pages = pages
        self._counts: dict[bool, Counter[Way]] = {True: Counter(), False: Counter()}
        self._origins: dict[Way, _Origin] = {}
        for page, located in enumerate(found):
            self._note(page, located)

    def to_whole(self, most: int) -> list[tuple[AnySelector, Form]]:
        """Selectors that find a whole value, each with the form that it has there."""
        return [(selector_of(parts), form) for parts, form in islice(self._leading(self._counts[True]), most)]

    def to_parts(self, most: int) -> list[tuple[AnySelector, Form]]:
        """Selectors that find a text with the value in it, a few for each kind of element: most find the same."""
        ways = islice(_various(self._leading(self._counts[False])), most)
        return [(selector_of(parts), form) for parts, form in ways]

    def _note(self, page: int, places: Sequence[Place]) -> None:
        paths: Paths = {}
        here: dict[bool, dict[Way, int]] = {True: {}, False: {}}
        for place in places:
            for nth, parts in enumerate(parts_at(place, paths)):
                way = (parts, place.form)
                here[place.whole][way] = 1
                known = self._origins.get(way)
                if known is None or (nth, place.size) < (known.nth, known.size):
                    self._origins[way] = _Origin(nth, place.size, page, place)
        for whole, ways in here.items():
            self._counts[whole].update(ways)

    def _leading(self, counts: Mapping[Way, int]) -> Iterator[Way]:
        """The usual ways that do lead to the place they were made from."""
        least = RARE * max(counts.values(), default=0)
        ways = [way for way, count in counts.items() if count >= least]
        ways.sort(key=lambda way: (-counts[way], self._origins[way].nth, self._origins[way].size))
        return (way for way in ways[:MOST_TRIED] if self._leads(way))

    def _leads(self, way: Way) -> bool:
        origin, (_, css, _, _) = self._origins[way], way[0]
        if origin.place.node is None:
            return True
        first = self._pages[origin.page].first(css)
        return first is not None and first.mem_id == origin.place.node.mem_id


def _various(ways: Iterator[Way]) -> Iterator[Way]:
    kept: Counter[tuple[str, ...]] = Counter()
    for way in ways:
        (kind, css, detail, block), _ = way
        spot = (kind, css if kind == "json" else last_step(css), detail, block)
        kept[spot] += 1
        if kept[spot] <= MOST_ALIKE:
            yield way
