"""Pool the selectors that lead to known values, and take those that lead there on most pages.

A menu of two hundred links gives each of them a dozen selectors, and all of these find the first
link. So a selector counts only if it finds the very element that it was made from.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from parser.rules.model import Form
from parser.rules.selector import AnySelector
from rules_generator.candidates.selectors import (
    SelectorParts,
    build_selector,
    selector_parts,
)
from rules_generator.locate.occurrences import Occurrence
from rules_generator.training.page_cache import PageCache

# Share of the best selector's pages that others have to lead to.
MIN_PAGE_SHARE = 0.1
# Caps: selectors tried, and those kept for one kind of element.
MAX_TRIED = 400
MAX_PER_ELEMENT = 8

# The parts of a selector and the form of the value at it.
PooledSelector = tuple[SelectorParts, Form]
# Pages that a selector was made on, as bits of their indices.
PageBits = Mapping[PooledSelector, int]


class _Origin(NamedTuple):
    """Where a selector was first made: its rank at the occurrence, the text's size, the page.

    Tens of thousands are made: a tuple takes half of a frozen dataclass's time.
    """

    rank: int
    size: int
    page: int
    occurrence: Occurrence


class SelectorPool:
    """The selectors of all occurrences on some pages, for complete values and for texts that
    contain one.

    Selectors of most pages come first; among equals, each occurrence's own best before any one's
    lesser ones, and short texts before long. Selectors of far fewer pages than the best are left
    out.
    """

    def __init__(
        self, occurrences: Sequence[Sequence[Occurrence]], pages: Sequence[PageCache]
    ) -> None:
        self._pages = pages
        self._pages_of: dict[bool, dict[PooledSelector, int]] = {True: {}, False: {}}
        self._origins: dict[PooledSelector, _Origin] = {}
        for page, located in enumerate(occurrences):
            self._add_page(page, located)

    def complete_values(self, limit: int) -> list[tuple[AnySelector, Form]]:
        """Return selectors that find a complete value, each with its form there."""
        return _build(islice(self._usual(self._pages_of[True]), limit))

    def containing_texts(self, limit: int) -> list[tuple[AnySelector, Form]]:
        """Return selectors of texts with the value in them, a few per kind of element."""
        return _build(islice(self._few_per_element(self._usual(self._pages_of[False])), limit))

    def _add_page(self, page: int, occurrences: Sequence[Occurrence]) -> None:
        path_cache = self._pages[page].paths
        for occurrence in occurrences:
            pages_of = self._pages_of[occurrence.is_whole_text]
            for rank, parts in enumerate(selector_parts(occurrence, path_cache)):
                pooled = (parts, occurrence.form)
                pages_of[pooled] = pages_of.get(pooled, 0) | 1 << page
                origin = self._origins.get(pooled)
                if origin is None or (rank, occurrence.size) < (origin.rank, origin.size):
                    self._origins[pooled] = _Origin(rank, occurrence.size, page, occurrence)

    def _usual(self, pages_of: PageBits) -> Iterator[PooledSelector]:
        """Yield the selectors of most pages."""
        most_pages = max(map(int.bit_count, pages_of.values()), default=0)
        usual = []
        for pooled, bits in pages_of.items():
            if bits.bit_count() >= MIN_PAGE_SHARE * most_pages:
                usual.append(pooled)
        return self._valid(usual, pages_of)

    def _valid(
        self, pool: Iterable[PooledSelector], pages_of: PageBits
    ) -> Iterator[PooledSelector]:
        """Yield, of the first MAX_TRIED, the selectors that find their own element."""

        def order(pooled: PooledSelector) -> tuple[int, int, int]:
            origin = self._origins[pooled]
            return -pages_of[pooled].bit_count(), origin.rank, origin.size

        for pooled in sorted(pool, key=order)[:MAX_TRIED]:
            if self._finds_origin(pooled):
                yield pooled

    def _finds_origin(self, pooled: PooledSelector) -> bool:
        origin = self._origins[pooled]
        node = origin.occurrence.node
        if node is None:
            return True
        _, css, _, _ = pooled[0]
        first = self._pages[origin.page].first(css)
        return first is not None and first.mem_id == node.mem_id

    def _few_per_element(self, pool: Iterator[PooledSelector]) -> Iterator[PooledSelector]:
        """Yield at most eight selectors made from one element: most find the same."""
        counts: Counter[tuple[object, ...]] = Counter()
        for pooled in pool:
            (kind, css, detail, block), _ = pooled
            origin = self._origins[pooled]
            node = origin.occurrence.node
            element = (origin.page, css if node is None else node.mem_id)
            counts[element, kind, detail, block] += 1
            if counts[element, kind, detail, block] <= MAX_PER_ELEMENT:
                yield pooled


def _build(pooled: Iterable[PooledSelector]) -> list[tuple[AnySelector, Form]]:
    return [(build_selector(parts), form) for parts, form in pooled]
