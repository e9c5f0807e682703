"""An index of a page's elements by class, id and schema.org name.

One pass over the elements of a kind serves two purposes. Template matching compares the indexed
names with a signature; and selectors that ask for a name only, such as `meta[itemprop="sku"]`, are
answered without another walk through the tree. That saves most for selectors that match nothing.
Whatever the index cannot answer with certainty is left to the CSS engine.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

# Elements of a kind that are indexed: a bound against hostile input.
MAX_ELEMENTS = 20_000
# Named elements of a page up to which their index is cached for the next page: a bound on memory.
MAX_CACHED_ELEMENTS = 500
MAX_HEADINGS = 5
# Links and list items are left out: their classes are alike on all pages of a shop.
WITH_CLASS = "[class]:not(a, li)"
NAME_ATTRIBUTES = ("itemprop", "property", "name")
WITH_NAME = "meta, [itemprop]"
LOOKUP = re.compile(r"""([a-z][a-z\d]*)?\[(id|itemprop|property|name)="([^"\\]*)"\]""", re.ASCII)

# Tag, itemprop, property and name of an element.
ElementNames = tuple[str | None, ...]
# Tag, attribute and value that a selector asks for.
Lookup = tuple[str, str, str]


class ElementIndex:
    """The named elements of a page; with more than the cap, it answers no selector."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    @cached_property
    def classes(self) -> list[str | None]:
        """The class attributes, without those of links and list items."""
        return [node.attrs.get("class") for node in self._tree.css(WITH_CLASS)[:MAX_ELEMENTS]]

    @cached_property
    def ids(self) -> list[str | None]:
        """The ids in document order."""
        return [node.id for node in self._elements_with_id[:MAX_ELEMENTS]]

    @cached_property
    def names(self) -> "NamedElements":
        """The elements that have an itemprop, and all meta elements, by their names."""
        names = []
        for node in self._named_elements[:MAX_ELEMENTS]:
            names.append((node.tag, *map(node.attributes.get, NAME_ATTRIBUTES)))
        index_of = _cached_index_of if len(names) <= MAX_CACHED_ELEMENTS else _index_of
        return index_of(tuple(names))

    @cached_property
    def types(self) -> list[tuple[str | None, str | None]]:
        """The tag and the itemtype of each element that has a schema.org type."""
        nodes = self._tree.css("[itemtype]")[:MAX_ELEMENTS]
        return [(node.tag, node.attributes.get("itemtype")) for node in nodes]

    @cached_property
    def headings(self) -> list[LexborNode]:
        """The first `h1` elements."""
        return self._tree.css("h1")[:MAX_HEADINGS]

    @cached_property
    def _elements_with_id(self) -> list[LexborNode]:
        return self._tree.css("[id]")

    @cached_property
    def _named_elements(self) -> list[LexborNode]:
        return self._tree.css(WITH_NAME)

    def first(self, css: str) -> tuple[bool, LexborNode | None]:
        """Return whether the index can answer a selector, and the first element that matches it.

        Ids are answered only where template matching has indexed them: for one or two ids the CSS
        engine is faster.
        """
        lookup = _lookup_in(css)
        if lookup is None:
            return False, None
        if lookup[1] == "id":
            return self._first_with_id(lookup)
        if len(self._named_elements) > MAX_ELEMENTS:
            return False, None
        place = self.names.first_places.get(lookup)
        return True, None if place is None else self._named_elements[place]

    def _first_with_id(self, lookup: Lookup) -> tuple[bool, LexborNode | None]:
        if "ids" not in vars(self) or len(self._elements_with_id) > MAX_ELEMENTS:
            return False, None
        node = self._first_by_id.get(lookup[2])
        # The first element of the id may have another tag than a later one of that id.
        return node is None or node.tag == (lookup[0] or node.tag), node

    @cached_property
    def _first_by_id(self) -> dict[str | None, LexborNode]:
        # Reversed, so that the first of several elements with an id is set last.
        return dict(zip(reversed(self.ids), reversed(self._elements_with_id), strict=True))


@dataclass(frozen=True, eq=False)
class NamedElements:
    """The names of a page's elements, and the position of the first element of each name."""

    names: frozenset[ElementNames]
    first_places: dict[Lookup, int]


def _index_of(names: tuple[ElementNames, ...]) -> NamedElements:
    first_places = {}
    for place in range(len(names) - 1, -1, -1):
        for lookup in _lookups_for(names[place]):
            first_places[lookup] = place
    return NamedElements(frozenset(names), first_places)


# Cached because most pages of a shop name the same elements in the same order.
_cached_index_of = lru_cache(maxsize=64)(_index_of)


def _lookups_for(names: ElementNames) -> tuple[Lookup, ...]:
    """Return the lookups that an element answers."""
    tag = names[0] or ""
    values = zip(NAME_ATTRIBUTES, names[1:], strict=True)
    return tuple(
        (tag, name, value)
        for name, value in values
        if value is not None and _is_complete(tag, name)
    )


def _is_complete(tag: str, name: str) -> bool:
    """Return True if all elements of that tag with that attribute are in the index."""
    return bool(tag) and (name == "itemprop" or tag == "meta")


def is_indexed(css: str) -> bool:
    """Return True if a selector asks for a name that is indexed on each page anyway.

    >>> is_indexed('meta[itemprop="sku"]'), is_indexed('[id="sku"]')
    (True, False)
    """
    lookup = _lookup_in(css)
    return lookup is not None and lookup[1] != "id"


@lru_cache(maxsize=16_384)
def _lookup_in(css: str) -> Lookup | None:
    """Return the tag, attribute and value that a selector asks for; None for any other selector.

    >>> _lookup_in('meta[itemprop="sku"]'), _lookup_in('div.a > meta[itemprop="sku"]')
    (('meta', 'itemprop', 'sku'), None)
    """
    match = LOOKUP.fullmatch(css)
    if match is None:
        return None
    tag, name, value = match[1] or "", match[2], match[3]
    if name == "id" or _is_complete(tag, name):
        return tag, name, value
    return None
