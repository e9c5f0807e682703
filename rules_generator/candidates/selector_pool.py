"""Which of all the selectors that lead to known values are worth a try: those that lead there on most pages.

A menu of two hundred links gives each of them a dozen selectors, and all of these find the first link. So a selector
counts only where it finds the very element that it was made from.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.models import Attribute
from parser.rules.model import Form
from parser.rules.selector import AnySelector
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import BY_LABEL, is_labelled
from rules_generator.candidates.place_kind import last_step
from rules_generator.candidates.selectors import Parts, Paths, parts_at, selector_of
from rules_generator.locate.known_values import Place
from rules_generator.training.page_cache import Lookup

RARE = 0.1
MOST_TRIED = 400
MOST_ALIKE = 8
FEW_WAYS = 12
MOST_TRIED_FOR_REST = 80
MOST_FOR_REST = 16
MOST_LABELLED = 4

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
    lesser ones, and short texts before long. Those that lead there on far fewer pages than the best are left out, but
    for pages to which hardly any of the others lead - they may be of another layout -, and for some by a label that
    names the attribute. On which pages a way was seen is kept as bits, by their places among `pages`.
    """

    def __init__(
        self,
        attribute: Attribute,
        found: Sequence[Sequence[Place]],
        pages: Sequence[Lookup],
        several: int,
    ) -> None:
        """`several` is on how many of such pages a way has to be seen."""
        self._attribute, self._pages, self._several = attribute, pages, several
        self._seen_on: dict[bool, dict[Way, int]] = {True: {}, False: {}}
        self._origins: dict[Way, _Origin] = {}
        for page, located in enumerate(found):
            self._note(page, located)

    def to_whole(self, most: int) -> list[tuple[AnySelector, Form]]:
        """Selectors that find a whole value, each with the form that it has there."""
        seen_on = self._seen_on[True]
        usual = list(islice(self._leading(seen_on), most))
        rest = self._for_the_rest(usual, seen_on)
        labelled = self._labelled([*usual, *rest], seen_on)
        return [(selector_of(parts), form) for parts, form in [*usual, *rest, *labelled]]

    def to_parts(self, most: int) -> list[tuple[AnySelector, Form]]:
        """Selectors that find a text with the value in it, a few for each kind of element: most find the same."""
        ways = islice(_various(self._leading(self._seen_on[False])), most)
        return [(selector_of(parts), form) for parts, form in ways]

    def _note(self, page: int, places: Sequence[Place]) -> None:
        paths: Paths = {}
        for place in places:
            for nth, parts in enumerate(parts_at(place, paths)):
                way = (parts, place.form)
                seen_on = self._seen_on[place.whole]
                seen_on[way] = seen_on.get(way, 0) | 1 << page
                known = self._origins.get(way)
                if known is None or (nth, place.size) < (known.nth, known.size):
                    self._origins[way] = _Origin(nth, place.size, page, place)

    def _leading(self, seen_on: Mapping[Way, int]) -> Iterator[Way]:
        """The usual ways."""
        least = RARE * max((pages.bit_count() for pages in seen_on.values()), default=0)
        ways = [way for way, pages in seen_on.items() if pages.bit_count() >= least]
        return self._tried(ways, seen_on, MOST_TRIED)

    def _for_the_rest(self, usual: Sequence[Way], seen_on: Mapping[Way, int]) -> list[Way]:
        """Ways for pages to which few of the usual ones lead, if they lead to enough of these."""
        ways_to = Counter(
            page for way in usual for page in range(len(self._pages)) if seen_on[way] >> page & 1
        )
        rest = sum(1 << page for page in range(len(self._pages)) if ways_to[page] < FEW_WAYS)
        known = set(usual)
        others = [
            way
            for way, on in seen_on.items()
            if (on & rest).bit_count() >= self._several and way not in known
        ]
        return list(islice(self._tried(others, seen_on, MOST_TRIED_FOR_REST), MOST_FOR_REST))

    def _labelled(self, usual: Collection[Way], seen_on: Mapping[Way, int]) -> Iterator[Way]:
        """Ways by a label that names the attribute, on however few pages: there menus may lead to the value as well."""
        known = set(usual)
        others = [
            way
            for way, on in seen_on.items()
            if on.bit_count() >= self._several and way not in known and self._is_labelled(way)
        ]
        return islice(self._tried(others, seen_on, MOST_TRIED_FOR_REST), MOST_LABELLED)

    def _is_labelled(self, way: Way) -> bool:
        return BY_LABEL in way[0][1] and is_labelled(
            Candidate(self._attribute, selector_of(way[0]))
        )

    def _tried(self, ways: Iterable[Way], seen_on: Mapping[Way, int], most: int) -> Iterator[Way]:
        """Of the first of these, in order, those that do lead to the place they were made from."""
        return (way for way in self._in_order(ways, seen_on)[:most] if self._leads(way))

    def _in_order(self, ways: Iterable[Way], seen_on: Mapping[Way, int]) -> list[Way]:
        def turn(way: Way) -> tuple[int, int, int]:
            return -seen_on[way].bit_count(), self._origins[way].nth, self._origins[way].size

        return sorted(ways, key=turn)

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
